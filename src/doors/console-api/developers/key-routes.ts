import type { PersonActor } from '../../../core/actor.ts'
import { COUNTED_PER_DAY } from '../../../db/last-days.ts'
import { selectNewest } from '../../../db/newest.ts'
import { cidrContains, parseCidr } from '../../../http/ip.ts'
import { filterOf, pageOf, parseTime } from '../../../http/page.ts'
import type { Limiter } from '../../../limits/limiter.ts'
import { limitsOf } from '../../../limits/tiers.ts'
import { usageOfKey } from '../../../limits/usage.ts'
import { faultsOf } from '../../../parties/keys/allowlist.ts'
import {
  assertFreeName,
  changeKey,
  createKeyOfUser,
  describeKey,
  findKey,
  isOfPlayground,
  keyState,
  renderKey,
  revokeKey,
  rotateKey,
} from '../../../parties/keys/keys.ts'
import {
  type ApiKey,
  keyList,
  type ListedKey,
  listKeys,
  type OldValue,
  valuesInGrace,
} from '../../../parties/keys/store.ts'
import { type Partner, partnerById } from '../../../parties/partners/store.ts'
import { renderRequest } from '../../../records/requests/contract.ts'
import { callsPerDay, callsWith, type LoggedRequest, requestList } from '../../../records/requests/store.ts'
import type { World } from '../../../world.ts'
import { endpoints } from '../../api/endpoints.ts'
import { actIn } from '../act.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import * as contract from './key-contract.ts'
import { onReadPool, pageAsked } from './lists.ts'

const RECENT = 10
const HOUR_MS = 3_600_000

export const keyRoutes = (parts: ConsoleParts): ConsoleHandler[] => [...keyReads(parts), ...keyWrites(parts)]

const keyReads = ({ runtimes }: ConsoleParts): ConsoleHandler[] => [
  answer(contract.listKeysInConsole, async (call) => {
    const { world, actor } = call
    const here = onReadPool(world)
    const { partner_id } = actor
    const list = pageAsked(contract.listKeysInConsole, call)
    const found = await selectNewest<ApiKey>(here.db, keyList, {
      partner_id,
      filters: {},
      ...filterOf(list, 'key'),
    })
    const id = found.rows.slice(0, list.limit).map((key) => key.id)
    const partner = await partnerById(here.db, partner_id)
    const { limiter } = runtimes[world.environment]
    const keys = await rendered(here, await listKeys(here.db, { id }))
    return {
      ...pageOf(list, found, () => undefined),
      data: await Promise.all(
        keys.map(async ({ key, shown }) => {
          const { minute, day } = await usage(limiter, here, partner, key)
          return { ...shown, minute, day }
        }),
      ),
    }
  }),

  answer(contract.getKeyCalls, async ({ world, actor, params }) => {
    const { partner_id } = actor
    const { id: api_key_id } = await findKey(onReadPool(world), { id: params.key_id, partner_id })
    const days = await callsPerDay(world.reads, { partner_id, api_key_id })
    return { days, counted_most: COUNTED_PER_DAY }
  }),

  answer(contract.getKeyInConsole, async ({ world, actor, params }) => {
    const here = onReadPool(world)
    const { partner_id } = actor
    const key = await findKey(here, { id: params.key_id, partner_id })
    const partner = await partnerById(here.db, partner_id)
    const recent = { after: undefined, before: undefined, position: undefined, limit: RECENT }
    const { rows } = await selectNewest<LoggedRequest>(here.db, requestList, {
      partner_id,
      filters: { api_key_id: key.id },
      ...recent,
    })
    const shown = await renderOne(here, key)
    const since = new Date(here.clock.now() - HOUR_MS)
    const value = { partner_id, api_key_id: key.id }
    return {
      key: shown,
      old_calls: await Promise.all(
        shown.old_values.map(async ({ last_four }) => ({
          last_four,
          in_last_hour: await callsWith(here.db, { ...value, last_four }, since),
        })),
      ),
      usage: await usage(runtimes[world.environment].limiter, here, partner, key),
      requests: rows.map(renderRequest),
    }
  }),

  answer(contract.checkAllowlistInConsole, async ({ world, actor, body, address }) => {
    const { ranges, key_id } = body
    const cidrs = ranges.map((range) => parseCidr(range)).filter((cidr) => cidr !== undefined)
    const judge = (from: string) => ({
      address: from,
      allowed: ranges.length === 0 || cidrs.some((cidr) => cidrContains(cidr, from)),
    })
    const key =
      key_id === undefined
        ? undefined
        : await findKey(onReadPool(world), { id: key_id, partner_id: actor.partner_id })
    return {
      faults: faultsOf(ranges),
      everybody: cidrs.some(({ prefix }) => prefix === 0),
      you: judge(address),
      last_use: key?.last_used_address ? judge(key.last_used_address) : null,
    }
  }),
]

const keyWrites = ({ office }: ConsoleParts): ConsoleHandler[] => [
  answer(contract.createKeyInConsole, async ({ world, actor, body }) => {
    const { form_id, expires_at, ...wanted } = body
    assertFreeName(wanted.name)
    const made = await actIn(
      office,
      actor,
      world,
      async (here) => {
        const result = await createKeyOfUser(here, {
          ...wanted,
          partner_id: actor.partner_id,
          ...(expires_at === undefined ? {} : { expires_at: parseTime(expires_at, 'expires_at') }),
        })
        const after = describeKey(result.key, here.environment)
        return { result, entry: { action: 'create_key', object_id: result.key.id, before: null, after } }
      },
      { form_id },
    )
    return { key: await renderOne(world, made.key), value: made.value }
  }),

  answer(contract.rotateKeyInConsole, async ({ world, actor, params, body }) => {
    const { key_id } = params
    const { grace_hours, form_id } = body
    const rotated = await actIn(
      office,
      actor,
      world,
      async (here) => {
        const before = await ownKey(here, actor, key_id)
        const result = await rotateKey(here, key_id, grace_hours * 3600)
        const after = { ...describeKey(result.key, here.environment), grace_hours }
        return { result, entry: { action: 'rotate_key', object_id: key_id, before, after } }
      },
      { form_id, object_id: key_id },
    )
    return { key: await renderOne(world, rotated.key), value: rotated.value }
  }),

  answer(contract.changeKeyInConsole, async ({ world, actor, params, body }) => {
    const { key_id } = params
    if (body.name !== undefined) assertFreeName(body.name)
    const key = await actIn(
      office,
      actor,
      world,
      async (here) => {
        const before = await ownKey(here, actor, key_id)
        const result = await changeKey(here, key_id, body)
        const after = describeKey(result, here.environment)
        return { result, entry: { action: 'change_key', object_id: key_id, before, after } }
      },
      { object_id: key_id },
    )
    return renderOne(world, key)
  }),

  answer(contract.revokeKeyInConsole, async ({ world, actor, params }) => {
    const { key_id } = params
    const key = await actIn(
      office,
      actor,
      world,
      async (here) => {
        const before = await ownKey(here, actor, key_id)
        const result = await revokeKey(here, key_id)
        const after = describeKey(result, here.environment)
        return { result, entry: { action: 'revoke_key', object_id: key_id, before, after } }
      },
      { object_id: key_id },
    )
    return renderOne(world, key)
  }),
]

/**
 * The key before the act, for its log line. A key of another partner is refused here, before the act takes the key's lock,
 * for which that partner's operations would have to wait.
 */
const ownKey = async (here: World, { partner_id }: PersonActor, id: string) =>
  describeKey(await findKey(here, { id, partner_id }), here.environment)

const usage = (limiter: Limiter, { clock }: World, partner: Partner, key: ApiKey) =>
  usageOfKey(limiter, {
    key_id: key.id,
    limits: limitsOf(partner.tier, partner, key),
    endpoints,
    now: clock.now(),
  })

/** Keys as the pages show them, with the replaced values that still work. */
async function rendered(world: World, keys: readonly ListedKey[]) {
  const old = await valuesInGrace(
    world.db,
    keys.map(({ id }) => id),
  )
  return keys.map((key) => ({
    key,
    shown: renderShown(
      world,
      key,
      old.filter(({ api_key_id }) => api_key_id === key.id),
    ),
  }))
}

async function renderOne(world: World, key: ListedKey) {
  return (await rendered(world, [key]))[0]!.shown
}

function renderShown(world: World, key: ListedKey, in_grace: readonly OldValue[]) {
  const { partner_id, environment, ...own } = renderKey(key, world.environment)
  const state = keyState(key, { in_grace: in_grace.length > 0, now: world.clock.now() })
  const old = state === 'rotating' ? in_grace : []
  return {
    ...own,
    scopes: [...own.scopes],
    ip_allowlist: [...own.ip_allowlist],
    state,
    old_values: old.map(({ last_four, valid_until }) => ({
      last_four,
      valid_until: valid_until.toISOString(),
    })),
    playground: isOfPlayground(key),
  }
}
