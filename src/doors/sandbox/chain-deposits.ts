import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../../core/activity.ts'
import type { AnyoneOfPartner } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { isNetwork, type Network, networks } from '../../core/networks.ts'
import { openWorker, type Worker } from '../../db/worker.ts'
import { addDepositAddress, readNetwork } from '../../money/deposits/addresses.ts'
import { addressesByText, type DepositAddress } from '../../money/deposits/addresses-store.ts'
import { noteSighting, noteVanished } from '../../money/deposits/sightings.ts'
import { type Deposit, takeDueDeposits } from '../../money/deposits/store.ts'
import { onBehalfOf, worldOf } from '../../parties/keys/keys.ts'
import { canonicalAddress } from '../../rails/chain/deposit-addresses.ts'
import { hashOf, simulatedBlock } from '../../rails/chain/simulated.ts'
import type { World } from '../../world.ts'

/**
 * Deposits on the sandbox's chains. A partner says what arrives; a worker then plays the chain, one step after each `confirm_ms`.
 * The last four digits of the amount decide what happens, and the row says how far it is, so a restart loses nothing.
 */
type ArrivalOrder = {
  readonly to:
    | { readonly address: string; readonly network?: string | undefined }
    | { readonly customer_id: string; readonly network: string }
  readonly amount: bigint
}

/** What the last four digits of an amount bring about; every other amount is credited. */
const DROPPED = '9001'
const CREDITED_THEN_VANISHED = '9002'
const STAYS_PENDING = '9003'
const DROPPED_AND_BACK = '9004'

const magicOf = ({ amount }: Pick<Deposit, 'amount'>): string => amount.toString().slice(-4)

/** Pays an address: the deposit is pending at once. */
export async function receiveDeposit(
  world: World,
  actor: AnyoneOfPartner,
  { to, amount }: ArrivalOrder,
  confirm_ms: number,
): Promise<Deposit> {
  const { network, address } = await findAddress(world, actor, to)
  const seen = await noteSighting(
    world,
    {
      network,
      address,
      amount,
      tx_hash: hashOf(network, world.newId('deposit')),
      output_index: 0,
      block: simulatedBlock(network, new Date(world.clock.now())),
      depth: 1,
    },
    {
      commit: (command) => world.commit(onBehalfOf(actor, command)),
      nextAttempt: nextAttempt(confirm_ms),
    },
  )
  return seen ?? refuse('service_unavailable')
}

async function findAddress(
  world: World,
  actor: AnyoneOfPartner,
  to: ArrivalOrder['to'],
): Promise<Pick<DepositAddress, 'network' | 'address'>> {
  if ('customer_id' in to) {
    const wanted = { customer_id: to.customer_id, network: readNetwork(to.network) }
    return (await addDepositAddress(worldOf(actor, world), actor, wanted)).address
  }
  const network = to.network === undefined ? undefined : readNetwork(to.network)
  const found = (await addressesByText(world.db, canonicalAddress(to.address))).filter(
    (made) => made.partner_id === actor.partner_id && (network === undefined || made.network === network),
  )
  if (found.length > 1)
    refuse('invalid_request', {
      param: 'network',
      message: `This address is in use on ${found.map((made) => made.network).join(', ')}: say on which network the deposit arrives.`,
    })
  return (
    found[0] ??
    refuse('invalid_address', {
      param: 'address',
      message: `None of your customers has this deposit address${network ? ` on ${network}` : ''}. Make one with POST /v1/customers/{customer_id}/deposit_addresses.`,
    })
  )
}

/** How long the worker leaves a deposit alone that does not fit into the balance. */
const NO_ROOM_MS = 600_000

/** When the worker takes a deposit next, after it came into this state. */
const nextAttempt =
  (confirm_ms: number) =>
  (deposit: Deposit, now: Date): Date | null => {
    if (hasNextStep(deposit)) return new Date(now.getTime() + confirm_ms)
    return waitsForRoom(deposit) ? new Date(now.getTime() + NO_ROOM_MS) : null
  }

/** Deep enough, and not credited. */
const waitsForRoom = (deposit: Deposit): boolean =>
  deposit.status === 'pending' && !deposit.below_minimum && magicOf(deposit) !== STAYS_PENDING

function hasNextStep(deposit: Deposit): boolean {
  const magic = magicOf(deposit)
  switch (deposit.status) {
    case 'pending':
      return magic !== STAYS_PENDING && deposit.depth < networks[networkOf(deposit)].confirmations
    case 'dropped':
      return magic === DROPPED_AND_BACK
    case 'completed':
      return magic === CREDITED_THEN_VANISHED
  }
}

function networkOf({ id, rail }: Deposit): Network {
  if (!isNetwork(rail)) throw new Error(`${id} came in by no network`)
  return rail
}

/** Every step may be repeated: the rules decide on the row as it is. */
async function playStep(world: World, deposit: Deposit, confirm_ms: number): Promise<void> {
  const { status, sequence, tx_hash, output_index, address, amount } = deposit
  const network = networkOf(deposit)
  if (tx_hash === null || output_index === null || address === null)
    throw new Error(`${deposit.id} was seen on no chain`)
  const output = { network, tx_hash, output_index }
  // The exception about a vanished block is opened once.
  if (status === 'completed') return void (await noteVanished(world, output))
  const magic = magicOf(deposit)
  const noting = { nextAttempt: nextAttempt(confirm_ms) }
  if (status === 'pending' && sequence === 1 && (magic === DROPPED || magic === DROPPED_AND_BACK))
    return void (await noteVanished(world, output, noting))
  const depth = status === 'dropped' ? 1 : networks[network].confirmations
  const known = deposit.block_hash !== null && deposit.block_height !== null
  const block = known
    ? { height: deposit.block_height!, hash: deposit.block_hash! }
    : simulatedBlock(network, new Date(world.clock.now()))
  await noteSighting(world, { ...output, address, amount, block, depth }, noting)
}

const POLL_INTERVAL = { least_ms: 250, most_ms: 16_000 }
const SLOTS = { per_rail: 20, per_partner: 16 }
/** All networks share the slots: nothing waits for a network here. */
const PLAYED = 'deposits'

/** Plays the deposits of all partners. */
export function openDepositPlayer(
  world: World<'sandbox'>,
  log: Logger,
  { confirm_ms, activity = alwaysActive }: { readonly confirm_ms: number; readonly activity?: Activity },
): Worker {
  return openWorker<Deposit>({
    name: 'sandbox deposits',
    log,
    activity,
    poll_interval: POLL_INTERVAL,
    rails: [PLAYED],
    slots: SLOTS,
    slotOf: ({ partner_id }) => ({ rail: PLAYED, partner_id }),
    take: ({ rails }) => takeDueDeposits(world.db, { lease_ms: world.lease_ms, most: rails[0]!.free }),
    work: (deposit) => playStep(world, deposit, confirm_ms),
    stop_ms: world.rail_timeout_ms,
  })
}
