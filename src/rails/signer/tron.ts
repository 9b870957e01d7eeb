import { networks } from '../../core/networks.ts'
import { tronAddressOfKey, tronHexOf } from '../chain/tron/address.ts'
import { trc20TransferData } from '../chain/tron/token.ts'
import { decodeRaw, signRaw, type TronTransaction, txIdOf } from '../chain/tron/transaction.ts'
import { type ExpiringPayments, openExpiringPayments } from './expiring.ts'
import {
  type Hourly,
  type HourlyLimits,
  hourlyProblems,
  openHourlyCounts,
  type SignatureName,
  type SignedBefore,
} from './hourly.ts'
import { isSealed } from './seal.ts'
import { nameOfTransfer, SignatureRefused, type Signer, type SignerRule, type SignRequest } from './signer.ts'
import { secretOf } from './wallet-key.ts'

export type TronSignerOptions = {
  /** 32 bytes as hex, with or without 0x. */
  readonly key: string
  readonly sealKey: () => Promise<Buffer>
  /** The token's contract, where it is not Tether's. */
  readonly contract?: string
  /** The most that the energy of one transaction may cost, in sun. */
  readonly fee_most: bigint
  readonly per_hour: HourlyLimits
  /** As in `local.ts`. */
  readonly signedBefore?: () => Promise<readonly SignedBefore[]>
  /** Whether exactly this signature was made within the last hour: it is the same one, and counts once. */
  readonly isCounted?: (signature: SignatureName) => boolean
  readonly clock?: { now(): number }
}

/**
 * A transaction may be mined for this long after it was signed. The service makes another one only when this one can never be mined, so
 * the time bounds how long a lost payment waits. No signature outlives it, whoever asks.
 */
export const TRON_EXPIRY_MS = 600_000
/** The clock of the service may be this far ahead of the signer's. */
const AHEAD_MOST_MS = 30_000

/**
 * A signer in this process for USDT on Tron, with one key, which lives in this closure only (as in `local.ts`). The signer cannot know
 * whether an earlier transaction of a transfer was mined: that rule is the service's (`money/onchain/steps.ts`). The seal makes sure that
 * all transactions of a transfer pay the same amount to the same address. Beyond that the signer refuses what it knows to be a second
 * payment that may be mined beside the first (`expiring.ts`): here from the signatures of this process, in `trilho signer` from its log.
 */
export function localTronSigner(options: TronSignerOptions): Signer {
  const { key, sealKey, per_hour, signedBefore = async () => [], clock = { now: Date.now } } = options
  const secret = secretOf(key)
  const rules = {
    wallet: tronAddressOfKey(secret),
    contract: options.contract ?? networks.tron.usdt_contracts[0],
    fee_most: options.fee_most,
    clock,
  }
  const countsOnce = openHourlyCounts([['tron', per_hour]], signedBefore, clock)
  const payments = openExpiringPayments(clock)

  return {
    addresses: async () => ({ tron: rules.wallet }),
    async keepRoom(ahead) {
      payments.checkFurther(ahead)
      const { transfer_id, network, amount, cost } = ahead
      const payment = { amount, cost }
      return (await countsOnce()).get(network)?.keepRoom(transfer_id, payment)
    },
    async sign(request) {
      if (request.intent.network !== 'tron')
        throw refusal(request, 'network', `it has no key for ${request.intent.network}.`)
      if (!isSealed(await sealKey(), request.intent))
        throw refusal(request, 'seal', 'the seal does not fit its id, network, destination and amount.')
      const is_counted = options.isCounted?.(nameOfTransfer(request))
      const hourly = is_counted ? undefined : (await countsOnce()).get('tron')!
      const { expiration } = checkTransaction(request, { ...rules, payments, hourly })
      try {
        const signed = signRaw(request.unsigned, secret)
        const { transfer_id } = request.intent
        payments.note({ transfer_id, tx_hash: txIdOf(request.unsigned), expires_ms: Number(expiration) })
        return { signed }
      } catch {
        throw refusal(request, 'encoding', 'the transaction cannot be signed.')
      }
    },
  }
}

type Rules = Pick<TronSignerOptions, 'fee_most'> & {
  readonly wallet: string
  readonly contract: string
  readonly clock: { now(): number }
  readonly payments: ExpiringPayments
  readonly hourly: Hourly | undefined
}

/** The bytes must be exactly what the intent gives; only the reference block, the times and the fee limit are free, within bounds. */
function checkTransaction(request: SignRequest, rules: Rules): TronTransaction {
  const assertRule = (rule: SignerRule, holds: boolean, problem: string) => {
    if (!holds) throw refusal(request, rule, problem)
  }
  const { purpose, reservation, intent } = request
  assertRule('purpose', purpose === 'pay', 'nothing but a payment is signed on tron.')
  const found = decodeRaw(request.unsigned)
  if (!found) throw refusal(request, 'encoding', 'the bytes are not exactly one call of a contract.')
  const { wallet, contract, fee_most } = rules
  assertRule('wallet', reservation.wallet === wallet, 'the reservation is of another wallet.')
  assertRule('wallet', found.owner === wallet, 'the transaction is of another wallet.')
  assertRule('to', found.contract === contract, 'the transaction does not go to the token contract.')
  const { destination_address, amount } = intent
  const is_order = tronHexOf(destination_address) !== undefined && amount > 0n
  assertRule(
    'data',
    is_order && found.data === trc20TransferData(destination_address, amount),
    'the data is not exactly a transfer of the amount to the destination.',
  )
  assertRule('fee_cap', found.fee_limit <= fee_most, 'the transaction may cost more than the cap.')
  checkTimes(found, rules.clock.now(), assertRule)
  if (!('nonce' in reservation)) throw refusal(request, 'nonce', 'the reservation has no number.')
  rules.payments.check(request)
  // Two payments do not exclude each other on the chain, so each counts for itself, by its hash.
  const spending = { spends: txIdOf(request.unsigned), amount, cost: found.fee_limit }
  const exceeded = rules.hourly?.take(spending, intent.transfer_id)
  if (exceeded) throw refusal(request, exceeded, hourlyProblems[exceeded])
  return found
}

function checkTimes(
  { expiration, timestamp }: TronTransaction,
  now: number,
  assertRule: (rule: SignerRule, holds: boolean, problem: string) => void,
): void {
  const latest = BigInt(now + TRON_EXPIRY_MS + AHEAD_MOST_MS)
  assertRule('expiration', expiration <= latest, 'the transaction expires more than 10 minutes from now.')
  assertRule('expiration', expiration > BigInt(now), 'the transaction has expired already.')
  assertRule('expiration', expiration > timestamp, 'the transaction expires before it was made.')
}

const refusal = ({ intent }: SignRequest, rule: SignerRule, problem: string) =>
  new SignatureRefused(rule, intent.transfer_id, problem)
