import { UNITS_MAX } from '../../core/money.ts'
import { type Network, networkNames } from '../../core/networks.ts'
import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'
import type { Check } from '../../ledger/audit.ts'
import { insertInto, rowSource, targetOf } from '../../ledger/command.ts'
import { isoTime } from '../../records/events/store.ts'

/** A rail by the name that payouts, transfers and exceptions have it under: `pix`, or a network. */
export const railNames = ['pix', ...networkNames] as const
export type RailName = 'pix' | Network

export const isRailName = (text: string): text is RailName => railNames.some((rail) => rail === text)

/** Null: no limit. Amounts are in smallest units of the rail's asset, without fees. */
export type RailLimits = {
  /** The most of one order. */
  readonly order_most: bigint | null
  /** The most of all orders of a day (UTC) together; failed orders do not count. */
  readonly day_most: bigint | null
  /** What must stay on the rail's account or wallet. */
  readonly floor: bigint | null
  /** What must stay of the coin that pays the network, in wei. */
  readonly gas_floor: bigint | null
  /** Deposits at one address are swept into the wallet from this amount on; null: never. Needs `sweep_fee_max`. */
  readonly sweep_from: bigint | null
  /** The most that one sweep may cost, in wei. */
  readonly sweep_fee_max: bigint | null
}

export const railLimitNames = [
  'order_most',
  'day_most',
  'floor',
  'gas_floor',
  'sweep_from',
  'sweep_fee_max',
] as const

/** The highest figure of each limit. */
export const railLimitMost: Readonly<Record<keyof RailLimits, bigint>> = {
  order_most: UNITS_MAX,
  day_most: UNITS_MAX,
  floor: UNITS_MAX,
  gas_floor: 10n ** 30n,
  sweep_from: UNITS_MAX,
  sweep_fee_max: 10n ** 30n,
}

export type RailControl = RailLimits & {
  readonly rail: string
  readonly paused_at: Date | null
  readonly paused_by: string | null
  readonly paused_reason: string | null
}

/** The control of a rail that has no row: not paused, and without limits. */
export const freeRail = (rail: string): RailControl => ({
  rail,
  paused_at: null,
  paused_by: null,
  paused_reason: null,
  order_most: null,
  day_most: null,
  floor: null,
  gas_floor: null,
  sweep_from: null,
  sweep_fee_max: null,
})

const controlColumns = columnsOf('rail_controls')

export async function selectControls(db: Db): Promise<RailControl[]> {
  const { rows } = await db.query<RailControl>({
    name: 'rail controls',
    text: `SELECT ${controlColumns} FROM rail_controls ORDER BY rail`,
  })
  return rows
}

/** Locks the row of a rail until the transaction ends, and adds the row if the rail has none. */
export async function lockControl(tx: Db, rail: string): Promise<RailControl> {
  await tx.query('INSERT INTO rail_controls (rail) VALUES ($1) ON CONFLICT DO NOTHING', [rail])
  const { rows } = await tx.query<RailControl>(
    `SELECT ${controlColumns} FROM rail_controls WHERE rail = $1 FOR NO KEY UPDATE`,
    [rail],
  )
  return rows[0]!
}

type RailChange = {
  readonly rail: string
  /** An operator's e-mail, `shell` or `service`. */
  readonly changed_by: string
  readonly reason: string
}

/** Stores a control and the line of its history. The row is locked by `lockControl`. Returns the time of the change. */
export async function saveControl(
  tx: Db,
  before: RailControl,
  change: Omit<RailChange, 'rail'>,
  afterOf: (now: Date) => RailControl,
): Promise<RailControl> {
  const { rows } = await tx.query<{ now: Date }>('SELECT clock_timestamp()::timestamptz(3) AS now')
  const { now } = rows[0]!
  const after = afterOf(now)
  await tx.query(
    `UPDATE rail_controls SET paused_at = $2, paused_by = $3, paused_reason = $4, order_most = $5, day_most = $6, floor = $7, gas_floor = $8,
       sweep_from = $9, sweep_fee_max = $10
     WHERE rail = $1`,
    [
      after.rail,
      after.paused_at,
      after.paused_by,
      after.paused_reason,
      after.order_most,
      after.day_most,
      after.floor,
      after.gas_floor,
      after.sweep_from,
      after.sweep_fee_max,
    ],
  )
  await tx.query(
    `INSERT INTO rail_changes (rail, changed_at, changed_by, before, after, reason) VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      after.rail,
      now,
      change.changed_by,
      JSON.stringify(controlFacts(before)),
      JSON.stringify(controlFacts(after)),
      change.reason,
    ],
  )
  return after
}

type ControlFacts = Readonly<Record<Exclude<keyof RailControl, 'rail'>, string | null>>

/** A control as its history, the act log and the console show it: times and amounts as text. */
export const controlFacts = (control: RailControl): ControlFacts => ({
  paused_at: control.paused_at?.toISOString() ?? null,
  paused_by: control.paused_by,
  paused_reason: control.paused_reason,
  order_most: control.order_most?.toString() ?? null,
  day_most: control.day_most?.toString() ?? null,
  floor: control.floor?.toString() ?? null,
  gas_floor: control.gas_floor?.toString() ?? null,
  sweep_from: control.sweep_from?.toString() ?? null,
  sweep_fee_max: control.sweep_fee_max?.toString() ?? null,
})

/** For a command that changes the control. */
export const controlRows = rowSource<RailControl & { readonly id: string }>(
  'rail controls',
  `SELECT rail AS id, ${controlColumns} FROM rail_controls WHERE rail = ANY($1::text[]) ORDER BY rail FOR NO KEY UPDATE`,
)

/** For commands that only ask whether a rail is paused: without a lock, so that orders never wait for each other. */
export const pausedRows = rowSource<{ readonly id: string; readonly paused_at: Date }>(
  'paused rails',
  'SELECT rail AS id, paused_at FROM rail_controls WHERE rail = ANY($1::text[]) AND paused_at IS NOT NULL',
)

/** Proposals that resumed a rail: an approval that a crash interrupted finds its own resume here. */
export const resumedRows = rowSource<{ readonly id: string }>(
  'resumes of rails',
  'SELECT proposal_id AS id FROM rail_changes WHERE proposal_id = ANY($1::text[])',
)

export const endPauses = targetOf(
  'update rail_controls: resumed',
  { id: 'text' },
  (rows) => `UPDATE rail_controls AS old SET paused_at = NULL, paused_by = NULL, paused_reason = NULL
    FROM ${rows} WHERE old.rail = new.id RETURNING 1`,
  { counted: true },
)

export const insertRailChanges = insertInto('rail_changes', {
  rail: 'text',
  changed_at: 'timestamptz',
  changed_by: 'text',
  before: 'json',
  after: 'json',
  reason: 'text',
  proposal_id: 'text?',
})

/** What was ordered on a rail since `since` and has not failed. `first_id` is below the ids of all these orders. */
export async function sumOrders(
  db: Db,
  rail: RailName,
  { since, first_id }: { readonly since: Date; readonly first_id: string },
): Promise<bigint> {
  const { rows } = await db.query<{ sum: bigint }>(
    rail === 'pix'
      ? {
          name: 'sum of the payouts of a day',
          text: `SELECT coalesce(sum(amount), 0)::numeric(40, 0) AS sum FROM payouts
            WHERE id >= 'po_' || $1 AND created_at >= $2 AND status <> 'failed'`,
          values: [first_id, since],
        }
      : {
          name: 'sum of the transfers of a day',
          text: `SELECT coalesce(sum(amount_net), 0)::numeric(40, 0) AS sum FROM transfers
            WHERE id >= 'tr_' || $1 AND created_at >= $2 AND status <> 'failed' AND network = $3`,
          values: [first_id, since, rail],
        },
  )
  return BigInt(rows[0]!.sum)
}

const factNames = [
  'paused_at',
  'paused_by',
  'paused_reason',
  ...railLimitNames,
] as const satisfies readonly (keyof ControlFacts)[]

const factsOfRow = `ARRAY[${factNames
  .map((name) => (name === 'paused_at' ? isoTime(`c.${name}`) : `c.${name}::text`))
  .join(', ')}]`
const factsIn = (json: string) => `ARRAY[${factNames.map((name) => `${json} ->> '${name}'`).join(', ')}]`
const NO_FACTS = `ARRAY[${factNames.map(() => 'NULL').join(', ')}]::text[]`

export const controlChecks: readonly Check[] = [
  {
    name: 'the pause and the limits of every rail are those of its last change',
    walk: 'causes',
    sql: (within) => `SELECT coalesce(c.rail, h.rail) AS object_id, h.id AS change_id
      FROM (SELECT c.rail, ${factsOfRow} AS facts FROM rail_controls c WHERE ${within('c.rail')}) AS c
      FULL JOIN (SELECT DISTINCT ON (h.rail) h.rail, h.id, ${factsIn('h.after')} AS facts FROM rail_changes h
        WHERE ${within('h.rail')} ORDER BY h.rail, h.id DESC) AS h ON h.rail = c.rail
      WHERE c.rail IS NULL OR h.rail IS NULL OR c.facts IS DISTINCT FROM h.facts`,
  },
  {
    name: 'every change of a rail begins where the one before it ended, and a pause names who and why',
    walk: 'causes',
    sql: (within) => `SELECT h.rail AS object_id, h.id AS change_id, h.changed_by FROM (
        SELECT h.id, h.rail, h.changed_at, h.changed_by, h.reason, ${factsIn('h.before')} AS before, ${factsIn('h.after')} AS after,
          lag(${factsIn('h.after')}) OVER earlier AS ended, lag(h.changed_at) OVER earlier AS ended_at,
          h.before ->> 'paused_at' AS paused_before, h.after ->> 'paused_at' AS paused_after,
          ARRAY[h.after ->> 'paused_at', h.after ->> 'paused_by', h.after ->> 'paused_reason'] AS pause,
          ARRAY[h.before ->> 'paused_at', h.before ->> 'paused_by', h.before ->> 'paused_reason'] AS earlier_pause
        FROM rail_changes h WHERE ${within('h.rail')} WINDOW earlier AS (PARTITION BY h.rail ORDER BY h.id)) AS h
      WHERE h.before IS DISTINCT FROM coalesce(h.ended, ${NO_FACTS}) OR h.changed_at < h.ended_at
        OR (h.paused_before IS NULL AND h.paused_after IS NOT NULL
          AND h.pause IS DISTINCT FROM ARRAY[${isoTime('h.changed_at')}, h.changed_by, h.reason])
        OR (h.paused_before IS NOT NULL AND h.paused_after IS NOT NULL AND h.pause IS DISTINCT FROM h.earlier_pause)`,
  },
]
