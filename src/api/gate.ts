import type { PartnerActor } from '../core/actor.ts'
import type { Clock } from '../core/clock.ts'
import type { Environment } from '../core/environment.ts'
import { Refusal } from '../core/errors.ts'
import { Crowded, type Leave, openTurns, type Turns } from '../core/turns.ts'
import { type Limits, lackOfScopes } from '../http/endpoint.ts'
import type { Admission, Gate, Knock } from '../http/gate.ts'
import { type Cidr, cidrContains, clientAddress, normalizeAddress } from '../http/ip.ts'
import { openShares } from '../http/shares.ts'
import type { Identified, Keyring } from '../keys/keyring.ts'
import { openStrangers, openVisitors } from '../limits/addresses.ts'
import type { Limiter } from '../limits/limiter.ts'
import { tooMany } from '../limits/refusal.ts'
import { looksUp, lookupWant, wantsOf } from '../limits/wants.ts'
import type { Verdict } from '../limits/windows.ts'

const ADDRESSES_KEPT = 10_000
/** On one node. */
const WAITS_PER_PARTNER = 20

export type GateOptions = {
  readonly keyring: Keyring
  readonly limiter: Limiter
  readonly clock: Clock
  readonly trusted_proxies: readonly Cidr[]
  /** How many requests of one partner may be under way at once, per environment. */
  readonly in_flight: number
}

/** A request beyond those that may be under way waits this long for one of them to end. */
const IN_FLIGHT_WAIT_MS = 1000

/** The order of checks is fixed (contract §4): key, IP, rate limit, scope; then body and rules, in the handler. */
export function createGate({ keyring, limiter, clock, trusted_proxies, in_flight }: GateOptions): Gate {
  const strangers = openStrangers(clock)
  const visitors = openVisitors(clock)
  const worldFor = openShares()
  const places = openTurns({
    at_once: Infinity,
    per_name: in_flight,
    waiting_per_name: in_flight,
    wait_ms: IN_FLIGHT_WAIT_MS,
  })
  // Whoever waits for events holds a place of this kind instead: it is not at work.
  const waits = openTurns({ at_once: Infinity, per_name: WAITS_PER_PARTNER, waiting_per_name: 0 })

  const turnAway = ({ window, refused }: Verdict, refusal: Refusal) => ({
    window,
    refusal: refused ? tooMany(refused) : refusal,
  })

  /**
   * Without a good key the address is counted, so that nobody can guess keys for long. What looks like a guess is counted
   * before the database is asked, and given back if it was none: an address past its window costs no question.
   */
  async function identify(authorization: string | undefined, address: string) {
    const shown = keyring.read(authorization)
    if (shown.refusal) return turnAway(strangers.take(address), shown.refusal)
    const counted = shown.likely ? undefined : strangers.take(address)
    if (counted?.refused) return turnAway(counted, tooMany(counted.refused))
    const identified = await keyring.identify(shown, address)
    const refusal =
      identified.refusal ?? (identified.allows(address) ? undefined : new Refusal('ip_not_allowed'))
    if (refusal) return turnAway(counted ?? strangers.take(address), refusal)
    if (counted) strangers.giveBack(address)
    return identified as Extract<Identified, { refusal?: undefined }>
  }

  /** Counts the request in all of its windows together; a look-up that shows only later takes all of them back. */
  async function count(key_id: string, limits: Limits, knock: Knock) {
    const { endpoint, dry_run } = knock
    const wants = wantsOf(limits, endpoint, dry_run)
    const verdict = await limiter.take(key_id, wants)
    let looked_up = looksUp(endpoint, dry_run)
    return {
      ...verdict,
      windowNow: () => limiter.windowOf(key_id, wants),
      async countLookup() {
        if (looked_up) return
        looked_up = true
        const { refused } = await limiter.take(key_id, [lookupWant(limits)], verdict.counted)
        if (refused) throw tooMany(refused)
      },
    }
  }

  async function admit(knock: Knock): Promise<Admission> {
    const { address, endpoint } = knock
    const identified = await identify(knock.authorization, address)
    if (identified.refusal) return identified
    const { world, key, limits } = identified
    const who = { environment: world.environment, partner_id: key.partner_id }
    const by = { world, partner_id: key.partner_id, key_id: key.id }
    const leave = await enter(knock.waits ? waits : places, who)
    if (!leave) {
      // Before anything is counted: what is refused for too many consumes nothing.
      const refusal = knock.waits ? tooManyWaits() : tooManyAtOnce(in_flight)
      return { by, window: limiter.windowOf(key.id, wantsOf(limits, undefined)), refusal }
    }
    try {
      const { window, refused, windowNow, countLookup } = await count(key.id, limits, knock)
      const turnedAway = (refusal: Refusal): Admission => {
        leave()
        return { by, window, refusal }
      }
      if (refused) return turnedAway(tooMany(refused))
      const actor = actorOf(identified)
      keyring.noteUse(world, { key_id: key.id, address })
      if (endpoint?.sandbox_only && world.environment !== 'sandbox')
        return turnedAway(new Refusal('sandbox_only'))
      const lack = endpoint?.scopes && lackOfScopes(endpoint.scopes, key.scopes)
      if (lack !== undefined)
        return turnedAway(new Refusal('insufficient_scope', { message: `This API key ${lack}.` }))
      return {
        by,
        window,
        windowNow,
        world: worldFor(world, actor, endpoint),
        actor,
        limits,
        countLookup,
        leave,
      }
    } catch (error) {
      leave()
      throw error
    }
  }

  return {
    addressOf: openAddressOf(trusted_proxies),
    isTrusted: (socket) => trusted_proxies.some((cidr) => cidrContains(cidr, socket)),
    windowOf: (address) => strangers.windowOf(address),
    visit(address) {
      const { window, refused } = visitors.take(address)
      return refused ? { window, refusal: tooMany(refused) } : undefined
    },
    admit,
  }
}

/** Without a proxy an address is the socket's, and the same few come again and again. */
function openAddressOf(trusted: readonly Cidr[]): Gate['addressOf'] {
  const normalized = new Map<string, string>()
  return (socket, forwarded_for) => {
    if (trusted.length > 0) return clientAddress({ socket, forwarded_for, trusted })
    const known = normalized.get(socket)
    if (known !== undefined) return known
    if (normalized.size >= ADDRESSES_KEPT) normalized.clear()
    const address = normalizeAddress(socket)
    normalized.set(socket, address)
    return address
  }
}

function actorOf({ key, key_hash }: Extract<Identified, { refusal?: undefined }>): PartnerActor {
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

/** Undefined when there is no place even after a short wait. */
async function enter(
  places: Turns,
  who: { environment: Environment; partner_id: string },
): Promise<Leave | undefined> {
  try {
    return await places.take(`${who.environment} ${who.partner_id}`)
  } catch (error) {
    if (error instanceof Crowded) return undefined
    throw error
  }
}

function tooManyWaits(): Refusal {
  const retry_after_seconds = 1
  return new Refusal('rate_limit_exceeded', {
    message: `At most ${WAITS_PER_PARTNER} calls may wait at once. Wait for one of them to be answered, or send wait=0.`,
    retry_after_seconds,
    details: { window: 'waits', limit: WAITS_PER_PARTNER, retry_after_seconds },
  })
}

function tooManyAtOnce(limit: number): Refusal {
  const retry_after_seconds = 1
  return new Refusal('rate_limit_exceeded', {
    message: `Too many requests at once: ${limit} of yours are under way. Wait for some of them to be answered, then go on.`,
    retry_after_seconds,
    details: { limit, retry_after_seconds },
  })
}
