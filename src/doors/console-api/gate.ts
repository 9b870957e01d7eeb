import type { FastifyRequest } from 'fastify'
import type { OperatorActor, PersonActor } from '../../core/actor.ts'
import type { Environment } from '../../core/environment.ts'
import { Refusal } from '../../core/errors.ts'
import type { Gate } from '../../http/gate.ts'
import type { WindowState } from '../../http/headers.ts'
import '../../http/request.ts'
import type { OfficeShares } from '../../control/operator/office.ts'
import { assertProved } from '../../parties/team/people.ts'
import type { World, Worlds } from '../../world.ts'
import type { CallQueue } from './call-queue.ts'
import { type ConsoleEndpoint, isEnvironment } from './endpoint.ts'
import type { KnownSessions } from './known-sessions.ts'
import { isOfOperator, leaveOf } from './permits.ts'
import { isCountedRead, type Reads } from './reads.ts'
import { assertSameOrigin } from './same-origin.ts'
import { actorOfSession, isCsrfToken, type Signed, signedBy, tokenIn } from './session.ts'
import { isWrite, type Writes } from './writes.ts'

/** The result of the gate: the session, the actor and the world of a call. */
export type Entered = {
  readonly signed: Signed | undefined
  readonly actor: PersonActor | OperatorActor | undefined
  readonly world: World | undefined
  /** The user's rate window of this minute, for a call that was counted. */
  readonly window?: WindowState
}

export type ConsoleGateOptions = {
  readonly worlds: Worlds
  readonly shares: OfficeShares
  readonly gate: Pick<Gate, 'visit' | 'takeBackVisit'>
  readonly public_url: () => string
  readonly calls: Pick<CallQueue, 'lookUp'>
  readonly sessions: KnownSessions
  readonly writes: Writes
  readonly reads: Reads
}

/** The order: session, same origin, permit, environment, factor, proof, rate windows. The handler checks body and rules. */
export async function enter(
  endpoint: ConsoleEndpoint,
  request: FastifyRequest,
  options: ConsoleGateOptions,
): Promise<Entered> {
  const { worlds, shares, public_url } = options
  const signed = await findSigned(endpoint, request, options)
  if (request.method !== 'GET') assertOwnRequest(request, signed, public_url())
  const environment = (request.params as { environment?: string } | undefined)?.environment
  if (endpoint.permit === 'anybody') return { signed, actor: undefined, world: undefined }
  if (!signed) throw new Refusal('not_signed_in')
  const actor = actorOfSession(signed, request.address)
  assertPermitted(endpoint, actor)
  const world = endpoint.route.includes('{environment}')
    ? shares.world(worldIn(worlds, environment), actor)
    : undefined
  if (endpoint.sandbox_only && environment !== 'sandbox') throw new Refusal('route_not_found')
  const proof = judgeProof(endpoint, { actor, signed, environment })
  const entered = { signed, actor: proof ? { ...actor, proof } : actor, world }
  if (isWrite(endpoint)) return { ...entered, window: await options.writes.count(endpoint, actor) }
  return isCountedRead(endpoint) ? { ...entered, window: await options.reads.count(actor) } : entered
}

/**
 * Finds the session of a call. A call without a session is counted by its address, like an API call without a key. An
 * unknown token is counted before the database is asked; the count is taken back if the session is live. A known
 * session is looked up on its user's share of the connections, an unknown token on the share of its address.
 */
async function findSigned(
  endpoint: ConsoleEndpoint,
  request: FastifyRequest,
  { shares, calls, sessions, gate }: ConsoleGateOptions,
): Promise<Signed | undefined> {
  const { address } = request
  const token = tokenIn(request.headers.cookie)
  if (token === undefined) {
    countVisit(gate, address)
    return undefined
  }
  const counted =
    sessions.callerOf(token) === undefined && (await countUnknown(token, address, { gate, sessions }))
  const { db } = shares.shared(sessions.callerOf(token) ?? { address })
  const attended = isAttended(endpoint, request)
  const signed = await calls.lookUp(token, () => signedBy(db, token, attended))
  if (signed) {
    sessions.note(token, { user_id: signed.user.id, partner_id: signed.user.partner_id })
    if (counted) gate.takeBackVisit(address)
  } else {
    sessions.forget(token)
    if (!counted) countVisit(gate, address)
  }
  return signed
}

/**
 * Counts a call with an unknown token. False if the address is past its window but the session is live, so nothing
 * was counted.
 */
async function countUnknown(
  token: string,
  address: string,
  { gate, sessions }: Pick<ConsoleGateOptions, 'gate' | 'sessions'>,
): Promise<boolean> {
  const away = gate.visit(address)
  if (!away) return true
  if (await sessions.isLive(token)) return false
  throw away.refusal
}

/**
 * A page marks its own requests once nobody has touched it for a while. A stream of hints reconnects by itself and
 * never counts.
 */
const isAttended = ({ reply }: ConsoleEndpoint, { headers }: FastifyRequest): boolean =>
  headers['x-unattended'] === undefined && reply.type !== 'text/event-stream'

function countVisit(gate: Pick<Gate, 'visit'>, address: string): void {
  const away = gate.visit(address)
  if (away) throw away.refusal
}

/**
 * The cookie alone is not enough, because another site can make a browser send it. A sign-in has no CSRF token yet,
 * so only its origin is checked.
 */
function assertOwnRequest({ headers }: FastifyRequest, signed: Signed | undefined, public_url: string): void {
  assertSameOrigin(headers, public_url)
  const json = /^application\/json\b/i.test(headers['content-type'] ?? '')
  if (!json || (signed && !isCsrfToken(signed, headers['x-csrf-token'])))
    throw new Refusal('cross_site_request')
}

/** For users of partners the operator's calls do not exist. */
function assertPermitted({ permit }: ConsoleEndpoint, actor: PersonActor | OperatorActor): void {
  if (isOfOperator(permit) && actor.kind !== 'operator') throw new Refusal('route_not_found')
  if (leaveOf(permit, actor.role) === undefined) throw new Refusal('not_permitted')
}

function worldIn(worlds: Worlds, environment: string | undefined): World {
  if (!isEnvironment(environment)) throw new Refusal('route_not_found')
  return worlds[environment as Environment]
}

/** True if the call needs a fresh proof, and had one when it came in. */
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
 * After a reset of the second factor the user may not touch production keys or other people's roles until
 * `keys_shut_until`: the reset may have been social engineering, and the delay gives others time to notice.
 */
function assertNotShut({ user: { keys_shut_until } }: Signed): void {
  if (keys_shut_until === null) return
  const until = keys_shut_until.toISOString()
  throw new Refusal('not_permitted', {
    message: `Your second factor was reset: keys of production, and what others may do, are shut to you until ${until}. Nobody can shorten that; another owner or the operator can do it for you.`,
    details: { until },
  })
}
