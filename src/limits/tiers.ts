import type { Limits } from '../http/endpoint.ts'

/** Interface §8. Requests that a key may make, by the partner's tier; custom limits override them. */
export const tiers = {
  standard: { per_minute: 100, per_day: 10_000 },
  growth: { per_minute: 500, per_day: 50_000 },
  /** Limits are agreed per partner; until then those of growth apply. */
  enterprise: { per_minute: 500, per_day: 50_000 },
} as const

export type Tier = keyof typeof tiers
export const tierNames = Object.keys(tiers) as Tier[]

/** Custom limits of a partner or of a single key. Null: not set here. */
export type CustomLimits = { readonly [Name in (typeof limitNames)[number]]: number | null }

export const limitNames = ['per_minute', 'per_day', 'endpoint_per_minute', 'lookup_per_minute'] as const

export const ADDRESS_PER_MINUTE = 100
/** Outside /v1. Far above a page of the reference (four files) and a load balancer (one request a second). */
export const VISITS_PER_MINUTE = 1200
/** Searches of the docs on one node. A browser with scripts searches in the page, and sends one when the form is submitted. */
export const SEARCHES_PER_SECOND = 20
export const LOOKUP_PER_MINUTE = 20
export const REDELIVERIES_PER_MINUTE = 10

/** A key's own limits override its partner's, and those override the tier's. */
export function limitsOf(tier: Tier, partner: CustomLimits, key: CustomLimits): Limits {
  return {
    per_minute: key.per_minute ?? partner.per_minute ?? tiers[tier].per_minute,
    per_day: key.per_day ?? partner.per_day ?? tiers[tier].per_day,
    endpoint_per_minute: key.endpoint_per_minute ?? partner.endpoint_per_minute,
    lookup_per_minute: key.lookup_per_minute ?? partner.lookup_per_minute ?? LOOKUP_PER_MINUTE,
  }
}

/** The limits of a key that has none of its own. */
export const limitsOfPartner = (tier: Tier, partner: CustomLimits): Limits => limitsOf(tier, partner, none)

const none: CustomLimits = {
  per_minute: null,
  per_day: null,
  endpoint_per_minute: null,
  lookup_per_minute: null,
}
