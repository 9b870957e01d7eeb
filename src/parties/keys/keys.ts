import { type AnyoneOfPartner, type PartnerActor, type Scope, scopes } from '../../core/actor.ts'
import type { Environment } from '../../core/environment.ts'
import { refuse } from '../../core/errors.ts'
import { findOwned, type OwnedId } from '../../core/owned.ts'
import { sendHint } from '../../db/hints.ts'
import { checkedPool, type Db, poolOf, transaction } from '../../db/pool.ts'
import type { Command } from '../../ledger/command.ts'
import type { CustomLimits } from '../../limits/tiers.ts'
import { recordEvent } from '../../records/events/events.ts'
import type { World } from '../../world.ts'
import { checkAllowlist } from './allowlist.ts'
import {
  type ApiKey,
  countKeyEvent,
  endValues,
  insertKey,
  insertValue,
  type KeyChange,
  type KeyInForce,
  keyInForce,
  type ListedKey,
  listKeys,
  lockAndCountKeys,
  lockKeyAlone,
  lockKeyInForce,
  markRevoked,
  updateKey,
  updateLimits,
} from './store.ts'
import { hashKeyValue, lastFour, newKeyValue } from './value.ts'

/** Keys (interface §5, contract §5). Only the results of create and rotate hold the clear value. */
export type NewKey = {
  readonly partner_id: string
  readonly name: string
  readonly scopes?: readonly Scope[]
  readonly ip_allowlist?: readonly string[]
  readonly expires_at?: Date
  readonly made_for?: 'playground'
}

export type ShownKey = { readonly key: ListedKey; readonly value: string }

export const keyStates = ['active', 'rotating', 'expired', 'revoked'] as const

/** `rotating`: a replaced value still works. */
export function keyState(
  { revoked_at, expires_at }: Pick<ListedKey, 'revoked_at' | 'expires_at'>,
  { in_grace, now }: { in_grace: boolean; now: number },
): (typeof keyStates)[number] {
  if (revoked_at) return 'revoked'
  if (expires_at !== null && expires_at.getTime() <= now) return 'expired'
  return in_grace ? 'rotating' : 'active'
}

/** A key as it may be listed, logged and sent in events: without its value. */
export const renderKey = (key: ListedKey, environment: Environment) => ({
  id: key.id,
  partner_id: key.partner_id,
  environment,
  name: key.name,
  last_four: key.last_four,
  scopes: key.scopes,
  ip_allowlist: key.ip_allowlist,
  expires_at: key.expires_at?.toISOString() ?? null,
  revoked_at: key.revoked_at?.toISOString() ?? null,
  created_at: key.created_at.toISOString(),
  last_used_at: key.last_used_at?.toISOString() ?? null,
  last_used_address: key.last_used_address,
})

/** A key as the act log shows it: with its own limits, and without its last use, which is no act. */
export function describeKey(key: ListedKey, environment: Environment) {
  const { per_minute, per_day, endpoint_per_minute, lookup_per_minute } = key
  const { last_used_at, last_used_address, ...shown } = renderKey(key, environment)
  return { ...shown, per_minute, per_day, endpoint_per_minute, lookup_per_minute }
}

/** A key of another partner or environment counts as not found. */
export const findKey = (world: World, where: OwnedId): Promise<ListedKey> =>
  findOwned('key', where, async () => (await listKeys(world.db, { id: where.id }))[0])

/** The name of the key that the console's playground uses. Nobody knows its value. */
export const PLAYGROUND_NAME = 'Playground'

export const isOfPlayground = ({ made_for }: Pick<ApiKey, 'made_for'>): boolean => made_for === 'playground'

export function assertFreeName(name: string): void {
  if (name.trim().toLowerCase() === PLAYGROUND_NAME.toLowerCase())
    refuse('invalid_request', { param: 'name', message: 'This is the name of the playground’s own key.' })
}

/**
 * Each key has its own request limits, and each change of a key clears the key cache of every node. A partner's users could
 * otherwise lift their limits, and slow every node down, by creating keys without end.
 */
const KEYS_OF_USERS_MAX = 100

/** Creates a key for a user of the partner, who may do so until the partner has KEYS_OF_USERS_MAX keys that work. */
export const createKeyOfUser = (world: World, wanted: NewKey): Promise<ShownKey> =>
  transaction(world.db, async (tx) => {
    if ((await lockAndCountKeys(tx, wanted.partner_id)) >= KEYS_OF_USERS_MAX) refuse('too_many_api_keys')
    return createKey({ ...world, db: poolOf(tx) }, wanted)
  })

/** Creates a key, without a maximum: for the operator, and for the playground, which has one key. */
export async function createKey(world: World, wanted: NewKey): Promise<ShownKey> {
  for (const scope of wanted.scopes ?? []) {
    if (!scopes.includes(scope))
      refuse('invalid_request', {
        param: 'scopes',
        message: `Unknown scope ${scope}. Scopes are ${scopes.join(', ')}.`,
      })
  }
  checkAllowlist(wanted.ip_allowlist ?? [])
  if (wanted.expires_at && wanted.expires_at.getTime() <= world.clock.now())
    refuse('invalid_request', { param: 'expires_at', message: 'expires_at must be in the future.' })
  const value = newKeyValue(world.environment)
  const key = await transaction(world.db, async (tx) => {
    const row = await insertKey(tx, {
      id: world.newId('key'),
      partner_id: wanted.partner_id,
      name: wanted.name,
      scopes: wanted.scopes ?? scopes,
      ip_allowlist: wanted.ip_allowlist ?? [],
      expires_at: wanted.expires_at ?? null,
      made_for: wanted.made_for ?? null,
    })
    const last_four = lastFour(value)
    await insertValue(tx, { api_key_id: row.id, hash: hashKeyValue(value), last_four })
    const key = { ...row, last_four, last_used_at: null, last_used_address: null }
    await recordEvent(tx, world, {
      partner_id: key.partner_id,
      type: 'api_key.created',
      object: renderKey(key, world.environment),
      sequence: 1,
    })
    return key
  })
  await sendHint(world.db, 'api_key_changed', key.id)
  return { key, value }
}

/**
 * After this returns, no operation under the key commits: the lock waits for running operations, which share it, and
 * later ones find the key revoked.
 */
export async function revokeKey(world: World, id: string): Promise<ListedKey> {
  const key = await transaction(world.db, async (tx) => {
    const before = await lockKeyAlone(tx, id)
    if (!before) return undefined
    const after = { ...before, ...(await markRevoked(tx, id)) }
    if (!before.revoked_at) {
      await recordEvent(tx, world, {
        partner_id: after.partner_id,
        type: 'api_key.revoked',
        object: renderKey(after, world.environment),
        sequence: await countKeyEvent(tx, id),
      })
    }
    return after
  })
  if (!key) throw new Error(`No key ${id} in ${world.environment}.`)
  await sendHint(world.db, 'api_key_changed', id)
  return key
}

/** The id stays, and with it scopes, limits and idempotency records; the old value works until the grace period ends. */
export async function rotateKey(world: World, id: string, grace_seconds: number): Promise<ShownKey> {
  const value = newKeyValue(world.environment)
  const key = await transaction(world.db, async (tx) => {
    const before = await lockKeyAlone(tx, id)
    assertUnrevoked(world, id, before)
    if (isOfPlayground(before))
      refuse('invalid_request', {
        message: 'The playground’s key cannot be rotated: its value is stored nowhere.',
      })
    await endValues(tx, id, grace_seconds)
    const last_four = lastFour(value)
    await insertValue(tx, { api_key_id: id, hash: hashKeyValue(value), last_four })
    const after = { ...before, last_four }
    await recordEvent(tx, world, {
      partner_id: after.partner_id,
      type: 'api_key.rotated',
      object: renderKey(after, world.environment),
      sequence: await countKeyEvent(tx, id),
    })
    return after
  })
  await sendHint(world.db, 'api_key_changed', id)
  return { key, value }
}

/**
 * Absent fields stay unchanged. The hint makes every node drop its cached copy of the key, and with it the old
 * allowlist.
 */
export async function changeKey(world: World, id: string, change: KeyChange): Promise<ListedKey> {
  checkAllowlist(change.ip_allowlist ?? [])
  const key = await transaction(world.db, async (tx) => {
    const before = await lockKeyAlone(tx, id)
    assertUnrevoked(world, id, before)
    return { ...before, ...(await updateKey(tx, id, change)) }
  })
  await sendHint(world.db, 'api_key_changed', id)
  return key
}

function assertUnrevoked(world: World, id: string, key: ListedKey | undefined): asserts key is ListedKey {
  if (!key) throw new Error(`No key ${id} in ${world.environment}.`)
  if (key.revoked_at) refuse('already_final', { message: `Key ${id} is revoked; create a new one.` })
}

export async function setKeyLimits(world: World, id: string, limits: Partial<CustomLimits>): Promise<ApiKey> {
  const key = await updateLimits(world.db, id, limits)
  if (!key) throw new Error(`No key ${id} in ${world.environment}.`)
  await sendHint(world.db, 'api_key_changed', id)
  return key
}

/**
 * Checks the presented value and its key by the database's clock, under the lock that a revocation or rotation takes
 * exclusively: the node's cached copy may be 0.9 seconds old.
 */
function judge(key: KeyInForce | undefined, actor: PartnerActor, now: Date): void {
  if (key?.api_key_id !== actor.key_id || key.revoked_at) refuse('revoked_api_key')
  if (key.valid_until && key.valid_until <= now) refuse('revoked_api_key')
  if (key.expires_at && key.expires_at <= now) refuse('expired_api_key')
}

/**
 * Adds a second check of the API key to a command, in the transaction that moves the money. A user's session is
 * checked by the console's gate at every call.
 */
export function onBehalfOf<Result>(actor: AnyoneOfPartner, command: Command<Result>): Command<Result> {
  if (actor.kind === 'person') return command
  const { locks } = command
  return {
    ...command,
    locks: {
      ...locks,
      shared: [...(locks.shared ?? []), actor.key_id],
      reads: [...(locks.reads ?? []), { source: keyInForce, id: actor.key_hash }],
    },
    decide(held) {
      judge(held.row(keyInForce, actor.key_hash), actor, held.now)
      return command.decide(held)
    },
  }
}

/** The same for writes that move no money: each transaction on the world's pool checks the key first. */
export function worldOf(actor: AnyoneOfPartner, world: World): World {
  if (actor.kind === 'person') return world
  const check = async (tx: Db) => {
    const { key, now } = await lockKeyInForce(tx, actor)
    judge(key, actor, now)
  }
  return { ...world, db: checkedPool(world.db, check) }
}
