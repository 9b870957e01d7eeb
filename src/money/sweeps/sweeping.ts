import type { Logger } from 'pino'
import { crashPoint } from '../../core/crash-point.ts'
import type { ShouldContinue } from '../../db/chore.ts'
import type { Db } from '../../db/pool.ts'
import type { Sweeper } from '../../rails/chain/evm/sweeping.ts'
import { recordExceptionDaily } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { freeRail, selectControls } from '../custody/controls-store.ts'
import { advanceById, advanceSweep, hasGasFor, type SweepScene } from './steps.ts'
import {
  beginSweep,
  isSweptElsewhere,
  nextNonceOfAddress,
  openSweeps,
  type Sweep,
  type SweepCandidate,
  storeSweepFigures,
  sumUnswept,
  sweepCandidates,
} from './store.ts'

/**
 * Deposits of one EVM network are swept into the wallet when operators set a rule for it (`sweep_from`, `sweep_fee_max`) and this node has
 * the key of deposit addresses: when the credited money at an address reaches `sweep_from`, and the sweep costs no more than
 * `sweep_fee_max` by today's fees. A chore: it runs on one node at a time. Two nodes that run it all the same cannot sweep an address twice,
 * because the database refuses a second open sweep and a second transaction of the same number.
 */
export const SWEEP_EVERY_MS = 5000
/** Sweeps under way on a network. Those that only wait for their block to be finalized do not count. */
const AT_ONCE = 4
/** How often addresses are chosen, which adds up all deposits by address. */
const CHOOSE_EVERY_MS = 30_000
const FIGURES_EVERY_MS = 60_000
/** How often the chain is asked about a sweep that only waits for its block to be finalized. */
const MINED_EVERY_MS = 60_000
/** An address that has less on the chain than by the books, or whose sweep costs too much, is asked about again after this time. */
const NOT_WORTH_MS = 600_000

export type Sweeping = {
  readonly network: Sweeper['network']
  /** One round. */
  sweep(db: Db, shouldContinue: ShouldContinue): Promise<void>
}

type SweepingOptions = {
  readonly world: Pick<World, 'clock' | 'newId'>
  readonly sweeper: Sweeper
  readonly log: SweepScene['log'] & Pick<Logger, 'warn'>
  /** For tests: every round does everything. */
  readonly is_eager?: boolean
}

export function openSweeping({ world, sweeper, log, is_eager = false }: SweepingOptions): Sweeping {
  const { network } = sweeper
  const due = new Map<string, number>()
  /** Whether the work is due on this node. Kept in memory: a restart only repeats work. */
  const isDue = (what: string, every_ms: number): boolean => {
    const now = performance.now()
    if (!is_eager && (due.get(what) ?? 0) > now) return false
    due.set(what, now + every_ms)
    return true
  }
  const notWorth = () =>
    [...due].flatMap(([what, until]) => (isResting(what, until) ? what.slice(RESTS.length) : []))
  const isResting = (what: string, until: number) => what.startsWith(RESTS) && until > performance.now()
  const rest = (address: string) => {
    if (!is_eager) due.set(`${RESTS}${address}`, performance.now() + NOT_WORTH_MS)
  }

  return {
    network,
    async sweep(db, shouldContinue) {
      const scene = async (): Promise<SweepScene> => {
        const control = (await selectControls(db)).find(({ rail }) => rail === network) ?? freeRail(network)
        return { world, sweeper, db, control, log }
      }
      if (isDue('figures', FIGURES_EVERY_MS)) await readFigures(db, sweeper)
      if (!sweeper.can_sign) return
      const open = await openSweeps(db, network)
      for (const sweep of open) {
        if (!shouldContinue()) return
        if (sweep.state === 'mined' && !isDue(sweep.id, MINED_EVERY_MS)) continue
        await advanceSweep(await scene(), sweep)
      }
      for (const what of due.keys()) forget(what, open)
      if (!isDue('choose', CHOOSE_EVERY_MS)) return
      await beginWorthy(await scene(), { notWorth: notWorth(), rest, shouldContinue })
    },
  }

  function forget(what: string, open: readonly Sweep[]): void {
    const is_rest_over = what.startsWith(RESTS) && (due.get(what) ?? 0) <= performance.now()
    const is_ended = what.startsWith('swp_') && !open.some(({ id }) => id === what)
    if (is_rest_over || is_ended) due.delete(what)
  }
}

const RESTS = 'rests '

async function readFigures(db: Db, sweeper: Sweeper): Promise<void> {
  const { network, gas_account } = sweeper
  const account = await sweeper.readGasAccount()
  if (!account) return
  const { unswept, addresses } = await sumUnswept(db, network)
  await storeSweepFigures(db, { network, gas_account, gas_wei: account.native, unswept, addresses })
}

type Choosing = {
  readonly notWorth: readonly string[]
  readonly rest: (address: string) => void
  readonly shouldContinue: ShouldContinue
}

async function beginWorthy(scene: SweepScene, { notWorth, rest, shouldContinue }: Choosing): Promise<void> {
  const { db, control, sweeper } = scene
  const { network } = sweeper
  const { sweep_from, sweep_fee_max, paused_at } = control
  if (sweep_from === null || sweep_fee_max === null || paused_at !== null) return
  const isUnderWay = ({ state }: Sweep) => state !== 'mined'
  let room = AT_ONCE - (await openSweeps(db, network)).filter(isUnderWay).length
  if (room <= 0) return
  const found = await sweepCandidates(db, { network, sweep_from, except: notWorth, limit: 4 * AT_ONCE })
  for (const candidate of found) {
    if (room <= 0 || !shouldContinue()) return
    const begun = await beginIfWorthy(scene, candidate, { sweep_from, cost_most: sweep_fee_max })
    if (begun === 'stop') return
    if (begun === 'not_worth') rest(candidate.address)
    else {
      room--
      await advanceById(scene, begun.id)
    }
  }
}

/** `stop`: no other address could be swept now either. */
async function beginIfWorthy(
  scene: SweepScene,
  { address, address_index }: SweepCandidate,
  { sweep_from, cost_most }: { readonly sweep_from: bigint; readonly cost_most: bigint },
): Promise<Sweep | 'not_worth' | 'stop'> {
  const { db, world, sweeper, log } = scene
  const { network, wallet, gas_account } = sweeper
  if (!sweeper.isOurs({ address, address_index })) {
    await reportForged(scene, address, address_index)
    return 'not_worth'
  }
  const state = await sweeper.readAddress(address)
  if (!state) return 'stop'
  await reportForeign(scene, address, state.nonces.mined)
  const amount = state.tokens
  if (amount === 0n || amount < sweep_from) return 'not_worth'
  const made = {
    ...{ id: world.newId('sweep'), network, address, address_index, amount },
    ...{ wallet, gas_account, cost_most },
  }
  const plan = await sweeper.plan(made, state.native, cost_most)
  if (plan.kind === 'endpoints_unavailable') return 'stop'
  if (plan.kind === 'too_dear') {
    log.info(
      { network, cost: plan.cost.toString() },
      `sweeps: ${network} waits: a sweep costs more than the rule allows`,
    )
    return 'stop'
  }
  if (plan.kind === 'plan' && plan.fund_wei > 0n && !(await hasGasFor(scene, plan.fund_wei + plan.fund_cost)))
    return 'stop'
  try {
    const begun = await beginSweep(db, made)
    crashPoint('after_sweep_begun')
    return begun ?? 'stop'
  } catch (error) {
    if (isSweptElsewhere(error)) return 'not_worth'
    throw error
  }
}

/** The signer refuses such a row, so a nonce of the gas account that is reserved for it would never be spent. */
async function reportForged(
  { db, world, sweeper: { network } }: SweepScene,
  address: string,
  address_index: number,
): Promise<void> {
  await recordExceptionDaily(db, world.clock, {
    ...{ kind: 'contradiction', rail: network, object_id: `${network}:${address}`, partner_id: null },
    details: {
      problem: `Deposit address ${address} on ${network} is not derived from the key of this service at index ${address_index}. Nothing is swept from it. Somebody changed its row, or the key.`,
    },
  })
}

/**
 * The address has sent transactions that this database does not know: a backup was restored, or somebody else has the key. Sweeping goes
 * on: it can only bring tokens into the wallet, and an address that was emptied has none.
 */
async function reportForeign(
  { db, world, sweeper }: SweepScene,
  address: string,
  mined: bigint,
): Promise<void> {
  const { network } = sweeper
  const known = await nextNonceOfAddress(db, { network, address })
  if (mined <= known) return
  await recordExceptionDaily(db, world.clock, {
    kind: 'contradiction',
    rail: network,
    object_id: `${network}:${address}`,
    partner_id: null,
    details: {
      problem: `Deposit address ${address} has sent ${mined - known} transactions on ${network} that this database does not know. The database may be restored from a backup, or another program uses the key of deposit addresses.`,
      next_nonce_here: known.toString(),
      next_nonce_mined: mined.toString(),
    },
  })
}
