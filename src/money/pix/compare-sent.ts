import type { ShouldContinue } from '../../db/chore.ts'
import type { Db } from '../../db/pool.ts'
import type { PixAccount, SentPix, UnreadEntry } from '../../rails/pix/rail.ts'
import { openUnreadReport } from '../../records/desk/unread-entries.ts'
import { type Exception, exceptionsAbout, recordException } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { pauseRail } from '../custody/controls.ts'
import { hurryNoticed, payoutIdOf } from './notices.ts'
import { bookReturnsOf } from './returns.ts'
import { storedReturns } from './returns-store.ts'
import { RAIL } from './settle.ts'
import { payoutById } from './store.ts'

/**
 * Compares the payments that the provider lists with the payouts of the database. A payment under an id of this service that the database
 * does not know means that the database lacks payouts, such as after a restore: the rail is paused, because partners would order the lost
 * payouts again. Operators who resume the rail accept the payments that an exception named before.
 */
/** The list of a day is read by the hour. */
const SLICE_MS = 3_600_000
const SLICES = 24
/** Every run reads this many of the newest hours. The other hours are read once every six hours. */
const NEWEST = 2
const AGAIN_MS = 21_600_000
const BATCH = 500
/** Unknown payments that are reported at once; later runs report the others. */
const UNKNOWN_MOST = 50

type Known = {
  readonly id: string
  readonly partner_id: string
  readonly status: string
  readonly amount: bigint
  readonly end_to_end_id: string | null
}

type Ours = SentPix & { readonly send_id: string; readonly payout_id: string }

/**
 * Compares the list of the last day, the newest slice first. A day may have more payments than one run can read: the next run goes on
 * where this one ended.
 */
export function openCompareSent(world: World): (db: Db, shouldContinue: ShouldContinue) => Promise<void> {
  const compared_at = new Map<number, number>()
  return async (db, shouldContinue) => {
    const now = world.clock.now()
    const newest = Math.floor(now / SLICE_MS)
    for (const slice of compared_at.keys()) if (slice <= newest - SLICES) compared_at.delete(slice)
    let failure: unknown
    for (let slice = newest; slice > newest - SLICES; slice--) {
      const is_due = now - (compared_at.get(slice) ?? -Infinity) >= AGAIN_MS
      if (slice <= newest - NEWEST && !is_due) continue
      const window = {
        from: new Date(slice * SLICE_MS),
        to: new Date(Math.min(now, (slice + 1) * SLICE_MS)),
      }
      // An hour whose list cannot be read keeps no other hour from being compared.
      const is_done = await compareSent(world, db, { ...window, shouldContinue }).catch((error: unknown) => {
        failure ??= error
        return undefined
      })
      if (is_done) compared_at.set(slice, now)
      else if (!shouldContinue()) break
    }
    if (failure !== undefined) throw failure
  }
}

type Window = { readonly from: Date; readonly to: Date; readonly shouldContinue: ShouldContinue }

/** `db` is the connection that the chore holds. False: the run ended before the list did, or before all unknown payments were named. */
export async function compareSent(
  world: World,
  db: Db,
  { from, to, shouldContinue }: Window,
): Promise<boolean> {
  const { account } = world.pix
  if (!account) return true
  const unread = openUnreadReport(db, world.clock, { list: 'sent', from, to })
  let are_named = true
  const reader: ListReader = {
    async take(batch) {
      are_named = (await compareBatch(world, db, batch)) && are_named
    },
    async unread(entry) {
      await unread.add(entry)
      await compareUnread(world, db, entry)
    },
  }
  const is_whole = await readSent(account, { from, to, shouldContinue }, reader)
  await unread.end()
  return is_whole && are_named
}

type ListReader = {
  take(batch: readonly Ours[]): Promise<void>
  /** An entry that cannot be read. */
  unread(entry: UnreadEntry): Promise<void>
}

/**
 * Reads the payments under ids of this service, and hands them on in batches. False: the run ended before the list did. What was read
 * before an error is handed on, too: an unknown payment must pause the rail although a later page cannot be read.
 */
export async function readSent(
  account: PixAccount,
  { from, to, shouldContinue }: Window,
  { take, unread }: ListReader,
): Promise<boolean> {
  let batch: Ours[] = []
  let is_whole = true
  const hand = async () => {
    const read = batch
    batch = []
    await take(read)
  }
  try {
    for await (const sent of account.sent(from, to)) {
      is_whole = shouldContinue()
      if (!is_whole) break
      if ('is_unread' in sent) {
        await unread(sent)
        continue
      }
      const { send_id } = sent
      const payout_id = send_id === undefined ? undefined : payoutIdOf(send_id)
      // Leaves out payments that were made by hand, or by another program.
      if (send_id === undefined || payout_id === undefined) continue
      batch.push({ ...sent, send_id, payout_id })
      if (batch.length >= BATCH) await hand()
    }
  } finally {
    await hand()
  }
  return is_whole
}

/** An unreadable entry is not compared. If its id can be read, it tells whether the database knows the payout. */
async function compareUnread(world: World, db: Db, { send_id }: UnreadEntry): Promise<void> {
  const payout_id = send_id === undefined ? undefined : payoutIdOf(send_id)
  if (send_id === undefined || payout_id === undefined) return
  if (!(await knownPayouts(db, [payout_id])).has(payout_id)) await reportUnknown(world, db, [{ send_id }])
}

/** False: not all unknown payments were named. */
async function compareBatch(world: World, db: Db, batch: readonly Ours[]): Promise<boolean> {
  if (batch.length === 0) return true
  const known = await knownPayouts(
    db,
    batch.map(({ payout_id }) => payout_id),
  )
  for (const sent of batch) {
    const payout = known.get(sent.payout_id)
    if (payout) await compareOne(world, db, payout, sent)
  }
  // Before the returns: unknown payments must pause the rail even if booking a return fails.
  const are_named = await reportUnknown(
    world,
    db,
    batch.filter(({ payout_id }) => !known.has(payout_id)),
  )
  await bookListedReturns(world, db, batch)
  return are_named
}

/** Books the returns that the provider lists and that are not booked yet. */
export async function bookListedReturns(world: World, db: Db, batch: readonly Ours[]): Promise<void> {
  const returned = batch.filter(({ returns = [] }) => returns.some(({ state }) => state !== 'open'))
  if (returned.length === 0) return
  const ids = returned.flatMap(({ returns = [] }) => returns.map(({ id }) => id))
  const stored = await storedReturns(db, ids)
  for (const { payout_id, returns = [] } of returned) {
    // A refusal matters only for a return that is stored.
    const news = returns.filter(({ id, state }) => stored.has(id) === (state === 'refused'))
    const payout = news.length === 0 ? undefined : await payoutById(db, payout_id)
    if (payout) await bookReturnsOf(world, payout, news)
  }
}

async function knownPayouts(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, Known>> {
  const { rows } = await db.query<Known>({
    name: 'payouts of a list',
    text: 'SELECT id, partner_id, status, amount, end_to_end_id FROM payouts WHERE id = ANY($1::text[])',
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** An open payout is asked about now. A final one must have ended as the provider lists it. */
async function compareOne({ clock }: World, db: Db, payout: Known, sent: Ours): Promise<void> {
  if (sent.state === 'open') return
  const { send_id, state, amount, end_to_end_id } = sent
  if (payout.status !== 'completed' && payout.status !== 'failed')
    return void (await hurryNoticed(db, [{ send_id }]))
  const agrees =
    state === 'refused'
      ? payout.status === 'failed'
      : payout.status === 'completed' && payout.end_to_end_id === end_to_end_id && payout.amount === amount
  const kind = state === 'settled' && payout.status === 'failed' ? 'late_success' : 'contradiction'
  if (agrees || (await isNamed(db, payout.id, kind))) return
  const { id: object_id, partner_id, status } = payout
  const listed = { state, amount, ...(end_to_end_id === undefined ? {} : { end_to_end_id }) }
  await recordException(db, clock, {
    ...{ kind, rail: RAIL, object_id, partner_id, details: { booked: status, rail_says: listed } },
  })
}

/** Whether the object has an exception of this kind, open or closed. */
const isNamed = async (db: Db, object_id: string, asked: Exception['kind']): Promise<boolean> =>
  (await exceptionsAbout(db, object_id)).some(({ kind }) => kind === asked)

type UnknownSent = Pick<Ours, 'send_id'> & Partial<Ours>

/** Names a payment and pauses the rail in one transaction: a payment that is named pauses the rail no more. False: there are more. */
async function reportUnknown(world: World, db: Db, unknown: readonly UnknownSent[]): Promise<boolean> {
  let named = 0
  for (const { send_id, amount, state, end_to_end_id } of unknown) {
    if (await isNamed(db, send_id, 'foreign_transactions')) continue
    if (++named > UNKNOWN_MOST) return false
    const problem = `The Pix provider has payment ${send_id}, which this database does not know. The database may be restored from a backup, or another installation uses the account.`
    const exception = {
      kind: 'foreign_transactions',
      rail: RAIL,
      object_id: send_id,
      partner_id: null,
      details: { problem, amount, state, end_to_end_id },
    } as const
    await pauseRail(world, { rail: RAIL, by: 'service', reason: problem, exception })
  }
  return true
}
