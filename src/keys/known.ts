import { Refusal } from '../core/errors.ts'
import { Crowded, openTurns } from '../core/turns.ts'
import type { Hints } from '../db/hints.ts'
import type { Limits } from '../http/endpoint.ts'
import { type Cidr, parseCidr } from '../http/ip.ts'
import { subjectsOf } from '../limits/addresses.ts'
import { limitsOf } from '../limits/tiers.ts'
import type { World } from '../world.ts'
import { findByHash, type IdentifiedKey } from './store.ts'

/** What a node knows of keys: never older than a second, and forgotten when one of them may have changed. */
export type KnownKeys = {
  /** What is known of a value, or found now. Whoever asks while the same is being asked for gets the same answer. */
  look(value: KeyValue, address: string): Promise<Known>
}

export type KeyValue = {
  readonly world: World
  readonly hash: Buffer
  readonly name: string
  /** Whether a key of this value is in force, as far as this node knows. */
  readonly likely: boolean
}

export type Known = {
  /** Undefined: there is no such key. */
  readonly key: IdentifiedKey | undefined
  readonly limits: Limits | undefined
  readonly cidrs: readonly Cidr[]
  readonly asked_at: number
}

const KNOWN_FOR_MS = 900
const KNOWN_MAX = 20_000

/**
 * Keys that nobody knows are asked for on one connection of the two, each address in its turn, so that guesses keep no key
 * that exists from being found.
 */
const STRANGE = { at_once: 1, per_name: 1, waiting_per_name: 100, waiting_max: 1000, wait_ms: 3000 }

export function openKnownKeys(hints: Hints): KnownKeys {
  const known = new Map<string, Known>()
  const asking = new Map<string, Promise<Known>>()
  const strange = openTurns(STRANGE)
  let generation = 0

  const forget = () => {
    generation++
    known.clear()
    asking.clear()
  }
  hints.on('api_key_changed', forget)
  hints.onLost(forget)

  async function find(value: KeyValue): Promise<Known> {
    const asked_in = generation
    const found = await findKey(value)
    // A revocation that came while we asked must not be overwritten by what we saw before it. Unknown keys are not kept:
    // whoever guesses keys would fill the memory with them.
    if (found.key && asked_in === generation) {
      if (known.size >= KNOWN_MAX) known.clear()
      known.set(value.name, found)
    }
    return found
  }

  async function findStrange(value: KeyValue, address: string): Promise<Known> {
    const leave = await strange.take(subjectsOf(address).at(-1)!).catch((error: unknown) => {
      throw error instanceof Crowded ? new Refusal('service_unavailable') : error
    })
    return find(value).finally(leave)
  }

  return {
    async look(value, address) {
      const { name, likely } = value
      const kept = known.get(name)
      if (kept && performance.now() - kept.asked_at < KNOWN_FOR_MS) return kept
      const running = asking.get(name)
      if (running) return running
      const question = (likely ? find(value) : findStrange(value, address)).finally(
        () => asking.get(name) === question && asking.delete(name),
      )
      asking.set(name, question)
      return question
    },
  }
}

async function findKey({ world, hash }: KeyValue): Promise<Known> {
  const asked_at = performance.now()
  const key = await findByHash(world.keys, hash)
  return {
    key,
    limits: key && limitsOf(key.tier, key.partner_limits, key),
    cidrs: key?.ip_allowlist.map((range) => parseCidr(range)).filter((cidr) => cidr !== undefined) ?? [],
    asked_at,
  }
}
