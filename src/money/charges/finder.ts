import type { Logger } from 'pino'
import type { ShouldContinue } from '../../db/chore.ts'
import type { Db } from '../../db/pool.ts'
import type { NoticedPix, ReceivedPix } from '../../rails/pix/rail.ts'
import { closeRead, openUnreadReport, unreadWindows } from '../../records/desk/unread-entries.ts'
import type { World } from '../../world.ts'
import { type ListPart, openParts } from '../pix/list-parts.ts'
import { bookReceivedReturns } from './deposit-returns.ts'
import { noteReceived } from './received.ts'
import { changeCharge } from './states.ts'
import {
  type Charge,
  endingCharges,
  moveReceivedScan,
  type Received,
  type ReceivedScan,
  receivedScan,
  unknownReceived,
  waitingReceived,
} from './store.ts'
import { chargeIdOf } from './txid.ts'

/** Each run reads this much of the list again: a payment may show late in it. */
const OVERLAP_MS = 3_600_000
/** Beyond the overlap at most this much of the list is read at once, such as after a long outage. */
const SLICE_MS = 3_600_000
export const FIND_RECEIVED_MS = 30_000
export const END_CHARGES_MS = 10_000
const AT_ONCE = 100

type Find = (db: Db, shouldContinue?: ShouldContinue) => Promise<void>
const always = () => true

/**
 * Finds the payments that came into the provider's account, from a stored position on. The position moves once a part of the list is stored
 * completely, so whatever happens, each payment is read at least once, and noting it again changes nothing. A run that ends before the
 * list does leaves the rest to the next run of this node.
 */
export function openFindReceived(world: World): Find {
  const readParts = openParts(OVERLAP_MS + SLICE_MS)
  let reached: number | undefined
  return async (db, shouldContinue = always) => {
    const { charges, provider } = world.pix
    if (!charges || charges.is_played) return
    const scan = await receivedScan(db, provider)
    const now = (await databaseTime(db)).getTime()
    // A stored position in the future, left by a clock that ran ahead, is not moved back; the newest hour is read all the same.
    const position = Math.min(scan.read_until.getTime(), now - 1)
    const from = Math.max(position - OVERLAP_MS, reached ?? -Infinity)
    await readParts(
      { from, to: now, shouldContinue },
      {
        read: async (part) => (await readReceived(world, db, { ...part, scan })) !== undefined,
        async onRead(until) {
          reached = until.getTime()
          if (reached > position) await moveReceivedScan(db, provider, until)
        },
      },
    )
    // The next run reads the overlap again.
    if (reached === now) reached = undefined
  }
}

/** The last 24 hours are read again hour by hour, each hour once every six hours. */
const AGAIN_PARTS = 24
const AGAIN_MS = 21_600_000
export const FIND_AGAIN_MS = 600_000

/**
 * Reads the last day again, for payments that the list showed later than the overlap reaches, or that have the time of a clock that is
 * hours behind, and the hours with entries that could not be read. The next run goes on where this one ended.
 */
export function openFindAgain(world: World): Find {
  const read_at = new Map<string, number>()
  const readWindow = openWindowReader(world)
  return async (db, shouldContinue = always) => {
    const { charges, provider } = world.pix
    if (!charges || charges.is_played) return
    const scan = await receivedScan(db, provider)
    const now = (await databaseTime(db)).getTime()
    const newest = Math.floor(scan.read_until.getTime() / SLICE_MS) - 1
    const hours = Array.from({ length: AGAIN_PARTS }, (_, index) => ({
      from: new Date((newest - index) * SLICE_MS),
      to: new Date((newest - index + 1) * SLICE_MS),
    }))
    // Hours with unreadable entries are read until the entries can be read, or an operator closes their exceptions.
    const windows = [...hours, ...(await unreadWindows(db, 'received'))]
    const names = new Set(windows.map(nameOfWindow))
    for (const name of read_at.keys()) if (!names.has(name)) read_at.delete(name)
    for (const window of windows) {
      if (now - (read_at.get(nameOfWindow(window)) ?? -Infinity) < AGAIN_MS) continue
      const unread = await readWindow(db, { ...window, scan, shouldContinue })
      if (!unread) return
      await closeRead(db, { list: 'received', ...window }, unread)
      read_at.set(nameOfWindow(window), now)
    }
  }
}

type Reading = ListPart & { readonly scan: ReceivedScan }

const nameOfWindow = ({ from, to }: Pick<Reading, 'from' | 'to'>) => `${from.getTime()} ${to.getTime()}`

/** Reads windows whole, in several runs if need be. Returns the names of entries that cannot be read; undefined: a run more is needed. */
function openWindowReader(world: World) {
  const readParts = openParts(SLICE_MS)
  const under_way = new Map<string, { reached: number; readonly unread: Set<string> }>()
  return async (db: Db, { from, to, ...reading }: Reading): Promise<ReadonlySet<string> | undefined> => {
    const name = nameOfWindow({ from, to })
    const at = under_way.get(name) ?? { reached: from.getTime(), unread: new Set() }
    under_way.set(name, at)
    await readParts(
      { from: at.reached, to: to.getTime(), shouldContinue: reading.shouldContinue },
      {
        async read(part) {
          const unread = await readReceived(world, db, { ...reading, ...part })
          for (const one of unread ?? []) at.unread.add(one)
          return unread !== undefined
        },
        onRead(until) {
          at.reached = until.getTime()
        },
      },
    )
    if (at.reached < to.getTime()) return undefined
    under_way.delete(name)
    return at.unread
  }
}

/** Notes all payments of a part. Returns the names under which unreadable entries are reported; undefined if the time is used up. */
async function readReceived(
  world: World,
  db: Db,
  { from, to, scan, shouldContinue }: Reading,
): Promise<ReadonlySet<string> | undefined> {
  const unread = openUnreadReport(db, world.clock, { list: 'received', from, to })
  for await (const part of inParts(world.pix.charges!.received({ from, to }))) {
    const seen: ReceivedPix[] = []
    for (const one of part) {
      if ('is_unread' in one) await unread.add(one)
      else if (counts(scan, one)) seen.push(one)
    }
    if (!(await noteNew(world, db, seen, shouldContinue))) return undefined
    // A full part may not be the last one: if the time is used up, the window counts as not read to its end.
    if (part.length === AT_ONCE && !shouldContinue()) return undefined
  }
  return unread.end()
}

/** Leaves out payments from before the first reading, which operators booked with the account's balance, unless they pay a charge. */
const counts = ({ begun_at }: Pick<ReceivedScan, 'begun_at'>, { paid_at, txid }: ReceivedPix): boolean =>
  paid_at >= begun_at || chargeIdOf(txid) !== undefined

/** Groups entries into parts. If the list fails, the entries read so far are handed on before the error is thrown. */
async function* inParts<Entry>(list: AsyncIterable<Entry>): AsyncGenerator<Entry[]> {
  let part: Entry[] = []
  let broke: { readonly error: unknown } | undefined
  try {
    for await (const seen of list) {
      part.push(seen)
      if (part.length < AT_ONCE) continue
      yield part
      part = []
    }
  } catch (error) {
    broke = { error }
  }
  yield part
  if (broke) throw broke.error
}

/** Notes the payments that are not stored yet, and the returns of all of them. False: the time is used up. */
async function noteNew(
  world: World,
  db: Db,
  seen: readonly ReceivedPix[],
  shouldContinue: () => boolean,
): Promise<boolean> {
  const unknown = new Set(
    await unknownReceived(
      db,
      seen.map(({ end_to_end_id }) => end_to_end_id),
    ),
  )
  for (const one of seen) {
    if (!shouldContinue()) return false
    if (unknown.has(one.end_to_end_id)) await noteReceived(world, one)
    if (one.returns.length > 0) await bookReceivedReturns(world, one)
  }
  return true
}

async function databaseTime(db: Db): Promise<Date> {
  const { rows } = await db.query('SELECT clock_timestamp()::timestamptz(3) AS now')
  return rows[0].now
}

/** Ends charges whose time is over, and credits payments for which there is room by now. */
export async function endCharges(
  world: World,
  db: Db,
  shouldContinue: () => boolean = () => true,
): Promise<void> {
  const { charges, provider } = world.pix
  // What was paid in time is credited before the charge expires.
  const read_until = charges && !charges.is_played ? (await receivedScan(db, provider)).read_until : undefined
  let broke: { readonly error: unknown } | undefined
  for (const waiting of await waitingReceived(db, AT_ONCE)) {
    if (!shouldContinue()) return
    // If the provider does not answer about one payment, the charges are ended all the same; the error is thrown last.
    await creditWaiting(world, waiting).catch((error: unknown) => {
      broke ??= { error }
    })
  }
  for (let ended = AT_ONCE; ended === AT_ONCE; ) {
    const ending = await endingCharges(db, read_until, AT_ONCE)
    for (const charge of ending) {
      if (!shouldContinue()) return
      await endCharge(world, charge)
    }
    ended = ending.length
  }
  if (broke) throw broke.error
}

function endCharge(world: World, charge: Charge): Promise<Charge> {
  const unreachable = { to: 'failed', failure_code: 'provider_unreachable', rail_code: null } as const
  const change = charge.status === 'pending' ? unreachable : ({ to: 'expired' } as const)
  return world.commit(changeCharge(world, charge, change))
}

/** Asks the provider again before the credit, because a stored row alone proves no payment. The sandbox has nobody to ask. */
async function creditWaiting(world: World, waiting: Received): Promise<void> {
  const { charges } = world.pix
  if (!charges) return
  const seen = charges.is_played ? seenAs(waiting) : await charges.payment(waiting.end_to_end_id)
  if (!seen) return
  await noteReceived(world, seen)
  // If a part of the payment was returned while it waited, that part is debited with the credit.
  if (seen.returns.length > 0) await bookReceivedReturns(world, seen)
}

const seenAs = ({ end_to_end_id, txid, amount, paid_at }: Received) => ({
  end_to_end_id,
  ...(txid === null ? {} : { txid }),
  amount,
  paid_at,
  returns: [],
})

/**
 * Asks the provider about the payments that a notice names and that are not stored yet. The notice is only a hint. Payments about which
 * the provider does not answer are found by the next read of its list.
 */
export async function hurryReceived(
  world: World,
  log: Pick<Logger, 'warn'>,
  noticed: readonly NoticedPix[],
): Promise<void> {
  const { charges, provider } = world.pix
  const named = noticed.flatMap(({ send_id, end_to_end_id }) =>
    send_id === undefined && end_to_end_id !== undefined ? [end_to_end_id] : [],
  )
  if (!charges || named.length === 0) return
  for (const end_to_end_id of await unknownReceived(world.db, named)) {
    try {
      const seen = await charges.payment(end_to_end_id)
      // A notice about a return may name a payment from before the first reading.
      if (!seen || !counts(await receivedScan(world.db, provider), seen)) continue
      await noteReceived(world, seen)
      await bookReceivedReturns(world, seen)
    } catch (error) {
      log.warn(
        { err: error, end_to_end_id },
        'charges: a payment was not read; the next read of the provider’s list finds it',
      )
    }
  }
}
