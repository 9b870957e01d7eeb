import { networks } from '../../../core/networks.ts'
import { SignerUnavailable } from '../../signer/signer.ts'
import { type SweepPurpose, SweepSignatureRefused, type SweepSigner } from '../../signer/sweeps.ts'
import { orNone } from '../check.ts'
import { broadcastToAll, PRIORITY_MOST_WEI, REPLACE_AFTER_MS } from '../evm.ts'
import type { Attempt, Block, Broadcast, Finality, Purpose, Seen, Terms, WalletState } from '../rail.ts'
import { EndpointsUnavailable, type Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import { estimateGas, nativeBalance, newestBlock, priorityFee } from './calls.ts'
import { readHoldings, readWallet } from './condition.ts'
import { finalityOf, look } from './evidence.ts'
import { gasLimitOf, offerFees, todaysFees } from './fees.ts'
import { readL1Fee } from './l1-fee.ts'
import type { EvmNetwork, EvmPlace } from './network.ts'
import { offeredBy, termsOf } from './signing.ts'
import { isSameAddress, transferData } from './token.ts'
import { type EvmTransaction, encodeUnsigned, factsOfSigned } from './transaction.ts'

/**
 * Moves the tokens of one EVM network from deposit addresses into the wallet of the service (decision 0065). A deposit address has no
 * coin for gas, so the gas account sends it some first. Like a rail, a sweeper knows no database: what a transaction spends is
 * reserved by its caller and handed to it.
 */
export interface Sweeper {
  readonly network: EvmNetwork
  /** The only recipient of tokens. */
  readonly wallet: string
  readonly gas_account: string
  /** False without the private key of deposit addresses: the USDT at them is counted, and not moved. */
  readonly can_sign: boolean
  /** A transaction that waits for longer is replaced by one with higher fees. */
  readonly replace_after_ms: number
  /** Whether the signer derives this address from the index. It would refuse to sign for another one. */
  isOurs(swept: Pick<Swept, 'address' | 'address_index'>): boolean
  /** Tokens at the newest final block, as all endpoints tell them, and what the account may spend now. Undefined during an outage. */
  readAddress(address: string): Promise<AddressState | undefined>
  readGasAccount(): Promise<GasAccountState | undefined>
  plan(swept: Swept, native: bigint, cost_most: bigint): Promise<SweepPlan>
  /** Signs the next transaction of a sweep: the first one of its purpose, or a replacement. Sends nothing. */
  sign(swept: Swept, ordered: SweepOrder): Promise<SweepMade>
  broadcast(transaction: Pick<SweepAttempt, 'tx_hash' | 'signed'>): Promise<Broadcast>
  look(swept: Swept, spent: Spent, made: readonly SweepAttempt[]): Promise<Seen>
  finality(block: Block): Promise<Finality>
}

/** What a sweep moves. */
export type Swept = {
  readonly id: string
  readonly address: string
  readonly address_index: number
  readonly amount: bigint
}

/** The account that sends a transaction, and its nonce: all attempts of one purpose spend the same. */
export type Spent = { readonly sender: string; readonly nonce: bigint }

export type SweepAttempt = {
  readonly purpose: SweepPurpose
  readonly attempt: number
  readonly tx_hash: string
  readonly signed: string
  readonly terms: Terms
  readonly created_at: Date
}

export type SweepOrder = Spent & {
  readonly purpose: SweepPurpose
  readonly made: readonly SweepAttempt[]
  /** What the gas account sends; 0 for a sweep. */
  readonly value: bigint
  /** The most that the transaction may cost, in wei, without its value. */
  readonly cost_most: bigint
}

export type SweepMade =
  | { readonly kind: 'signed'; readonly transaction: Omit<SweepAttempt, 'attempt' | 'created_at'> }
  | { readonly kind: 'later'; readonly why: SweepLater }

export type SweepLater =
  | 'fee_above_cap'
  | 'not_worth_it'
  | 'token_reverts'
  | 'signer_limit'
  | 'signer_unavailable'
  | 'endpoints_unavailable'

export type AddressState = Block & {
  /** Tokens at the block. */
  readonly tokens: bigint
  /** The network's coin at the newest block, in wei. */
  readonly native: bigint
  readonly nonces: Pick<WalletState, 'mined' | 'pool'>
}

export type GasAccountState = Pick<AddressState, 'native' | 'nonces'>

export type SweepPlan =
  /** `fund_wei`: what the gas account must send; 0 if the address has enough. */
  | { readonly kind: 'plan'; readonly fund_wei: bigint; readonly fund_cost: bigint; readonly cost: bigint }
  | { readonly kind: 'too_dear'; readonly cost: bigint }
  | { readonly kind: 'token_reverts' }
  | { readonly kind: 'endpoints_unavailable' }

export type SweeperOptions = {
  readonly network: EvmNetwork
  readonly rpc: Rpc
  readonly wallet: string
  readonly gas_account: string
  readonly signer?: SweepSigner
  /** The most that one transaction may cost, and the most that an address is sent for gas, in wei. */
  readonly cost_most_wei: bigint
  readonly contract?: string
  readonly confirmations?: number
  readonly replace_after_ms?: number
}

export function evmSweeper(options: SweeperOptions): Sweeper {
  const { network, rpc, wallet, gas_account, signer } = options
  const facts = networks[network]
  const place: EvmPlace = {
    network,
    chain_id: facts.chain_id,
    confirmations: BigInt(options.confirmations ?? facts.confirmations),
    contract: options.contract ?? facts.usdt_contracts[0],
  }
  const scene = { ...place, wallet, gas_account, cost_cap: options.cost_most_wei }

  return {
    ...{ network, wallet, gas_account, can_sign: signer !== undefined },
    replace_after_ms: options.replace_after_ms ?? REPLACE_AFTER_MS[network],

    isOurs: ({ address, address_index }) =>
      signer !== undefined && isSameAddress(signer.addressAt(address_index), address),

    readAddress: (address) =>
      orNone(async () => {
        const held = await readHoldings(rpc, { ...place, wallet: address })
        if (held === undefined || held === 'endpoints_disagree') return undefined
        const { asset: tokens, block_height, block_hash } = held
        return { tokens, block_height, block_hash, ...(await readAccount(rpc, place, address)) }
      }),

    readGasAccount: () => orNone(() => readAccount(rpc, place, gas_account)),

    async plan(swept, native, cost_most) {
      const found = await orNone(() => planSweep(rpc, scene, { swept, native, cost_most }))
      return found ?? { kind: 'endpoints_unavailable' }
    },

    async sign(swept, ordered) {
      if (!signer) throw new Error(`${network}: this node has no key of deposit addresses.`)
      const drafted = await orNone(() => draft(rpc, scene, swept, ordered))
      if (!drafted) return { kind: 'later', why: 'endpoints_unavailable' }
      if (drafted.kind === 'later') return drafted
      return signWith(signer, { network, swept, ordered, transaction: drafted.transaction })
    },

    broadcast: (transaction) => broadcastToAll({ network, rpc }, transaction),

    async look({ id, amount }, { sender, nonce }, made) {
      const order = {
        ...{ id, asset: facts.asset, network, destination_address: wallet, amount, seal: null },
        created_at: new Date(0),
      }
      const sought = { order, reservation: { wallet: sender, nonce }, made: made.map(asAttempt) }
      return (await look(rpc, place, sought)).seen
    },

    finality: (block) => finalityOf(rpc, block),
  }
}

type SweepScene = EvmPlace & {
  readonly wallet: string
  readonly gas_account: string
  readonly cost_cap: bigint
}

/** The code that sweeps share with transfers knows payments and cancels: a sweep counts as a payment, sending gas as a cancel. */
const purposes: Readonly<Record<SweepPurpose, Purpose>> = { fund: 'cancel', sweep: 'pay' }

const asAttempt = (made: SweepAttempt): Attempt => ({ ...made, purpose: purposes[made.purpose] })

async function readAccount(rpc: Rpc, { network, confirmations }: EvmPlace, address: string) {
  const { mined, pool, is_alone } = await readWallet(rpc, { wallet: address, confirmations })
  // A reserved nonce must be spent: behind one that a single endpoint invented, no transaction of the account would ever be mined.
  if (is_alone) throw new EndpointsUnavailable(network, 'too_few')
  const natives = await rpc.all((node) => node.ask(nativeBalance(address, 'latest')))
  const native = natives.map(({ answer }) => answer).reduce(least)
  return { native, nonces: { mined, pool } }
}

type Call = { readonly from: string; readonly to: string; readonly data: string; readonly value?: bigint }

async function readMarket(node: RpcNode, call: Call) {
  const [{ base_fee }, priority, estimate] = await Promise.all([
    node.ask(newestBlock()),
    node.ask(priorityFee()),
    node.ask(estimateGas(call)),
  ])
  return { base_fee, priority, estimate }
}

const callOf = (
  { contract, wallet, gas_account }: SweepScene,
  { address, amount }: Swept,
  { purpose, value }: { readonly purpose: SweepPurpose; readonly value: bigint },
): Call =>
  purpose === 'fund'
    ? { from: gas_account, to: address, data: '0x', value }
    : { from: address, to: contract, data: transferData(wallet, amount) }

/** What the gas of one transaction costs at most by today's fees. Undefined: the token reverts. */
async function costToday(rpc: Rpc, scene: SweepScene, swept: Swept, purpose: SweepPurpose) {
  const call = callOf(scene, swept, { purpose, value: 0n })
  const market = await rpc.read((node) => readMarket(node, call))
  if (purpose === 'sweep' && market.estimate.kind === 'reverted') return undefined
  const gas_limit = gasLimitOf(purposes[purpose], gasOf(market.estimate))
  const fees = todaysFees({ ...market, priority_most: PRIORITY_MOST_WEI })
  const { from: _, ...target } = call
  const transaction = { chain_id: scene.chain_id, nonce: 0n, ...target, gas_limit, ...fees }
  return gas_limit * fees.max_fee + (await l1FeeOf(rpc, scene, transaction))
}

const gasOf = (estimate: Awaited<ReturnType<typeof readMarket>>['estimate']) =>
  estimate.kind === 'gas' ? estimate.gas : undefined

/** Twice the fee of now: nothing bounds the fee for data, and the address can pay no more than it was sent. */
async function l1FeeOf(rpc: Rpc, { network }: SweepScene, transaction: EvmTransaction): Promise<bigint> {
  if (network !== 'optimism') return 0n
  return 2n * ((await rpc.read((node) => readL1Fee(node, encodeUnsigned(transaction)))) ?? 0n)
}

/**
 * The address is sent half as much again as the sweep costs by today's fees, if the bounds allow it: a replacement must offer more than
 * the transaction before. What is left stays at the address and is used by its next sweep.
 */
async function planSweep(
  rpc: Rpc,
  scene: SweepScene,
  { swept, native, cost_most }: { swept: Swept; native: bigint; cost_most: bigint },
): Promise<SweepPlan> {
  const sweep_cost = await costToday(rpc, scene, swept, 'sweep')
  if (sweep_cost === undefined) return { kind: 'token_reverts' }
  const is_funded = native >= sweep_cost
  const fund_cost = is_funded ? 0n : (await costToday(rpc, scene, swept, 'fund'))!
  const cost = fund_cost + sweep_cost
  const bounds = [sweep_cost, fund_cost]
  if (cost > cost_most || bounds.some((one) => one > scene.cost_cap)) return { kind: 'too_dear', cost }
  if (is_funded) return { kind: 'plan', fund_wei: 0n, fund_cost, cost }
  const wanted = [(sweep_cost * 3n) / 2n, scene.cost_cap, cost_most - fund_cost].reduce(least)
  return { kind: 'plan', fund_wei: wanted - native, fund_cost, cost }
}

type SweepDraft =
  | { readonly kind: 'drafted'; readonly transaction: EvmTransaction }
  | Extract<SweepMade, { kind: 'later' }>

async function draft(
  rpc: Rpc,
  scene: SweepScene,
  swept: Swept,
  { purpose, made, nonce, value, cost_most }: SweepOrder,
): Promise<SweepDraft> {
  const call = callOf(scene, swept, { purpose, value })
  const market = await rpc.read((node) => readMarket(node, call))
  if (purpose === 'sweep' && market.estimate.kind === 'reverted')
    return { kind: 'later', why: 'token_reverts' }
  const gas_limit = gasLimitOf(purposes[purpose], gasOf(market.estimate))
  const bound = least(cost_most, scene.cost_cap)
  const { from: _, ...target } = call
  const draftOf = (max_fee: bigint, priority: bigint) =>
    ({ chain_id: scene.chain_id, nonce, ...target, gas_limit, max_fee, priority }) as const
  const l1_fee = await l1FeeOf(rpc, scene, draftOf(market.base_fee, 0n))
  const offer = offerFees({
    ...{ purpose: purposes[purpose], gas_limit, priority_most: PRIORITY_MOST_WEI },
    ...{ base_fee: market.base_fee, priority: market.priority },
    cost_most: bound - l1_fee,
    made: made.map((one) => offeredBy(asAttempt(one))),
  })
  if (offer.kind === 'later') return offer
  return { kind: 'drafted', transaction: draftOf(offer.fees.max_fee, offer.fees.priority) }
}

/** The signer may be another program: its bytes count only if they are the ones that were asked for, signed by the sender. */
async function signWith(
  signer: SweepSigner,
  {
    network,
    swept,
    ordered: { purpose, sender },
    transaction,
  }: { network: EvmNetwork; swept: Swept; ordered: SweepOrder; transaction: EvmTransaction },
): Promise<SweepMade> {
  const unsigned = encodeUnsigned(transaction)
  const { id: sweep_id, address_index } = swept
  try {
    const { signed } = await signer.sign({ sweep_id, network, purpose, address_index, unsigned })
    const facts = factsOfSigned(signed)
    if (facts?.unsigned !== unsigned || !isSameAddress(facts.sender, sender))
      throw new Error(`The signer's answer for ${sweep_id} is not the transaction that it was asked to sign.`)
    const { tx_hash } = facts
    return { kind: 'signed', transaction: { purpose, tx_hash, signed, terms: termsOf(transaction) } }
  } catch (error) {
    if (error instanceof SweepSignatureRefused && error.rule.endsWith('_per_hour'))
      return { kind: 'later', why: 'signer_limit' }
    if (error instanceof SignerUnavailable) return { kind: 'later', why: 'signer_unavailable' }
    throw error
  }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
