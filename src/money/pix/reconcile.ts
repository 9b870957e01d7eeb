import { takeStep } from '../../db/chore.ts'
import type { Db } from '../../db/pool.ts'
import type { World } from '../../world.ts'
import { noteDifference } from '../custody/reconcile.ts'
import { newestPixReconciliation, type PixReconciliation, storeReconciliation } from '../custody/store.ts'
import { pixOrderOf } from './order.ts'
import { RAIL } from './settle.ts'
import { type Payout, payoutColumns } from './store.ts'

/**
 * Compares the books with the account at the Pix provider, to the centavo (decision 0069):
 *
 *   difference = outside − booked + on_its_way
 *
 * `outside` is what the account holds, available and blocked; `booked` is −external:pix in the ledger. `on_its_way` is the sum of payouts
 * that the provider has paid and that are not booked, and of returns whose debit waits, less the payments that came in and are not
 * credited. The account tells no moment: the ledger is read before and after it. Whatever was booked between, and payouts whose end the
 * provider does not tell, may or may not be in the balance: they are the bounds within which a difference counts as none.
 */
const ASKED_MOST = 200
const ASKED_AT_ONCE = 10
/** The list is read this far back from the stored position, because payments may show late in it. */
const LIST_OVERLAP_MS = 3_600_000

export async function reconcilePixOn(db: Db, world: World): Promise<PixReconciliation | undefined> {
  const { account, provider } = world.pix
  if (!account) return undefined
  const paid_before = await askWhichArePaid(world, await openPayoutsOf(db))
  const before_it = await bookedOnPix(db)
  const { available, blocked } = await account.balance()
  const unread = await sumUnread(world, db)
  const read = await takeStep(db, async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
    return {
      ...(await bookedOnPix(tx)),
      ...(await waitingOnPix(tx)),
      open: await openPayoutsOf(tx),
    }
  })
  const paid = read.open.filter(({ id }) => paid_before.has(id))
  const unsure = read.open.filter(({ id }) => !paid_before.has(id))
  const outside = available + blocked
  const known = sumOf(paid) + read.uncovered - read.uncredited - unread
  const booked = read.came_in - read.went_out
  // The balance may or may not include unsure payouts and what was booked while it was read.
  const least = -(sumOf(unsure) + read.came_in - before_it.came_in)
  const most = read.went_out - before_it.went_out
  const exact = outside - booked + known
  const difference = exact >= least && exact <= most ? 0n : exact
  // What is within these bounds counts as on its way, as far as it explains the balance.
  const on_its_way = known - (exact - difference)
  const made: PixReconciliation = {
    ...{ id: world.newId('reconciliation'), rail: RAIL, asset: 'BRL', wallet: provider },
    ...{ block_height: null, block_hash: null, outside, booked, on_its_way },
    difference,
    parts: {
      not_booked_yet: paid.map(({ id }) => id),
      unsure: unsure.slice(0, ASKED_MOST).map(({ id }) => id),
      least: least.toString(),
      most: most.toString(),
      uncredited: (read.uncredited + unread).toString(),
      uncovered: read.uncovered.toString(),
    },
    at: new Date(world.clock.now()),
  }
  const before = await newestPixReconciliation(db)
  await storeReconciliation(db, made)
  await noteDifference(world, db, made, before)
  return made
}

export async function reconcilePix(world: World): Promise<PixReconciliation | undefined> {
  const client = await world.db.connect()
  try {
    return await reconcilePixOn(client, world)
  } finally {
    client.release()
  }
}

/** What went out of the account, and what came in, by the ledger. */
async function bookedOnPix(tx: Db): Promise<{ readonly went_out: bigint; readonly came_in: bigint }> {
  const { rows } = await tx.query({
    name: 'booked on pix',
    text: `SELECT coalesce(sum(amount) FILTER (WHERE amount > 0), 0) AS went_out, -coalesce(sum(amount) FILTER (WHERE amount < 0), 0) AS came_in
      FROM entries WHERE account = 'external:pix' AND asset = 'BRL'`,
  })
  return { went_out: BigInt(rows[0].went_out), came_in: BigInt(rows[0].came_in) }
}

/** Payments that came in and were neither credited nor given back, and returns whose debit waits. */
async function waitingOnPix(tx: Db) {
  const { rows } = await tx.query({
    name: 'waiting on pix',
    text: `SELECT (SELECT coalesce(sum(amount - amount_returned), 0) FROM pix_received r WHERE deposit_id IS NULL
        AND NOT EXISTS (SELECT FROM claims c WHERE c.scope = 'operator' AND c.operation = 'credit' AND c.key = r.end_to_end_id)) AS uncredited,
      (SELECT coalesce(sum(amount), 0) FROM pix_returns WHERE state = 'uncovered') AS uncovered`,
  })
  return { uncredited: BigInt(rows[0].uncredited), uncovered: BigInt(rows[0].uncovered) }
}

async function openPayoutsOf(db: Db): Promise<readonly Payout[]> {
  const { rows } = await db.query({
    name: 'open payouts to compare',
    text: `SELECT ${payoutColumns} FROM payouts WHERE id IN (SELECT id FROM open_payouts) ORDER BY id`,
  })
  return rows
}

/** Asks before the balance is read, so that what is paid has left the account by then. Only the oldest open payouts are asked about. */
async function askWhichArePaid(world: World, open: readonly Payout[]): Promise<ReadonlySet<string>> {
  const paid = new Set<string>()
  for (let i = 0; i < Math.min(open.length, ASKED_MOST); i += ASKED_AT_ONCE) {
    const asked = open.slice(i, Math.min(i + ASKED_AT_ONCE, ASKED_MOST))
    const unknown = () => ({ kind: 'unknown' }) as const
    const said = await Promise.all(asked.map((payout) => world.pix.status(pixOrderOf(payout)).catch(unknown)))
    said.forEach(({ kind }, n) => {
      if (kind === 'settled') paid.add(asked[n]!.id)
    })
  }
  return paid
}

/** Payments that the provider lists and that no worker has read yet. */
async function sumUnread({ pix, clock }: World, db: Db): Promise<bigint> {
  const { charges, provider } = pix
  if (!charges || charges.is_played) return 0n
  const { rows } = await db.query('SELECT begun_at, read_until FROM pix_received_scan WHERE provider = $1', [
    provider,
  ])
  const [scan] = rows
  // The list was never read, perhaps for lack of the right to it: what came in is a difference, and payouts are compared all the same.
  if (!scan || scan.read_until <= scan.begun_at) return 0n
  const from = new Date(Math.max(scan.begun_at.getTime(), scan.read_until.getTime() - LIST_OVERLAP_MS))
  const listed = new Map<string, bigint>()
  for await (const seen of charges.received({ from, to: new Date(clock.now()) })) {
    // A payment that cannot be read is a difference, until it can be.
    if ('is_unread' in seen) continue
    const { end_to_end_id, amount, returns } = seen
    listed.set(end_to_end_id, amount - sumOf(returns.filter(({ state }) => state === 'settled')))
  }
  const { rows: stored } = await db.query<{ end_to_end_id: string }>(
    'SELECT end_to_end_id FROM pix_received WHERE end_to_end_id = ANY($1::text[])',
    [[...listed.keys()]],
  )
  for (const { end_to_end_id } of stored) listed.delete(end_to_end_id)
  return [...listed.values()].reduce((sum, amount) => sum + amount, 0n)
}

const sumOf = (rows: readonly { readonly amount: bigint }[]): bigint =>
  rows.reduce((sum, { amount }) => sum + amount, 0n)
