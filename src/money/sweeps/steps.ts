import type { Logger } from 'pino'
import { crashPoint } from '../../core/crash-point.ts'
import type { Db } from '../../db/pool.ts'
import type { Spent, Sweeper, SweepLater, SweepOrder } from '../../rails/chain/evm/sweeping.ts'
import type { Seen } from '../../rails/chain/rail.ts'
import { type SweepPurpose, SweepSignatureRefused } from '../../rails/signer/sweeps.ts'
import { closeOpenException, recordExceptionDaily } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import type { RailControl } from '../custody/controls-store.ts'
import {
  endedFundsFrom,
  endSweep,
  isSweptElsewhere,
  noteSweepMined,
  promisedByGasAccount,
  reserveFund,
  reserveSweep,
  type Sweep,
  type SweepFailure,
  type SweepTransaction,
  storeSweepBlock,
  storeSweepTransaction,
  sweepById,
  transactionsOfSweeps,
} from './store.ts'

/**
 * Brings a sweep to its end (decision 0065): the gas account sends the address what the sweep costs, then the address sends its tokens
 * to the wallet. What a transaction spends is reserved before it is signed, and its bytes are stored before they are broadcast. A node
 * that crashes leaves rows with which any node goes on. All attempts of one purpose spend one nonce, so the chain lets one of them in.
 */
export type SweepScene = {
  readonly world: Pick<World, 'clock' | 'newId'>
  readonly sweeper: Sweeper
  /** One connection, which is in no transaction while the chain is asked. */
  readonly db: Db
  /** The pause and the rule of the rail, as they are now. */
  readonly control: RailControl
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

/** A sweep that is open for longer is an exception. A network finalizes a block within an hour. */
const OPEN_MOST_MS = 3_600_000
const MINED_MOST_MS = 24 * OPEN_MOST_MS

export async function advanceSweep(scene: SweepScene, sweep: Sweep): Promise<void> {
  try {
    await reportOpen(scene, sweep)
    const made = (await transactionsOfSweeps(scene.db, [sweep.id])).get(sweep.id) ?? []
    if (sweep.nonce !== null) return await carrySweep(scene, sweep, made)
    return await (sweep.fund_nonce === null ? prepareFund(scene, sweep) : carryFund(scene, sweep, made))
  } catch (error) {
    // Another node works on the same sweep, and goes on from what it has stored.
    if (isSweptElsewhere(error)) return
    if (error instanceof SweepSignatureRefused) return recordProblem(scene, sweep, error.message)
    // Not thrown, so that the other sweeps of the network go on.
    scene.log.warn(
      { err: error, sweep_id: sweep.id },
      `sweeps: ${sweep.id} failed for now and is tried again`,
    )
  }
}

const isPaused = ({ control }: SweepScene) => control.paused_at !== null

async function reportOpen({ db, world, sweeper }: SweepScene, sweep: Sweep): Promise<void> {
  const { id, state, created_at } = sweep
  const most_ms = state === 'mined' ? MINED_MOST_MS : OPEN_MOST_MS
  if (world.clock.now() - created_at.getTime() < most_ms) return
  await recordExceptionDaily(db, world.clock, {
    kind: 'stuck',
    rail: sweeper.network,
    object_id: id,
    partner_id: null,
    details: { status: state, since: created_at.toISOString(), address: sweep.address },
  })
}

const recordProblem = ({ db, world, sweeper }: SweepScene, { id, address }: Sweep, problem: string) =>
  recordExceptionDaily(db, world.clock, {
    kind: 'contradiction',
    rail: sweeper.network,
    object_id: id,
    partner_id: null,
    details: { problem, address },
  })

const problems: Readonly<Record<Exclude<SweepFailure, 'too_dear'>, string>> = {
  token_reverts:
    'the token refuses to move the deposits of this address: the token is paused, or the address is blocked. They stay where they are',
  reverted: 'the sweep of this address was mined without effect. Its deposits stay where they are',
  other_effect: 'the sweep of this address was mined, and moved another amount than the ordered one',
  nonce_taken:
    'a transaction that this database does not know spent the nonce of the sweep. The database may be restored from a backup, or another program uses the key of deposit addresses',
}

async function failSweep(scene: SweepScene, sweep: Sweep, failure: SweepFailure): Promise<void> {
  const { db, log, sweeper } = scene
  if (!(await endSweep(db, sweep, failure))) return
  const { network } = sweeper
  log.warn({ network, sweep_id: sweep.id, failure }, `sweeps: ${sweep.id} on ${network} failed: ${failure}`)
  if (failure !== 'too_dear') await recordProblem(scene, sweep, problems[failure])
}

const waits = ({ log, sweeper: { network } }: SweepScene, { id }: Sweep, why: string): void =>
  log.info({ network, sweep_id: id, why }, `sweeps: ${id} on ${network} waits: ${why}`)

/** Returns the gas account's next nonce if it can pay `needed` beside what other sweeps were promised. If not, opens an exception. */
export async function hasGasFor(
  { db, world, sweeper, log }: Omit<SweepScene, 'control'>,
  needed: bigint,
): Promise<{ readonly mined: bigint } | undefined> {
  const { network, gas_account } = sweeper
  const account = await sweeper.readGasAccount()
  if (!account) return undefined
  const object_id = `gas account ${network}`
  const free = account.native - (await promisedByGasAccount(db, { network, gas_account }))
  if (free >= needed) {
    const reason = 'The gas account has enough again.'
    await closeOpenException(db, { kind: 'stuck', object_id, reason })
    return { mined: account.nonces.mined }
  }
  const problem = `The gas account ${gas_account} has ${account.native} wei on ${network}, which is too little to sweep deposits. Send it some of the network's coin.`
  log.warn({ network, gas_account }, `sweeps: ${problem}`)
  await recordExceptionDaily(db, world.clock, {
    kind: 'stuck',
    rail: network,
    object_id,
    partner_id: null,
    details: { problem, needed: needed.toString() },
  })
  return undefined
}

/** Reserves what the gas account sends to the address. If the address has enough for gas already, it sweeps at once. */
async function prepareFund(scene: SweepScene, sweep: Sweep): Promise<void> {
  if (isPaused(scene)) return waits(scene, sweep, 'rail_paused')
  const { db, sweeper } = scene
  const state = await sweeper.readAddress(sweep.address)
  if (!state) return waits(scene, sweep, 'endpoints_unavailable')
  const plan = await sweeper.plan(sweep, state.native, sweep.cost_most)
  if (plan.kind === 'endpoints_unavailable') return waits(scene, sweep, plan.kind)
  if (plan.kind !== 'plan') return failSweep(scene, sweep, plan.kind)
  if (plan.fund_wei === 0n) return beginSweeping(scene, sweep, state.nonces.mined)
  const account = await hasGasFor(scene, plan.fund_wei + plan.fund_cost)
  if (!account) return waits(scene, sweep, 'gas_account_too_low')
  const reserved = await reserveFund(db, sweep, { fund_wei: plan.fund_wei, mined: account.mined })
  crashPoint('after_sweep_reserve')
  if (reserved) await carryFund(scene, reserved, [])
}

const fundOf = ({ gas_account, fund_nonce }: Sweep): Spent => ({ sender: gas_account, nonce: fund_nonce! })
const spentOf = ({ address, nonce }: Sweep): Spent => ({ sender: address, nonce: nonce! })
const attemptsFor = (made: readonly SweepTransaction[], wanted: SweepPurpose) =>
  made.filter(({ purpose }) => purpose === wanted)

async function carryFund(scene: SweepScene, sweep: Sweep, made: readonly SweepTransaction[]): Promise<void> {
  const { control, db, sweeper } = scene
  const { cost_most, fund_wei } = sweep
  const funds = attemptsFor(made, 'fund')
  // The reserved nonce must be spent, so a `sweep_fee_max` that operators raised meanwhile applies.
  const bound =
    control.sweep_fee_max !== null && control.sweep_fee_max > cost_most ? control.sweep_fee_max : cost_most
  const order: SweepOrder = {
    ...fundOf(sweep),
    purpose: 'fund',
    made: funds,
    value: fund_wei!,
    cost_most: bound - fund_wei!,
  }
  if (funds.length === 0) return void (await signAndSend(scene, sweep, order))
  if (funds.some(({ block_hash }) => block_hash !== null)) return afterFund(scene, sweep)
  const seen = await sweeper.look(sweep, fundOf(sweep), funds)
  if (seen.kind === 'taken') return failSweep(scene, sweep, 'nonce_taken')
  if (seen.kind !== 'mined') {
    await bringForward(scene, sweep, { seen, order, made: funds })
    return closeGap(scene, sweep, funds[0]!)
  }
  await storeSweepBlock(db, sweep, 'fund', { ...seen, gas_paid_wei: seen.gas_paid_wei ?? null })
  await afterFund(scene, sweep)
}

/**
 * A deep reorganisation may remove the gas transaction of a sweep that has ended and is not followed any more. All later transactions of
 * the gas account wait behind its nonce, so its stored bytes are broadcast again.
 */
async function closeGap(
  { db, world, sweeper }: SweepScene,
  sweep: Sweep,
  first: SweepTransaction,
): Promise<void> {
  if (world.clock.now() - first.created_at.getTime() < sweeper.replace_after_ms) return
  const account = await sweeper.readGasAccount()
  if (!account || account.nonces.mined >= sweep.fund_nonce!) return
  for (const fund of await endedFundsFrom(db, sweep, account.nonces.mined)) await sweeper.broadcast(fund)
}

async function afterFund(scene: SweepScene, sweep: Sweep): Promise<void> {
  if (isPaused(scene)) return waits(scene, sweep, 'rail_paused')
  const state = await scene.sweeper.readAddress(sweep.address)
  if (!state) return waits(scene, sweep, 'endpoints_unavailable')
  await beginSweeping(scene, sweep, state.nonces.mined)
}

/** `nonce` is told by the chain. A sweep that a restored database does not know has emptied the address, or will take this nonce. */
async function beginSweeping(scene: SweepScene, sweep: Sweep, nonce: bigint): Promise<void> {
  const reserved = await reserveSweep(scene.db, sweep, nonce)
  crashPoint('after_sweep_reserve')
  if (reserved) await carrySweep(scene, reserved, [])
}

async function carrySweep(scene: SweepScene, sweep: Sweep, made: readonly SweepTransaction[]): Promise<void> {
  const { sweeper } = scene
  const sweeps = attemptsFor(made, 'sweep')
  const orderOf = async (): Promise<SweepOrder | undefined> => {
    const state = await sweeper.readAddress(sweep.address)
    return state && { purpose: 'sweep', made: sweeps, value: 0n, cost_most: state.native, ...spentOf(sweep) }
  }
  if (sweeps.length === 0) {
    const order = await orderOf()
    if (!order) return waits(scene, sweep, 'endpoints_unavailable')
    const why = await signAndSend(scene, sweep, order)
    // Nothing was signed, so the nonce of the address stays free for a later sweep.
    if (why === 'token_reverts') return failSweep(scene, sweep, why)
    if (why === 'fee_above_cap') return failSweep(scene, sweep, 'too_dear')
    return
  }
  const seen = await sweeper.look(sweep, spentOf(sweep), sweeps)
  if (seen.kind === 'taken') return failSweep(scene, sweep, 'nonce_taken')
  if (seen.kind === 'mined') return settleSweep(scene, sweep, seen)
  // A reorganisation may have removed the gas transaction too: it is broadcast again.
  const fund = made.find(({ purpose, block_hash }) => purpose === 'fund' && block_hash !== null)
  if (seen.kind === 'absent' && fund) await sweeper.broadcast(fund)
  await bringForward(scene, sweep, { seen, order: await orderOf(), made: sweeps })
}

/** A sweep ends only when the network has finalized its block: no customer waits for it. */
async function settleSweep(
  scene: SweepScene,
  sweep: Sweep,
  seen: Extract<Seen, { kind: 'mined' }>,
): Promise<void> {
  const { db, sweeper, log } = scene
  if (sweep.state === 'sweeping') await noteSweepMined(db, sweep)
  if ((await sweeper.finality(seen)) !== 'final') return
  await storeSweepBlock(db, sweep, 'sweep', { ...seen, gas_paid_wei: seen.gas_paid_wei ?? null })
  if (seen.effect !== 'paid')
    return failSweep(scene, sweep, seen.effect === 'none' ? 'reverted' : 'other_effect')
  if (!(await endSweep(db, sweep, null))) return
  const { network } = sweeper
  log.info({ network, sweep_id: sweep.id }, `sweeps: ${sweep.id} on ${network} moved ${sweep.amount} units`)
  await closeOpenException(db, { kind: 'stuck', object_id: sweep.id, reason: 'The sweep has ended.' })
}

/** Signs the next transaction, stores it and broadcasts it. Returns why nothing was signed. */
async function signAndSend(
  scene: SweepScene,
  sweep: Sweep,
  order: SweepOrder,
): Promise<SweepLater | 'rail_paused' | undefined> {
  const { db, sweeper } = scene
  const { sender, nonce, made } = order
  // While the rail is paused, no first transaction is sent; one that was sent may be replaced.
  if (made.length === 0 && isPaused(scene)) return void waits(scene, sweep, 'rail_paused')
  const answer = await sweeper.sign(sweep, order)
  if (answer.kind === 'later') {
    waits(scene, sweep, answer.why)
    return answer.why
  }
  crashPoint('after_sweep_sign')
  const { network } = sweep
  const row = { ...answer.transaction, sweep_id: sweep.id, network, sender, nonce, attempt: made.length + 1 }
  await storeSweepTransaction(db, row)
  crashPoint('after_sweep_stored')
  await sweeper.broadcast(row)
  crashPoint('after_sweep_broadcast')
  return undefined
}

type Forward = {
  readonly seen: Exclude<Seen, { kind: 'mined' | 'taken' }>
  readonly order: SweepOrder | undefined
  readonly made: readonly SweepTransaction[]
}

/**
 * Broadcasts the same bytes again, and a replacement with higher fees if they wait for too long. While an older attempt waits in a mempool,
 * the newest is broadcast too: a node may have crashed after it stored the newest and before it broadcast it.
 */
async function bringForward(scene: SweepScene, sweep: Sweep, { seen, order, made }: Forward): Promise<void> {
  const { sweeper, world } = scene
  const newest = made.at(-1)!
  if (seen.kind === 'absent' || made.length > 1) {
    const { kind } = await sweeper.broadcast(newest)
    crashPoint('after_sweep_broadcast')
    if (seen.kind === 'absent' && kind === 'accepted') return
  }
  const age_ms = world.clock.now() - newest.created_at.getTime()
  if (order && age_ms >= sweeper.replace_after_ms) await signAndSend(scene, sweep, order)
}

/** Reads the sweep first, for a caller whose row may be out of date. */
export async function advanceById(scene: SweepScene, id: string): Promise<void> {
  const sweep = await sweepById(scene.db, id)
  if (sweep && sweep.ended_at === null) await advanceSweep(scene, sweep)
}
