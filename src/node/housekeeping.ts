import type { Logger } from 'pino'
import { forgetProofs } from '../control/audit/proofs.ts'
import type { Office } from '../control/operator/office.ts'
import { expireProposals } from '../control/operator/proposals.ts'
import { noteStuck } from '../control/operator/stuck.ts'
import { type Chore, type ChoreOutcome, openChore } from '../db/chore.ts'
import type { Db, Pool } from '../db/pool.ts'
import type { StoragePlace } from '../db/sealing.ts'
import { forgetForms } from '../doors/console-api/store.ts'
import { forgetClaims, forgetCommits } from '../ledger/retention.ts'
import { forgetWindows } from '../limits/store.ts'
import { coverReturns } from '../money/charges/deposit-returns.ts'
import { askAboutReturns, openReturnPass } from '../money/charges/find-returns.ts'
import {
  END_CHARGES_MS,
  endCharges,
  FIND_AGAIN_MS,
  FIND_RECEIVED_MS,
  openFindAgain,
  openFindReceived,
} from '../money/charges/finder.ts'
import { HOLDINGS_EVERY_MS, networksWithWallet, refreshHoldings } from '../money/custody/holdings.ts'
import { reconcileAll } from '../money/custody/reconcile.ts'
import { forgetSums } from '../money/daily/store.ts'
import { depositFinders } from '../money/deposits/finder.ts'
import { READ_TOKENS_EVERY_MS, tokenReaders } from '../money/deposits/unknown-tokens.ts'
import { chainBooks } from '../money/onchain/books.ts'
import type { FollowedChain } from '../money/onchain/coins/chain.ts'
import { followWithDeposits } from '../money/onchain/coins/deposits.ts'
import { openCompareSent } from '../money/pix/compare-sent.ts'
import { reconcilePixOn } from '../money/pix/reconcile.ts'
import { forgetQuotes } from '../money/quotes/store.ts'
import { openSweeping, SWEEP_EVERY_MS } from '../money/sweeps/sweeping.ts'
import { forgetNotifications } from '../notifications/store.ts'
import { forgetSignIns } from '../parties/team/store.ts'
import type { Sweeper } from '../rails/chain/evm/sweeping.ts'
import { readHead } from '../records/acts/store.ts'
import { forgetEvents } from '../records/events/store.ts'
import { forgetRequests } from '../records/requests/store.ts'
import { forgetSteps } from '../records/steps/store.ts'
import { forgetDeliveries } from '../webhooks/queue.ts'
import type { World, Worlds } from '../world.ts'
import type { Config } from './config.ts'
import type { Notifications } from './notifications.ts'
import { type Role, runsWorkers } from './role.ts'

/**
 * The periodic chores of a node, and how often they run. A chore named `forget …` deletes old rows that nothing depends on.
 * How long each table keeps its rows is in docs/operate/retention.md, "What is kept, and for how long"; for
 * history the database enforces it (db/functions/world/retention.sql), whatever time a chore asks for.
 *
 * Work that runs all the time is in the slices: payouts (money/pix/worker.ts), transfers (money/onchain/worker.ts), the
 * treasury's sums (money/treasury/worker.ts), webhooks (webhooks/worker.ts), last uses of keys (parties/keys/keyring.ts), the
 * request log (records/requests/recorder.ts), calls to rails (records/steps/recorder.ts), rate limits (limits/limiter.ts).
 */
const CLOCK_MS = 30_000
/** Nothing is signed on a chain whose newest block is not read yet. */
const FOLLOW_MS = 5000
/** New blocks of chains with deposit addresses, and deposits that wait for confirmations. */
const FIND_DEPOSITS_MS = 5000
const STUCK_MS = 30_000
/** Pix payments whose returns a notice told of. */
const ASK_RETURNS_MS = 5000
/** Returns of received payments whose debit waits for a balance. */
const COVER_RETURNS_MS = 10_000
const EXPIRE_MS = 60_000
const NEWEST_LINE_MS = 60_000
const PROOF_DAYS = 365
const A_DAY_MS = 24 * 3_600_000

type Parts = {
  /** A node with the role `api` only sets its clock; other nodes run the rest. */
  readonly role: Role
  readonly worlds: Worlds
  readonly shared: Pool
  readonly office: Office
  readonly notifications: Notifications
  readonly retention: Config['retention']
  readonly reconcile_every_ms: number
  /** Chains of production that are followed block by block. */
  readonly followers?: readonly Pick<FollowedChain, 'network' | 'follow'>[]
  /** Networks of production whose deposits are swept into the wallet. */
  readonly sweepers?: readonly Sweeper[]
  readonly setClock: (db: Db) => Promise<void>
  readonly log: Logger
}

type Placed = Chore & { readonly environment: string }

export function choresOf(parts: Parts): Placed[] {
  const { role, worlds, shared, notifications, retention, setClock } = parts
  const { every_ms } = retention
  const inShared = { environment: 'shared', pool: shared }
  const ownClock = { name: 'set the clock', every_ms: CLOCK_MS, on_every_node: true, work: setClock } as const
  if (!runsWorkers(role)) return [{ ...ownClock, ...inShared }]
  return [
    { ...ownClock, ...inShared },
    { name: 'forget windows', every_ms, work: forgetWindows, ...inShared },
    { name: 'forget sign-ins', every_ms, work: forgetSignIns, ...inShared },
    { name: 'forget forms', every_ms, work: forgetForms, ...inShared },
    { name: 'forget notifications', every_ms, work: forgetNotifications, ...inShared },
    { name: 'tell people', ...notifications, ...inShared },
    ...choresOfLog('shared', shared, parts),
    ...Object.values<World>(worlds).flatMap((world) => [
      ...choresIn(world, retention),
      ...choresOfCustody(world, parts),
      ...choresOfPix(world, parts),
      ...choresOfCharges(world),
      ...choresOfLog(world.environment, world.db, parts),
    ]),
  ]
}

/** Chores that write to the log of operators' acts, or read it. */
function choresOfLog(environment: StoragePlace, pool: Pool, { office, log }: Parts): Placed[] {
  const expire = async (db: Db) =>
    expireProposals({ db: pool }, await office.log.pen(environment, { kind: 'service' }), db)
  return [
    { name: 'expire proposals', work: expire, environment, pool, every_ms: EXPIRE_MS },
    {
      name: 'tell of acts',
      work: logNewestLine(environment, log),
      environment,
      pool,
      every_ms: NEWEST_LINE_MS,
    },
  ]
}

/** Only for a world whose Pix provider lists what it has sent. */
function choresOfPix(world: World, { reconcile_every_ms, log }: Parts): Placed[] {
  if (!world.pix.account) return []
  const { environment, db: pool } = world
  const work = openCompareSent(world)
  // At once: a node that starts on a restored database must not send for minutes before it finds out.
  return [
    { name: 'compare sent Pix', work, every_ms: reconcile_every_ms, at_start: true, environment, pool },
    {
      name: 'reconcile Pix',
      work: (db) => reconcilePixOn(db, world),
      every_ms: reconcile_every_ms,
      environment,
      pool,
    },
    {
      name: 'find returned Pix',
      work: openReturnPass(world),
      every_ms: reconcile_every_ms,
      environment,
      pool,
    },
    {
      name: 'ask about returned Pix',
      work: (db, shouldContinue) => askAboutReturns(world, db, { log, shouldContinue }),
      every_ms: ASK_RETURNS_MS,
      environment,
      pool,
    },
  ]
}

/** Only for a world whose Pix provider takes payments in. The sandbox has no list of payments to read. */
function choresOfCharges(world: World): Placed[] {
  const { charges } = world.pix
  if (!charges) return []
  const inWorld = { environment: world.environment, pool: world.db }
  const end: Placed = {
    name: 'end charges',
    work: (db, shouldContinue) => endCharges(world, db, shouldContinue),
    every_ms: END_CHARGES_MS,
    ...inWorld,
  }
  const find: Placed = {
    name: 'find received Pix',
    work: openFindReceived(world),
    every_ms: FIND_RECEIVED_MS,
    ...inWorld,
  }
  const again: Placed = {
    name: 'find late Pix',
    work: openFindAgain(world),
    every_ms: FIND_AGAIN_MS,
    ...inWorld,
  }
  return charges.is_played ? [end] : [end, find, again]
}

/** Only for a world with a wallet on a real chain. */
function choresOfCustody(
  world: World,
  { reconcile_every_ms, followers = [], sweepers = [], log }: Parts,
): Placed[] {
  if (networksWithWallet(world).length === 0) return []
  const { environment, db: pool } = world
  const followed = environment === 'production' ? followers : []
  const swept = environment === 'production' ? sweepers : []
  return [
    ...followed.map((chain) => ({
      name: `follow ${chain.network}`,
      work: chain.network === 'bitcoin' ? followWithDeposits(world, chain, log) : chain.follow,
      every_ms: FOLLOW_MS,
      environment,
      pool,
    })),
    ...swept.map((sweeper) => ({
      name: `sweep ${sweeper.network}`,
      work: openSweeping({ world, sweeper, log }).sweep,
      every_ms: SWEEP_EVERY_MS,
      environment,
      pool,
    })),
    ...depositFinders(world, log).map(({ network, find }) => ({
      name: `find deposits on ${network}`,
      work: find,
      every_ms: FIND_DEPOSITS_MS,
      environment,
      pool,
    })),
    ...tokenReaders(world, log).map(({ network, read }) => ({
      name: `read unknown tokens on ${network}`,
      work: read,
      every_ms: READ_TOKENS_EVERY_MS,
      environment,
      pool,
    })),
    {
      name: 'read holdings',
      work: (db) => refreshHoldings(world, db),
      every_ms: HOLDINGS_EVERY_MS,
      environment,
      pool,
    },
    {
      name: 'reconcile',
      work: (db) => reconcileAll(world, chainBooks, db),
      every_ms: reconcile_every_ms,
      environment,
      pool,
    },
  ]
}

function choresIn(world: World, retention: Config['retention']): Placed[] {
  const { every_ms, event_days, delivery_days, quote_days, request_days } = retention
  const { environment, clock } = world
  const daysAgo = (days: number) => new Date(clock.now() - days * A_DAY_MS)
  const inWorld = { environment, pool: world.db, every_ms }
  return [
    { name: 'note what is stuck', work: (db) => noteStuck(world, db), ...inWorld, every_ms: STUCK_MS },
    {
      name: 'cover Pix returns',
      work: (db, shouldContinue) => coverReturns(world, db, shouldContinue),
      ...inWorld,
      every_ms: COVER_RETURNS_MS,
    },
    { name: 'forget commits', work: forgetCommits, ...inWorld },
    { name: 'forget forms', work: forgetForms, ...inWorld },
    {
      name: 'forget claims',
      work: (db, shouldContinue) => forgetClaims(db, clock.now(), shouldContinue),
      ...inWorld,
    },
    {
      name: 'forget quotes',
      work: (db, shouldContinue) => forgetQuotes(db, daysAgo(quote_days), shouldContinue),
      ...inWorld,
    },
    {
      name: 'forget requests',
      work: (db, shouldContinue) => forgetRequests(db, daysAgo(request_days), shouldContinue),
      ...inWorld,
    },
    {
      name: 'forget steps',
      work: (db, shouldContinue) => forgetSteps(db, daysAgo(event_days), shouldContinue),
      ...inWorld,
    },
    { name: 'forget sums', work: (db) => forgetSums(db, clock.now()), ...inWorld },
    { name: 'forget proofs', work: (db) => forgetProofs(db, daysAgo(PROOF_DAYS)), ...inWorld },
    {
      name: 'forget deliveries',
      work: (db, shouldContinue) => forgetDeliveries(db, daysAgo(delivery_days), shouldContinue),
      ...inWorld,
    },
    {
      name: 'forget events',
      work: (db, shouldContinue) => forgetEvents(db, daysAgo(event_days), shouldContinue),
      ...inWorld,
    },
  ]
}

/** Logs the newest line of the log of acts whenever it changes: lines that are in another system cannot be removed unnoticed. */
function logNewestLine(environment: StoragePlace, log: Logger): (db: Db) => Promise<void> {
  let logged_seq = 0n
  return async (db) => {
    const { seq, hash } = await readHead(db)
    if (seq !== logged_seq)
      log.info({ environment, seq: seq.toString(), hash }, 'acts: newest line of the log')
    logged_seq = seq
  }
}

export function openHousekeeping(
  parts: Parts & {
    readonly onRun: (environment: string, chore: string, outcome: ChoreOutcome) => void
  },
) {
  const chores = choresOf(parts).map(({ environment, ...chore }) =>
    openChore(chore, { log: parts.log, onRun: (outcome) => parts.onRun(environment, chore.name, outcome) }),
  )
  return {
    async stop(): Promise<void> {
      await Promise.all(chores.map((chore) => chore.stop()))
    },
  }
}
