import type { AnyoneOfPartner, PartnerActor } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { UNITS_MAX } from '../../core/money.ts'
import { isNetwork, type Network, networkNames, networks } from '../../core/networks.ts'
import { findOwned } from '../../core/owned.ts'
import { customerAccount, inTransitAccount } from '../../ledger/accounts.ts'
import { assertCovered, balanceOf } from '../../ledger/balances.ts'
import { type Command, writeTo } from '../../ledger/command.ts'
import {
  findRecord,
  type Once,
  once,
  type Requested,
  type Responded,
  type Tried,
  tryOnce,
} from '../../ledger/once.ts'
import { activeCustomer, findCustomer } from '../../parties/customers/customers.ts'
import { customerRows } from '../../parties/customers/store.ts'
import { onBehalfOf } from '../../parties/keys/keys.ts'
import type { SealTransfer } from '../../rails/signer/seal.ts'
import { eventWrite } from '../../records/events/events.ts'
import type { World } from '../../world.ts'
import { assertOrderFits, assertRailAccepts, countOrder } from '../custody/controls.ts'
import { assertHeld, claimHeld, type Floors, type HeldClaim, nothingClaimed } from '../custody/holdings.ts'
import { spendHeld } from '../money-limits/money-limits.ts'
import { usageRows } from '../money-limits/store.ts'
import { isPayableAddress } from './address.ts'
import { renderTransfer } from './contract.ts'
import { feeOf } from './fees.ts'
import { insertTransfers, selectTransfer, type Transfer, transferById, transferRow } from './store.ts'

/**
 * The order of an on-chain transfer (interface §4.2). Accepting the order moves the amount and the fee from the balance into
 * transit, in the transaction that claims the idempotency key. Then worker.ts signs and broadcasts a payment, of which at most one is
 * mined; when the transfer is confirmed or has failed, the money leaves transit: to the outside, or back to the customer.
 */
export type TransferOrder = Pick<
  Transfer,
  'customer_id' | 'asset' | 'network' | 'amount_net' | 'destination_address' | 'idempotency_key' | 'metadata'
>

export const findTransfer = (world: World, { partner_id }: AnyoneOfPartner, id: string): Promise<Transfer> =>
  findOwned('transfer', { id, partner_id }, () => selectTransfer(world.db, { id, partner_id }))

export const TRANSFER_OPERATION = 'onchain.transfer'

/** Returns the network. Refuses a network that does not carry the asset, and an address that cannot be paid there. */
export function readDestination(
  { require_address_checksum: require_checksum }: World,
  asset: 'USDT' | 'BTC',
  network: string,
  destination_address: string,
): Network {
  const known = isNetwork(network) ? network : undefined
  if (!known || networks[known].asset !== asset) {
    const carries = networkNames.filter((name) => networks[name].asset === asset).join(', ')
    refuse('unsupported_network', { param: 'network', message: `${asset} moves on ${carries}.` })
  }
  if (isPayableAddress(known, destination_address, { require_checksum })) return known
  const lacksChecksum = require_checksum && isPayableAddress(known, destination_address)
  const message = lacksChecksum
    ? 'This address is written in lower case only and carries no checksum, which is required here. Send it in its mixed-case form (EIP-55).'
    : `This address cannot be paid on ${known}: ${addressForms[networks[known].kind]} Check it character by character.`
  return refuse('invalid_address', { param: 'destination_address', message })
}

const addressForms = {
  evm: 'an address is 0x and 40 hex digits, whose capitals are its checksum (EIP-55), and neither a burn address nor the USDT contract.',
  tron: 'an address is base58 with a checksum and begins with T; the USDT contract is none.',
  bitcoin: 'an address is one of mainnet that begins with bc1, 1 or 3, with a right checksum.',
} as const

/** Asks the rail. Call it before the command: nothing is locked while the rail answers, and the transfer keeps this fee. */
async function currentFee(world: World, network: Network): Promise<bigint> {
  return feeOf(network, await world.chains[network].feeInputs())
}

/** The fee on each network; a network whose rail fails is left out. */
export async function currentFees(world: World): Promise<{ network: Network; fee: bigint }[]> {
  const fees = await Promise.all(
    networkNames.map(async (network) => {
      const fee = await currentFee(world, network).catch(() => undefined)
      return fee === undefined ? [] : [{ network, fee }]
    }),
  )
  return fees.flat()
}

type TransferRequest = Requested<TransferOrder>

export async function createTransfer(
  world: World,
  actor: PartnerActor,
  request: TransferRequest,
): Promise<Responded> {
  const record = await findRecord(world, actor.partner_id, request.claim)
  if (record?.response) return { response: record.response, replayed: true }
  const done = await commitTransfer(world, actor, request)
  const { response } = done.kind === 'existing' ? done.record : done
  return { response: response ?? refuse('service_unavailable'), replayed: done.kind === 'existing' }
}

async function commitTransfer(
  world: World,
  actor: PartnerActor,
  request: TransferRequest,
): Promise<Once<Transfer>> {
  const { command, claim } = await prepareTransfer(world, actor, request)
  let is_made = false
  try {
    const done = await world.commit(command)
    is_made = done.kind === 'made'
    if (is_made) countOrder(world, request.order.network, request.order.amount_net)
    return done
  } finally {
    if (!is_made) claim.release()
  }
}

/** Dry run of a transfer. */
export const tryTransfer = (
  world: World,
  actor: PartnerActor,
  request: TransferRequest,
): Promise<Tried<Transfer>> =>
  tryOnce<Transfer>(world, {
    partner_id: actor.partner_id,
    claim: request.claim,
    async prepare() {
      const { command, claim } = await prepareTransfer(world, actor, request)
      claim.release()
      return command
    },
    accountOf: (transfer) => transfer,
    find: (id) => transferById(world.db, id),
  })

/** The checks before the ledger command, in the order of the contract; the same for a transfer and its dry run. */
async function prepareTransfer(
  world: World,
  actor: PartnerActor,
  request: TransferRequest,
): Promise<{ readonly command: Command<Once<Transfer>>; readonly claim: HeldClaim }> {
  const { order } = request
  const { customer_id, network, amount_net } = order
  await findCustomer(world, { partner_id: actor.partner_id, id: customer_id })
  const limits = await assertRailAccepts(world, { rail: network, units: amount_net })
  await assertHeld(world, { network, units: amount_net }, limits)
  const [fee, seal] = await Promise.all([currentFee(world, network), world.transferSeals()])
  const order_most = lowestOf(limits.order_most, world.chains[network].order_most)
  const command = acceptTransfer(world, actor, { ...request, order_most, fee, seal })
  return { command, claim: await claimCovered(world, { order, fee }, limits) }
}

/**
 * An order that the balance does not cover claims nothing: until its command refuses the order, a claim would make the node
 * refuse the orders of other partners. The balance is read without a lock; the command judges the balance under the lock.
 */
async function claimCovered(
  world: World,
  { order, fee }: { readonly order: TransferOrder; readonly fee: bigint },
  floors: Floors,
): Promise<HeldClaim> {
  const { customer_id, asset, network, amount_net } = order
  if (!world.chains[network].has_wallet) return nothingClaimed
  if ((await balanceOf(world.db, { customer_id, asset })) < amount_net + fee) return nothingClaimed
  return claimHeld(world, { network, units: amount_net }, floors)
}

const lowestOf = (limit: bigint | null, signed_most: bigint | undefined): bigint | null =>
  signed_most !== undefined && (limit === null || signed_most < limit) ? signed_most : limit

/** What is asked for before the command: nothing is locked while rail and database answer. */
type Terms = {
  readonly fee: bigint
  readonly seal: SealTransfer
  /** The most of one order, by the rail's limit and its signer; absent or null: no bound. */
  readonly order_most?: bigint | null
}

/** The command that accepts a transfer: claims the idempotency key, debits the customer, and writes the row and its event. */
export function acceptTransfer(
  world: World,
  actor: PartnerActor,
  { order, claim, fee, seal, bodyOf, order_most = null, request_id = null }: TransferRequest & Terms,
): Command<Once<Transfer>> {
  const { partner_id } = actor
  const { customer_id, asset, network, amount_net } = order
  const id = world.newId('transfer')
  const account = { customer_id, asset }
  const gross = amount_net + fee
  const reads = [customerRows, usageRows].map((source) => ({ source, id: customer_id }))
  return onBehalfOf(actor, {
    partner_id,
    locks: { claim, accounts: [account], reads },
    decide: (held) =>
      once(held, claim, bodyOf, () => {
        activeCustomer(held, { partner_id, id: customer_id })
        if (gross > UNITS_MAX) refuse('amount_too_large', { param: 'amount' })
        assertOrderFits(network, { units: amount_net, order_most })
        const keeps = spendHeld(held, limitedOrderOf(order))
        assertCovered(held.account(account)!, gross) // interface §4.2, rule 1
        const transfer: Transfer = {
          ...order,
          id,
          partner_id,
          api_key_id: actor.key_id,
          fee,
          status: 'pending',
          tx_hash: null,
          signed_transaction: null,
          failure_code: null,
          rail_code: null,
          attempts: 0,
          next_attempt_at: held.now,
          sequence: 1,
          created_at: held.now,
          completed_at: null,
          charged: null,
          charged_at: null,
          request_id,
          wallet_id: null,
          nonce: null,
          seal: seal({
            transfer_id: id,
            network,
            destination_address: order.destination_address,
            amount: amount_net,
          }),
          cancel_requested_at: null,
        }
        const object = renderTransfer(transfer)
        return {
          resource_id: id,
          response: { status: 201, body: JSON.stringify(object) },
          keeps,
          movements: [
            {
              cause_id: id,
              name: 'accepted',
              partner_id,
              lines: [
                { account: customerAccount(customer_id), asset, amount: -gross },
                { account: inTransitAccount(network, customer_id), asset, amount: gross },
              ],
            },
          ],
          writes: [
            writeTo(insertTransfers, transferRow(transfer)),
            eventWrite(
              world,
              { partner_id, type: 'onchain.transfer.created', object, sequence: 1 },
              held.now,
            ),
          ],
          result: transfer,
        }
      }),
  })
}

/** Money limits count the amount without the fee. */
const limitedOrderOf = ({ customer_id, asset, amount_net }: TransferOrder) =>
  ({ kind: 'transfer', customer_id, asset, units: amount_net }) as const
