import type { Limits } from '../http/endpoint.ts'

/** Interface §8. How many requests a key may make; the partner's tier says, unless custom figures were given. */
export const tiers = {
  standard: { per_minute: 100, per_day: 10_000 },
  growth: { per_minute: 500, per_day: 50_000 },
  /** Figures are agreed one by one; until then those of growth hold. */
  enterprise: { per_minute: 500, per_day: 50_000 },
} as const

export type Tier = keyof typeof tiers
export const tierNames = Object.keys(tiers) as Tier[]

/** Custom figures of a partner or of a single key. Null: not set here. */
export type CustomLimits = { readonly [Name in (typeof limitNames)[number]]: number | null }

export const limitNames = ['per_minute', 'per_day', 'endpoint_per_minute', 'lookup_per_minute'] as const

export const ADDRESS_PER_MINUTE = 100
/** Outside /v1. A page of the reference has four files, and a load balancer asks every second: neither comes near it. */
export const VISITS_PER_MINUTE = 1200
export const LOOKUP_PER_MINUTE = 20
export const REDELIVERIES_PER_MINUTE = 10

/** A key's own figures win over its partner's, and those over the tier's. */
export function limitsOf(tier: Tier, partner: CustomLimits, key: CustomLimits): Limits {
  return {
    per_minute: key.per_minute ?? partner.per_minute ?? tiers[tier].per_minute,
    per_day: key.per_day ?? partner.per_day ?? tiers[tier].per_day,
    endpoint_per_minute: key.endpoint_per_minute ?? partner.endpoint_per_minute,
    lookup_per_minute: key.lookup_per_minute ?? partner.lookup_per_minute ?? LOOKUP_PER_MINUTE,
  }
}

/** What holds for a key without figures of its own; where each comes from is for the reader to compare. */
export const limitsOfPartner = (tier: Tier, partner: CustomLimits): Limits => limitsOf(tier, partner, none)

const none: CustomLimits = {
  per_minute: null,
  per_day: null,
  endpoint_per_minute: null,
  lookup_per_minute: null,
}
