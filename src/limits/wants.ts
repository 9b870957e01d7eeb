import type { Endpoint, Limits } from '../http/endpoint.ts'
import { REDELIVERIES_PER_MINUTE } from './tiers.ts'
import type { Want } from './windows.ts'

/** The windows that a request of a key must fit into, all judged together. The first one goes into the headers. */
export function wantsOf(limits: Limits, endpoint: Endpoint | undefined, dry_run = false): Want[] {
  const wants: Want[] = [
    { name: 'minute', kind: 'minute', limit: limits.per_minute },
    { name: 'day', kind: 'day', limit: limits.per_day },
  ]
  if (endpoint?.limit_per_minute !== undefined) wants.push(endpointWant(limits, endpoint))
  if (looksUp(endpoint, dry_run)) wants.push(lookupWant(limits))
  if (endpoint?.redelivers) wants.push(redeliveryWant)
  return wants
}

/** Whether the request is known to look up a Pix key before it is handled. */
export const looksUp = (endpoint: Endpoint | undefined, dry_run: boolean): boolean =>
  endpoint?.looks_up === 'always' || (endpoint?.looks_up === 'dry_run' && dry_run)

export function endpointWant(limits: Limits, endpoint: Endpoint): Want {
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
    .map((declared) => ({ endpoint: declared.route, per_minute: endpointWant(limits, declared).limit }))

/** Stored in the database: nodes of the previous version use the same name. */
export const LOOKUPS = 'look-ups of Pix keys'

/** Contract §3: one window for pre-checks, dry runs, and payouts refused because of their recipient. */
export const lookupWant = (limits: Limits): Want => ({
  name: LOOKUPS,
  kind: 'minute',
  limit: limits.lookup_per_minute,
})

/** Contract §17.15: one redelivery call makes thousands of deliveries. */
export const redeliveryWant: Want = { name: 'redeliveries', kind: 'minute', limit: REDELIVERIES_PER_MINUTE }
