const LONGEST_MS = 600_000

/**
 * Delay for an order that nobody ends: a sixtieth of its age, at most ten minutes. Orders of the first quarter of an hour are
 * asked about more often anyway. An order that a person ends is final at once and needs no query.
 */
export const backOffWithAge = (age_ms: number): number => Math.min(LONGEST_MS, age_ms / 60)
