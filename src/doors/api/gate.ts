import type { PartnerActor } from '../../core/actor.ts'
import { Refusal } from '../../core/errors.ts'
import type { Release } from '../../core/fair-semaphore.ts'
import { type Endpoint, type Limits, lackOfScopes } from '../../http/endpoint.ts'
import type { Admission, AdmissionRequest, Gate } from '../../http/gate.ts'
import { openShares } from '../../http/shares.ts'
import type { AddressLimit } from '../../limits/addresses.ts'
import type { Limiter } from '../../limits/limiter.ts'
import { tooMany } from '../../limits/refusal.ts'
import { looksUp, lookupWindowLimit, windowLimitsOf } from '../../limits/window-limits.ts'
import type { Verdict } from '../../limits/windows.ts'
import type { Identified, Keyring, Presented } from '../../parties/keys/keyring.ts'
import type { World } from '../../world.ts'
import { type OriginOptions, openOrigins } from './origins.ts'
import { openRequestSlots } from './request-slots.ts'

type GateOptions = OriginOptions & {
  readonly keyring: Keyring
  readonly limiter: Limiter
  /** How many requests of one partner may be under way at once, per environment. */
  readonly in_flight: number
}

type KeyHolder = Extract<Identified, { refusal?: undefined }>

/** The order of checks is fixed (contract §4): key, IP, rate limit, scope; then body and rules, in the handler. */
export function createGate({ keyring, limiter, in_flight, ...rest }: GateOptions): Gate {
  const { unauthenticated, ...origins } = openOrigins(rest)
  const slots = openRequestSlots(in_flight)
  const worldFor = openShares()

  async function admit(request: AdmissionRequest): Promise<Admission> {
    const holder = await identify(request, { keyring, unauthenticated })
    if (holder.refusal) return holder
    const { world, key, limits } = holder
    const { environment } = world
    const by = { world, partner_id: key.partner_id, key_id: key.id, last_four: key.last_four }
    const leave = await slots.enter({ environment, partner_id: key.partner_id, waits: request.waits })
    // Before anything is counted: a request that is refused here uses up no rate limit.
    if (leave instanceof Refusal)
      return { by, window: limiter.windowOf(key.id, windowLimitsOf(limits, undefined)), refusal: leave }
    return leavingOnRefusal(leave, async () => {
      const { window, refused, ...counted } = await count(limiter, { key_id: key.id, limits, request })
      if (refused) return { by, window, refusal: tooMany(refused) }
      keyring.noteUse(world, { key_id: key.id, address: request.address })
      const refusal = refusalByEndpoint(request.endpoint, world, key)
      if (refusal) return { by, window, refusal }
      const actor = actorOfKey(holder)
      const confirm = () => judgeAgain(request, keyring)
      const share = worldFor(world, actor, request.endpoint)
      return { by, window, ...counted, world: share, actor, limits, confirm, leave }
    })
  }

  return { ...origins, admit }
}

const ELSEWHERE = {
  message: 'This node has the role worker and answers no calls. Ask one with the role api.',
}

/** For a node that answers no calls: every path is not found, and requests are counted by address. */
export function createClosedGate(options: OriginOptions): Gate {
  const { unauthenticated: _, ...origins } = openOrigins(options)
  const { windowOf, visit } = origins
  return {
    ...origins,
    admit: async ({ address }) =>
      visit(address) ?? { window: windowOf(address), refusal: new Refusal('route_not_found', ELSEWHERE) },
  }
}

/**
 * Requests without a valid key count against their address, to stop the guessing of keys. A key value that this node does
 * not know is counted before the database is asked, and uncounted if it is valid: an address that has used up its window
 * costs no query.
 */
async function identify(
  { authorization, address }: AdmissionRequest,
  { keyring, unauthenticated }: { keyring: Keyring; unauthenticated: AddressLimit },
) {
  const shown = keyring.read(authorization)
  if (shown.refusal) return refuseAdmission(unauthenticated.take(address), shown.refusal)
  const counted = shown.likely ? undefined : unauthenticated.take(address)
  if (counted?.refused) return refuseAdmission(counted, tooMany(counted.refused))
  const holder = await findHolder(shown, { address, keyring })
  if (holder.refusal) return refuseAdmission(counted ?? unauthenticated.take(address), holder.refusal)
  if (counted) unauthenticated.giveBack(address)
  return holder
}

async function findHolder(
  shown: Presented,
  { address, keyring }: { address: string; keyring: Keyring },
): Promise<{ readonly refusal: Refusal } | KeyHolder> {
  const identified = await keyring.identify(shown, address)
  if (identified.refusal || identified.allows(address)) return identified
  return { refusal: new Refusal('ip_not_allowed') }
}

async function judgeAgain(
  { authorization, address, endpoint }: AdmissionRequest,
  keyring: Keyring,
): Promise<PartnerActor> {
  const shown = keyring.read(authorization)
  if (shown.refusal) throw shown.refusal
  const holder = await findHolder(shown, { address, keyring })
  if (holder.refusal) throw holder.refusal
  const refusal = refusalByEndpoint(endpoint, holder.world, holder.key)
  if (refusal) throw refusal
  return actorOfKey(holder)
}

const refuseAdmission = ({ window, refused }: Verdict, refusal: Refusal) => ({
  window,
  refusal: refused ? tooMany(refused) : refusal,
})

/** Counts the request in all of its windows at once. A look-up that is refused later uncounts it in all of them. */
async function count(
  limiter: Limiter,
  { key_id, limits, request }: { key_id: string; limits: Limits; request: AdmissionRequest },
) {
  const { endpoint, dry_run } = request
  const window_limits = windowLimitsOf(limits, endpoint, dry_run)
  const { window, refused, counted } = await limiter.take(key_id, window_limits)
  let looked_up = looksUp(endpoint, dry_run)
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

/** Frees the place of a request that is not admitted. */
async function leavingOnRefusal(leave: Release, judge: () => Promise<Admission>): Promise<Admission> {
  try {
    const admission = await judge()
    if (admission.refusal) leave()
    return admission
  } catch (error) {
    leave()
    throw error
  }
}

function refusalByEndpoint(
  endpoint: Endpoint | undefined,
  world: World,
  key: KeyHolder['key'],
): Refusal | undefined {
  if (endpoint?.sandbox_only && world.environment !== 'sandbox') return new Refusal('sandbox_only')
  const lack = endpoint?.scopes && lackOfScopes(endpoint.scopes, key.scopes)
  if (lack === undefined) return undefined
  return new Refusal('insufficient_scope', { message: `This API key ${lack}.` })
}

/** The actor of an API key. */
export function actorOfKey({ key, key_hash }: Pick<KeyHolder, 'key' | 'key_hash'>): PartnerActor {
  return {
    kind: 'api_key',
    key_id: key.id,
    key_hash,
    partner_id: key.partner_id,
    scopes: key.scopes,
    terms: {
      pix_fee: BigInt(key.pix_fee),
      third_party_payouts: key.third_party_payouts,
      service_fee_bps: key.service_fee_bps,
      partner_fee_share_pct: key.partner_fee_share_pct,
    },
  }
}
