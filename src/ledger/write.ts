import type { QueryResult } from 'pg'
import { allOf, type Client, gather, isAnswer } from '../db/pool.ts'
import type { Write, WriteTarget } from './command.ts'
import type { Decided, Entry } from './decide.ts'
import type { HeldClaim } from './state.ts'

/** The second round trip: whatever was decided is written and committed at once. */
const WRITE_ENTRIES = {
  name: 'insert entries',
  text: `INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at)
    SELECT *, $11::timestamptz FROM unnest($1::text[], $2::text[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[],
      $8::bigint[], $9::bigint[], $10::bigint[])`,
}

// The seq each account had when it was locked must still be there: if not, somebody wrote past the lock.
const WRITE_BALANCES = {
  name: 'update balances',
  text: `WITH new AS (SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
      AS new (customer_id, asset, balance, in_transit, seq, seq_before)),
    changed AS (UPDATE balances AS old SET balance = new.balance, in_transit = new.in_transit, seq = new.seq FROM new
      WHERE old.customer_id = new.customer_id AND old.asset = new.asset AND old.seq = new.seq_before RETURNING 1)
    SELECT expect_rows('balances', (SELECT count(*) FROM changed), (SELECT count(*) FROM new))`,
}

const KEEP_CLAIMS = {
  name: 'keep claims',
  text: `UPDATE claims SET fingerprint = new.fingerprint, resource_id = new.resource_id
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) AS new (scope, operation, key, fingerprint, resource_id)
    WHERE (claims.scope, claims.operation, claims.key) = (new.scope, new.operation, new.key)`,
}

const DROP_CLAIMS = {
  name: 'drop claims',
  text: `DELETE FROM claims USING unnest($1::text[], $2::text[], $3::text[]) AS gone (scope, operation, key)
    WHERE (claims.scope, claims.operation, claims.key) = (gone.scope, gone.operation, gone.key)`,
}

const WRITE_COMMIT = { name: 'insert commit', text: 'INSERT INTO commits (id) VALUES ($1)' }
const COMMIT = { name: 'commit', text: 'COMMIT' }

export const movesNothing = ({ entries, writes, state }: Decided): boolean =>
  entries.length === 0 &&
  writes.length === 0 &&
  ![...state.claims.values()].some((c) => c.fresh && c.resource_id)

/** The database never said whether it committed. */
export class CommitUnknown extends Error {}

/**
 * Sends everything and COMMIT in one go. Only the tag COMMIT means that it is done; the tag ROLLBACK, or an error that
 * the server sent for COMMIT itself, that it is not; anything else is unknown.
 */
export async function write(client: Client, batch_id: string, decided: Decided): Promise<void> {
  const { state, entries, changed } = decided
  const sendTogether = gather(client)
  const answers: Promise<QueryResult>[] = []
  const send = (query: { name: string; text: string }, values: unknown[]) =>
    answers.push(client.query({ ...query, values }))

  if (entries.length > 0) send(WRITE_ENTRIES, [...columnsOf(entries, entryColumns), state.now])
  if (changed.size > 0) {
    const accounts = [...changed].map(([key, seq_before]) => ({ ...state.accounts.get(key)!, seq_before }))
    send(
      WRITE_BALANCES,
      columnsOf(accounts, ['customer_id', 'asset', 'balance', 'in_transit', 'seq', 'seq_before']),
    )
  }
  for (const { target, rows } of byTarget(decided.writes)) {
    send({ name: target.name, text: target.sql }, columnsOf(rows, target.columns))
  }
  const claims = [...state.claims.values()].filter(({ fresh }) => fresh)
  const kept = claims.filter(({ resource_id }) => resource_id !== undefined)
  const dropped = claims.filter(({ resource_id }) => resource_id === undefined)
  if (kept.length > 0) {
    send(KEEP_CLAIMS, [...claimColumns(kept), kept.map((c) => c.fingerprint), kept.map((c) => c.resource_id)])
  }
  if (dropped.length > 0) send(DROP_CLAIMS, claimColumns(dropped))
  send(WRITE_COMMIT, [batch_id])
  const committed = client.query(COMMIT)
  sendTogether()
  const [failure, tag] = await Promise.all([
    allOf(answers).catch((error: unknown) => error),
    committed.then((answer) => answer.command).catch((error: unknown) => error),
  ])
  if (tag === 'COMMIT') return
  if (typeof tag === 'string' || isAnswer(tag)) throw failure ?? tag
  throw new CommitUnknown('no answer to COMMIT', { cause: tag })
}

const entryColumns = [
  'cause_id',
  'movement',
  'line',
  'partner_id',
  'account',
  'owner',
  'asset',
  'amount',
  'seq',
  'balance_after',
] as const satisfies (keyof Entry)[]

const claimColumns = (claims: readonly HeldClaim[]) => [
  claims.map(({ claim }) => claim.scope),
  claims.map(({ claim }) => claim.operation),
  claims.map(({ claim }) => claim.key),
]

function columnsOf<R extends object>(rows: readonly R[], columns: readonly string[]): string[] {
  return columns.map((column) => arrayLiteral(rows.map((row) => (row as Record<string, unknown>)[column])))
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
