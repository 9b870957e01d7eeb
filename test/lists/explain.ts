import type { Client, Pool } from '../../src/db/pool.ts'

export type Asked = { readonly text: string; readonly values: readonly unknown[] }

/** The same connections; what is asked of them is noted. */
export function recording(db: Pool): { readonly db: Pool; readonly asked: Asked[] } {
  const asked: Asked[] = []
  const query = (...given: [string, unknown[]?] | [Asked]) => {
    const [first, bound = []] = given
    asked.push(
      typeof first === 'string' ? { text: first, values: bound } : { ...first, values: first.values ?? [] },
    )
    return db.query(...(given as [string]))
  }
  return { db: { query } as unknown as Pool, asked }
}

/** What `texts` of src/db/arrays.ts made of them. */
function textsIn(array: Buffer): string[] {
  const found: string[] = []
  for (let at = 20; at < array.length; ) {
    const end = at + 4 + array.readInt32BE(at)
    found.push(array.toString('utf8', at + 4, end))
    at = end
  }
  return found
}

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL'
  if (Buffer.isBuffer(value)) return literal(textsIn(value))
  if (Array.isArray(value)) return `'{${value.map((each) => `"${each}"`).join(',')}}'`
  const text = value instanceof Date ? value.toISOString() : String(value)
  return `'${text.replaceAll("'", "''")}'`
}

type Plan = {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Plan[]
}

/** Rows that were taken out of tables and indexes, whether or not they came through. */
export function rowsRead(plan: Plan): number {
  const inside = (plan.Plans ?? []).reduce((sum, each) => sum + rowsRead(each), 0)
  const scans = plan['Relation Name'] !== undefined || plan['Node Type'].includes('Index Scan')
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  return inside + (scans ? (plan['Actual Rows'] + removed) * plan['Actual Loops'] : 0)
}

/** Blocks of tables and indexes that were looked into, wherever they lay. */
export const blocksTouched = (plan: Plan): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']

/** As it is run: with a plan for any values. */
export async function explain(client: Client, { text, values: bound }: Asked): Promise<Plan> {
  const execute = bound.length === 0 ? 'asked' : `asked(${bound.map(literal).join(', ')})`
  await client.query(`PREPARE asked AS ${text}`)
  try {
    const { rows } = await client.query(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT JSON) EXECUTE ${execute}`,
    )
    return rows[0]['QUERY PLAN'][0].Plan
  } finally {
    await client.query('DEALLOCATE asked')
  }
}
