import type { Endpoint, Limits } from '../http/endpoint.ts'
import { REDELIVERIES_PER_MINUTE } from './tiers.ts'
import type { WindowLimit } from './windows.ts'

/** The windows that a request of a key must fit into, all judged together. The first one goes into the headers. */
export function windowLimitsOf(
  limits: Limits,
  endpoint: Endpoint | undefined,
  dry_run = false,
): WindowLimit[] {
  const window_limits: WindowLimit[] = [
    { name: 'minute', kind: 'minute', limit: limits.per_minute },
    { name: 'day', kind: 'day', limit: limits.per_day },
  ]
  if (endpoint?.limit_per_minute !== undefined) window_limits.push(endpointWindowLimit(limits, endpoint))
  if (looksUp(endpoint, dry_run)) window_limits.push(lookupWindowLimit(limits))
  if (endpoint?.redelivers) window_limits.push(redeliveryWindowLimit)
  return window_limits
}

/** Whether the request is known to look up a Pix key before it is handled. */
export const looksUp = (endpoint: Endpoint | undefined, dry_run: boolean): boolean =>
  endpoint?.looks_up === 'always' || (endpoint?.looks_up === 'dry_run' && dry_run)

export function endpointWindowLimit(limits: Limits, endpoint: Endpoint): WindowLimit {
  return {
    name: endpoint.route,
    kind: 'minute',
    limit: limits.endpoint_per_minute ?? endpoint.limit_per_minute!,
  }
}

/** The endpoints with a limit of their own, with the limit in force for this key. */
export const endpointLimits = (limits: Limits, endpoints: readonly Endpoint[]) =>
  endpoints
    .filter((declared) => declared.limit_per_minute !== undefined)
    .map((declared) => ({
      endpoint: declared.route,
      per_minute: endpointWindowLimit(limits, declared).limit,
    }))

/** Stored in the database: nodes of the previous version use the same name. */
export const LOOKUPS = 'look-ups of Pix keys'

/** Contract §3: one window for pre-checks, dry runs, and payouts refused because of their recipient. */
export const lookupWindowLimit = (limits: Limits): WindowLimit => ({
  name: LOOKUPS,
  kind: 'minute',
  limit: limits.lookup_per_minute,
})

/** Contract §17.15: one redelivery call makes thousands of deliveries. */
export const redeliveryWindowLimit: WindowLimit = {
  name: 'redeliveries',
  kind: 'minute',
  limit: REDELIVERIES_PER_MINUTE,
}
