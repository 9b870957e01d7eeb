import type { Logger } from 'pino'
import type { Environment } from '../core/environment.ts'
import { Refusal } from '../core/errors.ts'
import { Crowded, openTurns } from '../core/turns.ts'
import type { Hints } from '../db/hints.ts'
import type { Limits } from '../http/endpoint.ts'
import { type Cidr, cidrContains, parseCidr } from '../http/ip.ts'
import { subjectsOf } from '../limits/addresses.ts'
import { limitsOf } from '../limits/tiers.ts'
import type { World, Worlds } from '../world.ts'
import { nameOfHash, openRoster, type Roster } from './roster.ts'
import { findByHash, type IdentifiedKey, noteUses } from './store.ts'
import { environmentOf, hashKeyValue } from './value.ts'

/** Turns the Authorization header into a key. What it knows of a key is never older than a second. */
export type Keyring = {
  /** What the header shows, judged without asking anybody. */
  read(authorization: string | undefined): { readonly refusal: Refusal } | Presented
  /** Asks whose key it is, unless that is known. Keys that nobody knows are asked for a few at a time. */
  identify(shown: Presented, address: string): Promise<Identified>
  /** Remembers the use; written down in the background. */
  noteUse(world: World, use: { readonly key_id: string; readonly address: string }): void
  stop(): Promise<void>
}

/** A value in the form of a key. */
export type Presented = {
  readonly refusal?: undefined
  readonly world: World
  readonly hash: Buffer
  readonly name: string
  /** Whether a key of this value is in force, as far as this node knows. */
  readonly likely: boolean
}

export type Identified =
  | { readonly refusal: Refusal }
  | {
      readonly refusal?: undefined
      readonly world: World
      readonly key: IdentifiedKey
      /** The value that was used, in hex. */
      readonly key_hash: string
      readonly limits: Limits
      allows(address: string): boolean
    }

type Known = {
  readonly key: IdentifiedKey | undefined
  readonly limits: Limits | undefined
  readonly cidrs: readonly Cidr[]
  readonly asked_at: number
}

const KNOWN_FOR_MS = 900
const KNOWN_MAX = 20_000
const NOTE_USES_MS = 5000

/**
 * Keys that nobody knows are asked for on one connection of the two, each address in its turn, so that guesses keep no key
 * that exists from being found.
 */
const STRANGE = { at_once: 1, per_name: 1, waiting_per_name: 100, waiting_max: 1000, wait_ms: 3000 }

export function openKeyring(options: { worlds: Worlds; hints: Hints; log: Logger }): Keyring {
  const { worlds, hints, log } = options
  const known = new Map<string, Known>()
  const asking = new Map<string, Promise<Known>>()
  const uses = new Map<string, { world: World; api_key_id: string; at: Date; address: string }>()
  const strange = openTurns(STRANGE)
  const rosters: Readonly<Record<Environment, Roster>> = {
    production: openRoster(worlds.production, { hints, log }),
    sandbox: openRoster(worlds.sandbox, { hints, log }),
  }
  let generation = 0

  const forget = () => {
    generation++
    known.clear()
    asking.clear()
  }
  hints.on('api_key_changed', forget)
  hints.onLost(forget)

  async function find({ world, hash, name }: Presented): Promise<Known> {
    const asked_at = performance.now()
    const asked_in = generation
    const key = await findByHash(world.keys, hash)
    const found: Known = {
      key,
      limits: key && limitsOf(key.tier, key.partner_limits, key),
      cidrs: key?.ip_allowlist.map((range) => parseCidr(range)).filter((cidr) => cidr !== undefined) ?? [],
      asked_at,
    }
    // A revocation that came while we asked must not be overwritten by what we saw before it. Unknown keys are not kept:
    // whoever guesses keys would fill the memory with them.
    if (key && asked_in === generation) {
      if (known.size >= KNOWN_MAX) known.clear()
      known.set(name, found)
    }
    return found
  }

  async function findStrange(shown: Presented, address: string): Promise<Known> {
    const leave = await strange.take(subjectsOf(address).at(-1)!).catch((error: unknown) => {
      throw error instanceof Crowded ? new Refusal('service_unavailable') : error
    })
    return find(shown).finally(leave)
  }

  async function readKey(shown: Presented, address: string): Promise<Known> {
    const { name } = shown
    const kept = known.get(name)
    if (kept && performance.now() - kept.asked_at < KNOWN_FOR_MS) return kept
    const running = asking.get(name)
    if (running) return running
    const question = (shown.likely ? find(shown) : findStrange(shown, address)).finally(
      () => asking.get(name) === question && asking.delete(name),
    )
    asking.set(name, question)
    return question
  }

  const timer = setInterval(() => void writeUses(), NOTE_USES_MS)
  timer.unref()

  async function writeUses(): Promise<void> {
    const noted = [...uses.values()]
    uses.clear()
    for (const world of Object.values(worlds)) {
      const own = noted.filter((use) => use.world === world)
      if (own.length > 0)
        await noteUses(world.db, own).catch((error: unknown) =>
          log.warn({ err: error }, 'last uses of keys not noted'),
        )
    }
  }

  return {
    read(authorization) {
      if (authorization === undefined) return { refusal: new Refusal('missing_authorization') }
      const value = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
      const environment = value && environmentOf(value)
      if (!environment) return { refusal: new Refusal('invalid_api_key') }
      const hash = hashKeyValue(value)
      const name = nameOfHash(hash)
      return { world: worlds[environment], hash, name, likely: rosters[environment].mayHave(name) }
    },
    async identify(shown, address) {
      const { world, hash, name } = shown
      const { key, limits, cidrs } = await readKey(shown, address)
      if (!key || !limits) return { refusal: new Refusal('invalid_api_key') }
      const now = world.clock.now()
      if (key.revoked_at || (key.valid_until && key.valid_until.getTime() <= now))
        return { refusal: new Refusal('revoked_api_key') }
      if (key.expires_at && key.expires_at.getTime() <= now)
        return { refusal: new Refusal('expired_api_key') }
      rosters[world.environment].note(name)
      const allows = (address: string) =>
        key.ip_allowlist.length === 0 || cidrs.some((cidr) => cidrContains(cidr, address))
      return { world, key, key_hash: hash.toString('hex'), limits, allows }
    },
    noteUse(world, { key_id, address }) {
      uses.set(key_id, { world, api_key_id: key_id, at: new Date(world.clock.now()), address })
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(Object.values(rosters).map((roster) => roster.stop()))
      await writeUses()
    },
  }
}
