import { newId } from '../../core/ids.ts'
import type { Db } from '../../db/pool.ts'
import { rowSource, targetOf, type Write, writeTo } from '../../ledger/command.ts'
import type { World } from '../../world.ts'

/**
 * A possible problem with money that a person must check: a row that stays open until it is closed, not a log line.
 * While it is open, further sightings of the same problem add no row.
 */
type ExceptionKind =
  /** The rail reports another end than the booked one. */
  | 'contradiction'
  /** The rail paid an order whose money had been returned to the customer: the money may have gone out twice. */
  | 'late_success'
  /** The rail accepted a payout and later does not know it. */
  | 'accepted_then_absent'
  /** A rail gave an invalid answer. */
  | 'invalid_answer'
  /** A payout or transfer stays open too long. */
  | 'stuck'
  /** The audit found a broken rule. */
  | 'audit'
  /** A proposal contradicted the end that was booked meanwhile, and was ended instead of approved. */
  | 'superseded'
  /** The service or an operator paused a rail: an operator must find out why, and two operators resume the rail. */
  | 'rail_paused'
  /** The chain has transactions of a wallet that the database does not know. */
  | 'foreign_transactions'
  /** The books differ from what a wallet holds. */
  | 'reconciliation'
  /** The holdings of a wallet were not read for too long: no transfers are accepted on its rail. */
  | 'holdings_old'
  /** What a chain shows of deposits needs a person: nothing is credited for it. */
  | 'deposit_unclear'
  /** A completed payout came back, and its customer was credited. */
  | 'payout_returned'
  /** A received payment was given back, and its customer's balance does not cover the debit. */
  | 'return_uncovered'
  /** A Pix payment came in that names no charge of this service: nothing is credited for it. */
  | 'unknown_payment'

export type NewException = {
  readonly kind: ExceptionKind
  /** `pix`, the name of a network, or empty. */
  readonly rail: string
  readonly object_id: string
  readonly partner_id: string | null
  readonly details: Readonly<Record<string, unknown>>
}

export type Exception = NewException & {
  readonly id: string
  readonly opened_at: Date
  readonly closed_at: Date | null
  readonly closed_by: string | null
  readonly closed_reason: string | null
}

const COLUMNS =
  'id, kind, rail, object_id, partner_id, details, opened_at, closed_at, closed_by, closed_reason'

const insertExceptions = targetOf(
  'insert exceptions',
  {
    id: 'text',
    kind: 'text',
    rail: 'text',
    object_id: 'text',
    partner_id: 'text?',
    details: 'json',
    opened_at: 'timestamptz',
  },
  (rows) => `INSERT INTO exceptions (id, kind, rail, object_id, partner_id, details, opened_at)
    SELECT id, kind, rail, object_id, partner_id, details, opened_at FROM ${rows}
    ON CONFLICT (kind, object_id) WHERE closed_at IS NULL DO NOTHING`,
)

/**
 * Closes the exceptions of a paused rail, in the command that resumes the rail. An operator may have closed them before. A foreign
 * transaction that was found after `looked_at` stays open: nobody has looked it up.
 */
export const closePauseExceptions = targetOf(
  'close exceptions of paused rails',
  {
    rail: 'text',
    looked_at: 'timestamptz',
    closed_at: 'timestamptz',
    closed_by: 'text',
    closed_reason: 'text',
  },
  (
    rows,
  ) => `UPDATE exceptions AS old SET closed_at = new.closed_at, closed_by = new.closed_by, closed_reason = new.closed_reason
    FROM ${rows} WHERE old.rail = new.rail AND old.closed_at IS NULL
        AND (old.kind = 'rail_paused' OR (old.kind = 'foreign_transactions' AND old.opened_at < new.looked_at))`,
)

/** The newest open exception about foreign transactions of each rail. */
export const newestForeign = rowSource<{
  readonly id: string
  readonly object_id: string
  readonly opened_at: Date
}>(
  'newest foreign transactions',
  `SELECT DISTINCT ON (rail) rail AS id, object_id, opened_at FROM exceptions
    WHERE kind = 'foreign_transactions' AND closed_at IS NULL AND rail = ANY($1::text[]) ORDER BY rail, opened_at DESC`,
)

export function exceptionWrite(world: Pick<World, 'newId'>, exception: NewException, now: Date): Write {
  return writeTo(insertExceptions, rowOf(world.newId('exception'), exception, now))
}

/** Opens an exception outside of a money command. */
export async function recordException(db: Db, clock: World['clock'], exception: NewException): Promise<void> {
  const now = clock.now()
  const row = rowOf(newId('exception', now), exception, new Date(now))
  await db.query(
    insertExceptions.sql,
    insertExceptions.columns.map((column) => [row[column]]),
  )
}

/**
 * Like `recordException`, for a problem that every query finds again: after an exception was closed, another one opens a day
 * later if the problem persists.
 */
export async function recordExceptionDaily(
  db: Db,
  clock: World['clock'],
  exception: NewException,
): Promise<void> {
  const { rows } = await db.query({
    name: 'exception of the last day',
    text: `SELECT FROM exceptions WHERE object_id = $1 AND kind = $2
      AND (closed_at IS NULL OR closed_at > now() - interval '1 day') LIMIT 1`,
    values: [exception.object_id, exception.kind],
  })
  if (rows.length === 0) await recordException(db, clock, exception)
}

function rowOf(id: string, exception: NewException, now: Date) {
  return {
    ...exception,
    id,
    details: JSON.stringify(exception.details, (_, value) =>
      typeof value === 'bigint' ? value.toString() : value,
    ),
    opened_at: now,
  }
}

export async function openExceptions(db: Db, limit: number): Promise<Exception[]> {
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM exceptions WHERE closed_at IS NULL ORDER BY opened_at DESC, id DESC LIMIT $1`,
    [limit],
  )
  return rows
}

/** The newest open exception of a kind about a rail. */
export async function openExceptionOf(
  db: Db,
  { kind, rail }: Pick<NewException, 'kind' | 'rail'>,
): Promise<Exception | undefined> {
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM exceptions WHERE kind = $1 AND rail = $2 AND closed_at IS NULL ORDER BY opened_at DESC LIMIT 1`,
    [kind, rail],
  )
  return rows[0]
}

export type OpenExceptions = {
  readonly rail: string
  readonly kind: string
  readonly count: number
  readonly oldest_seconds: number
}

/** For the metrics; counts at most 100,000 rows. */
export async function countOpenExceptions(db: Db): Promise<OpenExceptions[]> {
  const { rows } = await db.query({
    name: 'count open exceptions',
    text: `SELECT rail, kind, count(*)::integer AS count,
        greatest(0, extract(epoch FROM clock_timestamp() - min(opened_at)))::float8 AS oldest_seconds
      FROM (SELECT rail, kind, opened_at FROM exceptions WHERE closed_at IS NULL ORDER BY kind, object_id LIMIT 100000) AS open
      GROUP BY rail, kind`,
  })
  return rows
}

/** Changes when an exception is opened or closed. Pages poll it. */
export async function exceptionsMark(db: Db): Promise<string> {
  const { rows } = await db.query({
    name: 'exceptions mark',
    text: `SELECT count(*) || ' ' || coalesce(max(id), '') AS mark
      FROM (SELECT id FROM exceptions WHERE closed_at IS NULL LIMIT 1000) AS open`,
  })
  return rows[0].mark
}

export async function newestExceptions(db: Db, limit: number): Promise<Exception[]> {
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM exceptions ORDER BY opened_at DESC, id DESC LIMIT $1`,
    [limit],
  )
  return rows
}

/** Open findings of the audit, grouped by check, with a few of the objects. */
export async function openFindings(db: Db): Promise<{ check: string; found: number; examples: string[] }[]> {
  const { rows } = await db.query(
    `SELECT coalesce(details ->> 'check', '') AS check, count(*)::integer AS found, (array_agg(object_id))[1:5] AS examples
     FROM (SELECT details, object_id FROM exceptions WHERE kind = 'audit' AND closed_at IS NULL LIMIT 10000) AS open
     GROUP BY 1 ORDER BY 1`,
  )
  return rows
}

export async function exceptionById(db: Db, id: string): Promise<Exception | undefined> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM exceptions WHERE id = $1`, [id])
  return rows[0]
}

/** Undefined if the exception does not exist or is closed already. */
export async function closeException(
  db: Db,
  closing: { id: string; closed_by: string; closed_reason: string },
): Promise<Exception | undefined> {
  const { rows } = await db.query(
    `UPDATE exceptions SET closed_at = clock_timestamp(), closed_by = $2, closed_reason = $3
     WHERE id = $1 AND closed_at IS NULL RETURNING ${COLUMNS}`,
    [closing.id, closing.closed_by, closing.closed_reason],
  )
  return rows[0]
}

/** The service closes an exception whose problem is gone. */
export async function closeOpenException(
  db: Db,
  { kind, object_id, reason }: Pick<NewException, 'kind' | 'object_id'> & { readonly reason: string },
): Promise<void> {
  await db.query({
    name: 'close open exception',
    text: `UPDATE exceptions SET closed_at = clock_timestamp(), closed_by = 'service', closed_reason = $3
      WHERE kind = $1 AND object_id = $2 AND closed_at IS NULL`,
    values: [kind, object_id, reason],
  })
}

/** Closes exceptions about foreign transactions, in a money command. */
export const closeForeignTransactions = targetOf(
  'update exceptions: foreign transactions',
  { object_id: 'text', closed_at: 'timestamptz', closed_by: 'text', closed_reason: 'text' },
  (
    rows,
  ) => `UPDATE exceptions AS old SET closed_at = new.closed_at, closed_by = new.closed_by, closed_reason = new.closed_reason
    FROM ${rows} WHERE old.kind = 'foreign_transactions' AND old.object_id = new.object_id AND old.closed_at IS NULL`,
)

/** Closes the exception about a transfer whose block `block_hash` had vanished, in a money command. */
export const closeVanished = targetOf(
  'update exceptions: vanished blocks',
  {
    object_id: 'text',
    block_hash: 'text',
    closed_at: 'timestamptz',
    closed_by: 'text',
    closed_reason: 'text',
  },
  (
    rows,
  ) => `UPDATE exceptions AS old SET closed_at = new.closed_at, closed_by = new.closed_by, closed_reason = new.closed_reason
    FROM ${rows} WHERE old.kind = 'contradiction' AND old.object_id = new.object_id AND old.closed_at IS NULL
      AND old.details -> 'rail_says' ->> 'block_hash' = new.block_hash`,
)

/** The newest exceptions about an object, open and closed, newest first. */
export async function exceptionsAbout(db: Db, object_id: string): Promise<Exception[]> {
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM exceptions WHERE object_id = $1 ORDER BY opened_at DESC, id DESC LIMIT 20`,
    [object_id],
  )
  return rows
}

/** Exceptions that were opened after `after`, oldest first, whether open or closed now. */
export async function exceptionsSince(
  db: Db,
  after: Pick<Exception, 'opened_at' | 'id'>,
  limit: number,
): Promise<Pick<Exception, 'id' | 'kind' | 'opened_at'>[]> {
  const { rows } = await db.query({
    name: 'exceptions since',
    text: `SELECT id, kind, opened_at FROM exceptions WHERE (opened_at, id) > ($1, $2) ORDER BY opened_at, id LIMIT $3`,
    values: [after.opened_at, after.id, limit],
  })
  return rows
}
