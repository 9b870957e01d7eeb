import type { Logger } from 'pino'
import { networks } from '../../core/networks.ts'
import { orNoSigner, SignatureRefused, type Signer, type SignerRule } from '../signer/signer.ts'
import { openCheck, orNone, orUnavailable, remembered, unavailable } from './check.ts'
import { knowsTransaction, newestBlock, priorityFee, sendTransaction } from './evm/calls.ts'
import { checkChain, readHoldings, readWallet, walletOf } from './evm/condition.ts'
import { finalityOf, look } from './evm/evidence.ts'
import type { EvmNetwork, EvmPlace, EvmScene } from './evm/network.ts'
import { paymentSource } from './evm/payments.ts'
import { screenOrder } from './evm/screening.ts'
import { draftTransaction, type FeeBounds, signDraft } from './evm/signing.ts'
import { factsOfSigned } from './evm/transaction.ts'
import type { Attempt, Broadcast, ChainOrder, ChainRail, Holdings, Later, LaterReason } from './rail.ts'
import type { Rpc } from './rpc.ts'

export type EvmChainOptions = {
  readonly network: EvmNetwork
  readonly rpc: Rpc
  readonly signer: Signer
  /**
   * The most that one transaction may cost: maximum fee × gas limit, in wei. On optimism plus the fee for its data on ethereum as
   * it is right before the signature: nothing bounds that fee afterwards (`evm/l1-fee.ts`), and the signer cannot know it.
   */
  readonly cost_most_wei: bigint
  /** The most that is offered to the miner, per unit of gas. */
  readonly priority_most_wei?: bigint
  /** Smallest units of USDT for one ether. Undefined while unknown. Only ethereum asks for it: the other networks have a flat fee. */
  readonly ethPrice?: () => Promise<bigint | undefined>
  /** The token's contract and the depth of a confirmation, where they are not those of `networks`. */
  readonly contract?: string
  readonly confirmations?: number
  /** False on a node that accepts transfers and sends none: its signer has no key. */
  readonly signs?: boolean
  /** The address that the signer must have. */
  readonly wallet?: string
  readonly reserved_most?: number
  /** The signer's limit of an hour: it never signs an order above it. */
  readonly order_most?: bigint
  readonly replace_after_ms?: number
  /** Customers pay in on this network. `start_height`: the first block that is read for them. */
  readonly deposits?: { readonly start_height?: bigint }
  /** How long the inputs of the fee are reused. */
  readonly fees_fresh_ms?: number
  readonly clock?: { now(): number }
  readonly log?: Pick<Logger, 'info' | 'warn'>
}

export const PRIORITY_MOST_WEI = 200n * 10n ** 9n
const RESERVED_MOST = 16
export const REPLACE_AFTER_MS = { ethereum: 120_000, polygon: 60_000, arbitrum: 60_000, optimism: 60_000 }
const FEES_FRESH_MS = 3000

/** The reasons of a signer to refuse that pass with time. All others mean that something is wrong with the request. */
const passingRules: readonly SignerRule[] = ['fee_cap', 'count_per_hour', 'amount_per_hour', 'costs_per_hour']

/** USDT on one EVM network. */
export function evmChain(options: EvmChainOptions): ChainRail<'production'> {
  const { network, rpc, signer, log, signs = true, clock = { now: Date.now } } = options
  const facts = networks[network]
  const place = placeOf(options)
  const feeInputs = remembered(options.fees_fresh_ms ?? FEES_FRESH_MS, () => readFeeInputs(options))
  let wallet: string | undefined
  const checkedOnce = openCheck(() => check(), log)

  /** Throws `ChainCheckFailed`. */
  async function check(): Promise<void> {
    if (signs) await sceneOf()
    await checkChain(rpc, place)
  }

  async function sceneOf(): Promise<EvmScene & FeeBounds> {
    wallet ??= await walletOf(signer, network, options.wallet)
    return {
      ...place,
      wallet,
      priority_most: options.priority_most_wei ?? PRIORITY_MOST_WEI,
      cost_most: options.cost_most_wei,
    }
  }

  const later = (order: ChainOrder, why: LaterReason): Later => {
    log?.info({ network, transfer_id: order.id, why }, `chain: ${network} transfer ${order.id} waits: ${why}`)
    return { kind: 'later', at: new Date(clock.now() + facts.poll_most_ms), why }
  }

  return {
    environment: 'production',
    network,
    is_configured: true,
    check,
    endpoints: rpc.facts,
    has_wallet: true,
    reserved_most: options.reserved_most ?? RESERVED_MOST,
    ...(options.order_most === undefined ? {} : { order_most: options.order_most }),
    replace_after_ms: options.replace_after_ms ?? REPLACE_AFTER_MS[network],
    ...(options.deposits ? { payments: paymentSource(rpc, place, options.deposits) } : {}),

    feeInputs: () =>
      orUnavailable(async () => {
        await checkedOnce()
        return feeInputs()
      }),

    wallet: () => orUnavailable(async () => readWallet(rpc, await sceneOf())),

    async screen(order, signal) {
      if (options.order_most !== undefined && order.amount > options.order_most)
        return later(order, 'signer_limit')
      const screened = await orNone(async () => screenOrder(rpc, await sceneOf(), order, signal))
      if (!screened) return later(order, 'endpoints_unavailable')
      if (screened.kind === 'refused') return screened
      const why = screened.kind === 'later' ? screened.why : await noRoom(options, order, screened)
      return why === 'room' ? { kind: 'payable' } : later(order, why)
    },

    async attempt(order, reservation, made, purpose, signal) {
      const { id, destination_address, amount } = order
      // Without a seal the signer refuses.
      const intent = { transfer_id: id, network, destination_address, amount, seal: order.seal ?? '' }
      const commission = { intent, reservation, made, purpose }
      const drafted = await orNone(async () => {
        await checkedOnce()
        return draftTransaction(rpc, await sceneOf(), commission, signal)
      })
      if (drafted?.kind !== 'drafted') return later(order, drafted?.why ?? 'endpoints_unavailable')
      signal?.throwIfAborted()
      try {
        const transaction = await orNoSigner(() => signDraft(signer, drafted.transaction, commission))
        return transaction ? { kind: 'signed', transaction } : later(order, 'signer_unavailable')
      } catch (error) {
        if (error instanceof SignatureRefused && passingRules.includes(error.rule))
          return later(order, error.rule === 'fee_cap' ? 'fee_above_cap' : 'signer_limit')
        throw error
      }
    },

    broadcast: (_, attempt, signal) => broadcastToAll(options, attempt, signal),

    async look(order, reservation, made, signal) {
      const { seen, contradiction } = await look(rpc, place, { order, reservation, made }, signal)
      if (contradiction)
        log?.warn(
          { network, transfer_id: order.id },
          `chain: endpoints of ${network} contradict each other about transfer ${order.id}; it waits until they agree`,
        )
      return seen
    },

    finality: (block, signal) => finalityOf(rpc, block, signal),

    holdings: async (addresses = []) => heldBy(options, await sceneOf(), addresses),
  }
}

/**
 * Asks the signer to keep room for the payment within its limits of an hour. A payment without room gets no nonce: all later transfers of
 * the wallet would wait behind it. Its cost counts up to the cap.
 */
async function noRoom(
  { signer, network, cost_most_wei }: EvmChainOptions,
  { id: transfer_id, amount }: ChainOrder,
  expected: { readonly gas_wei: bigint },
): Promise<'signer_limit' | 'signer_unavailable' | 'room'> {
  const gas_wei = expected.gas_wei < cost_most_wei ? expected.gas_wei : cost_most_wei
  const answer = await orNoSigner(async () => {
    const exceeded = await signer.keepRoom({ transfer_id, network, amount, cost: gas_wei })
    return exceeded === undefined ? 'room' : 'signer_limit'
  })
  return answer ?? 'signer_unavailable'
}

/** Refuses while endpoints tell different figures: `details.why` says so. */
async function heldBy(
  { network, rpc, log }: EvmChainOptions,
  scene: EvmScene,
  addresses: readonly string[],
): Promise<Holdings> {
  const found = await orUnavailable(() => readHoldings(rpc, scene, addresses))
  if (found !== 'endpoints_disagree') return found ?? unavailable()
  const problem = `endpoints of ${network} tell different holdings of the wallet at one block`
  log?.warn({ network }, `chain: ${problem}; none is stored until they agree`)
  return unavailable({ message: `The ${problem}.`, details: { why: 'endpoints_disagree' } })
}

function placeOf({ network, confirmations, contract }: EvmChainOptions): EvmPlace {
  const facts = networks[network]
  return {
    network,
    chain_id: facts.chain_id,
    confirmations: BigInt(confirmations ?? facts.confirmations),
    contract: contract ?? facts.usdt_contracts[0],
  }
}

export async function broadcastToAll(
  { network, rpc }: Pick<EvmChainOptions, 'network' | 'rpc'>,
  { tx_hash, signed }: Pick<Attempt, 'tx_hash' | 'signed'>,
  signal?: AbortSignal,
): Promise<Broadcast> {
  const sender = factsOfSigned(signed)?.sender
  if (sender === undefined) throw new Error(`${network}: the stored bytes of ${tx_hash} are no transaction.`)
  const heard = await orNone(() =>
    rpc.all(async (node) => {
      await node.ask(sendTransaction(signed))
      return node.ask(knowsTransaction(tx_hash, sender))
    }, signal),
  )
  return { kind: heard?.some(({ answer }) => answer) ? 'accepted' : 'unknown' }
}

async function readFeeInputs({ network, rpc, ethPrice }: EvmChainOptions) {
  const [{ base_fee }, priority] = await rpc.read((node) =>
    Promise.all([node.ask(newestBlock()), node.ask(priorityFee())]),
  )
  const eth_price = network === 'ethereum' ? await ethPrice?.() : 0n
  if (eth_price === undefined) return unavailable()
  return { gas_price_wei: base_fee + priority, eth_price, sat_per_vbyte: 0n }
}
