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

/** What the directory of keys, the DICT, says of a key. */
export type Directory =
  | { readonly kind: 'held'; readonly holder: AccountHolder }
  | { readonly kind: 'nobody' }
  /**
   * The provider lets nobody look keys up: it compares the holder with the order's document when it pays. `document`: the key is a
   * document itself.
   */
  | { readonly kind: 'unlisted'; readonly document?: string }

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
 * Why a rail refused a payment, where the rail's own code is none of the Pix network. `provider_error`: nothing that the partner
 * could change.
 */
export const refusalReasons = [
  'recipient_document_mismatch',
  'recipient_key_not_found',
  'payment_not_supported',
  'provider_error',
] as const
export type RefusalReason = (typeof refusalReasons)[number]

/**
 * The outcome of a payment, as a value and never as an exception: `unknown` must be stored and asked about again. Only `refused`
 * returns the money, so it must be definite.
 */
export type PixOutcome =
  | { readonly kind: 'settled'; readonly end_to_end_id: string }
  | {
      readonly kind: 'refused'
      readonly rail_code: string
      /** Absent: `rail_code` is a code of the Pix network, and says it. */
      readonly reason?: RefusalReason
      /** The account or the settings of this service are at fault: every other payment would be refused too. */
      readonly is_ours?: true
    }
  /** The rail has the payment and is processing it: the money must not be returned. `ask_at`: when it expects to know. */
  | { readonly kind: 'accepted'; readonly ask_at?: Date }
  /** The rail has definitely not taken the payment, and may take it later. */
  | { readonly kind: 'later'; readonly at: Date }
  | { readonly kind: 'unknown'; readonly ask_at?: Date }

/** `absent`: the rail is sure that it never received this id. Only then is the same order sent again. */
export type PixStatus = PixOutcome | { readonly kind: 'absent' }

/**
 * Money of a Pix payment that went back (*devolução*): all of it or a part, possibly several times, for up to 90 days. `id` is the
 * return's own id in the Pix network.
 */
export type PixReturn = {
  readonly id: string
  readonly amount: bigint
  readonly state: 'settled' | 'refused' | 'open'
}

/** A payment that the provider has sent, or tries to send, as its own list shows it. */
export type SentPix = {
  /** Absent: the payment was not ordered under an id, such as one by hand in the provider's app. */
  readonly send_id?: string
  readonly end_to_end_id?: string
  readonly amount: bigint
  readonly state: 'settled' | 'refused' | 'open'
  /** What came back of it. Absent: the list does not tell. */
  readonly returns?: readonly PixReturn[]
}

/**
 * An entry of a provider's list that cannot be read. The list goes on after it. Whoever reads the list stores the entry for a person
 * before the position in the list moves.
 */
export type UnreadEntry = {
  readonly is_unread: true
  /** The ids of the entry, as far as they can be read. */
  readonly end_to_end_id?: string
  readonly send_id?: string
  /** Names an entry without an id. */
  readonly digest: string
  /** Which field is wrong; short, printable ASCII, without personal data. */
  readonly problem: string
}

/** A charge (*cobrança*) as the provider gets it. All of it was stored before, and nothing changes between tries. */
export type ChargeOrder = {
  /** 32 letters and digits: the provider's idempotency key, and the reference that payments of the charge carry. */
  readonly txid: string
  readonly amount: Money<'BRL'>
  readonly created_at: Date
  readonly expires_at: Date
  /** The payer sees it. */
  readonly description: string | null
}

/** As with payments, only `refused` is definite: a charge that may be registered may be paid. */
export type ChargeOutcome =
  /** `br_code`: the text that payers copy or scan (*Pix Copia e Cola*). */
  | { readonly kind: 'registered'; readonly br_code: string }
  | { readonly kind: 'refused'; readonly rail_code: string }
  | { readonly kind: 'later'; readonly at: Date }
  | { readonly kind: 'unknown' }

/** A payment that came into the provider's account. */
export type ReceivedPix = {
  readonly end_to_end_id: string
  /** Absent: the payer used the key itself, or another code. */
  readonly txid?: string
  readonly amount: bigint
  readonly paid_at: Date
  readonly payer?: { readonly name?: string; readonly document?: string }
  /** The amount that was returned to the payer. */
  readonly returns: readonly PixReturn[]
}

/** How a provider takes payments in. */
export type PixCharges = {
  /** The sandbox: whoever calls says what is paid, and `received` lists nothing. */
  readonly is_played?: true
  /** Idempotent by txid. A charge that the provider has already under this txid is registered only if it is the same. */
  register(order: ChargeOrder, signal?: AbortSignal): Promise<ChargeOutcome>
  /** Every payment that came in between the times, `from` included. `returned`: only those of which something was given back. */
  received(
    window: { readonly from: Date; readonly to: Date; readonly returned?: true },
    signal?: AbortSignal,
  ): AsyncIterable<ReceivedPix | UnreadEntry>
  /** One payment; undefined if the provider is sure that it has none under this id. */
  payment(end_to_end_id: string, signal?: AbortSignal): Promise<ReceivedPix | undefined>
}

/** The account from which a provider pays. Amounts are in centavos. */
export type PixAccount = {
  balance(signal?: AbortSignal): Promise<{ readonly available: bigint; readonly blocked: bigint }>
  sent(from: Date, to: Date, signal?: AbortSignal): AsyncIterable<SentPix | UnreadEntry>
  /** Those of `sent` of which something came back. Absent: the provider has no such list. */
  returned?(from: Date, to: Date, signal?: AbortSignal): AsyncIterable<SentPix | UnreadEntry>
}

/** Which payments a notice is about. A notice is a hint: it makes a worker ask sooner, and changes nothing. */
export type NoticedPix = { readonly send_id?: string; readonly end_to_end_id?: string }

/** How the rail wants payments handed over. */
export type PixSending = {
  /** Time that the rail may need until a status query finds what was sent. */
  readonly visible_after_ms: number
  /** A payment is not sent later than this after its acceptance. Absent: it is sent for as long as it is open. */
  readonly send_for_ms?: number
  /** Payments that may be handed over at once, over all nodes. Absent: any number. */
  readonly at_once?: number
}

export interface PixRail<E extends Environment = Environment> {
  readonly environment: E
  /** The account that pays. Another account knows nothing of payments that were handed to this one. */
  readonly provider: string
  readonly sending: PixSending
  /** Throws `rail_unavailable` if no payment can be sent. */
  ready(): Promise<void>
  /** Types of bank accounts that the rail pays. Absent: all. */
  readonly account_types?: readonly BankAccount['account_type'][]
  /** Asks the DICT who holds a key. Throws `rail_unavailable` if no payment can be sent, or the DICT does not answer. */
  holder(pix_key: string, asking: AccountHolder | undefined): Promise<Directory>
  /** Idempotent by send_id. Once the signal is aborted, the rail must send nothing to the network. */
  send(order: PixOrder, signal?: AbortSignal): Promise<PixOutcome>
  status(order: PixOrder, signal?: AbortSignal): Promise<PixStatus>
  /** Absent: the rail is simulated, or none. */
  readonly account?: PixAccount
  /** Absent: the rail takes no payments in. */
  readonly charges?: PixCharges
  /** What came back of a payment that was sent. Absent: the rail does not tell. */
  readonly returnsOf?: (end_to_end_id: string, signal?: AbortSignal) => Promise<readonly PixReturn[]>
  /** The address that the provider posts notices to; undefined if none is registered. Absent: the provider does not tell. */
  readonly noticeAddress?: (signal?: AbortSignal) => Promise<string | undefined>
  /** The payments that a notice of the provider names. Absent: the provider sends none. */
  readonly readNotice?: (body: unknown) => readonly NoticedPix[]
}
