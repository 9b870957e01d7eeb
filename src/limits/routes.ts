import { type Endpoint, type Handler, handle } from '../http/endpoint.ts'
import { getUsage } from './contract.ts'
import type { Limiter } from './limiter.ts'
import { endpointWant, lookupWant, wantsOf } from './wants.ts'
import { windowEnd } from './windows.ts'

export function limitsRoutes(limiter: Limiter, endpoints: readonly Endpoint[]): Handler[] {
  return [
    handle(getUsage, async ({ world, actor, limits }) => {
      const limited = endpoints.filter((declared) => declared.limit_per_minute !== undefined)
      const wants = [
        ...wantsOf(limits, undefined),
        ...limited.map((declared) => endpointWant(limits, declared)),
        lookupWant(limits),
      ]
      const used = await limiter.used(actor.key_id, wants)
      const windows = wants.map((want, i) => ({
        limit: want.limit,
        used: used[i]!,
        remaining: Math.max(0, want.limit - used[i]!),
        resets_at: new Date(windowEnd(want.kind, world.clock.now())).toISOString(),
      }))
      return {
        minute: windows[0]!,
        day: windows[1]!,
        endpoints: limited.map(({ route }, i) => ({ endpoint: route, ...windows[i + 2]! })),
        lookups: windows.at(-1)!,
      }
    }),
  ]
}
