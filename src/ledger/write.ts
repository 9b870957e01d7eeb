import { type Client, gather, isAnswer } from '../db/pool.ts'
import { insertInto, type Write, type WriteTarget } from './command.ts'
import type { Decided } from './decide.ts'
import type { HeldClaim } from './state.ts'

/** The second round trip: whatever was decided is written by one statement, and committed, at once. */
const entries = insertInto('entries', {
  cause_id: 'text',
  movement: 'text',
  line: 'smallint',
  partner_id: 'text',
  account: 'text',
  owner: 'text',
  asset: 'text',
  amount: 'bigint',
  seq: 'bigint',
  balance_after: 'bigint',
  created_at: 'timestamptz',
})

// The seq each account had when it was locked must still be there: if not, somebody wrote past the lock.
const balances: WriteTarget = {
  name: 'update balances',
  sql: `UPDATE balances AS old SET balance = new.balance, in_transit = new.in_transit, seq = new.seq
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
      AS new (customer_id, asset, balance, in_transit, seq, seq_before)
    WHERE old.customer_id = new.customer_id AND old.asset = new.asset AND old.seq = new.seq_before RETURNING 1`,
  columns: ['customer_id', 'asset', 'balance', 'in_transit', 'seq', 'seq_before'],
  counted: true,
}

const keptClaims: WriteTarget = {
  name: 'keep claims',
  sql: `UPDATE claims SET fingerprint = new.fingerprint, resource_id = new.resource_id, expires_at = new.expires_at, final = new.final,
      answer_status = new.answer_status, answer_body = new.answer_body
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::boolean[], $8::smallint[], $9::text[])
      AS new (scope, operation, key, fingerprint, resource_id, expires_at, final, answer_status, answer_body)
    WHERE (claims.scope, claims.operation, claims.key) = (new.scope, new.operation, new.key) RETURNING 1`,
  columns: [
    'scope',
    'operation',
    'key',
    'fingerprint',
    'resource_id',
    'expires_at',
    'final',
    'answer_status',
    'answer_body',
  ],
  counted: true,
}

const droppedClaims: WriteTarget = {
  name: 'drop claims',
  sql: `DELETE FROM claims USING unnest($1::text[], $2::text[], $3::text[]) AS gone (scope, operation, key)
    WHERE (claims.scope, claims.operation, claims.key) = (gone.scope, gone.operation, gone.key) RETURNING 1`,
  columns: ['scope', 'operation', 'key'],
  counted: true,
}

const commits = insertInto('commits', { id: 'text' })

export const movesNothing = (decided: Decided): boolean =>
  decided.entries.length === 0 && decided.writes.length === 0 && keptOf(decided).length === 0

/** The database never said whether it committed. */
export class CommitUnknown extends Error {}

/**
 * Only the tag COMMIT means that it is done; the tag ROLLBACK, or an error that the server sent for COMMIT itself, that
 * it is not; anything else is unknown.
 */
export async function write(client: Client, batch_id: string, decided: Decided): Promise<void> {
  const sendTogether = gather(client)
  const written = client.query(statementOf(groupsOf(batch_id, decided)))
  const committed = client.query({ name: 'commit', text: 'COMMIT' })
  sendTogether()
  const [failure, tag] = await Promise.all([
    written.then(() => undefined).catch((error: unknown) => error),
    committed.then((answer) => answer.command).catch((error: unknown) => error),
  ])
  if (tag === 'COMMIT') return
  if (typeof tag === 'string' || isAnswer(tag)) throw failure ?? tag
  throw new CommitUnknown('no answer to COMMIT', { cause: tag })
}

type Group = { readonly target: WriteTarget; readonly rows: readonly Write['row'][] }

function groupsOf(batch_id: string, decided: Decided): Group[] {
  const { state } = decided
  const accounts = [...decided.changed].map(([key, seq_before]) => ({
    ...state.accounts.get(key)!,
    seq_before,
  }))
  const dropped = [...state.claims.values()].filter(({ fresh, changed }) => fresh && !changed)
  const groups: Group[] = [
    { target: entries, rows: decided.entries.map((entry) => ({ ...entry, created_at: state.now })) },
    { target: balances, rows: accounts },
    ...byTarget(decided.writes),
    { target: keptClaims, rows: keptOf(decided).map(claimRow) },
    { target: droppedClaims, rows: dropped.map(claimRow) },
    { target: commits, rows: [{ id: batch_id }] },
  ]
  return groups.filter(({ rows }) => rows.length > 0)
}

const keptOf = ({ state }: Decided): HeldClaim[] =>
  [...state.claims.values()].filter(({ changed }) => changed)

const claimRow = ({ claim, claimed }: HeldClaim) => ({
  scope: claim.scope,
  operation: claim.operation,
  key: claim.key,
  ...claimed,
  answer_status: claimed?.answer?.status,
  answer_body: claimed?.answer?.body,
})

const statements = new Map<string, { name: string; text: string }>()

/** Batches of the same kind share a prepared statement, however many rows they bring. */
function statementOf(groups: readonly Group[]): { name: string; text: string; values: unknown[] } {
  const kind = groups.map(({ target }) => target.name).join('; ')
  const known = statements.get(kind) ?? { name: `write ${statements.size}`, text: textOf(groups) }
  statements.set(kind, known)
  const columns = groups.flatMap(({ target, rows }) => target.columns.map((column) => columnOf(rows, column)))
  const counts = groups.filter(({ target }) => target.counted).map(({ rows }) => rows.length)
  return { ...known, values: [...columns, ...counts] }
}

/** COMMIT is on the wire behind it, so the statement itself must object when it finds fewer rows than it was given. */
function textOf(groups: readonly Group[]): string {
  let params = 0
  const parts = groups.map(({ target }, i) => {
    const sql = target.sql.replaceAll(/\$(\d+)/g, (_, n) => `$${params + Number(n)}`)
    params += target.columns.length
    return `w${i} AS (${sql})`
  })
  const checks = groups.flatMap(({ target }, i) =>
    target.counted ? [`expect_rows('${target.name}', (SELECT count(*) FROM w${i}), $${++params})`] : [],
  )
  return `WITH ${parts.join(',\n')}\nSELECT ${checks.join(', ') || '1'}`
}

function columnOf(rows: readonly Write['row'][], column: string): string {
  return arrayLiteral(rows.map((row) => row[column]))
}

/** An array as PostgreSQL writes it. The driver's own way looks at every element twice; most of ours need no escaping. */
function arrayLiteral(values: readonly unknown[]): string {
  return `{${values.map(arrayElement).join(',')}}`
}

function arrayElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'bigint' || typeof value === 'number') return String(value)
  const text = value instanceof Date ? value.toISOString() : String(value)
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}

/** Equal targets become one statement. Of several updates of one row the last one holds: it was decided on the others. */
function byTarget(writes: readonly Write[]): { target: WriteTarget; rows: Write['row'][] }[] {
  const groups = new Map<string, { target: WriteTarget; rows: Map<unknown, Write['row']> }>()
  for (const { target, row } of writes) {
    const group = groups.get(target.name) ?? { target, rows: new Map() }
    groups.set(target.name, group)
    group.rows.set(target.updates ? row.id : group.rows.size, row)
  }
  return [...groups.values()].map(({ target, rows }) => ({ target, rows: [...rows.values()] }))
}
