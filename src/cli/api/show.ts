import { decimal } from '#sdk'
import { type Input, type Output, table } from '../command.ts'
import { AmountCell } from '../csv.ts'

/** One object, one field per line. */
export function shown(object: object): NonNullable<Output> {
  const fields = Object.entries(object).filter(([field]) => !/^(from_|to_)?decimals$/.test(field))
  const rows = fields.map(([field, value]) => ({ field, value: amountIn(object, field) ?? cell(value) }))
  return { json: object, text: table(rows) }
}

const cell = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)

/** Formats an amount field with the decimals and the asset beside it. A payout has no asset field: its amounts are in BRL. */
function amountIn(object: object, field: string): AmountCell | undefined {
  const [, side, name] =
    /^(from_|to_|)(amount|amount_gross|amount_net|amount_received|amount_returned|fee|balance_after)$/.exec(
      field,
    ) ?? []
  if (name === undefined) return undefined
  const fields = object as Readonly<Record<string, unknown>>
  const decimals = fields[`${side}decimals`]
  const amount = fields[field]
  if (typeof decimals !== 'number' || typeof amount !== 'string') return undefined
  return amountCell(amount, decimals, String(fields[`${side}asset`] ?? 'BRL'))
}

/** A decimal amount with its asset: 10.50 BRL. */
export const amountCell = (amount: string, decimals: number, asset: string): AmountCell =>
  new AmountCell(decimal(amount, decimals), asset)

/** Maps options to fields of the API: --customer is customer_id, --created-after is created_after. */
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
