import type { Logger } from 'pino'
import type { Environment } from '../../core/environment.ts'
import { Refusal } from '../../core/errors.ts'
import type { Hints } from '../../db/hints.ts'
import type { Limits } from '../../http/endpoint.ts'
import { cidrContains } from '../../http/ip.ts'
import type { World, Worlds } from '../../world.ts'
import { type KeyValue, openKnownKeys } from './known-keys.ts'
import type { IdentifiedKey } from './store.ts'
import { type KeyUses, openKeyUses } from './uses.ts'
import { nameOfHash, openValidHashes, type ValidHashes } from './valid-hashes.ts'
import { environmentOf, hashKeyValue } from './value.ts'

/** Turns the Authorization header into a key. Cached keys are less than a second old. */
export type Keyring = {
  /** Parses the header, without a query. */
  read(authorization: string | undefined): { readonly refusal: Refusal } | Presented
  /** Finds the key in the cache or the database. Lookups of unlikely values are queued. */
  identify(shown: Presented, address: string): Promise<Identified>
  /** Notes the use in memory; it is written in the background. */
  readonly noteUse: KeyUses['note']
  stop(): Promise<void>
}

export type Presented = KeyValue & { readonly refusal?: undefined }

export type Identified =
  | { readonly refusal: Refusal }
  | {
      readonly refusal?: undefined
      readonly world: World
      readonly key: IdentifiedKey
      /** Hash of the presented value, in hex. */
      readonly key_hash: string
      readonly limits: Limits
      allows(address: string): boolean
    }

export function openKeyring(options: { worlds: Worlds; hints: Hints; log: Logger }): Keyring {
  const { worlds, hints, log } = options
  const known = openKnownKeys(hints)
  const uses = openKeyUses({ worlds, log })
  const valid_hashes: Readonly<Record<Environment, ValidHashes>> = {
    production: openValidHashes(worlds.production, { hints, log }),
    sandbox: openValidHashes(worlds.sandbox, { hints, log }),
  }
  return {
    read(authorization) {
      if (authorization === undefined) return { refusal: new Refusal('missing_authorization') }
      const value = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
      const environment = value && environmentOf(value)
      if (!environment) return { refusal: new Refusal('invalid_api_key') }
      const hash = hashKeyValue(value)
      const name = nameOfHash(hash)
      return { world: worlds[environment], hash, name, likely: valid_hashes[environment].mayHave(name) }
    },
    async identify(shown, address) {
      const { world, hash, name } = shown
      const { key, limits, cidrs } = await known.get(shown, address)
      if (!key || !limits) return { refusal: new Refusal('invalid_api_key') }
      const refusal = refusalOf(key, world.clock.now())
      if (refusal) return { refusal }
      valid_hashes[world.environment].note(name)
      const allows = (address: string) =>
        key.ip_allowlist.length === 0 || cidrs.some((cidr) => cidrContains(cidr, address))
      return { world, key, key_hash: hash.toString('hex'), limits, allows }
    },
    noteUse: uses.note,
    async stop() {
      await Promise.all(Object.values(valid_hashes).map((hashes) => hashes.stop()))
      await uses.stop()
    },
  }
}

function refusalOf({ revoked_at, valid_until, expires_at }: IdentifiedKey, now: number): Refusal | undefined {
  if (revoked_at || (valid_until && valid_until.getTime() <= now)) return new Refusal('revoked_api_key')
  return expires_at && expires_at.getTime() <= now ? new Refusal('expired_api_key') : undefined
}
