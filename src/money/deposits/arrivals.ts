import type { Logger } from 'pino'
import { crashPoint } from '../../core/crash-point.ts'
import { formatMoney, money, UNITS_MAX } from '../../core/money.ts'
import { type Network, networks } from '../../core/networks.ts'
import type { Db } from '../../db/pool.ts'
import { orNone } from '../../rails/chain/check.ts'
import { canonicalAddress } from '../../rails/chain/deposit-addresses.ts'
import type { KnownBlock, Payment, PaymentSource, TransactionSeen } from '../../rails/chain/rail.ts'
import {
  closeOpenException,
  exceptionsAbout,
  recordException,
  recordExceptionDaily,
} from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { pauseRail } from '../custody/controls.ts'
import { ourAddresses } from './addresses-store.ts'
import { noteGone, noteSighting } from './sightings.ts'
import { type Deposit, depositsPaidBy, takeDueDeposits } from './store.ts'

/** Follows transactions that pay deposit addresses: notes what a quorum of endpoints shows of them, and asks again while they are open. */
export type Arrivals = {
  readonly world: World
  readonly network: Network
  readonly source: Pick<PaymentSource, 'transaction' | 'watched_depth'>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

/** `known`: the blocks in which the transaction was seen. Endpoints that differ name several. */
export type AskedTransaction = { readonly tx_hash: string; readonly known: readonly KnownBlock[] }

export type Unclear = { readonly tx_hash: string; readonly contradiction: boolean }

const ASKED_AT_ONCE = 20

/** Asks about transactions and notes what they pay. Returns those about which the endpoints do not agree: nothing is noted of them. */
export async function noteTransactions(
  db: Db,
  arrivals: Arrivals,
  asked: readonly AskedTransaction[],
): Promise<readonly Unclear[]> {
  const unclear: Unclear[] = []
  for (let i = 0; i < asked.length; i += ASKED_AT_ONCE) {
    const some = asked.slice(i, i + ASKED_AT_ONCE)
    const found = await Promise.all(
      some.map(async ({ tx_hash, known }) => ({
        tx_hash,
        seen: await seenNow(arrivals, { tx_hash, known }),
      })),
    )
    for (const { tx_hash, seen } of found)
      if (seen.kind === 'unclear') unclear.push({ tx_hash, contradiction: seen.contradiction })
      else await noteTransaction(db, arrivals, tx_hash, seen)
  }
  return unclear
}

const NAMED_BLOCKS_MOST = 8

/**
 * If the endpoints do not answer about a transaction, it counts as unclear, and the others are noted all the same. A transaction counts as
 * absent only if it is so for each block that is known: a lying endpoint names a block that is not there, to hide a payment that another
 * endpoint shows in its true block.
 */
async function seenNow(
  { source }: Arrivals,
  { tx_hash, known: [first, ...others] }: AskedTransaction,
): Promise<TransactionSeen> {
  // Honest endpoints name one block, or two in a reorganisation. A liar with thousands would use up the run.
  if (others.length >= NAMED_BLOCKS_MOST) return { kind: 'unclear', contradiction: true }
  let seen: TransactionSeen | undefined
  for (const known of [first, ...others]) {
    seen = await orNone(() => source.transaction(tx_hash, known))
    if (!seen || seen.kind === 'mined' || seen.kind === 'unclear') break
  }
  return seen ?? { kind: 'unclear', contradiction: false }
}

async function noteTransaction(
  db: Db,
  arrivals: Arrivals,
  tx_hash: string,
  seen: Exclude<TransactionSeen, { kind: 'unclear' }>,
): Promise<void> {
  const stored = await depositsPaidBy(db, { network: arrivals.network, tx_hash })
  if (seen.kind === 'mined') return noteMined(db, arrivals, { tx_hash, seen, stored })
  const waiting = seen.kind === 'waiting' ? newestOfEach(stored) : []
  for (const deposit of stored)
    await (waiting.includes(deposit) ? noteUnmined(arrivals, deposit) : vanish(arrivals, deposit))
}

/** The first stored deposit of each output: the one that is not dropped, otherwise the newest. A reorganisation may leave several. */
const newestOfEach = (stored: readonly Deposit[]): Deposit[] =>
  stored.filter((deposit, n) => stored[n - 1]?.output_index !== deposit.output_index)

type Mined = {
  readonly tx_hash: string
  readonly seen: Extract<TransactionSeen, { kind: 'mined' }>
  readonly stored: readonly Deposit[]
}

/** Each log entry that pays a deposit address is a deposit. A stored deposit whose log entry is gone has vanished. */
async function noteMined(db: Db, arrivals: Arrivals, { tx_hash, seen, stored }: Mined): Promise<void> {
  const { world, network } = arrivals
  const { block_height, block_hash, depth, payments } = seen
  const paid = new Map(payments.map((payment) => [payment.output_index, payment]))
  for (const deposit of stored)
    if (isElsewhere(deposit, paid.get(deposit.output_index!))) await vanish(arrivals, deposit)
  const ours = await ourAddresses(db, network, [...new Set(payments.map(({ to }) => to))])
  // A stored deposit whose log entry pays another address or amount now is noted too: `noteSighting` decides what that means.
  const known = new Set(stored.map(({ output_index }) => output_index))
  const finality = await finalityOf(arrivals, seen, stored)
  for (const payment of payments) {
    const { output_index, to: address, amount } = payment
    if (!ours.has(address) && !known.has(output_index)) continue
    if (amount > UNITS_MAX) {
      await tellTooLarge(db, arrivals, tx_hash, payment)
      continue
    }
    const block = { height: block_height, hash: block_hash }
    const noting = { nextAttempt: nextAttempt(finality) }
    const sighting = { network, tx_hash, output_index, address, amount, block, depth }
    const noted = await noteSighting(world, sighting, noting)
    crashPoint('after_sighting')
    if (noted) await noteEnd(db, arrivals, noted, finality)
  }
}

/** Whether nothing is paid at the place of the deposit any more; of a dropped deposit also, whether another payment took its place. */
const isElsewhere = ({ status, address, amount }: Deposit, paid: Payment | undefined): boolean =>
  !paid || (status === 'dropped' && (paid.amount !== amount || canonicalAddress(paid.to) !== address))

/** `gone`: the payment is not in the chain. */
type FinalityNow = 'final' | 'open' | 'gone'

/** Asked for credited deposits only. Final: at least `watched_depth` deep, and finalized, if the network tells finality. */
async function finalityOf(
  { world, network, source: { watched_depth = 0 } }: Arrivals,
  block: Mined['seen'],
  stored: readonly Deposit[],
): Promise<FinalityNow> {
  if (!stored.some(({ status }) => status === 'completed') || block.depth < watched_depth) return 'open'
  const finality = (await world.chains[network].finality?.(block)) ?? 'final'
  return finality === 'final' ? 'final' : 'open'
}

/** Closes the exception of a credited deposit whose block is final, or opens one if the block was not finalized within a day. */
async function noteEnd(
  db: Db,
  { world, network }: Arrivals,
  deposit: Deposit,
  finality: FinalityNow,
): Promise<void> {
  if (deposit.status !== 'completed') return
  if (finality === 'final') {
    const open = (await exceptionsAbout(db, deposit.id)).find(
      ({ kind, closed_at, details }) =>
        kind === 'contradiction' && closed_at === null && Object(details.rail_says).kind === 'vanished',
    )
    if (!open) return
    const reason = 'Its transaction is in the chain again, and final.'
    await closeOpenException(db, { kind: 'contradiction', object_id: deposit.id, reason })
  } else if (deposit.next_attempt_at === null)
    await recordException(db, world.clock, {
      ...{ kind: 'deposit_unclear', rail: network, object_id: deposit.id },
      partner_id: deposit.partner_id,
      details: {
        problem: 'Its block was not finalized within a day. It is credited, and no longer watched.',
      },
    })
}

/** A reorganisation moved the payment back into a mempool. A credited deposit counts as vanished then, so that a person looks. */
async function noteUnmined(arrivals: Arrivals, deposit: Deposit): Promise<void> {
  const { world, network } = arrivals
  const { status, address, amount, tx_hash, output_index } = deposit
  if (status === 'completed') return vanish(arrivals, deposit)
  const output = { network, tx_hash: tx_hash!, output_index: output_index! }
  const noting = { nextAttempt: nextAttempt('open') }
  await noteSighting(world, { ...output, address: address!, amount, depth: 0 }, noting)
}

/** A credited deposit that vanishes pauses the rail once: operators who resume the rail have seen the exception. */
async function vanish({ world, network, log }: Arrivals, deposit: Deposit): Promise<void> {
  const { id, status, block_height } = deposit
  if (status === 'completed' && !(await isToldVanished(world, id))) {
    const reason = `Deposit ${id} was credited, and its block ${block_height} of ${network} is no longer in the chain.`
    const { changed } = await pauseRail(world, { rail: network, by: 'service', reason })
    if (changed) log.error({ network, deposit_id: id }, `deposits: ${reason} The rail is paused.`)
  }
  await noteGone(world, deposit, { nextAttempt: nextAttempt('gone') })
}

const isToldVanished = async ({ db }: World, id: string): Promise<boolean> =>
  (await exceptionsAbout(db, id)).some(
    ({ kind, details }) => kind === 'contradiction' && Object(details.rail_says).kind === 'vanished',
  )

async function tellTooLarge(
  db: Db,
  { world, network }: Arrivals,
  tx_hash: string,
  { to, amount, output_index }: Payment,
): Promise<void> {
  const { asset } = networks[network]
  await recordExceptionDaily(db, world.clock, {
    ...{ kind: 'deposit_unclear', rail: network, object_id: `${tx_hash}:${output_index}`, partner_id: null },
    details: {
      problem: `A payment to ${to} is above the largest amount that a balance can have (${formatMoney(money(asset, UNITS_MAX))}). It is not credited.`,
      amount,
      tx_hash,
    },
  })
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const DAY_MS = 1440 * MINUTE_MS
/** Until a deposit that waits for confirmations is asked about again. */
const PENDING_MS = 5 * SECOND_MS
/** The same for a deposit that does not fit into the balance, and for a credited one that has vanished. */
const NO_ROOM_MS = 10 * MINUTE_MS
const WATCHED_MS = MINUTE_MS

/**
 * When the chain is asked about a deposit next; null: never. A credited deposit is watched until its block is final, for a day at most; if
 * it has vanished, until it is back. A dropped one is watched for a day: endpoints that were wrong together show it again.
 */
export const nextAttempt =
  (finality: FinalityNow) =>
  (after: Deposit, now: Date): Date | null => {
    const within = (ms: number) => new Date(now.getTime() + ms)
    /** At growing intervals, until a day after `since`. */
    const forADay = (since: Date) => {
      const age_ms = now.getTime() - since.getTime()
      return age_ms < DAY_MS ? within(Math.max(WATCHED_MS, age_ms / 4)) : null
    }
    if (after.status === 'dropped') return forADay(after.created_at)
    if (after.status === 'completed') {
      if (finality === 'final') return null
      return finality === 'gone' ? within(NO_ROOM_MS) : forADay(after.completed_at!)
    }
    const is_deep = after.depth >= networks[after.rail as Network].confirmations
    // Deposits below the minimum are asked about less often: anybody may send many of them, and none is credited.
    if (!is_deep) return within(after.below_minimum ? WATCHED_MS : PENDING_MS)
    return after.below_minimum ? null : within(NO_ROOM_MS)
  }

/** A deposit about which the endpoints gave no clear answer is due again when the lease ends. */
const DUE = { lease_ms: 30_000, most: 100 }
/** Batches per run. Further due deposits wait for the next run, so that new blocks are read in between. */
const TURNS_MOST = 5

/** Asks about deposits that are due, the longest due ones first. */
export async function askAboutDue(
  db: Db,
  arrivals: Arrivals,
  shouldContinue: () => boolean = () => true,
): Promise<void> {
  const { network } = arrivals
  for (let turn = 0; turn < TURNS_MOST && shouldContinue(); turn++) {
    const due = await takeDueDeposits(db, { ...DUE, on: [network] })
    const asked = new Map(due.map((deposit) => [deposit.tx_hash!, knownOf(deposit)]))
    await noteTransactions(db, arrivals, [...asked.values()])
    if (due.length < DUE.most) return
  }
}

const knownOf = ({ tx_hash, block_height, block_hash }: Deposit): AskedTransaction => ({
  tx_hash: tx_hash!,
  known: block_height === null ? [] : [{ block_height, block_hash: block_hash! }],
})
