import type { Endpoint, Limits } from '../http/endpoint.ts'
import { ADDRESS_PER_MINUTE, REDELIVERIES_PER_MINUTE } from './tiers.ts'
import type { Want } from './windows.ts'

/** The windows that a request of a key must fit into. The first feeds the headers. */
export function wantsOf(limits: Limits, endpoint: Endpoint | undefined): Want[] {
  const wants: Want[] = [
    { name: 'minute', kind: 'minute', limit: limits.per_minute },
    { name: 'day', kind: 'day', limit: limits.per_day },
  ]
  if (endpoint?.limit_per_minute !== undefined) wants.push(endpointWant(limits, endpoint))
  if (endpoint?.looks_up) wants.push(lookupWant(limits))
  if (endpoint?.redelivers) wants.push(redeliveryWant)
  return wants
}

export function endpointWant(limits: Limits, endpoint: Endpoint): Want {
  return {
    name: endpoint.route,
    kind: 'minute',
    limit: limits.endpoint_per_minute ?? endpoint.limit_per_minute!,
  }
}

/** Without a valid key the address is what is counted, so that keys cannot be guessed by brute force. */
export const addressWants: readonly Want[] = [{ name: 'address', kind: 'minute', limit: ADDRESS_PER_MINUTE }]

/** Contract §3: pre-checks, dry runs and payouts refused because of their recipient share this one. */
export const lookupWant = (limits: Limits): Want => ({
  name: 'look-ups of Pix keys',
  kind: 'minute',
  limit: limits.lookup_per_minute,
})

/** Contract §17.15: one such call makes thousands of deliveries. */
export const redeliveryWant: Want = { name: 'redeliveries', kind: 'minute', limit: REDELIVERIES_PER_MINUTE }
