import { Refusal } from './core/errors.ts'
import { customersRoutes } from './customers/routes.ts'
import { depositsRoutes } from './deposits/routes.ts'
import { eventsRoutes } from './events/routes.ts'
import { type Caller, type Endpoint, type Handler, lackOfScopes } from './http/endpoint.ts'
import { type Cidr, clientAddress, normalizeAddress } from './http/ip.ts'
import type { Gate } from './http/server.ts'
import { type Lookouts, openWaitingRoom } from './http/wait.ts'
import type { Keyring } from './keys/keyring.ts'
import type { Limiter } from './limits/limiter.ts'
import { limitsRoutes } from './limits/routes.ts'
import { addressWants, lookupWant, wantsOf } from './limits/wants.ts'
import type { Verdict } from './limits/windows.ts'
import { transfersRoutes } from './onchain/routes.ts'
import { partnersRoutes } from './partners/routes.ts'
import { pixRoutes, type Senders } from './pix/routes.ts'
import { quotesRoutes, type Treasuries } from './quotes/routes.ts'
import { requestsRoutes } from './requests/routes.ts'
import { sampleOf } from './samples.ts'
import type { Webhooks } from './webhooks/endpoints.ts'
import { webhooksRoutes } from './webhooks/routes.ts'

const ADDRESSES_KEPT = 10_000
/** On one node. */
const WAITS_PER_PARTNER = 20

/** Everything the API answers to, and the gate before it. */
export function createHandlers(parts: {
  limiter: Limiter
  senders: Senders
  treasuries: Treasuries
  webhooks: Webhooks
  lookouts: Lookouts
  requestLookouts: Lookouts
}): Handler[] {
  return [
    ...customersRoutes,
    ...pixRoutes(parts?.senders),
    ...transfersRoutes,
    ...quotesRoutes(parts?.treasuries),
    ...partnersRoutes,
    ...depositsRoutes,
    ...eventsRoutes(parts?.lookouts),
    ...requestsRoutes(parts?.requestLookouts),
    ...webhooksRoutes(
      parts?.webhooks,
      sampleOf(() => endpoints),
    ),
    ...limitsRoutes(parts?.limiter, () => endpoints),
  ]
}

export const endpoints: readonly Endpoint[] = createHandlers(undefined as never).map(
  ({ endpoint }) => endpoint,
)

/** The order of checks is fixed (contract §4): key, IP, rate limit, scope; then body and rules, in the handler. */
export function createGate(parts: {
  keyring: Keyring
  limiter: Limiter
  trusted_proxies: readonly Cidr[]
}): Gate {
  const { keyring, limiter, trusted_proxies } = parts
  const waiting = openWaitingRoom(WAITS_PER_PARTNER)
  const subjectOf = (address: string) => `address ${address}`

  // Without a proxy an address is the socket's, and the same few come again and again.
  const normalized = new Map<string, string>()
  const addressOf: Gate['addressOf'] = (socket, forwarded_for) => {
    if (trusted_proxies.length > 0) return clientAddress({ socket, forwarded_for, trusted: trusted_proxies })
    const known = normalized.get(socket)
    if (known !== undefined) return known
    if (normalized.size >= ADDRESSES_KEPT) normalized.clear()
    const address = normalizeAddress(socket)
    normalized.set(socket, address)
    return address
  }

  /** Without a good key the address is counted, so that nobody can guess keys for long. */
  async function turnAway(address: string, refusal: Refusal) {
    const verdict = await limiter.take(subjectOf(address), addressWants)
    return { window: verdict.window, refusal: verdict.refused ? tooMany(verdict.refused) : refusal }
  }

  return {
    addressOf,
    look: (address) => limiter.look(subjectOf(address), addressWants),
    async admit({ authorization, address, endpoint, waits, onEnd }) {
      const identified = await keyring.identify(authorization)
      if (identified.refusal) return turnAway(address, identified.refusal)
      const { world, key, limits } = identified
      const by = { world, partner_id: key.partner_id, key_id: key.id }
      if (!identified.allows(address)) return turnAway(address, new Refusal('ip_not_allowed'))
      if (waits) {
        const leave = waiting.enter(key.partner_id)
        // Before anything is counted: what is refused for too many consumes nothing.
        if (!leave)
          return { window: limiter.look(key.id, wantsOf(limits, endpoint)), refusal: tooManyWaits() }
        onEnd(leave)
      }
      const { window, refused } = await limiter.take(key.id, wantsOf(limits, endpoint))
      if (refused) return { by, window, refusal: tooMany(refused) }
      const caller: Caller = {
        key_id: key.id,
        partner_id: key.partner_id,
        scopes: key.scopes,
        limits,
        terms: {
          pix_fee: BigInt(key.pix_fee),
          third_party_payouts: key.third_party_payouts,
          service_fee_bps: key.service_fee_bps,
          partner_fee_share_pct: key.partner_fee_share_pct,
        },
        address,
        async countLookup() {
          const looked = await limiter.take(key.id, [lookupWant(limits)])
          if (looked.refused) throw tooMany(looked.refused)
        },
      }
      keyring.noteUse(world, caller)
      if (endpoint?.sandbox_only && world.environment !== 'sandbox')
        return { by, window, refusal: new Refusal('sandbox_only') }
      const lack = endpoint?.scopes && lackOfScopes(endpoint.scopes, key.scopes)
      if (lack !== undefined)
        return {
          by,
          window,
          refusal: new Refusal('insufficient_scope', { message: `This API key ${lack}.` }),
        }
      return { by, window, world, caller }
    },
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

function tooMany({ name, limit, retry_after_seconds }: NonNullable<Verdict['refused']>): Refusal {
  const window =
    name === 'day'
      ? 'per UTC day'
      : name === 'minute'
        ? 'per minute'
        : name === 'address'
          ? 'per minute from one address without a valid key'
          : `per minute for ${name}`
  return new Refusal('rate_limit_exceeded', {
    message: `Too many requests: the limit is ${limit} ${window}. Wait ${retry_after_seconds} s, then go on.`,
    retry_after_seconds,
  })
}
