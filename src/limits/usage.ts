import type { Static } from 'typebox'
import type { Endpoint, Limits } from '../http/endpoint.ts'
import type { Usage } from './contract.ts'
import type { Limiter } from './limiter.ts'
import { endpointWindowLimit, lookupWindowLimit, windowLimitsOf } from './window-limits.ts'
import { type WindowLimit, windowEnd } from './windows.ts'

type Key = { readonly key_id: string; readonly limits: Limits; readonly now: number }

/** What a key has used of every limit, and what is left (contract §3). */
export async function usageOfKey(
  limiter: Limiter,
  { endpoints, ...key }: Key & { readonly endpoints: readonly Endpoint[] },
): Promise<Static<typeof Usage>> {
  const { limits } = key
  const limited = endpoints.filter((declared) => declared.limit_per_minute !== undefined)
  const windows = await windowsOf(limiter, key, [
    ...windowLimitsOf(limits, undefined),
    ...limited.map((declared) => endpointWindowLimit(limits, declared)),
    lookupWindowLimit(limits),
  ])
  return {
    minute: windows[0]!,
    day: windows[1]!,
    endpoints: limited.map(({ route }, i) => ({ endpoint: route, ...windows[i + 2]! })),
    lookups: windows.at(-1)!,
  }
}

async function windowsOf(limiter: Limiter, { key_id, now }: Key, window_limits: readonly WindowLimit[]) {
  const used = await limiter.used(key_id, window_limits)
  return window_limits.map((window_limit, i) => ({
    limit: window_limit.limit,
    used: used[i]!,
    remaining: Math.max(0, window_limit.limit - used[i]!),
    resets_at: new Date(windowEnd(window_limit.kind, now)).toISOString(),
  }))
}
