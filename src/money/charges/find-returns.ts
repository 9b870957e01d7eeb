import type { Logger } from 'pino'
import type { ShouldContinue } from '../../db/chore.ts'
import type { Db } from '../../db/pool.ts'
import { openUnreadReport } from '../../records/desk/unread-entries.ts'
import type { World } from '../../world.ts'
import { bookListedReturns, readSent } from '../pix/compare-sent.ts'
import { type ListPart, openParts } from '../pix/list-parts.ts'
import { bookReturnsOf } from '../pix/returns.ts'
import {
  checkReturnsAgain,
  endReturnCheck,
  type ReturnCheck,
  returnScanOf,
  storeReturnScan,
  takeReturnChecks,
} from '../pix/returns-store.ts'
import { payoutByEndToEndId, payoutById } from '../pix/store.ts'
import { bookReceivedReturns } from './deposit-returns.ts'

/** A Pix payment can be returned for up to 90 days. */
const RETURNS_MS = 90 * 86_400_000
const PASS_EVERY_MS = 86_400_000
/** The clocks of two nodes may differ by this much without a new pass. */
const CLOCKS_DIFFER_MS = 60_000
/** Longest part of a list that is read at once. */
const PART_MOST_MS = 86_400_000

/** A list of the provider. `read` returns false if the run ended before the part did. */
type List = { readonly name: string; read(db: Db, part: ListPart): Promise<boolean> }

/**
 * Reads the provider's lists of the last 90 days, at most once a day, for returns that no notice announced. One list has the payments
 * that were sent, the other one those that were received.
 */
export function openReturnPass(world: World): (db: Db, shouldContinue: ShouldContinue) => Promise<void> {
  const { account, charges } = world.pix
  const sent: List | undefined = account && {
    name: 'sent',
    async read(db, part) {
      const unread = openUnreadReport(db, world.clock, { list: 'sent', ...part })
      const take = (batch: Parameters<typeof bookListedReturns>[2]) => bookListedReturns(world, db, batch)
      const is_whole = await readSent(account, part, { take, unread: unread.add })
      await unread.end()
      return is_whole
    },
  }
  const received: List | undefined = charges && {
    name: 'received',
    async read(db, { from, to, shouldContinue }) {
      const unread = openUnreadReport(db, world.clock, { list: 'returned', from, to })
      for await (const seen of charges.received({ from, to, returned: true })) {
        if (!shouldContinue()) return false
        if ('is_unread' in seen) await unread.add(seen)
        else await bookReceivedReturns(world, seen)
      }
      await unread.end()
      return true
    },
  }
  const passes = [sent, received].flatMap((list) => (list ? [openPass(world, list)] : []))
  return async (db, shouldContinue) => {
    const in_order = [...passes]
    // A long list may use up the whole run: the next run begins with the other list.
    passes.reverse()
    for (const pass of in_order) await pass(db, shouldContinue)
  }
}

/**
 * The list is read in parts, the oldest first; the position is stored after each part, and the next run goes on from there. A pass that takes
 * longer than a day is read to its end before the next pass begins: otherwise the newest days would never be read.
 */
function openPass(
  world: World,
  { name, read }: List,
): (db: Db, shouldContinue: ShouldContinue) => Promise<void> {
  const readParts = openParts(PART_MOST_MS)
  return async (db, shouldContinue) => {
    const now = world.clock.now()
    const stored = await returnScanOf(db, name)
    const is_over = stored !== undefined && stored.read_until >= stored.began_at
    // A node whose clock was ahead may have begun a pass in the future.
    const is_ahead = stored !== undefined && stored.began_at.getTime() > now + CLOCKS_DIFFER_MS
    const is_new = !stored || is_ahead || (is_over && now - stored.began_at.getTime() >= PASS_EVERY_MS)
    const began_at = is_new ? new Date(now) : stored.began_at
    const to = began_at.getTime()
    const from = is_new ? to - RETURNS_MS : stored.read_until.getTime()
    await readParts(
      { from, to, shouldContinue },
      {
        read: (part) => read(db, part),
        onRead: (read_until) => storeReturnScan(db, name, { began_at, read_until }),
      },
    )
  }
}

const CHECKED_AT_ONCE = 20
const AGAIN_LEAST_MS = 30_000
const AGAIN_MOST_MS = 3_600_000
/** Tries per payment. Returns that the provider shows later are found by the daily pass. */
const TRIES = 40

/** Asks the provider about the payments that notices named. A notice is only a hint: amounts and states come from the answer. */
export async function askAboutReturns(
  world: World,
  db: Db,
  { log, shouldContinue }: { readonly log: Logger; readonly shouldContinue: ShouldContinue },
): Promise<void> {
  while (shouldContinue()) {
    const checks = await takeReturnChecks(db, CHECKED_AT_ONCE)
    for (const check of checks) {
      const is_done = await askAboutOne(world, db, check).catch((error: unknown) => {
        log.warn(
          { err: error, end_to_end_id: check.end_to_end_id },
          'pix: what came back of a payment is not known; the provider is asked again',
        )
        return false
      })
      const wait_ms = Math.min(AGAIN_MOST_MS, AGAIN_LEAST_MS * 2 ** Math.min(check.tries - 1, 10))
      if (is_done || check.tries >= TRIES) await endReturnCheck(db, check)
      else await checkReturnsAgain(db, check, wait_ms)
    }
    if (checks.length < CHECKED_AT_ONCE) return
  }
}

async function askAboutOne(world: World, db: Db, { end_to_end_id }: ReturnCheck): Promise<boolean> {
  const payout_id = await payoutByEndToEndId(db, end_to_end_id)
  if (payout_id === undefined) return askAboutReceived(world, end_to_end_id)
  const payout = await payoutById(db, payout_id)
  const { returnsOf } = world.pix
  if (!payout || !returnsOf) return true
  return bookReturnsOf(world, payout, await returnsOf(end_to_end_id))
}

async function askAboutReceived(world: World, end_to_end_id: string): Promise<boolean> {
  const seen = await world.pix.charges?.payment(end_to_end_id)
  return seen ? bookReceivedReturns(world, seen) : true
}
