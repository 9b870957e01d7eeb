import { type Intent, SignatureRefused, type Signer } from '../../signer/signer.ts'
import type { ChainOrder, LaterReason, Reservation, Signed, Terms } from '../rail.ts'
import type { Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import {
  accountResources,
  type ConstantOutcome,
  newestTronBlock,
  runConstant,
  sunOf,
  type TronBlock,
  tronPrices,
} from './calls.ts'
import { costOf, costProblem, type TronCost } from './costs.ts'
import { addressWord, amountWord, trc20TransferData } from './token.ts'
import { encodeRaw, refBlockOf, tronFactsOf } from './transaction.ts'

/** What the parts of the rail know about their network. */
export type TronPlace = {
  /** The contract of USDT that is paid from. */
  readonly contract: string
  /** The most that one transaction may cost, in sun. */
  readonly fee_most: bigint
  /** How long a transaction may be mined after it was signed. */
  readonly expiry_ms: number
}

export type TronScene = TronPlace & { readonly wallet: string }

export const tokenCall = (
  { contract, wallet }: Pick<TronScene, 'contract' | 'wallet'>,
  signature: string,
  parameter = '',
) => ({ owner: wallet, contract, signature, parameter })

const WORD_DIGITS = 64

/** A number that a constant call returned. Undefined if there is no such function. */
export const numberOf = (outcome: ConstantOutcome): bigint | undefined =>
  outcome.kind === 'returned' && outcome.data.length === WORD_DIGITS ? BigInt(`0x${outcome.data}`) : undefined

/** Bytes of a signed payment of any amount: addresses and words have fixed lengths, times and fees vary by some bytes. */
const PAYMENT_BYTES = 285n

/** What the newest state of one node says about a payment. */
export type Prospect =
  | { readonly kind: 'reverted' }
  | { readonly kind: 'later'; readonly why: LaterReason }
  | { readonly kind: 'possible'; readonly cost: TronCost }

export async function foresee(
  node: RpcNode,
  scene: TronScene,
  { destination_address, amount }: Pick<ChainOrder, 'destination_address' | 'amount'>,
): Promise<Prospect> {
  const { wallet, fee_most } = scene
  const parameter = addressWord(destination_address) + amountWord(amount)
  const [held, sun, own, prices, outcome] = await Promise.all([
    node.ask(runConstant('wallet', tokenCall(scene, 'balanceOf(address)', addressWord(wallet)))),
    node.ask(sunOf('wallet', wallet)),
    node.ask(accountResources(wallet)),
    node.ask(tronPrices()),
    node.ask(runConstant('wallet', tokenCall(scene, 'transfer(address,uint256)', parameter))),
  ])
  const tokens = numberOf(held)
  if (tokens === undefined || tokens < amount) return { kind: 'later', why: 'wallet_too_empty' }
  if (outcome.kind === 'reverted') return outcome
  const cost = costOf({ energy: outcome.energy, bytes: PAYMENT_BYTES }, prices, own)
  const why = costProblem(cost, { fee_most, sun })
  return why ? { kind: 'later', why } : { kind: 'possible', cost }
}

export type TronDraft = { readonly raw: string; readonly terms: Terms }

/**
 * The bytes of a payment, valid for `expiry_ms`. The reference block is a solidified one: no reorganisation takes it, so none takes the
 * payment's validity.
 */
export async function draftPayment(
  rpc: Rpc,
  scene: TronScene,
  { intent, now }: { readonly intent: Intent; readonly now: number },
  signal?: AbortSignal,
): Promise<
  { readonly kind: 'drafted'; readonly draft: TronDraft } | { readonly kind: 'later'; why: LaterReason }
> {
  const read = async (node: RpcNode): Promise<{ solid: TronBlock; prospect: Prospect }> => {
    const [solid, prospect] = await Promise.all([
      node.ask(newestTronBlock('walletsolidity')),
      foresee(node, scene, intent),
    ])
    return { solid, prospect }
  }
  const { solid, prospect } = await rpc.read(read, signal)
  if (prospect.kind === 'reverted') return { kind: 'later', why: 'token_reverts' }
  if (prospect.kind === 'later') return prospect
  const { energy, bandwidth, fee_limit, burn } = prospect.cost
  const times = { expiration: BigInt(now + scene.expiry_ms), timestamp: BigInt(now) }
  const raw = encodeRaw({
    owner: scene.wallet,
    contract: scene.contract,
    data: trc20TransferData(intent.destination_address, intent.amount),
    ref_block: refBlockOf(solid.hash),
    ...times,
    fee_limit,
  })
  const terms = { ...times, fee_limit, energy, bandwidth, burn }
  const text = Object.entries(terms).map(([name, value]) => [name, value.toString()])
  return { kind: 'drafted', draft: { raw, terms: Object.fromEntries(text) } }
}

/** The signer may be another program: its bytes count only if they are the ones that were asked for, signed by the wallet. */
export async function signDraftOfTron(
  signer: Signer,
  { raw, terms }: TronDraft,
  commission: {
    readonly intent: Intent
    readonly reservation: Reservation
    readonly earlier: readonly string[]
  },
): Promise<Signed> {
  const { intent, reservation } = commission
  const { signed } = await signer.sign({ ...commission, purpose: 'pay', unsigned: raw })
  const facts = tronFactsOf(signed)
  if (facts?.raw !== raw || facts.signer !== reservation.wallet)
    throw new Error(
      `The signer's answer for ${intent.transfer_id} is not the transaction that it was asked to sign.`,
    )
  return { purpose: 'pay', tx_hash: facts.tx_hash, signed, terms }
}

export function assertWallet({ wallet }: TronScene, intent: Intent, reservation: Reservation): void {
  if (reservation.wallet !== wallet)
    throw new SignatureRefused('wallet', intent.transfer_id, 'the reservation is of another wallet.')
}
