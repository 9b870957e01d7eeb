import { Refusal } from '../core/errors.ts'
import { LOOKUPS, redeliveryWindowLimit } from './window-limits.ts'
import type { Verdict } from './windows.ts'

/** The error for a full window (contract §17.3, §17.15): which window, its limit, and how long to wait. */
type RefusedWindow = 'minute' | 'day' | 'endpoint' | 'lookups' | 'address'

const windowOf = (name: string): RefusedWindow => {
  if (name === 'minute' || name === 'day' || name === 'address') return name
  return name === LOOKUPS ? 'lookups' : 'endpoint'
}

const inWords = (window: RefusedWindow, name: string): string => {
  switch (window) {
    case 'minute':
      return 'per minute'
    case 'day':
      return 'per UTC day'
    case 'address':
      return 'per minute from one address without a valid key'
    default:
      return `per minute for ${name}`
  }
}

export function tooMany({ name, limit, retry_after_seconds }: NonNullable<Verdict['refused']>): Refusal {
  if (name === redeliveryWindowLimit.name)
    return new Refusal('too_many_redeliveries', { retry_after_seconds })
  const window = windowOf(name)
  return new Refusal('rate_limit_exceeded', {
    message: `Too many requests: the limit is ${limit} ${inWords(window, name)}. Wait ${retry_after_seconds} s, then try again.`,
    retry_after_seconds,
    details: { window, limit, retry_after_seconds },
  })
}
