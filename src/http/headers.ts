import type { Refusal } from '../core/errors.ts'

/** Sent with every answer of the API, also with those made below the router. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** The docs: everything comes from the same server, nothing is inline, and nothing may become a script that was not one. */
export const pageSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** What the three X-RateLimit headers tell (interface §8): the per-minute window of the key, or of the address. */
export type WindowState = { readonly limit: number; readonly remaining: number; readonly resets_at: number }

export function rateLimitHeaders({ limit, remaining, resets_at }: WindowState): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resets_at),
  }
}

/** What a refusal says beside its body: when to come again, and how to show who one is. */
export function refusalHeaders({ status, retry_after_seconds }: Refusal): Record<string, string> {
  return {
    ...(retry_after_seconds === undefined ? {} : { 'retry-after': String(retry_after_seconds) }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  }
}
