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

/** What becomes of a transaction that pays deposit addresses: noted as a quorum of endpoints shows it, and asked about until it ends. */
export type Arrivals = {
  readonly world: World
  readonly network: Network
  readonly source: Pick<PaymentSource, 'transaction' | 'watched_depth'>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

export type AskedTransaction = { readonly tx_hash: string; readonly known?: KnownBlock }

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
        seen: await seenNow(arrivals, tx_hash, known),
      })),
    )
    for (const { tx_hash, seen } of found)
      if (seen.kind === 'unclear') unclear.push({ tx_hash, contradiction: seen.contradiction })
      else await noteTransaction(db, arrivals, tx_hash, seen)
  }
  return unclear
}

/** One transaction about which the endpoints do not answer keeps no other one from being noted. */
async function seenNow(
  { source }: Arrivals,
  tx_hash: string,
  known: KnownBlock | undefined,
): Promise<TransactionSeen> {
  const seen = await orNone(() => source.transaction(tx_hash, known))
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

/** Of each output the deposit that was seen last: what a transaction pays may change with its block. */
const newestOfEach = (stored: readonly Deposit[]): Deposit[] =>
  stored.filter((deposit, n) => stored[n - 1]?.output_index !== deposit.output_index)

type Mined = {
  readonly tx_hash: string
  readonly seen: Extract<TransactionSeen, { kind: 'mined' }>
  readonly stored: readonly Deposit[]
}

/** Each log entry that pays one of our addresses is a deposit. A stored one whose entry is not there any more has vanished. */
async function noteMined(db: Db, arrivals: Arrivals, { tx_hash, seen, stored }: Mined): Promise<void> {
  const { world, network } = arrivals
  const { block_height, block_hash, depth, payments } = seen
  const paid = new Map(payments.map((payment) => [payment.output_index, payment]))
  for (const deposit of stored)
    if (isElsewhere(deposit, paid.get(deposit.output_index!))) await vanish(arrivals, deposit)
  const ours = await ourAddresses(db, network, [...new Set(payments.map(({ to }) => to))])
  // What becomes of a stored one that pays another address or amount now, `noteSighting` decides.
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

/** Whether the transaction pays nothing at the place of the deposit, or another payment than that of a dropped one. */
const isElsewhere = ({ status, address, amount }: Deposit, paid: Payment | undefined): boolean =>
  !paid || (status === 'dropped' && (paid.amount !== amount || canonicalAddress(paid.to) !== address))

/** `gone`: the payment is not in the chain. */
type FinalityNow = 'final' | 'open' | 'gone'

/** Only a credited deposit needs this: the network's own finality, or a number of blocks above the number that credits. */
async function finalityOf(
  { world, network, source: { watched_depth = 0 } }: Arrivals,
  block: Mined['seen'],
  stored: readonly Deposit[],
): Promise<FinalityNow> {
  if (!stored.some(({ status }) => status === 'completed') || block.depth < watched_depth) return 'open'
  const finality = (await world.chains[network].finality?.(block)) ?? 'final'
  return finality === 'final' ? 'final' : 'open'
}

/** The credit is backed for good, or was not within a day. */
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

/** Back in a mempool after a reorganisation. What is credited without being in the chain is a person's business. */
async function noteUnmined(arrivals: Arrivals, deposit: Deposit): Promise<void> {
  const { world, network } = arrivals
  const { status, address, amount, tx_hash, output_index } = deposit
  if (status === 'completed') return vanish(arrivals, deposit)
  const output = { network, tx_hash: tx_hash!, output_index: output_index! }
  const noting = { nextAttempt: nextAttempt('open') }
  await noteSighting(world, { ...output, address: address!, amount, depth: 0 }, noting)
}

/** A credit whose money is gone pauses the rail, once: operators who resumed it know. */
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
/** While a deposit waits for confirmations, at most. */
const PENDING_MS = 5 * SECOND_MS
/** What does not fit into the balance. */
const NO_ROOM_MS = 10 * MINUTE_MS
const WATCHED_MS = MINUTE_MS

/**
 * When the chain is asked about a deposit next; null: never. What is credited is watched until its block is final, and what has
 * vanished for a day: nodes that were wrong together show it again.
 */
export const nextAttempt =
  (finality: FinalityNow) =>
  (after: Deposit, now: Date): Date | null => {
    const within = (ms: number) => new Date(now.getTime() + ms)
    /** More and more rarely, for a day. */
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
    // Anybody may send many small ones, and nobody waits for them.
    if (!is_deep) return within(after.below_minimum ? WATCHED_MS : PENDING_MS)
    return after.below_minimum ? null : within(NO_ROOM_MS)
  }

/** An answer that is not clear is asked for again when the lease has ended. */
const DUE = { lease_ms: 30_000, most: 100 }
/** The rest waits for the next run, so that many deposits do not keep new blocks from being read. */
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
  ...(block_height === null ? {} : { known: { block_height, block_hash: block_hash! } }),
})
