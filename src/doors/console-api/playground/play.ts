import type { Static } from 'typebox'
import type { PersonActor } from '../../../core/actor.ts'
import type { Refusal } from '../../../core/errors.ts'
import { type Call, type Endpoint, type Handler, type Limits, methodAndPath } from '../../../http/endpoint.ts'
import { rateLimitHeaders, refusalHeaders } from '../../../http/headers.ts'
import { toRefusal } from '../../../http/refusals.ts'
import { NEVER_GONE } from '../../../http/request-deadline.ts'
import { StoredReply } from '../../../http/stored-reply.ts'
import { tooMany } from '../../../limits/refusal.ts'
import { limitsOf } from '../../../limits/tiers.ts'
import { lookupWindowLimit, windowLimitsOf } from '../../../limits/window-limits.ts'
import { noteUses } from '../../../parties/keys/store.ts'
import type { ActEntry } from '../../../records/acts/line.ts'
import type { World } from '../../../world.ts'
import { actorOfKey } from '../../api/gate.ts'
import { type HandlerParts, handlersOf } from '../../api/handlers.ts'
import { actWithMoney } from '../act.ts'
import type { ConsoleParts } from '../parts.ts'
import type { playPayout } from './contract.ts'
import { type PlaygroundKey, playgroundKey } from './key.ts'

type PlaygroundExchange = Static<typeof playPayout.reply.schema>

/** A call of the API that a user makes in the playground. */
type Played = {
  readonly endpoint: Endpoint
  readonly actor: PersonActor
  readonly world: World<'sandbox'>
  readonly request_id: string
  readonly address: string
  readonly params?: Readonly<Record<string, string>>
  readonly body: unknown
  /** What the act log says about the call. */
  readonly about: Readonly<Record<string, unknown>>
}

type Answer = { readonly status: number; readonly body: unknown; readonly headers: Record<string, string> }

/**
 * Runs a call of the API as it is: the same handler, under a key with limits, scopes and a request log like any
 * other. A refusal is shown as the result of the call, not as an error of the page.
 */
export function openPlay({ office, runtimes, record, public_url }: ConsoleParts) {
  const handlers = handlersOf(runtimes.sandbox)

  return async (played: Played): Promise<PlaygroundExchange> => {
    const started = performance.now()
    const { endpoint, actor, world, request_id, address } = played
    const handler = handlers.find((each) => each.endpoint === endpoint)!
    const key = await playgroundKey(office, actor, world)
    await noteUses(world.db, [{ api_key_id: key.id, at: new Date(world.clock.now()), address }])
    const bodyOf = (refusal: Refusal) => refusal.toBody({ public_url: public_url(), request_id })
    const { status, body, headers } = await answered(handler, { played, key, office, bodyOf, runtimes })
    const elapsed_ms = performance.now() - started
    const { id, error } = body as { id?: string; error?: { code: string } }
    const { method, path: route } = methodAndPath(endpoint)
    // The page's path also names the environment; the object is the one in the path of the API call.
    const [, named] = /\{(\w+)\}/.exec(route) ?? []
    const object_id = id ?? (named && played.params?.[named]) ?? null
    const by = { world, partner_id: actor.partner_id, key_id: key.id }
    const error_code = error?.code ?? null
    record({ id: request_id, by, method, route, status, error_code, elapsed_ms, address, object_id })
    return { request_id, status, headers, body, duration_ms: Math.round(elapsed_ms), object_id }
  }
}

type Asked = Pick<ConsoleParts, 'office' | 'runtimes'> & {
  readonly played: Played
  readonly key: PlaygroundKey
  readonly bodyOf: (refusal: Refusal) => object
}

async function answered(handler: Handler, asked: Asked): Promise<Answer> {
  const { played, key, bodyOf, runtimes } = asked
  const limits = limitsOf(key.tier, key.partner_limits, key)
  const counted = await count(runtimes.sandbox, key.id, { limits, endpoint: handler.endpoint })
  const common = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': played.request_id }
  try {
    if (counted.refused) throw tooMany(counted.refused)
    const { status, body, headers } = await run(handler, { ...asked, limits, ...counted })
    return { status, body, headers: { ...common, ...rateLimitHeaders(counted.window), ...headers } }
  } catch (error) {
    const refusal = toRefusal(error)
    // An unexpected error is the console's own and is logged as one. `not_signed_in` is about the user's session, not
    // about the API call.
    if (refusal.code === 'internal_error' || refusal.code === 'not_signed_in') throw error
    const headers = { ...common, ...rateLimitHeaders(counted.windowNow()), ...refusalHeaders(refusal) }
    return { status: refusal.status, body: bodyOf(refusal), headers }
  }
}

/** Counts the call like the API's gate. */
async function count(
  { limiter }: HandlerParts,
  key_id: string,
  { limits, endpoint }: { limits: Limits; endpoint: Endpoint },
) {
  const window_limits = windowLimitsOf(limits, endpoint)
  const { window, refused, counted } = await limiter.take(key_id, window_limits)
  let looked_up = false
  return {
    window,
    refused,
    windowNow: () => limiter.windowOf(key_id, window_limits),
    async countLookup() {
      if (looked_up) return
      looked_up = true
      const { refused } = await limiter.take(key_id, [lookupWindowLimit(limits)], counted)
      if (refused) throw tooMany(refused)
    },
  }
}

type Counted = Awaited<ReturnType<typeof count>>

/** The command that changes anything also writes the log line. */
async function run(
  { endpoint, run }: Handler,
  {
    played,
    key,
    office,
    bodyOf,
    limits,
    countLookup,
  }: Asked & Pick<Counted, 'countLookup'> & { limits: Limits },
): Promise<Answer> {
  const { actor, world, request_id, params, body, about } = played
  const call = {
    actor: actorOfKey({ key, key_hash: key.hash.toString('hex') }),
    limits,
    countLookup,
    request_id,
    wait_ms: 0,
    gone: NEVER_GONE,
    bodyOf: (refusal: Refusal) => JSON.stringify(bodyOf(refusal)),
    params,
    query: {},
    body,
  }
  const entry: ActEntry = { action: `play ${endpoint.name}`, object_id: null, before: null, after: about }
  const told = await actWithMoney(
    office,
    actor,
    world,
    (here) => run({ ...call, world: here } as unknown as Call<Endpoint>),
    entry,
  )
  if (!(told instanceof StoredReply)) return { status: endpoint.reply.status, body: told, headers: {} }
  const headers: Record<string, string> = told.replayed ? { 'idempotent-replayed': 'true' } : {}
  return { status: told.response.status, body: JSON.parse(told.response.body), headers }
}
