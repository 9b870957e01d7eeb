import { type Static, Type as T } from 'typebox'
import { type Asset, assets } from '../../core/money.ts'
import type { ListPosition, Newest } from '../../db/newest.ts'

/** CSV exports: streamed, with the separators of the user's language, and never with a formula. */

export const CsvLanguage = T.Enum(['en', 'pt-BR'])
export type CsvLanguage = Static<typeof CsvLanguage>

/** Query fields of every export, beside the filters of its list. */
export const csvQuery = { language: T.Optional(CsvLanguage) }

/** Text from users or programs, a number that the service formats, or empty. */
type Cell = string | { readonly number: string } | null

export type Column<Row> = { readonly name: string; readonly cell: (row: Row) => Cell }

export const ROWS_MAX = 100_000

/**
 * A chunk ends behind the row that reaches this length. Exports are paced chunk by chunk (export-pace.ts), and a row may have 40 KB of
 * metadata full of quotation marks: 200 such rows at once would keep the event loop busy for half a second.
 */
export const CHUNK_CHARS = 64 * 1024

/** Makes spreadsheets read the file as UTF-8. */
const BOM = '\ufeff'

const styles = {
  en: { separator: ',', point: '.' },
  'pt-BR': { separator: ';', point: ',' },
} as const

/** Units as a decimal number, to the last digit. */
export function decimalOf(asset: Asset, units: bigint | string): { number: string } {
  const { decimals } = assets[asset]
  const text = units.toString()
  const digits = text.replace('-', '').padStart(decimals + 1, '0')
  const sign = text.startsWith('-') ? '-' : ''
  return { number: `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}` }
}

/** The partner's own texts as one cell; empty if there are none. */
export const metadataCell = (metadata: Readonly<Record<string, string>>): string | null =>
  Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata)

export async function* csvOf<Row>(
  columns: readonly Column<Row>[],
  parts: AsyncIterable<readonly Row[]>,
  language: CsvLanguage = 'en',
): AsyncGenerator<string> {
  const { separator } = styles[language]
  const line = (cells: readonly Cell[]) =>
    `${cells.map((cell) => written(cell, language)).join(separator)}\r\n`
  yield BOM + line(columns.map(({ name }) => name))
  let count = 0
  for await (const rows of parts) {
    count += rows.length
    let chunk = ''
    for (const row of rows) {
      chunk += line(columns.map(({ cell }) => cell(row)))
      if (chunk.length < CHUNK_CHARS) continue
      yield chunk
      chunk = ''
    }
    yield chunk
  }
  if (count >= ROWS_MAX) yield `${written(ROWS_LEFT_OUT[language], language)}\r\n`
}

/**
 * Last line of a file that has the maximum number of rows. Every other file has rows only, so that programs can read
 * it.
 */
const ROWS_LEFT_OUT: Readonly<Record<CsvLanguage, string>> = {
  en: `# ${ROWS_MAX} rows, the most that a file has. For the others choose other dates`,
  'pt-BR': `# ${ROWS_MAX} linhas, o máximo de um arquivo. Para as demais, escolha outras datas`,
}

/** A leading apostrophe makes a spreadsheet read as text what begins like a formula or with an invisible character. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|^[\p{Cc}\p{Cf}]/u
const QUOTED = /[",;\r\n]/

function written(cell: Cell, language: CsvLanguage): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return cell.number.replace('.', styles[language].point)
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Small, so that one part holds neither the event loop nor a connection for long. */
export const PART = 200

/** Reads a list from its newest row on, part by part, up to `ROWS_MAX` rows. */
export async function* everyRow<Row extends { id: string; created_at: Date }>(
  read: (position: ListPosition | undefined, limit: number) => Promise<Newest<Row>>,
  gone: AbortSignal,
): AsyncGenerator<readonly Row[]> {
  let position: ListPosition | undefined
  for (let left = ROWS_MAX; left > 0 && !gone.aborted; ) {
    const asked = Math.min(PART, left)
    const { rows, stopped_at } = await read(position, asked)
    const last = rows.at(-1)
    yield rows
    left -= rows.length
    if (rows.length === asked && last) position = { at: last.created_at, id: last.id }
    else if (stopped_at) position = stopped_at
    else return
  }
}
