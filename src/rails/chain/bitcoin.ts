import type { Logger } from 'pino'
import { networks } from '../../core/networks.ts'
import { orNoSigner, SignatureRefused, type Signer, type SignerRule } from '../signer/signer.ts'
import { readSigned } from './bitcoin/bytes.ts'
import { isInMempool, sendRaw } from './bitcoin/calls.ts'
import { type BitcoinDrafted, draftBitcoin } from './bitcoin/drafting.ts'
import { type BitcoinCaps, type BitcoinOffered, feeAt } from './bitcoin/fees.ts'
import {
  checkBitcoin,
  readBlockOf,
  readHashAt,
  readHead,
  readOutputStates,
  readRate,
} from './bitcoin/questions.ts'
import type { BitcoinRail, Spending } from './bitcoin/rail.ts'
import {
  type BitcoinDraft,
  encodePsbt,
  feeOf,
  isSignedDraft,
  scriptOf,
  scriptOfOrder,
  vsizeOf,
} from './bitcoin/transaction.ts'
import { ChainCheckFailed, openCheck, orNone, orUnavailable, remembered } from './check.ts'
import type { Attempt, ChainOrder, Later, LaterReason, Purpose, Signed } from './rail.ts'
import type { Rpc } from './rpc.ts'

export type BitcoinRailOptions = {
  readonly rpc: Rpc
  readonly signer: Signer
  /** Caps of the transactions that the rail drafts. The signer checks caps of its own. */
  readonly caps: BitcoinCaps
  /** Satoshis per 1,000 virtual bytes, where the node estimates nothing. */
  readonly rate_fallback: bigint
  /** The chain is Bitcoin's own: a block must prove the work of its miners. */
  readonly is_mainnet?: boolean
  /** The address that the signer must have. */
  readonly wallet?: string
  /** How long today's rate is reused. */
  readonly rate_fresh_ms?: number
  readonly clock?: { now(): number }
  readonly log?: Pick<Logger, 'info' | 'warn'>
}

const RATE_FRESH_MS = 10_000
const PER_KVB = 1000n

/** The reasons of a signer to refuse that pass with time. All others mean that something is wrong with the request. */
const passingRules: readonly SignerRule[] = ['fee_cap', 'count_per_hour', 'amount_per_hour', 'costs_per_hour']

/** Bitcoin over nodes of Core's lineage, with one wallet (P2WPKH). */
export function openBitcoinRail(options: BitcoinRailOptions): BitcoinRail {
  const { rpc, signer, log, clock = { now: Date.now } } = options
  const rateNow = remembered(options.rate_fresh_ms ?? RATE_FRESH_MS, () =>
    readRate(rpc, options.rate_fallback),
  )
  let known: Wallet | undefined
  const wallet = async () => (known ??= await walletOf(signer, options.wallet))
  const check = async () => {
    await wallet()
    await checkBitcoin(rpc)
  }
  const checkedOnce = openCheck(check, log)

  const later = ({ id }: ChainOrder, why: LaterReason): Later => {
    log?.info({ network: 'bitcoin', transfer_id: id, why }, `chain: bitcoin transfer ${id} waits: ${why}`)
    return { kind: 'later', at: new Date(clock.now() + networks.bitcoin.poll_most_ms), why }
  }

  return {
    wallet,
    check,
    endpoints: rpc.facts,
    satPerVbyte: () =>
      orUnavailable(async () => {
        await checkedOnce()
        return ((await rateNow()) + PER_KVB - 1n) / PER_KVB
      }),
    head: () => readHead(rpc),
    hashAt: (height) => readHashAt(rpc, height),
    block: (hash) => readBlockOf(rpc, hash, options.is_mainnet ?? false),
    knows: async (txid) =>
      (await rpc.all((node) => node.ask(isInMempool(txid)))).some(({ answer }) => answer),
    outputStates: (tip, outputs) => readOutputStates(rpc, tip, outputs),

    async keepRoom(order) {
      await checkedOnce()
      const [own, rate] = await Promise.all([wallet(), rateNow()])
      const cost = expectedCost(options.caps, { order, wallet: own, rate })
      const { id: transfer_id, amount } = order
      const answer = await orNoSigner(async () => {
        const exceeded = await signer.keepRoom({ transfer_id, network: 'bitcoin', amount, cost })
        return exceeded === undefined ? 'room' : 'signer_limit'
      })
      return answer ?? 'signer_unavailable'
    },

    async attempt(order, spending, made, purpose, signal) {
      const drafted = await orNone(async () => {
        await checkedOnce()
        const [own, rate] = await Promise.all([wallet(), rateNow()])
        const commission = { order, spending, made, purpose, wallet: own, rate }
        return { commission, ...draftOf(options.caps, commission) }
      })
      if (drafted?.kind !== 'drafted') return later(order, drafted?.why ?? 'endpoints_unavailable')
      signal?.throwIfAborted()
      try {
        const { draft, commission } = drafted
        const transaction = await orNoSigner(() => signDraft(signer, draft, commission))
        return transaction ? { kind: 'signed', transaction } : later(order, 'signer_unavailable')
      } catch (error) {
        if (error instanceof SignatureRefused && passingRules.includes(error.rule))
          return later(order, error.rule === 'fee_cap' ? 'fee_above_cap' : 'signer_limit')
        throw error
      }
    },

    /** Asks each node after the send whether it has the transaction: an error may also mean that the node had it before. */
    async broadcast({ tx_hash, signed }, signal) {
      const heard = await orNone(() =>
        rpc.all(async (node) => {
          await node.ask(sendRaw(signed))
          return node.ask(isInMempool(tx_hash))
        }, signal),
      )
      return { kind: heard?.some(({ answer }) => answer) ? 'accepted' : 'unknown' }
    },

    stop: rpc.stop,
  }
}

type Wallet = { readonly address: string; readonly script: string }

async function walletOf(signer: Signer, expected: string | undefined): Promise<Wallet> {
  const address = (await signer.addresses()).bitcoin
  const script = address === undefined ? undefined : scriptOf(address)
  if (address === undefined || script === undefined)
    throw new ChainCheckFailed('wallet', 'bitcoin: the signer has no key for this network.')
  if (expected !== undefined && scriptOf(expected) !== script)
    throw new ChainCheckFailed('wallet', `bitcoin: the signer's wallet is ${address}, not ${expected}.`)
  return { address, script }
}

/** What the next transaction of a transfer is made from. */
type BitcoinCommission = {
  readonly order: ChainOrder
  readonly spending: Spending
  readonly made: readonly Attempt[]
  readonly purpose: Purpose
  readonly wallet: Wallet
  readonly rate: bigint
}

/** An estimate, because the coins are not chosen yet: the fee of a payment from one coin with change, at most the cap. */
function expectedCost(
  { fee_most }: BitcoinCaps,
  { order, wallet, rate }: Pick<BitcoinCommission, 'order' | 'wallet' | 'rate'>,
): bigint {
  const fee = feeAt(rate, vsizeOf(1, [scriptOfOrder(order), wallet.script]))
  return fee < fee_most ? fee : fee_most
}

function draftOf(caps: BitcoinCaps, commission: BitcoinCommission): BitcoinDrafted {
  const { order, spending, made, purpose, wallet, rate } = commission
  return draftBitcoin({
    ...{ ...caps, purpose, spending, rate, wallet_script: wallet.script },
    payment: { script: scriptOfOrder(order), amount: order.amount },
    made: made.map(offeredBy),
  })
}

function offeredBy({ purpose, terms: { fee, vsize } }: Attempt): BitcoinOffered {
  if (fee === undefined || vsize === undefined) throw new Error('the terms of an attempt lack its fee')
  return { purpose, fee: BigInt(fee), vsize: Number(vsize) }
}

/** The signer may be another program: its bytes count only if they are the draft, signed for each of its coins. */
async function signDraft(
  signer: Signer,
  draft: BitcoinDraft,
  { order, spending, purpose, wallet, rate }: BitcoinCommission,
): Promise<Signed> {
  const { id, destination_address, amount } = order
  const { signed } = await signer.sign({
    // Without a seal the signer refuses.
    intent: { transfer_id: id, network: 'bitcoin', destination_address, amount, seal: order.seal ?? '' },
    ...{ purpose, unsigned: encodePsbt(draft) },
    reservation: { wallet: wallet.address, coins: spending.coins },
  })
  if (!isSignedDraft(signed, draft))
    throw new Error(`The signer's answer for ${id} is not the transaction that it was asked to sign.`)
  const { txid, vsize } = readSigned(signed)
  const terms = { fee: feeOf(draft).toString(), vsize: vsize.toString(), rate: rate.toString() }
  return { purpose, tx_hash: txid, signed, terms }
}
