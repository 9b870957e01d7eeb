/** Contract §5. What an API key, or another actor of a partner, may do. */
export const scopes = ['read', 'customers', 'payouts', 'transfers', 'quotes', 'webhooks'] as const
export type Scope = (typeof scopes)[number]

/** The commercial terms of a partner. */
type Terms = {
  /** Fee of a payout, in centavos. */
  readonly pix_fee: bigint
  /** Payouts may go to people whose document is not the customer's. */
  readonly third_party_payouts: boolean
  /** Fee of a conversion, in basis points. */
  readonly service_fee_bps: number
  /** The operator's share of the partner's own fee on a conversion. */
  readonly partner_fee_share_pct: number
}

/** A program of a partner, known by its API key. */
type ApiKeyActor = {
  readonly kind: 'api_key'
  readonly key_id: string
  /** Hash, in hex, of the key value that was used: a rotation ends values, not keys. */
  readonly key_hash: string
  readonly partner_id: string
  readonly scopes: readonly Scope[]
  readonly terms: Terms
}

/** An actor to whom the partner's terms apply. */
export type PartnerActor = ApiKeyActor

/** Roles in a partner's team; an owner may do everything. doors/console-api/permits.ts says what each role may do. */
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
  /** The request needs a recent proof of identity, which must still be recent when the change commits. */
  readonly proof?: true
}

/** An actor for rules that need no terms: a partner's program, or a person of the partner in the console. */
export type AnyoneOfPartner = PartnerActor | PersonActor

/** Roles of the operator's people: everything; decisions on money; read only. */
export const operatorRoles = ['admin', 'resolver', 'reader'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** A person of the operator, known by password. */
export type OperatorActor = {
  readonly kind: 'operator'
  readonly user_id: string
  readonly email: string
  readonly role: OperatorRole
  /** The operator's session; absent when the password was given with the command itself. */
  readonly session_id?: string
  /** The caller's IP address, in the console. */
  readonly address?: string
  readonly proof?: true
}

/** A person at a shell of the machine who is not signed in. */
export type ShellActor = { readonly kind: 'shell' }
