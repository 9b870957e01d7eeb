import { type Endpoint, type Handler, handle } from '../http/endpoint.ts'
import { getUsage } from './contract.ts'
import type { Limiter } from './limiter.ts'
import { usageOfKey } from './usage.ts'

export function limitsRoutes(limiter: Limiter, endpoints: readonly Endpoint[]): Handler[] {
  return [
    handle(getUsage, ({ world, actor, limits }) =>
      usageOfKey(limiter, { key_id: actor.key_id, limits, endpoints, now: world.clock.now() }),
    ),
  ]
}
