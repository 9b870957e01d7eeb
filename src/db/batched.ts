import { columnsOf, type TableName } from './columns.ts'
import type { Db } from './pool.ts'

/**
 * Looks many keys up with one statement: whatever is asked for while one look-up is running goes into the next. A lone
 * question is asked at once, a flood of them costs a few statements.
 */
export function batched<Key, Row>(load: (db: Db, keys: readonly Key[]) => Promise<(Row | undefined)[]>) {
  const readers = new WeakMap<Db, (key: Key) => Promise<Row | undefined>>()
  return (db: Db, key: Key): Promise<Row | undefined> => {
    const reader = readers.get(db) ?? openReader<Key, Row>((keys) => load(db, keys))
    readers.set(db, reader)
    return reader(key)
  }
}

/** Rows of a table by their ids. */
export const rowsById = <Row extends { id: string }>(table: TableName) =>
  batched<string, Row>(async (db, ids) => {
    const { rows } = await db.query({
      name: `${table} by id`,
      text: `SELECT ${columnsOf(table)} FROM ${table} WHERE id = ANY($1::text[])`,
      values: [ids],
    })
    const found = new Map<string, Row>(rows.map((row) => [row.id, row]))
    return ids.map((id) => found.get(id))
  })

type Waiting<Key, Row> = {
  readonly key: Key
  resolve(row: Row | undefined): void
  reject(error: unknown): void
}

const AT_ONCE = 2

function openReader<Key, Row>(load: (keys: readonly Key[]) => Promise<(Row | undefined)[]>) {
  let waiting: Waiting<Key, Row>[] = []
  let running = 0

  async function run(): Promise<void> {
    running++
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        const rows = await load(batch.map(({ key }) => key))
        for (const [i, { resolve }] of batch.entries()) resolve(rows[i])
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running--
  }

  return (key: Key): Promise<Row | undefined> =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (running < AT_ONCE) void run()
    })
}
