import type { Attempt, Block, ChainOrder, Finality, Reservation, Seen } from '../rail.ts'
import type { Heard, Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import {
  blockAt,
  type EvmReceipt,
  finalizedBlock,
  knowsTransaction,
  newestBlock,
  receiptOf,
  transactionCount,
} from './calls.ts'
import type { EvmPlace } from './network.ts'
import { isSameAddress, showsTransfer } from './token.ts'

/** A reservation to look for on the chain, with all transactions that were signed for it. */
export type Sought = {
  readonly order: ChainOrder
  readonly reservation: Reservation
  readonly made: readonly Attempt[]
}

async function lookFrom(node: RpcNode, place: EvmPlace, sought: Sought): Promise<Seen> {
  const { made, reservation } = sought
  const receiptsNow = () =>
    Promise.all(made.map(({ tx_hash }) => node.ask(receiptOf(tx_hash, reservation.wallet))))
  const [head, receipts] = await Promise.all([node.ask(newestBlock()), receiptsNow()])
  const mined = receipts.flatMap((receipt, index) => (receipt ? [{ receipt, attempt: made[index]! }] : []))
  // Two transactions of one nonce cannot both be mined: the node is between two branches.
  if (mined.length > 1) return waiting
  if (mined[0]) return lookDeeper(node, place, sought, mined[0])

  const final = head.height - place.confirmations + 1n
  const [count, known] = await Promise.all([
    final < 0n ? 0n : node.ask(transactionCount(reservation.wallet, final)),
    Promise.all(made.map(({ tx_hash }) => node.ask(knowsTransaction(tx_hash, reservation.wallet)))),
  ])
  if (known.includes(true)) return waiting
  if (count <= reservation.nonce) return { kind: 'absent' }
  // The nonce is spent for good. The receipts may be younger than the first question.
  return (await receiptsNow()).some((receipt) => receipt) ? waiting : { kind: 'taken' }
}

type MinedAttempt = { readonly receipt: EvmReceipt; readonly attempt: Attempt }

/** Final if the block of the receipt is still the one at its height, and deep enough. */
async function lookDeeper(
  node: RpcNode,
  place: EvmPlace,
  sought: Sought,
  { receipt, attempt }: MinedAttempt,
): Promise<Seen> {
  const { block_height, block_hash } = receipt
  const [block, head] = await Promise.all([node.ask(blockAt(block_height)), node.ask(newestBlock())])
  if (block?.hash !== block_hash || head.height - block_height + 1n < place.confirmations) return waiting
  const effect = effectOf(place, sought, { receipt, attempt })
  const gas_paid_wei = gasPaid(place, { receipt, attempt })
  return {
    ...{ kind: 'mined', tx_hash: attempt.tx_hash, effect, block_height, block_hash },
    ...(gas_paid_wei === undefined ? {} : { gas_paid_wei }),
  }
}

/** No fee for data is this high: a node that tells a larger figure invents it. */
const L1_FEE_MOST = 10n ** 18n

/**
 * What the transaction cost, in wei. Undefined if the receipt lacks a part of it, or contradicts what was signed. Arbitrum counts
 * its data on ethereum as gas; optimism tells the fee for it apart.
 */
function gasPaid({ network }: EvmPlace, { receipt, attempt }: MinedAttempt): bigint | undefined {
  const { gas_used, gas_price, l1_fee, has_operator_fee } = receipt.cost
  if (gas_used === undefined || gas_price === undefined) return undefined
  const { gas_limit, max_fee_per_gas } = attempt.terms
  if (gas_limit !== undefined && gas_used > BigInt(gas_limit)) return undefined
  if (max_fee_per_gas !== undefined && gas_price > BigInt(max_fee_per_gas)) return undefined
  if (network !== 'optimism') return gas_used * gas_price
  const is_known = l1_fee !== undefined && l1_fee <= L1_FEE_MOST && !has_operator_fee
  return is_known ? gas_used * gas_price + l1_fee : undefined
}

const waiting: Seen = { kind: 'waiting' }

function effectOf(place: EvmPlace, { order, reservation }: Sought, { receipt, attempt }: MinedAttempt) {
  if (!receipt.succeeded) return 'none'
  // A cancel calls no contract. Polygon itself adds a log about the fee to every transaction, so only the token's logs count.
  if (attempt.purpose === 'cancel')
    return receipt.logs.some(({ address }) => isSameAddress(address, place.contract)) ? 'other' : 'none'
  const wanted = {
    contract: place.contract,
    from: reservation.wallet,
    to: order.destination_address,
    amount: order.amount,
  }
  return showsTransfer(receipt.logs, wanted) ? 'paid' : 'other'
}

/**
 * What is final moves money, so it counts only if a quorum of endpoints says the same and none says something else that is final.
 * `contradiction`: two endpoints disagree on what is final, so one of them lies or follows another branch.
 */
export function verdictOf(
  views: readonly Heard<Seen>[],
  quorum: number,
): { readonly seen: Seen; readonly contradiction: boolean } {
  const seen = views.map(({ answer }) => answer)
  const final = seen.filter(({ kind }) => kind === 'mined' || kind === 'taken')
  const contradiction = new Set(final.map(keyOf)).size > 1
  const first = final[0]
  if (!first)
    return { seen: seen.find(({ kind }) => kind === 'waiting') ?? { kind: 'absent' }, contradiction }
  const is_known = seen.some(({ kind }) => kind === 'waiting')
  const is_shared = !contradiction && final.length >= quorum
  // An endpoint that still has one of our transactions contradicts that the nonce was spent by a stranger.
  if (!is_shared || (first.kind === 'taken' && is_known)) return { seen: waiting, contradiction }
  return { seen: withSharedGas(first, final), contradiction }
}

/** Endpoints that agree on the outcome may still tell different gas, or none: then it is not known. */
function withSharedGas(first: Seen, final: readonly Seen[]): Seen {
  if (first.kind !== 'mined') return first
  const told = new Set(final.map((seen) => (seen.kind === 'mined' ? seen.gas_paid_wei : undefined)))
  if (told.size === 1) return first
  const { gas_paid_wei: _, ...rest } = first
  return rest
}

const keyOf = (seen: Seen): string =>
  seen.kind === 'mined' ? [seen.tx_hash, seen.block_hash, seen.effect].join(' ') : seen.kind

export async function look(rpc: Rpc, place: EvmPlace, sought: Sought, signal?: AbortSignal) {
  return verdictOf(await rpc.all((node) => lookFrom(node, place, sought), signal), rpc.quorum)
}

/** Final or gone only if a quorum of endpoints says so and none says something else. */
export async function finalityOf(rpc: Rpc, block: Block, signal?: AbortSignal): Promise<Finality> {
  const seenFrom = async (node: RpcNode): Promise<Finality> => {
    const [finalized, now] = await Promise.all([
      node.ask(finalizedBlock()),
      node.ask(blockAt(block.block_height)),
    ])
    if (!now) return 'open'
    if (now.hash !== block.block_hash) return 'gone'
    return finalized && finalized.height >= block.block_height ? 'final' : 'open'
  }
  return (await rpc.agree(seenFrom, (finality) => finality, signal)) ?? 'open'
}
