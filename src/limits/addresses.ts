import type { Clock } from '../core/clock.ts'
import type { WindowState } from '../http/headers.ts'
import { networkOf } from '../http/ip.ts'
import { ADDRESS_PER_MINUTE, VISITS_PER_MINUTE } from './tiers.ts'
import { type Verdict, windowEnd, windowStart } from './windows.ts'

/**
 * Limits requests without a valid key per address, in this node's memory only: guessing keys must cost the database nothing
 * (decision 0019). An IPv6 address counts as its /64, which one customer of a provider has, and as its /48, which one site has.
 */
export type AddressLimit = {
  /** Counts a request, or refuses it and counts nothing. */
  take(address: string): Verdict
  /** Takes a count back, for a request that turned out to be authenticated. */
  giveBack(address: string): void
  windowOf(address: string): WindowState
  /** How many addresses are remembered. */
  size(): number
}

type Count = { readonly starts_at: number; count: number }

/** The limit of a /48 is this many times the limit of a /64. */
const SITE_FACTOR = 10
/** About 10 MB when full. */
const REMEMBERED = 50_000

/** Caches the networks of addresses: most requests come from few addresses. */
const networks = new Map<string, readonly string[]>()
const NETWORKS_KEPT = 10_000

/** What an address is counted as: an IPv4 address as itself, an IPv6 address as its /64 and its /48. */
export function subjectsOf(address: string): readonly string[] {
  if (!address.includes(':')) return [address]
  const known = networks.get(address)
  if (known) return known
  const subjects = [networkOf(address, 64), networkOf(address, 48)]
  if (networks.size >= NETWORKS_KEPT) networks.clear()
  networks.set(address, subjects)
  return subjects
}

export function openAddressLimit(options: {
  readonly clock: Clock
  readonly limit: number
  readonly remembered?: number
}): AddressLimit {
  const { clock, limit, remembered = REMEMBERED } = options
  /** In the order of the last count: the entry that was counted longest ago is removed first. */
  const counts = new Map<string, Count>()

  const limitOf = (index: number) => (index === 0 ? limit : SITE_FACTOR * limit)

  function countOf(subject: string, starts_at: number): number {
    const known = counts.get(subject)
    return known?.starts_at === starts_at ? known.count : 0
  }

  function add(subject: string, starts_at: number): void {
    const count = countOf(subject, starts_at) + 1
    counts.delete(subject)
    counts.set(subject, { starts_at, count })
    if (counts.size > remembered) counts.delete(counts.keys().next().value!)
  }

  /** `limit` is that of the address; `remaining` is 0 also when its /48 is used up. */
  function stateOf(subjects: readonly string[], now: number): WindowState {
    const starts_at = windowStart('minute', now)
    const left = subjects.map((subject, i) => limitOf(i) - countOf(subject, starts_at))
    const remaining = Math.max(0, Math.min(...left))
    return { limit, remaining, resets_at: windowEnd('minute', now) / 1000 }
  }

  return {
    take(address) {
      const now = clock.now()
      const subjects = subjectsOf(address)
      const starts_at = windowStart('minute', now)
      const full = subjects.findIndex((subject, i) => countOf(subject, starts_at) >= limitOf(i))
      if (full >= 0) {
        const retry_after_seconds = Math.max(1, Math.ceil((windowEnd('minute', now) - now) / 1000))
        return {
          window: stateOf(subjects, now),
          refused: { name: 'address', limit: limitOf(full), retry_after_seconds },
        }
      }
      for (const subject of subjects) add(subject, starts_at)
      return { window: stateOf(subjects, now) }
    },
    giveBack(address) {
      const starts_at = windowStart('minute', clock.now())
      for (const subject of subjectsOf(address)) {
        const known = counts.get(subject)
        if (known?.starts_at === starts_at && known.count > 0) known.count--
      }
    },
    windowOf: (address) => stateOf(subjectsOf(address), clock.now()),
    size: () => counts.size,
  }
}

/** Requests under /v1 without a valid key. */
export const openUnauthenticatedLimit = (clock: Clock): AddressLimit =>
  openAddressLimit({ clock, limit: ADDRESS_PER_MINUTE })

/** Requests outside /v1: pages, unknown paths, and malformed requests. */
export const openVisitLimit = (clock: Clock): AddressLimit =>
  openAddressLimit({ clock, limit: VISITS_PER_MINUTE })
