import assert from 'node:assert/strict'
import { refuse } from '../../core/errors.ts'
import { timeOfId } from '../../core/ids.ts'
import { type Asset, formatMoney, money } from '../../core/money.ts'
import { networks } from '../../core/networks.ts'
import { afterCommit, type Pool, transaction } from '../../db/pool.ts'
import { wholeOf } from '../../db/share.ts'
import { type Command, type Decision, keep, writeTo } from '../../ledger/command.ts'
import {
  closePauseExceptions,
  type NewException,
  newestForeign,
  recordException,
} from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import {
  controlFacts,
  controlRows,
  endPauses,
  freeRail,
  insertRailChanges,
  lockControl,
  type RailControl,
  type RailLimits,
  type RailName,
  railLimitMost,
  resumedRows,
  saveControl,
  selectControls,
  sumOrders,
} from './controls-store.ts'
import type { ForeignNonces } from './wallets.ts'

/**
 * What operators allow on a rail (decision 0052). A paused rail accepts no orders, and signs, broadcasts and sends no payment that has not
 * left yet. Payments that have left go on: workers ask about them, broadcast the same bytes again and settle them. One operator, or the
 * service itself, pauses a rail; two operators resume it. Limits bound one order and the orders of a day.
 */
export type Pausing = {
  readonly rail: RailName
  /** An operator's e-mail, `shell`, or `service`. */
  readonly by: string
  readonly reason: string
  /** Recorded in the same transaction, also if the rail is paused already: a resume that waits for the row then reads the exception. */
  readonly exception?: NewException
}

export const assetOfRail = (rail: RailName): Asset => (rail === 'pix' ? 'BRL' : networks[rail].asset)

/** A node remembers pauses and limits for this long. Commands that send a payment out read the pause again. */
const CONTROL_AGE_MS = 1000
/** A node remembers the sum of the day's orders for this long, and adds the orders that it accepts meanwhile. */
const DAY_SUM_AGE_MS = 15_000
const DAY_MS = 86_400_000
/** A pause lasts until two operators end it, and the limit of a day until midnight: callers need not hurry. */
const PAUSED_RETRY_S = 30
const DAY_RETRY_S = 600
/** An id has the time of a node's clock, which may be behind the database's: ids that are this much older are read too. */
const ID_MARGIN_MS = 600_000

type Known<Value> = { readonly at: number; readonly value: Promise<Value> }
type DaySum = Known<bigint> & { readonly day: number; added: bigint }
type Remembered = { controls?: Known<ReadonlyMap<string, RailControl>>; readonly days: Map<RailName, DaySum> }

/** Keyed by pool, because the requests and workers of a world share one pool on each node. */
const memory = new WeakMap<Pool, Remembered>()

function memoryOf(pool: Pool): Remembered {
  const known = memory.get(pool) ?? { days: new Map() }
  memory.set(pool, known)
  return known
}

const isFresh = (known: Known<unknown> | undefined, age_ms: number) =>
  known !== undefined && performance.now() - known.at < age_ms

/** The pause and the limits of a rail, at most CONTROL_AGE_MS old. Orders of one moment share a statement. */
export async function controlOf(world: Pick<World, 'db'>, rail: RailName): Promise<RailControl> {
  const pool = wholeOf(world.db)
  const known = memoryOf(pool)
  if (!isFresh(known.controls, CONTROL_AGE_MS)) {
    const value = selectControls(pool).then((rows) => new Map(rows.map((row) => [row.rail, row])))
    const read = { at: performance.now(), value }
    known.controls = read
    value.catch(() => {
      if (known.controls === read) delete known.controls
    })
  }
  return (await known.controls!.value).get(rail) ?? freeRail(rail)
}

export const isPaused = async (world: Pick<World, 'db'>, rail: RailName): Promise<boolean> =>
  (await controlOf(world, rail)).paused_at !== null

/** Makes this node read pauses and limits anew. */
function forgetControls(world: Pick<World, 'db'>): void {
  delete memoryOf(wholeOf(world.db)).controls
}

/**
 * Refuses an order on a paused rail, and one beyond the rail's limit of a day. Call it before the rail is asked. Returns the
 * limits of the rail; the most of one order is judged by the command that accepts the order.
 */
export async function assertRailAccepts(
  world: Pick<World, 'db' | 'clock'>,
  { rail, units }: { readonly rail: RailName; readonly units: bigint },
): Promise<RailLimits> {
  const control = await controlOf(world, rail)
  const { paused_at, day_most } = control
  if (paused_at !== null)
    refuse('rail_unavailable', {
      retry_after_seconds: PAUSED_RETRY_S,
      message: `The operator of this service has paused ${payments(rail)}. Nothing moved. Retry later with the same idempotency key.`,
    })
  if (day_most !== null && (await usedToday(world, rail)) + units > day_most)
    refuse('rail_unavailable', {
      retry_after_seconds: DAY_RETRY_S,
      message: `The limit of this service for ${payments(rail)} of a day is reached. Nothing moved. Send less, or retry after 00:00 UTC.`,
    })
  return control
}

/** Refuses an order above the rail's limit of one order. */
export function assertOrderFits(
  rail: RailName,
  { units, order_most }: { readonly units: bigint; readonly order_most: bigint | null },
): void {
  if (order_most === null || units <= order_most) return
  const most = formatMoney(money(assetOfRail(rail), order_most))
  refuse('amount_too_large', {
    param: 'amount',
    message: `One of the ${payments(rail)} may be ${most} at most, without its fee. Send less.`,
  })
}

const payments = (rail: RailName) => (rail === 'pix' ? 'Pix payouts' : `transfers on ${rail}`)

async function usedToday(world: Pick<World, 'db' | 'clock'>, rail: RailName): Promise<bigint> {
  const sum = daySumOf(world, rail)
  return (await sum.value) + sum.added
}

function daySumOf(world: Pick<World, 'db' | 'clock'>, rail: RailName): DaySum {
  const pool = wholeOf(world.db)
  const { days } = memoryOf(pool)
  const day = Math.floor(world.clock.now() / DAY_MS) * DAY_MS
  const known = days.get(rail)
  if (known?.day === day && isFresh(known, DAY_SUM_AGE_MS)) return known
  const value = sumOrders(pool, rail, { since: new Date(day), first_id: timeOfId(day - ID_MARGIN_MS) })
  const read: DaySum = { at: performance.now(), value, day, added: 0n }
  days.set(rail, read)
  value.catch(() => days.get(rail) === read && days.delete(rail))
  return read
}

/** Adds an order that this node accepted to the sum of the day, if the node has one. */
export function countOrder(world: Pick<World, 'db'>, rail: RailName, units: bigint): void {
  const known = memoryOf(wholeOf(world.db)).days.get(rail)
  if (known) known.added += units
}

type Paused = { readonly control: RailControl; readonly changed: boolean }

/**
 * Pauses a rail. A rail that is paused stays as it is, with its first reason. The exception makes a person look; it is closed
 * when the rail is resumed.
 */
export async function pauseRail(
  world: Pick<World, 'db' | 'clock'>,
  { rail, by, reason, exception }: Pausing,
): Promise<Paused> {
  return transaction(world.db, async (tx) => {
    const before = await lockControl(tx, rail)
    if (exception) await recordException(tx, world.clock, exception)
    afterCommit(tx, () => forgetControls(world))
    if (before.paused_at !== null) return { control: before, changed: false }
    const control = await saveControl(tx, before, { changed_by: by, reason }, (paused_at) => ({
      ...before,
      paused_at,
      paused_by: by,
      paused_reason: reason,
    }))
    await recordException(tx, world.clock, {
      kind: 'rail_paused',
      rail,
      object_id: rail,
      partner_id: null,
      details: { paused_by: by, reason },
    })
    return { control, changed: true }
  })
}

export type Resuming = Pausing & {
  /** The proposal that two operators decided; null in the sandbox, where one person may resume. */
  readonly proposal_id: string | null
  /** The pause that the operators decided on; undefined: whichever there is. */
  readonly paused_at?: string
  /** When the resume was proposed: operators had looked at what was found before. Absent: now. */
  readonly proposed_at?: Date | undefined
}

/** Of chains, `findForeignNonces` (wallets.ts) judges it. */
function assertNoneSince(
  newest: { readonly object_id: string; readonly opened_at: Date } | undefined,
  proposed_at: Date,
): void {
  if (!newest || newest.opened_at < proposed_at) return
  refuse('not_possible', {
    message: `Payment ${newest.object_id}, which this database does not know, was found after this resume was proposed. Nothing was changed. Look up each payment that an open exception names: what it paid must not be paid again (docs/operate/custody.md). Then propose anew to resume the rail.`,
    details: { reason: 'foreign_transactions_found' },
  })
}

/**
 * Ends a pause. Replayed under the same proposal it changes nothing. `foreign`: transactions of the wallet that the database does
 * not know, which the operators accept by resuming (wallets.ts).
 */
export function resumeRail(
  { rail, by, reason, proposal_id, paused_at, proposed_at }: Resuming,
  foreign?: ForeignNonces,
): Command<{ readonly replayed: boolean }> {
  return {
    partner_id: '',
    locks: {
      rows: [{ source: controlRows, id: rail }, ...(foreign?.rows ?? [])],
      reads: [
        { source: newestForeign, id: rail },
        ...(proposal_id === null ? [] : [{ source: resumedRows, id: proposal_id }]),
      ],
    },
    decide(held): Decision<{ readonly replayed: boolean }> {
      if (proposal_id !== null && held.row(resumedRows, proposal_id)) return { result: { replayed: true } }
      const before = held.row(controlRows, rail) ?? { id: rail, ...freeRail(rail) }
      assertPaused(before, paused_at)
      if (rail === 'pix' && proposed_at) assertNoneSince(held.row(newestForeign, rail), proposed_at)
      const resumed = { paused_at: null, paused_by: null, paused_reason: null }
      const after = { ...before, ...resumed }
      return {
        carries_out: true,
        writes: [
          writeTo(endPauses, { id: rail }),
          writeTo(insertRailChanges, {
            rail,
            changed_at: held.now,
            changed_by: by,
            before: JSON.stringify(controlFacts(before)),
            after: JSON.stringify(controlFacts(after)),
            reason,
            proposal_id,
          }),
          writeTo(closePauseExceptions, {
            rail,
            looked_at: proposed_at ?? held.now,
            closed_at: held.now,
            closed_by: by,
            closed_reason: `resumed: ${reason}`,
          }),
          ...(foreign?.accept(held, { reason, proposal_id }).writes ?? []),
        ],
        keeps: [
          keep(controlRows, { id: rail, ...resumed }),
          ...(proposal_id === null ? [] : [keep(resumedRows, { id: proposal_id })]),
        ],
        result: { replayed: false },
      }
    },
  }
}

/** Refuses to resume a rail that is not paused, or that was paused anew since operators looked at it. */
export function assertPaused({ rail, paused_at }: RailControl, expected?: string): Date {
  if (paused_at === null)
    return refuse('not_possible', {
      message: `The rail ${rail} is not paused.`,
      details: { reason: 'not_paused' },
    })
  if (expected !== undefined && paused_at.toISOString() !== expected)
    return refuse('not_possible', {
      message: `The rail ${rail} was resumed and paused again after this was proposed. Nothing was changed. Reject the proposal, and look at the new reason.`,
      details: { reason: 'paused_since' },
    })
  return paused_at
}

/** Sets the limits that `change` names; null removes one. They apply to orders from now on. */
export async function setRailLimits(
  world: Pick<World, 'db'>,
  { rail, by, reason, change }: Pausing & { readonly change: Partial<RailLimits> },
): Promise<RailControl> {
  const figures = Object.entries(change) as [keyof RailLimits, bigint | null][]
  assert(figures.length > 0, 'a change names at least one limit')
  for (const [name, figure] of figures)
    assert(figure === null || (figure >= 0n && figure <= railLimitMost[name]), 'a limit is an amount')
  return transaction(world.db, async (tx) => {
    const before = await lockControl(tx, rail)
    const after = { ...before, ...change }
    if (after.sweep_from !== null && after.sweep_fee_max === null)
      refuse('invalid_request', {
        param: 'sweep_fee_max',
        message: 'A sweep must have a highest cost: set sweep_fee_max together with sweep_from.',
      })
    const control = await saveControl(tx, before, { changed_by: by, reason }, () => after)
    afterCommit(tx, () => forgetControls(world))
    return control
  })
}
