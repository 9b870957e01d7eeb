import type { FastifyRequest } from 'fastify'
import type { OperatorActor, PersonActor } from '../core/actor.ts'
import type { Environment } from '../core/environment.ts'
import { Refusal } from '../core/errors.ts'
import type { Pool } from '../db/pool.ts'
import type { Gate } from '../http/gate.ts'
import '../http/request.ts'
import type { openPeopleShares } from '../http/shares.ts'
import { assertProved } from '../team/people.ts'
import type { World, Worlds } from '../world.ts'
import type { Calls } from './calls.ts'
import { type ConsoleEndpoint, isEnvironment } from './endpoint.ts'
import { isOfOperator, leaveOf } from './permits.ts'
import { actorOf, isCsrfToken, type Signed, signedBy, tokenIn } from './session.ts'

/** Who asked, and about which world. */
export type Entered = {
  readonly signed: Signed | undefined
  readonly actor: PersonActor | OperatorActor | undefined
  readonly world: World | undefined
}

export type ConsoleGateOptions = {
  readonly shared: Pool
  readonly worlds: Worlds
  readonly gate: Pick<Gate, 'visit'>
  readonly public_url: () => string
  readonly calls: Pick<Calls, 'lookUp'>
  readonly worldFor: ReturnType<typeof openPeopleShares>
}

/** The order: session, own page, permit, environment, factor, proof; then body and rules, in the handler. */
export async function enter(
  endpoint: ConsoleEndpoint,
  request: FastifyRequest,
  { shared, worlds, gate, public_url, calls, worldFor }: ConsoleGateOptions,
): Promise<Entered> {
  const token = tokenIn(request.headers.cookie)
  const attended = isAttended(endpoint, request)
  const signed =
    token === undefined ? undefined : await calls.lookUp(token, () => signedBy(shared, token, attended))
  if (!signed) countVisit(gate, request.address)
  if (request.method !== 'GET') assertOwnPage(request, signed, public_url())
  const environment = (request.params as { environment?: string } | undefined)?.environment
  if (endpoint.permit === 'anybody') return { signed, actor: undefined, world: undefined }
  if (!signed) throw new Refusal('not_signed_in')
  const actor = actorOf(signed, request.address)
  assertPermitted(endpoint, actor)
  const world = endpoint.route.includes('{environment}')
    ? worldFor(worldIn(worlds, environment), signed.user.partner_id ?? 'operator')
    : undefined
  if (endpoint.sandbox_only && environment !== 'sandbox') throw new Refusal('route_not_found')
  const proof = judgeProof(endpoint, { actor, signed, environment })
  return { signed, actor: proof ? { ...actor, proof } : actor, world }
}

/** A page says itself that nobody has touched it for a while; a stream opens itself again and again. */
const isAttended = ({ reply }: ConsoleEndpoint, { headers }: FastifyRequest): boolean =>
  headers['x-unattended'] === undefined && reply.type !== 'text/event-stream'

/** Whoever has no session is counted by the address, like everybody without a key. */
function countVisit(gate: Pick<Gate, 'visit'>, address: string): void {
  const away = gate.visit(address)
  if (away) throw away.refusal
}

/**
 * The cookie alone changes nothing: another site can make a browser send it. Whoever signs in has no token yet; there the
 * origin must do.
 */
function assertOwnPage({ headers }: FastifyRequest, signed: Signed | undefined, public_url: string): void {
  const own =
    headers.origin === undefined
      ? headers['sec-fetch-site'] === 'same-origin'
      : headers.origin === new URL(public_url).origin || isSameOrigin(headers)
  const type = headers['content-type'] ?? ''
  const json = /^application\/json\b/i.test(type)
  if (!own || !json || (signed && !isCsrfToken(signed, headers['x-csrf-token'])))
    throw new Refusal('cross_site_request')
}

/** A browser says so itself, and no page can make it lie. */
const isSameOrigin = (headers: FastifyRequest['headers']): boolean =>
  headers['sec-fetch-site'] === 'same-origin'

/** To partners' people the operator's part does not exist. */
function assertPermitted({ permit }: ConsoleEndpoint, actor: PersonActor | OperatorActor): void {
  if (isOfOperator(permit) && actor.kind !== 'operator') throw new Refusal('route_not_found')
  if (leaveOf(permit, actor.role) === undefined) throw new Refusal('not_permitted')
}

function worldIn(worlds: Worlds, environment: string | undefined): World {
  if (!isEnvironment(environment)) throw new Refusal('route_not_found')
  return worlds[environment as Environment]
}

/** True: it takes a fresh proof, and there was one when the call came in. */
function judgeProof(
  endpoint: ConsoleEndpoint,
  {
    actor,
    signed,
    environment,
  }: { actor: PersonActor | OperatorActor; signed: Signed; environment: string | undefined },
): true | undefined {
  const { permit, proof, factor } = endpoint
  const applies = (where: 'always' | 'production') => where === 'always' || environment !== 'sandbox'
  const needs_factor = isOfOperator(permit) || (factor !== undefined && applies(factor))
  if (needs_factor && !signed.factor) throw new Refusal('factor_needed')
  if ((factor !== undefined && applies(factor)) || permit === 'people.write') assertNotShut(signed)
  const needs_proof = proof === 'always' || leaveOf(permit, actor.role) === 'proof'
  if (!needs_proof || !applies(proof ?? 'always')) return undefined
  assertProved(signed)
  return true
}

/**
 * Whoever talked somebody into taking a second factor away, and put another in its place, must wait until that was seen; and
 * makes nobody meanwhile who need not wait.
 */
function assertNotShut({ user: { keys_shut_until } }: Signed): void {
  if (keys_shut_until === null) return
  const until = keys_shut_until.toISOString()
  throw new Refusal('not_permitted', {
    message: `Your second factor was reset: keys of production, and what others may do, are shut to you until ${until}. Nobody can shorten that; another owner or the operator can do it for you.`,
    details: { until },
  })
}
