import { environments } from '../../core/environment.ts'
import type { CliOption } from '../command.ts'

/** Options that several commands take. */
type Options = Readonly<Record<string, CliOption>>

export const production_or = {
  type: 'string',
  value: environments.join('|'),
  about: 'production when absent',
} as const

export const only_environment = { ...production_or, about: 'Only this one; both when absent' } as const

export const partner = {
  type: 'string',
  value: 'ID',
  about: 'Which partner; the only one when absent',
} as const

export const reason = { type: 'string', value: 'TEXT', about: 'Why', required: true } as const

/** The older form of --as, for commands that move money. */
export const operatorOption = {
  type: 'string',
  value: 'EMAIL',
  about: 'The same as --as; the password is read from OPERATOR_PASSWORD',
} as const

/** Limits on the number of requests. */
export const rateLimits: Options = {
  'per-minute': { type: 'string', value: 'N|none', about: 'Requests per minute' },
  'per-day': { type: 'string', value: 'N|none', about: 'Requests per UTC day' },
  'endpoint-per-minute': {
    type: 'string',
    value: 'N|none',
    about: 'Requests per minute for each endpoint that has a limit of its own',
  },
  'lookup-per-minute': { type: 'string', value: 'N|none', about: 'Pix key look-ups per minute' },
}

const perAsset = { value: 'USDT|BTC=UNITS', type: 'string', multiple: true } as const

/** Limits on amounts of money. */
export const moneyLimits: Options = {
  'payout-order': { type: 'string', value: 'CENTAVOS', about: 'The most for one payout; none lifts a limit' },
  'payout-day': { type: 'string', value: 'CENTAVOS', about: 'For all payouts of a day in São Paulo' },
  'payout-night': { type: 'string', value: 'CENTAVOS', about: 'For all payouts from 20:00 to 06:00' },
  'transfer-order': { ...perAsset, about: 'The most for one transfer of an asset; may be repeated' },
  'transfer-day': { ...perAsset, about: 'For all transfers of an asset in a day; may be repeated' },
}
