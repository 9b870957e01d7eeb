/** Contract §5. What an API key, or whoever else acts for a partner, may do. */
export const scopes = ['read', 'customers', 'payouts', 'transfers', 'quotes', 'webhooks'] as const
export type Scope = (typeof scopes)[number]

/** What was agreed with the partner. */
export type Terms = {
  /** Of a payout, in centavos. */
  readonly pix_fee: bigint
  /** Payouts may go to other documents than the customer's. */
  readonly third_party_payouts: boolean
  /** Of a conversion, in basis points. */
  readonly service_fee_bps: number
  /** The operator's part of the partner's own fee on a conversion. */
  readonly partner_fee_share_pct: number
}

/** A program of a partner, known by its API key. */
export type ApiKeyActor = {
  readonly kind: 'api_key'
  readonly key_id: string
  /** The value that was used, by its hash in hex: a rotation ends values, not keys. */
  readonly key_hash: string
  readonly partner_id: string
  readonly scopes: readonly Scope[]
  readonly terms: Terms
}

/** Whoever acts for a partner with its terms. */
export type PartnerActor = ApiKeyActor

/** What a person of a partner may do; the first may do everything. What each word means is console-api/permits.ts. */
export const partnerRoles = ['owner', 'developer', 'finance', 'viewer'] as const
export type PartnerRole = (typeof partnerRoles)[number]

/** A person of a partner, signed in to the console. */
export type PersonActor = {
  readonly kind: 'person'
  readonly user_id: string
  readonly email: string
  readonly partner_id: string
  readonly role: PartnerRole
  readonly session_id: string
  readonly address: string
  /** What is asked for takes a fresh proof, which must still be fresh when it is done. */
  readonly proof?: true
}

/** Whoever asks for something that needs no terms: a partner's program, or its person in the console. */
export type AnyoneOfPartner = PartnerActor | PersonActor

/** What a person of the operator may do: everything; decide on money; or only look. */
export const operatorRoles = ['admin', 'resolver', 'reader'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** A person of the operator, known by password. */
export type OperatorActor = {
  readonly kind: 'operator'
  readonly user_id: string
  readonly email: string
  readonly role: OperatorRole
  /** The session that it signed in with, if it did not say its password with the act. */
  readonly session_id?: string
  /** From where, in the console. */
  readonly address?: string
  readonly proof?: true
}

/** Somebody at a shell of the machine, who did not sign in. */
export type ShellActor = { readonly kind: 'shell' }

/** Whoever asks. Rules take an actor, and do not know how it came in. */
export type Actor = PartnerActor | PersonActor | OperatorActor | ShellActor
