import { createHash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { backOffWithAge } from '../back-off.ts'
import type { Journal } from '../journal.ts'
import type { ChainOrder, ChainRail, Charge, SignedTransaction } from './rail.ts'

/**
 * The blockchains of the sandbox. The last four digits of the amount decide the outcome. By default a transfer is broadcast one
 * second after it was created and confirmed two seconds later.
 */
type SimulatedChainOptions = {
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

export function simulatedChain({
  clock,
  journal,
  broadcast_ms,
  confirm_ms,
}: SimulatedChainOptions): ChainRail<'sandbox'> {
  const age = (order: ChainOrder) => clock.now() - order.created_at.getTime()

  return {
    environment: 'sandbox',

    async feeInputs() {
      return inputs
    },

    async prepare(order) {
      if (age(order) < broadcast_ms)
        return { kind: 'later', at: new Date(order.created_at.getTime() + broadcast_ms) }
      // The signer does not get to it: the transfer stays unsigned until a person resolves it.
      if (magic(order) === '9007')
        return {
          kind: 'later',
          at: new Date(clock.now() + Math.max(UNSIGNED_MS, backOffWithAge(age(order)))),
        }
      if (magic(order) === '9001') return { kind: 'refused', rail_code: 'refused_before_broadcast' }
      return { kind: 'signed', ...simulatedTransaction(order) }
    },

    async broadcast(order, { tx_hash }) {
      journal.add(tx_hash, order)
      return { kind: 'accepted' }
    },

    async status(order, { tx_hash }) {
      if (!journal.has(tx_hash)) return { kind: 'absent' }
      const waited = age(order)
      switch (magic(order)) {
        case '9002':
          return waited < confirm_ms
            ? { kind: 'waiting' }
            : { kind: 'failed', rail_code: 'reverted', ...chargeOf(order) }
        case '9003':
          return { kind: 'waiting' }
        case '9008':
          // No node knows it, however often it is broadcast.
          return { kind: 'absent' }
        case '9009':
          return waited < LATE_MS
            ? { kind: 'waiting' }
            : { kind: 'failed', rail_code: 'reverted', ...chargeOf(order) }
        case '9004':
          // Mined, removed by a reorg, and mined again in a later block.
          return waited < confirm_ms
            ? { kind: 'waiting' }
            : waited < 1.5 * confirm_ms
              ? { kind: 'absent' }
              : { kind: 'confirmed', ...chargeOf(order) }
        default:
          return waited < confirm_ms ? { kind: 'waiting' } : { kind: 'confirmed', ...chargeOf(order) }
      }
    },
  }
}

const magic = ({ amount }: ChainOrder): string => amount.toString().slice(-4)

/** Only bitcoin charges in an asset of the ledger. */
const chargeOf = ({ network }: ChainOrder): Charge =>
  network === 'bitcoin' ? { charged: VBYTES * inputs.sat_per_vbyte } : {}

/** Deterministic: hash and bytes depend on the transfer alone. The hash has the form of its network. */
export function simulatedTransaction({ id, network }: Pick<ChainOrder, 'id' | 'network'>): SignedTransaction {
  const hex = createHash('sha256').update(id).digest('hex')
  const tx_hash = network === 'bitcoin' || network === 'tron' ? hex : `0x${hex}`
  return { tx_hash, signed: `simulated:${id}` }
}
