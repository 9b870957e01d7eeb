import { createHash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { refuse } from '../../core/errors.ts'
import type { Network } from '../../core/networks.ts'
import { backOffWithAge } from '../back-off.ts'
import type { Journal } from '../journal.ts'
import type {
  Attempt,
  ChainOrder,
  ChainRail,
  Charge,
  Later,
  LaterReason,
  Purpose,
  Seen,
  Signed,
} from './rail.ts'

/**
 * The blockchains of the sandbox. The last four digits of the amount decide the outcome. By default a transfer is broadcast one
 * second after it was created and confirmed two seconds later.
 */
type SimulatedChainOptions = {
  readonly network: Network
  readonly clock: Clock
  readonly journal: Journal
  readonly broadcast_ms: number
  readonly confirm_ms: number
}

/** Long enough to see the transfer on the desk, and to resolve it by hand before the chain reverts it. */
const LATE_MS = 300_000

const inputs = { gas_price_wei: 15_000_000_000n, eth_price: 3_000_000_000n, sat_per_vbyte: 10n }
/** Least delay to the next attempt of the signer. */
const UNSIGNED_MS = 5000
/** Size of a payment with change. */
const VBYTES = 209n
/** Offered by the first transaction, and by the one that replaces it. */
const fees = ['100', '150'] as const

const SIMULATED_WALLET = 'simulated'

export function simulatedChain({
  network,
  clock,
  journal,
  broadcast_ms,
  confirm_ms,
}: SimulatedChainOptions): ChainRail<'sandbox'> {
  const ageOf = (made: { readonly created_at: Date }) => clock.now() - made.created_at.getTime()
  const later = (ms: number, why: LaterReason): Later => ({
    kind: 'later',
    at: new Date(clock.now() + ms),
    why,
  })

  return {
    environment: 'sandbox',
    network,
    is_configured: true,
    check: async () => {},
    endpoints: () => [],
    has_wallet: false,
    reserved_most: Number.POSITIVE_INFINITY,
    replace_after_ms: confirm_ms,

    async feeInputs() {
      return inputs
    },

    async wallet() {
      return { wallet: SIMULATED_WALLET, final: 0n, final_height: 0n, mined: 0n, pool: 0n, claimed: 0n }
    },

    /** The simulated wallet is endless, so there is nothing to reconcile. */
    holdings: async () => refuse('rail_unavailable'),

    async screen(order) {
      const age = ageOf(order)
      if (age < broadcast_ms) return later(broadcast_ms - age, 'scheduled')
      switch (magic(order)) {
        case '9001':
          return { kind: 'refused', rail_code: 'refused_before_broadcast' }
        case '9007':
          // Nothing is signed until a person resolves the transfer, as if the network's fee stayed above the cap.
          return later(Math.max(UNSIGNED_MS, backOffWithAge(age)), 'fee_above_cap')
        default:
          return { kind: 'payable' }
      }
    },

    async attempt(order, _, made, purpose) {
      if (made.length === 0 || purpose === 'cancel') return signedAs(order, made, purpose)
      if (made.length > 1) return later(LATE_MS, 'not_worth_it')
      switch (magic(order)) {
        case '9005':
          return signedAs(order, made, 'pay')
        case '9006':
          // As if two operators had canceled it.
          return signedAs(order, made, 'cancel')
        default:
          return later(LATE_MS, 'not_worth_it')
      }
    },

    async broadcast(order, { tx_hash }) {
      journal.add(tx_hash, order)
      return { kind: 'accepted' }
    },

    async look(order, _, made) {
      const newest = made.at(-1)
      if (!newest || !journal.has(newest.tx_hash)) return absent
      const payments = made.filter(({ purpose, tx_hash }) => purpose === 'pay' && journal.has(tx_hash))
      const first_cancel = made.find(({ purpose }) => purpose === 'cancel')
      // A cancel wins if no payment was mined when it was signed.
      const at_ms = first_cancel?.created_at.getTime() ?? clock.now()
      const seen = lookAtPayments(order, payments, { waited: at_ms - order.created_at.getTime(), confirm_ms })
      return first_cancel && seen.kind !== 'mined' ? mined(order, newest, 'none') : seen
    },
  }
}

const absent = { kind: 'absent' } as const

/** What the chain shows of the payments alone, `waited` after the order. */
function lookAtPayments(
  order: ChainOrder,
  payments: readonly Attempt[],
  { waited, confirm_ms }: { readonly waited: number; readonly confirm_ms: number },
): Seen {
  const newest = payments.at(-1)
  if (!newest) return absent
  const paid = () => mined(order, newest, 'paid')
  const reverted = () => mined(order, newest, 'none')
  switch (magic(order)) {
    case '9002':
      return waited < confirm_ms ? waiting : reverted()
    case '9003':
    case '9006':
      return waiting
    case '9005':
      // The first transaction offers too little. Its replacement is mined.
      return payments.length === 1 ? waiting : paid()
    case '9008':
      // No node knows it, however often it is broadcast.
      return absent
    case '9009':
      return waited < LATE_MS ? waiting : reverted()
    case '9004':
      // Mined, removed by a reorg, and mined again in a later block.
      return waited < confirm_ms ? waiting : waited < 1.5 * confirm_ms ? absent : paid()
    default:
      return waited < confirm_ms ? waiting : paid()
  }
}

const waiting = { kind: 'waiting' } as const

const magic = ({ amount }: ChainOrder): string => amount.toString().slice(-4)

/** Only bitcoin charges in an asset of the ledger. */
const chargeOf = ({ network }: ChainOrder): Charge =>
  network === 'bitcoin' ? { charged: VBYTES * inputs.sat_per_vbyte } : {}

const BLOCK_MS = 2000

/** The block of a moment. */
export function simulatedBlock(
  network: Network,
  at: Date,
): { readonly height: bigint; readonly hash: string } {
  const height = Math.floor(at.getTime() / BLOCK_MS) + 1
  return { height: BigInt(height), hash: hashOf(network, `block ${height}`) }
}

/** In a block that follows from the transaction alone, so that it is the same whenever it is asked for. */
const mined = (order: ChainOrder, { tx_hash, created_at }: Attempt, effect: 'paid' | 'none'): Seen => {
  const { height, hash } = simulatedBlock(order.network, created_at)
  return {
    kind: 'mined',
    tx_hash,
    effect,
    block_height: height,
    block_hash: hash,
    ...chargeOf(order),
  }
}

const signedAs = (order: ChainOrder, made: readonly Attempt[], purpose: Purpose) =>
  ({ kind: 'signed', transaction: simulatedTransaction(order, made.length + 1, purpose) }) as const

/** Hashes and bytes depend on the transfer and the number of the attempt alone. */
export function simulatedTransaction(
  { id, network }: Pick<ChainOrder, 'id' | 'network'>,
  attempt = 1,
  purpose: Purpose = 'pay',
): Signed {
  const name = attempt === 1 ? id : `${id}/${attempt}`
  return {
    purpose,
    tx_hash: hashOf(network, name),
    signed: `simulated:${name}`,
    terms: { fee: fees[attempt - 1] ?? fees[1] },
  }
}

/** The hash has the form of its network. */
export function hashOf(network: Network, name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return network === 'bitcoin' || network === 'tron' ? hex : `0x${hex}`
}
