import type { Refusal } from '../core/errors.ts'

/** Sent with every response of the API, also with those made below the router. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Policy of the documentation pages: same origin only, nothing inline, and no strings that become scripts. */
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

/** The values of the three X-RateLimit headers (interface §8): the per-minute window of the key, or of the address. */
export type WindowState = { readonly limit: number; readonly remaining: number; readonly resets_at: number }

export function rateLimitHeaders({ limit, remaining, resets_at }: WindowState): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resets_at),
  }
}

/** Headers of a refusal: when to retry, and how to authenticate. */
export function refusalHeaders({ status, retry_after_seconds }: Refusal): Record<string, string> {
  return {
    ...(retry_after_seconds === undefined ? {} : { 'retry-after': String(retry_after_seconds) }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  }
}
