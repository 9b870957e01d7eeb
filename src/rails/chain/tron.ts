import type { Logger } from 'pino'
import { networks } from '../../core/networks.ts'
import { orNoSigner, type Signer } from '../signer/signer.ts'
import { TRON_EXPIRY_MS } from '../signer/tron.ts'
import {
  ChainCheckFailed,
  type CheckedPart,
  checkEndpoints,
  openCheck,
  orNone,
  orUnavailable,
  remembered,
  unavailable,
} from './check.ts'
import type {
  Attempt,
  Broadcast,
  ChainOrder,
  ChainRail,
  Holdings,
  Later,
  LaterReason,
  Screened,
} from './rail.ts'
import { EndpointsDisagree, type Rpc } from './rpc.ts'
import type { RpcNode } from './rpc-health.ts'
import { accountHexOf } from './tron/address.ts'
import {
  broadcastHex,
  hasTransaction,
  newestTronBlock,
  receiptsInBlock,
  runConstant,
  type TronBlock,
  tronBlockAt,
  tronReceiptOf,
} from './tron/calls.ts'
import { readTronHoldings } from './tron/holdings.ts'
import { numberOf, type TronPlace, type TronScene, tokenCall } from './tron/payment.ts'
import { tronPayments } from './tron/payments.ts'
import { screenTronOrder } from './tron/screening.ts'
import { lookBesideDrafts, signPayment, type TronDrafts } from './tron/signing.ts'
import { trc20TransfersIn } from './tron/token.ts'

export type TronRailOptions = {
  readonly rpc: Rpc
  readonly signer: Signer
  readonly drafts: TronDrafts
  /** The most that one transaction may cost, in sun: energy, and bandwidth. */
  readonly fee_most: bigint
  /** How long a transaction may be mined after it was signed, at most that of the signer. */
  readonly expiry_ms?: number
  readonly contract?: string
  /** False on a node that accepts transfers and sends none: its signer has no key. */
  readonly signs?: boolean
  /** The address that the signer must have. */
  readonly wallet?: string
  readonly reserved_most?: number
  /** The signer's limit of an hour: it never signs an order above it. */
  readonly order_most?: bigint
  /** Customers pay in. `start_height`: the first block that is read for them. */
  readonly deposits?: { readonly start_height?: bigint }
  readonly clock?: { now(): number }
  readonly log?: Pick<Logger, 'info' | 'warn'>
}

/** A solidified block, and the transactions in it by which USDT left the wallet. */
export type OutgoingBlock = TronBlock & { readonly outgoing: readonly string[] }

/**
 * USDT on Tron, as nodes tell it. A chain without nonces cannot tell how many transactions a wallet has made, so the service reads all
 * solidified blocks for what leaves the wallet (`money/onchain/tron`), and answers `wallet` itself.
 */
export type TronRail = Omit<ChainRail<'production'>, 'wallet'> & {
  address(): Promise<string>
  /** The newest solidified block that all endpoints have. */
  solidHead(): Promise<TronBlock>
  /** Throws `EndpointsDisagree` unless a quorum of endpoints tells the same. */
  outgoingAt(height: bigint): Promise<OutgoingBlock>
}

const RESERVED_MOST = 64
const FEES_FRESH_MS = 3000
const DECIMALS = 6n
/** Transactions of a chain that nobody else uses may be this many blocks back. */
const SAMPLE_BLOCKS = 20n

export function openTronRail(options: TronRailOptions): TronRail {
  const { rpc, order_most } = options
  const parts = openParts(options)
  const headOnce = remembered(FEES_FRESH_MS, () => rpc.read((node) => node.ask(newestTronBlock('wallet'))))

  return {
    environment: 'production',
    network: 'tron',
    is_configured: true,
    check: parts.check,
    endpoints: rpc.facts,
    has_wallet: true,
    reserved_most: options.reserved_most ?? RESERVED_MOST,
    ...(order_most === undefined ? {} : { order_most }),
    // Nothing replaces a transaction that waits: it is mined, or it expires.
    replace_after_ms: parts.place.expiry_ms,
    ...(options.deposits
      ? { payments: tronPayments(rpc, { contract: parts.place.contract, ...options.deposits }) }
      : {}),
    address: parts.address,

    feeInputs: () =>
      orUnavailable(async () => {
        await parts.checkedOnce()
        await headOnce()
        return { gas_price_wei: 0n, eth_price: 0n, sat_per_vbyte: 0n }
      }),

    screen: (order, signal) => screen(parts, order, signal),
    attempt: async (order, reservation, made, purpose, signal) =>
      // A cancel signs nothing: the payment is not sent again, and expires.
      purpose === 'cancel'
        ? parts.later(order, 'not_worth_it')
        : signPayment(parts, { order, reservation, made }, signal),
    broadcast: (_, attempt, signal) => broadcastTron(rpc, attempt, signal),
    look: (order, reservation, made, signal) => lookBesideDrafts(parts, { order, reservation, made }, signal),
    holdings: (addresses = []) => holdingsOnTron(parts, addresses),

    async solidHead() {
      const heads = await rpc.all((node) => node.ask(newestTronBlock('walletsolidity')))
      return heads
        .map(({ answer }) => answer)
        .reduce((one, other) => (other.height < one.height ? other : one))
    },

    async outgoingAt(height) {
      const from = accountHexOf(await parts.address())
      const told = await rpc.agree(
        (node) => outgoingFrom(node, { height, from, contract: parts.place.contract }),
        ({ hash, outgoing }) => [hash, ...outgoing].join(' '),
      )
      if (!told) throw new EndpointsDisagree('tron', `block ${height}`)
      return told
    },
  }
}

type Parts = ReturnType<typeof openParts>

function openParts(options: TronRailOptions) {
  const { rpc, signer, drafts, log, signs = true, clock = { now: Date.now }, order_most } = options
  const place: TronPlace = {
    contract: options.contract ?? networks.tron.usdt_contracts[0],
    fee_most: options.fee_most,
    expiry_ms: Math.min(options.expiry_ms ?? TRON_EXPIRY_MS, TRON_EXPIRY_MS),
  }
  let wallet: string | undefined

  async function address(): Promise<string> {
    wallet ??= await walletOfSigner(signer, options.wallet)
    return wallet
  }

  /** Throws `ChainCheckFailed`. */
  async function check(): Promise<void> {
    if (signs) await address()
    await checkEndpoints('tron', rpc, (node) => checkNode(node, place.contract))
  }

  return {
    ...{ rpc, signer, drafts, log, clock, order_most, place, address, check },
    checkedOnce: openCheck(check, log),
    sceneOf: async (): Promise<TronScene> => ({ ...place, wallet: await address() }),
    later(order: ChainOrder, why: LaterReason): Later {
      const said = `chain: tron transfer ${order.id} waits: ${why}`
      log?.info({ network: 'tron', transfer_id: order.id, why }, said)
      return { kind: 'later', at: new Date(clock.now() + networks.tron.poll_most_ms), why }
    },
  }
}

async function screen(parts: Parts, order: ChainOrder, signal: AbortSignal | undefined): Promise<Screened> {
  const { rpc, signer, order_most, later } = parts
  if (order_most !== undefined && order.amount > order_most) return later(order, 'signer_limit')
  const screened = await orNone(async () => screenTronOrder(rpc, await parts.sceneOf(), order, signal))
  if (!screened) return later(order, 'endpoints_unavailable')
  if (screened.kind === 'refused') return screened
  if (screened.kind === 'later') return later(order, screened.why)
  const { id: transfer_id, amount } = order
  const { fee_limit: cost } = screened.cost
  const room = await orNoSigner(async () => {
    const exceeded = await signer.keepRoom({ transfer_id, network: 'tron', amount, cost })
    return exceeded ? 'signer_limit' : 'room'
  })
  return room === 'room' ? { kind: 'payable' } : later(order, room ?? 'signer_unavailable')
}

/** Refuses while endpoints tell different figures: `details.why` says so. */
async function holdingsOnTron({ rpc, log, sceneOf }: Parts, addresses: readonly string[]): Promise<Holdings> {
  const scene = await sceneOf()
  const found = await orUnavailable(() => readTronHoldings(rpc, scene, addresses))
  if (found !== 'endpoints_disagree') return found ?? unavailable()
  const problem = 'endpoints of tron tell different holdings of the wallet at one block'
  log?.warn({ network: 'tron' }, `chain: ${problem}; none is stored until they agree`)
  return unavailable({ message: `The ${problem}.`, details: { why: 'endpoints_disagree' } })
}

async function outgoingFrom(
  node: RpcNode,
  { height, from, contract }: { readonly height: bigint; readonly from: string; readonly contract: string },
): Promise<OutgoingBlock> {
  const [block, receipts] = await Promise.all([
    node.ask(tronBlockAt('walletsolidity', height)),
    node.ask(receiptsInBlock('walletsolidity', height)),
  ])
  if (!block) throw new EndpointsDisagree('tron', `block ${height}, which one of them does not have`)
  // There may be several nodes behind one URL: the list came from one that does not have the block yet.
  if (block.has_transactions && receipts.length === 0)
    throw new EndpointsDisagree('tron', `block ${height}, whose transactions one of them does not have`)
  const leaves = receipts.filter(({ logs }) =>
    trc20TransfersIn(logs, contract).some(
      (moved) => moved.from === from && moved.to !== from && moved.amount > 0n,
    ),
  )
  return { ...block, outgoing: leaves.map(({ tx_hash }) => tx_hash).sort() }
}

async function broadcastTron(
  rpc: Rpc,
  { signed }: Pick<Attempt, 'signed'>,
  signal?: AbortSignal,
): Promise<Broadcast> {
  const heard = await orNone(() => rpc.all((node) => node.ask(broadcastHex(signed)), signal))
  return { kind: heard?.some(({ answer }) => answer === 'known') ? 'accepted' : 'unknown' }
}

/** The wallet is the signer's. `expected`, where it is configured, must be the same address. */
async function walletOfSigner(signer: Signer, expected: string | undefined): Promise<string> {
  const { tron } = await signer.addresses()
  if (!tron) throw new ChainCheckFailed('wallet', 'tron: the signer has no key for this network.')
  if (expected !== undefined && tron !== expected)
    throw new ChainCheckFailed('wallet', `tron: the signer's wallet is ${tron}, not ${expected}.`)
  return tron
}

async function checkNode(node: RpcNode, contract: string): Promise<void> {
  const fail = (part: CheckedPart, problem: string) =>
    new ChainCheckFailed(part, `tron: endpoint ${node.endpoint}: ${problem}`)
  const outcome = await node.ask(
    runConstant('walletsolidity', tokenCall({ contract, wallet: contract }, 'decimals()')),
  )
  const decimals = numberOf(outcome)
  if (decimals !== DECIMALS)
    throw fail('decimals', `the token at ${contract} has ${decimals ?? 'no'} decimals, not ${DECIMALS}.`)
  const sample = await sampleTransaction(node)
  if (sample === undefined) return
  const [receipt, is_known] = await Promise.all([
    node.ask(tronReceiptOf('walletsolidity', sample)),
    node.ask(hasTransaction('walletsolidity', sample)),
  ])
  // Such a node would say of a mined payment that it does not exist.
  if (!receipt || !is_known)
    throw fail(
      'sync',
      'the node does not tell transactions by their id. Start it with storage.transHistory.switch = "on", and not as a lite node.',
    )
}

/** Any transaction of the newest solidified blocks. */
async function sampleTransaction(node: RpcNode): Promise<string | undefined> {
  const { height } = await node.ask(newestTronBlock('walletsolidity'))
  for (let at = height; at > 0n && at > height - SAMPLE_BLOCKS; at--) {
    const [first] = await node.ask(receiptsInBlock('walletsolidity', at))
    if (first) return first.tx_hash
  }
  return undefined
}
