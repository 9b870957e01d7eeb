import { Refusal } from '../../core/errors.ts'
import { openFairSemaphore, QueueFull } from '../../core/fair-semaphore.ts'
import type { Hints } from '../../db/hints.ts'
import type { Limits } from '../../http/endpoint.ts'
import { type Cidr, parseCidr } from '../../http/ip.ts'
import { subjectsOf } from '../../limits/addresses.ts'
import { limitsOf } from '../../limits/tiers.ts'
import type { World } from '../../world.ts'
import { findByHash, type IdentifiedKey } from './store.ts'

/** A node's cache of keys: entries live less than a second, and a hint about any key clears it. */
type KnownKeys = {
  /** Returns the cached entry or queries it. Concurrent calls for one value share a query. */
  get(value: KeyValue, address: string): Promise<KnownKey>
}

export type KeyValue = {
  readonly world: World
  readonly hash: Buffer
  readonly name: string
  /** Whether the valid hashes that this node knows contain the value. */
  readonly likely: boolean
}

type KnownKey = {
  /** Undefined if no such key exists. */
  readonly key: IdentifiedKey | undefined
  readonly limits: Limits | undefined
  readonly cidrs: readonly Cidr[]
  readonly asked_at: number
}

const KNOWN_FOR_MS = 900
const KNOWN_MAX = 20_000

/**
 * Lookups of values that are not among the valid hashes use one of the two connections, one address after the other, so that
 * guesses do not delay lookups of real keys.
 */
const UNLISTED = { at_once: 1, per_name: 1, waiting_per_name: 100, waiting_max: 1000, wait_ms: 3000 }

export function openKnownKeys(hints: Hints): KnownKeys {
  const known = new Map<string, KnownKey>()
  const asking = new Map<string, Promise<KnownKey>>()
  const unlisted = openFairSemaphore(UNLISTED)
  let generation = 0

  const forget = () => {
    generation++
    known.clear()
    asking.clear()
  }
  hints.on('api_key_changed', forget)
  hints.onLost(forget)

  async function find(value: KeyValue): Promise<KnownKey> {
    const asked_in = generation
    const found = await findKey(value)
    // An answer from before a revocation must not overwrite the cleared cache. Unknown keys are not cached: guesses
    // would fill the memory.
    if (found.key && asked_in === generation) {
      if (known.size >= KNOWN_MAX) known.clear()
      known.set(value.name, found)
    }
    return found
  }

  async function findUnlisted(value: KeyValue, address: string): Promise<KnownKey> {
    const leave = await unlisted.take(subjectsOf(address).at(-1)!).catch((error: unknown) => {
      throw error instanceof QueueFull ? new Refusal('service_unavailable') : error
    })
    return find(value).finally(leave)
  }

  return {
    async get(value, address) {
      const { name, likely } = value
      const kept = known.get(name)
      if (kept && performance.now() - kept.asked_at < KNOWN_FOR_MS) return kept
      const running = asking.get(name)
      if (running) return running
      const question = (likely ? find(value) : findUnlisted(value, address)).finally(
        () => asking.get(name) === question && asking.delete(name),
      )
      asking.set(name, question)
      return question
    },
  }
}

async function findKey({ world, hash }: KeyValue): Promise<KnownKey> {
  const asked_at = performance.now()
  const key = await findByHash(world.keys, hash)
  return {
    key,
    limits: key && limitsOf(key.tier, key.partner_limits, key),
    cidrs: key?.ip_allowlist.map((range) => parseCidr(range)).filter((cidr) => cidr !== undefined) ?? [],
    asked_at,
  }
}
