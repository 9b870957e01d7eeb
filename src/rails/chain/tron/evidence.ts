import type { Attempt, ChainOrder, Reservation, Seen } from '../rail.ts'
import type { Heard, Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import { hasTransaction, newestTronBlock, type TronReceipt, tronBlockAt, tronReceiptOf } from './calls.ts'
import type { TronPlace } from './payment.ts'
import { showsTrc20Transfer } from './token.ts'
import { decodeRaw, tronFactsOf } from './transaction.ts'

/** A transfer to look for on the chain, with all that was signed or drafted for it. */
export type SoughtOnTron = {
  readonly order: ChainOrder
  readonly reservation: Reservation
  readonly made: readonly MadeOnTron[]
}

/** A transaction as it was signed, or the bytes of a draft, which the signer may have signed. */
export type MadeOnTron = Pick<Attempt, 'tx_hash'> & ({ readonly signed: string } | { readonly raw: string })

/** The latest expiry, read from the bytes. Undefined if some bytes cannot be read: then they count as never expiring. */
function lastExpiry(made: readonly MadeOnTron[]): bigint | undefined {
  let last = 0n
  for (const one of made) {
    const raw = 'raw' in one ? one.raw : tronFactsOf(one.signed)?.raw
    const expiration = raw === undefined ? undefined : decodeRaw(raw)?.expiration
    if (expiration === undefined) return undefined
    if (expiration > last) last = expiration
  }
  return last
}

/** A clock may be wrong by this much. */
const SKEW_MS = 30_000
/** There may be several nodes behind one URL, and one of them may be this far behind the one that told the newest block. */
const LAG_MS = 120_000

/**
 * `expired` needs a solidified block that is two minutes younger than every expiry, and a solidified chain without these transactions. A
 * block takes a transaction only while its predecessor is older than the expiry, so no later block has one of them either. The newest
 * block is asked for first, so that all later answers are about that block or a newer one.
 */
async function lookFromTron(
  node: RpcNode,
  place: Pick<TronPlace, 'contract'>,
  sought: SoughtOnTron,
  now: number,
): Promise<Seen> {
  const { made } = sought
  const solid = await node.ask(newestTronBlock('walletsolidity'))
  const receipts = await Promise.all(
    made.map(({ tx_hash }) => node.ask(tronReceiptOf('walletsolidity', tx_hash))),
  )
  const mined = receipts.flatMap((receipt) => receipt ?? [])
  if (mined[0]) {
    const others = made.filter(({ tx_hash }) => !mined.some((one) => one.tx_hash === tx_hash))
    // The transfer must not end while a second payment of it may be mined.
    if (others.length > 0 && !arePast(others, solid.at_ms, now)) return waiting
    return lookDeeperOnTron(node, place, sought, mined)
  }
  const may_expire = arePast(made, solid.at_ms, now)
  const view = may_expire ? 'walletsolidity' : 'wallet'
  const known = await Promise.all(made.map(({ tx_hash }) => node.ask(hasTransaction(view, tx_hash))))
  if (known.includes(true)) return waiting
  return { kind: may_expire ? 'expired' : 'absent' }
}

function arePast(made: readonly MadeOnTron[], solid_at_ms: number, now: number): boolean {
  const expiry = lastExpiry(made)
  if (expiry === undefined) return false
  // A node whose newest block is in the future proves nothing.
  return BigInt(solid_at_ms - LAG_MS) > expiry && BigInt(now) > expiry && solid_at_ms < now + SKEW_MS
}

async function lookDeeperOnTron(
  node: RpcNode,
  place: Pick<TronPlace, 'contract'>,
  sought: SoughtOnTron,
  mined: readonly TronReceipt[],
): Promise<Seen> {
  const { tx_hash, block_height, fee } = mined[0]!
  const block = await node.ask(tronBlockAt('walletsolidity', block_height))
  if (!block) return waiting
  // Two payments for one order: only a person can judge that.
  const effect = mined.length > 1 ? 'other' : effectOnTron(place, sought, mined[0]!)
  return { kind: 'mined', tx_hash, effect, block_height, block_hash: block.hash, gas_paid_wei: fee }
}

/** USDT on Tron returns false where it succeeds: the receipt and the Transfer log decide, never what the call returned. */
function effectOnTron(
  { contract }: Pick<TronPlace, 'contract'>,
  { order, reservation }: Pick<SoughtOnTron, 'order' | 'reservation'>,
  { outcome, logs }: Pick<TronReceipt, 'outcome' | 'logs'>,
): 'paid' | 'none' | 'other' {
  if (outcome === 'failed') return logs.length === 0 ? 'none' : 'other'
  const { destination_address: to, amount } = order
  const is_paid =
    outcome === 'succeeded' && showsTrc20Transfer(logs, { contract, from: reservation.wallet, to, amount })
  return is_paid ? 'paid' : 'other'
}

const waiting: Seen = { kind: 'waiting' }

/**
 * What is final moves money, so it counts only if a quorum of endpoints says the same and none says something else. `expired` leads to
 * a second payment or to a refund: every endpoint that answers must say it.
 */
function verdictOnTron(
  views: readonly Heard<Seen>[],
  quorum: number,
): { readonly seen: Seen; readonly contradiction: boolean } {
  const seen = views.map(({ answer }) => answer)
  const mined = seen.flatMap((one) => (one.kind === 'mined' ? [one] : []))
  const expired = seen.filter(({ kind }) => kind === 'expired')
  const [first] = mined
  if (first) {
    const keys = new Set(
      mined.map(({ tx_hash, block_hash, effect }) => [tx_hash, block_hash, effect].join(' ')),
    )
    const contradiction = keys.size > 1 || expired.length > 0
    if (contradiction || mined.length < quorum) return { seen: waiting, contradiction }
    const { gas_paid_wei, ...rest } = first
    const is_same_fee = mined.every((one) => one.gas_paid_wei === gas_paid_wei)
    return { seen: is_same_fee ? first : rest, contradiction }
  }
  if (expired.length === seen.length && seen.length >= quorum)
    return { seen: { kind: 'expired' }, contradiction: false }
  const is_absent = seen.every(({ kind }) => kind === 'absent')
  return { seen: is_absent ? { kind: 'absent' } : waiting, contradiction: false }
}

export async function lookOnTron(
  rpc: Rpc,
  place: Pick<TronPlace, 'contract'>,
  sought: SoughtOnTron,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal | undefined },
) {
  // Nothing was ever signed.
  if (sought.made.length === 0) return { seen: { kind: 'expired' } as const, contradiction: false }
  return verdictOnTron(await rpc.all((node) => lookFromTron(node, place, sought, now), signal), rpc.quorum)
}
