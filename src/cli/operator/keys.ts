import { act } from '../../control/operator/act.ts'
import type { Scope } from '../../core/actor.ts'
import { renderKey } from '../../parties/keys/keys.ts'
import { findByHash, listKeys } from '../../parties/keys/store.ts'
import { environmentOf, hashKeyValue } from '../../parties/keys/value.ts'
import { findPartner } from '../../parties/partners/partners.ts'
import type { World, Worlds } from '../../world.ts'
import {
  argument,
  environmentOption,
  type Input,
  integerOption,
  listed,
  type Output,
  option,
  type Reach,
  table,
  usage,
  worldThatHas,
} from '../command.ts'
import { actFromShell, actOutput } from './act-output.ts'
import { actorIfAny } from './actor.ts'
import { limitsFrom } from './limits.ts'

/** An empty list is refused: a key without an allowlist can be used from any address. */
function listOption(input: Input, name: string): string[] | undefined {
  const parts = option(input, name)
    ?.split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return parts?.length === 0 ? usage(`--${name} is empty.`) : parts
}

export async function keysCreate(input: Input, reach: Reach): Promise<Output> {
  const environment = environmentOption(input) ?? 'sandbox'
  const owner = await findPartner(reach.shared, option(input, 'partner'))
  const expires = option(input, 'expires')
  const expires_at = expires === undefined ? undefined : new Date(expires)
  if (expires_at && !(expires_at.getTime() > Date.now()))
    usage('--expires must be a time in the future, such as 2030-01-01T00:00:00Z.')
  const scopes = listOption(input, 'scopes') as Scope[] | undefined
  const ip_allowlist = listOption(input, 'allow')
  const details = {
    partner_id: owner.id,
    name: option(input, 'name') ?? 'Made on the command line',
    ...(scopes ? { scopes } : {}),
    ...(ip_allowlist ? { ip_allowlist } : {}),
    ...(expires_at ? { expires_at } : {}),
  }
  return actFromShell(input, reach, { name: 'create_key', environment, details }, ({ key, value }) => ({
    json: { ...renderKey(key, environment), key: value },
    text: `${key.id}\n${value}\n\nThis value is shown once. Keep it safe.\n`,
  }))
}

export async function keysList(input: Input, { worlds }: Reach): Promise<Output> {
  const only = environmentOption(input)
  const partner_id = option(input, 'partner')
  const chosen = Object.values(worlds as Record<string, World>).filter(
    (world) => only === undefined || world.environment === only,
  )
  const lists = await Promise.all(
    chosen.map(async (world) =>
      (await listKeys(world.db, partner_id ? { partner_id } : {})).map((key) =>
        renderKey(key, world.environment),
      ),
    ),
  )
  const data = lists.flat()
  const rows = data.map((key) => ({
    id: key.id,
    environment: key.environment,
    name: key.name,
    ends_in: key.last_four,
    partner: key.partner_id,
    state: key.revoked_at ? 'revoked' : 'active',
    last_used: key.last_used_at,
  }))
  return listed({ data }, rows)
}

export async function keysRevoke(input: Input, { office, shared, worlds }: Reach): Promise<Output> {
  const { environment, key_id } = await placeOfKey(worlds, argument(input, 0, 'KEY'))
  const acted = await act(office, await actorIfAny(input, shared), {
    name: 'revoke_key',
    environment,
    details: { key_id },
  })
  return actOutput(acted, (key) => ({
    json: renderKey(key, environment),
    text: `${key.id} is revoked.\n`,
  }))
}

export async function keysRotate(input: Input, reach: Reach): Promise<Output> {
  const { environment, key_id } = await placeOfKey(reach.worlds, argument(input, 0, 'KEY'))
  const grace_hours = integerOption(input, 'grace-hours', 0, 720) ?? 24
  const details = { key_id, grace_seconds: grace_hours * 3600 }
  return actFromShell(input, reach, { name: 'rotate_key', environment, details }, ({ key, value }) => ({
    json: { ...renderKey(key, environment), key: value },
    text: `${key.id}\n${value}\n\nThis value is shown once. The old one works for ${grace_hours} more hours.\n`,
  }))
}

export async function keysSetLimits(input: Input, reach: Reach): Promise<Output> {
  const { environment, key_id } = await placeOfKey(reach.worlds, argument(input, 0, 'KEY'))
  const details = { key_id, limits: limitsFrom(input) }
  return actFromShell(input, reach, { name: 'set_key_limits', environment, details }, (key) => {
    const { id, per_minute, per_day, endpoint_per_minute, lookup_per_minute } = key
    const json = { id, per_minute, per_day, endpoint_per_minute, lookup_per_minute }
    return { json, text: table([json]) }
  })
}

/** Finds a key by its id or by its value, for a person who found a leaked value. The value is never printed. */
async function placeOfKey(worlds: Worlds, typed: string) {
  const environment = environmentOf(typed)
  if (environment) {
    const key = await findByHash(worlds[environment].db, hashKeyValue(typed))
    if (!key) throw new Error('No key has this value. See: trilho keys list')
    return { environment, key_id: key.id }
  }
  const place = await worldThatHas(worlds, async (world) => (await listKeys(world.db, { id: typed }))[0])
  if (!place) throw new Error(`No key ${typed}. See: trilho keys list`)
  return { environment: place.world.environment, key_id: typed }
}
