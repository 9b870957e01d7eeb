import type { CustomLimits } from '../limits/tiers.ts'
import { type CliOption, type Input, integerOption, option, usage } from './command.ts'

export const limitOptions: Readonly<Record<string, CliOption>> = {
  'per-minute': { type: 'string', value: 'N|none', about: 'Requests per minute' },
  'per-day': { type: 'string', value: 'N|none', about: 'Requests per UTC day' },
  'endpoint-per-minute': {
    type: 'string',
    value: 'N|none',
    about: 'Requests per minute for each endpoint that has a limit of its own',
  },
  'lookup-per-minute': { type: 'string', value: 'N|none', about: 'Pix key look-ups per minute' },
}

/** Custom figures as they were typed; at least one. `none` gives one up, so that the tier's holds again. */
export function limitsFrom(input: Input): Partial<CustomLimits> {
  const limits: Record<string, number | null> = {}
  for (const name of Object.keys(limitOptions)) {
    const value = option(input, name) === 'none' ? null : integerOption(input, name, 1, 100_000_000)
    if (value !== undefined) limits[name.replaceAll('-', '_')] = value
  }
  if (Object.keys(limits).length === 0) {
    const names = Object.keys(limitOptions).map((name) => `--${name}`)
    usage(`Say at least one of ${names.join(', ')}.`)
  }
  return limits
}
