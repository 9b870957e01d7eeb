import type { Environment } from '../../core/environment.ts'
import type { Money } from '../../core/money.ts'

/** Who holds the account behind a Pix key. */
export type Holder = { readonly name: string; readonly document: string }

export type BankAccount = {
  readonly ispb: string
  readonly branch: string
  readonly account_number: string
  readonly account_type: 'checking' | 'savings' | 'payment' | 'salary'
}

/** A payment as it is handed to the rail. Everything in it was stored before, and never changes. */
export type PixOrder = {
  /** 32 letters and digits: guards against a second payment, and is what the rail is asked by. */
  readonly send_id: string
  readonly amount: Money<'BRL'>
  readonly to: Holder & ({ readonly pix_key: string } | { readonly bank_account: BankAccount })
  readonly description: string | null
  /** When the first try began, and which try this is. */
  readonly sent_at: Date
  readonly attempt: number
  /** The rail accepted this order before. */
  readonly accepted?: true
}

/**
 * What became of a payment, as a value and never as an exception: "we do not know" must be stored, and asked again.
 * Only `refused` gives the money back, so it must be definite.
 */
export type PixOutcome =
  | { readonly kind: 'settled'; readonly end_to_end_id: string }
  | { readonly kind: 'refused'; readonly rail_code: string }
  /** The rail has it and is at it: nobody may give the money back. `ask_at`: when it expects to know, where it says so. */
  | { readonly kind: 'accepted'; readonly ask_at?: Date }
  | { readonly kind: 'unknown'; readonly ask_at?: Date }

/** `absent`: the rail is sure that it never got this id. Then, and only then, the same order is sent again. */
export type PixStatus = PixOutcome | { readonly kind: 'absent' }

export interface PixRail<E extends Environment = Environment> {
  readonly environment: E
  /** Throws `rail_unavailable` when no payment can be sent. */
  ready(): Promise<void>
  /** Asks the directory. Undefined: no such key. Throws `rail_unavailable` when the directory does not answer. */
  holder(pix_key: string, asking: Holder | undefined): Promise<Holder | undefined>
  /** Idempotent by send_id. Once the signal is aborted nothing may be handed to the network any more. */
  send(order: PixOrder, signal?: AbortSignal): Promise<PixOutcome>
  status(order: PixOrder, signal?: AbortSignal): Promise<PixStatus>
}
