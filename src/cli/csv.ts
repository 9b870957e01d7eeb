/** Rows of a list as CSV, for spreadsheets and scripts. */
export type Row = Readonly<Record<string, unknown>>

/** An amount in a row: one cell of a table, `10.50 BRL`, and two of a CSV file. */
export class AmountCell {
  readonly number: string
  readonly asset: string

  constructor(number: string, asset: string) {
    this.number = number
    this.asset = asset
  }

  toString(): string {
    return `${this.number} ${this.asset}`
  }
}

export function csv(rows: readonly Row[], { header = true } = {}): string {
  const lines = rows.map(flat)
  const [first] = lines
  if (!first) return ''
  const names = Object.keys(first)
  const body = lines.map((row) => names.map((name) => cellOf(row[name])))
  return [...(header ? [names] : []), ...body].map((cells) => `${cells.join(',')}\n`).join('')
}

const flat = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      value instanceof AmountCell
        ? [
            [name, value.number],
            [`${name}_asset`, value.asset],
          ]
        : [[name, value]],
    ),
  )

/** A leading apostrophe makes a spreadsheet read as text what begins like a formula or with an invisible character. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|^[\p{Cc}\p{Cf}]/u
const NUMBER = /^-?[0-9]+(\.[0-9]+)?$/
const QUOTED = /[",\r\n]/

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  const plain = value instanceof Date ? value.toISOString() : String(value)
  const text = FORMULA.test(plain) && !NUMBER.test(plain) ? `'${plain}` : plain
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
