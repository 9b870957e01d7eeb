import type { CustomLimits } from '../../limits/tiers.ts'
import { type Input, integerOption, option, usage } from '../command.ts'
import { rateLimits } from '../commands/options.ts'

/** The custom limits given as options; at least one is required. `none` removes a custom limit, so that the tier's applies. */
export function limitsFrom(input: Input): Partial<CustomLimits> {
  const limits: Record<string, number | null> = {}
  for (const name of Object.keys(rateLimits)) {
    const value = option(input, name) === 'none' ? null : integerOption(input, name, 1, 100_000_000)
    if (value !== undefined) limits[name.replaceAll('-', '_')] = value
  }
  if (Object.keys(limits).length === 0) {
    const names = Object.keys(rateLimits).map((name) => `--${name}`)
    usage(`Say at least one of ${names.join(', ')}.`)
  }
  return limits
}
