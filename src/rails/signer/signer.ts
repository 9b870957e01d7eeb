import type { Network } from '../../core/networks.ts'
import type { Coin } from '../chain/bitcoin/rail.ts'
import type { Purpose, Reservation } from '../chain/rail.ts'
import type { HourlyRule, SignatureName } from './hourly.ts'

/** What the customer asked for, sealed when the transfer was accepted (`seal.ts`). */
export type Intent = {
  readonly transfer_id: string
  readonly network: Network
  readonly destination_address: string
  readonly amount: bigint
  readonly seal: string
}

export type SignRequest = {
  readonly intent: Intent
  readonly purpose: Purpose
  /** As hex: on EVM networks a transaction of type 2, on bitcoin a PSBT, on tron the `raw_data` of a transaction. */
  readonly unsigned: string
  readonly reservation: Reservation | CoinReservation
  /**
   * The hashes of all earlier payments of the transfer that the database knows, signed or only drafted, where transactions expire. The
   * signer refuses while it knows one more.
   */
  readonly earlier?: readonly string[]
}

/** On bitcoin the coins are what is reserved. */
export type CoinReservation = { readonly wallet: string; readonly coins: readonly Coin[] }

/** A payment that is going to be signed as soon as it has a nonce, or coins. */
export type PaymentAhead = {
  readonly transfer_id: string
  readonly network: Network
  readonly amount: bigint
  /** The most that it may cost: wei for gas, satoshis for miners, sun for energy. */
  readonly cost: bigint
  /** As in `SignRequest`. */
  readonly earlier?: readonly string[]
}

/** Holds the keys of the wallets. A signer trusts nothing that it is handed but the seal. */
export interface Signer {
  /** The wallet of each network that the signer has a key for. */
  addresses(): Promise<Partial<Record<Network, string>>>
  /**
   * Asked before a nonce is reserved: which limit of the hour leaves no room for the payment. Undefined: there is room, and it is kept
   * for the payment for half a minute. Other signers with the same key do not know of it.
   */
  keepRoom(payment: PaymentAhead): Promise<HourlyRule | undefined>
  /** Throws `SignatureRefused`. */
  sign(request: SignRequest): Promise<{ readonly signed: string }>
}

/** The rule that a request breaks. */
export const signerRules = [
  'network',
  'purpose',
  'seal',
  'encoding',
  'already_signed',
  'chain_id',
  'wallet',
  /** The transfer was signed before, for another network, destination or amount. */
  'transfer',
  'nonce',
  'coins',
  /** On a chain whose transactions expire: another payment of the transfer may be mined, or the request does not name it. */
  'earlier_payments',
  'to',
  'value',
  'data',
  'fee_cap',
  'expiration',
  'count_per_hour',
  'amount_per_hour',
  'costs_per_hour',
] as const
export type SignerRule = (typeof signerRules)[number]

/** Nothing was signed. The message has no bytes of the transaction and nothing of the key. */
export class SignatureRefused extends Error {
  readonly rule: SignerRule
  readonly transfer_id: string
  readonly problem: string

  constructor(rule: SignerRule, transfer_id: string, problem: string) {
    super(`The signer refuses transfer ${transfer_id}: ${problem}`)
    this.rule = rule
    this.transfer_id = transfer_id
    this.problem = problem
  }
}

/**
 * A signer in another process did not answer, or is not the one that the settings describe. Whether it signed is unknown, and need not be
 * known: the same bytes get the same signature when they are asked for again.
 */
export class SignerUnavailable extends Error {}

/** Undefined while the signer is not available. */
export async function orNoSigner<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof SignerUnavailable) return undefined
    throw error
  }
}

export const nameOfTransfer = ({ intent, purpose, unsigned, reservation }: SignRequest): SignatureName => ({
  ...{ kind: 'transfer', purpose, sender: reservation.wallet, id: intent.transfer_id, unsigned },
})
