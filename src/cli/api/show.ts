import { decimal } from '#sdk'
import { type Input, type Output, table } from '../command.ts'

/** One object, a field to a line. */
export const shown = (object: object): NonNullable<Output> => ({
  json: object,
  text: table(Object.entries(object).map(([field, value]) => ({ field, value: cell(value) }))),
})

const cell = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)

/** As people say it: 10.50 BRL. */
export const money = (amount: string, decimals: number, asset: string): string =>
  `${decimal(amount, decimals)} ${asset}`

/** The fields of the API that options stand for: --customer is customer_id, --created-after is created_after. */
export function fieldsOf(input: Input, names: readonly string[]): Record<string, string> {
  const given = names.flatMap((name) => {
    const value = input.options[name]
    return typeof value === 'string' ? [[fieldOf(name), value] as const] : []
  })
  return Object.fromEntries(given)
}

const ids = ['customer', 'quote', 'object', 'endpoint']
const assets = ['from', 'to']

function fieldOf(name: string): string {
  if (ids.includes(name)) return `${name}_id`
  return assets.includes(name) ? `${name}_asset` : name.replaceAll('-', '_')
}
