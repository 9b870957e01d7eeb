import type { Environment } from '../../core/environment.ts'
import type { Money } from '../../core/money.ts'

/** Who holds the account behind a Pix key. */
export type AccountHolder = { readonly name: string; readonly document: string }

export type BankAccount = {
  readonly ispb: string
  readonly branch: string
  readonly account_number: string
  readonly account_type: 'checking' | 'savings' | 'payment' | 'salary'
}

/** A payment as the rail gets it. All of it was stored before, and only `attempt` and `accepted` change between tries. */
export type PixOrder = {
  /** 32 letters and digits: the rail's idempotency key, also used for status queries. */
  readonly send_id: string
  readonly amount: Money<'BRL'>
  readonly to: AccountHolder & ({ readonly pix_key: string } | { readonly bank_account: BankAccount })
  readonly description: string | null
  /** When the first try began, and which try this is. */
  readonly sent_at: Date
  readonly attempt: number
  /** The rail accepted this order before. */
  readonly accepted?: true
}

/**
 * The outcome of a payment, as a value and never as an exception: `unknown` must be stored and asked about again. Only `refused`
 * returns the money, so it must be definite.
 */
export type PixOutcome =
  | { readonly kind: 'settled'; readonly end_to_end_id: string }
  | { readonly kind: 'refused'; readonly rail_code: string }
  /** The rail has the payment and is processing it: the money must not be returned. `ask_at`: when it expects to know. */
  | { readonly kind: 'accepted'; readonly ask_at?: Date }
  | { readonly kind: 'unknown'; readonly ask_at?: Date }

/** `absent`: the rail is sure that it never received this id. Only then is the same order sent again. */
export type PixStatus = PixOutcome | { readonly kind: 'absent' }

export interface PixRail<E extends Environment = Environment> {
  readonly environment: E
  /** Throws `rail_unavailable` if no payment can be sent. */
  ready(): Promise<void>
  /** Asks the DICT. Undefined: no such key. Throws `rail_unavailable` if the DICT does not answer. */
  holder(pix_key: string, asking: AccountHolder | undefined): Promise<AccountHolder | undefined>
  /** Idempotent by send_id. Once the signal is aborted, the rail must send nothing to the network. */
  send(order: PixOrder, signal?: AbortSignal): Promise<PixOutcome>
  status(order: PixOrder, signal?: AbortSignal): Promise<PixStatus>
}
