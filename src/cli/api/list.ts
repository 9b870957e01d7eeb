import type { Listing } from '#sdk'
import { type Input, integerOption, listed, type Output, table } from '../command.ts'
import { csv, type Row } from '../csv.ts'
import { exitOfStop } from '../exit.ts'
import { toJson } from '../print.ts'
import { fieldsOf } from './show.ts'

/** Options that are not sent to the API as query parameters, or not as typed. */
const NOT_ASKED = ['limit', 'all', 'output', 'json', 'url', 'profile', 'key-file']

/** The query parameters of a list: its filters, cursor and limit. */
export function queryOf(input: Input): Record<string, string | number> {
  const { all } = input.options
  const limit = integerOption(input, 'limit', 1, 100) ?? (all ? 100 : undefined)
  return {
    ...fieldsOf(
      input,
      Object.keys(input.options).filter((name) => !NOT_ASKED.includes(name)),
    ),
    ...(limit === undefined ? {} : { limit }),
  }
}

/** Prints one page, or with --all every page as it arrives. */
export async function printList<T>(input: Input, listing: Listing<T>, row: (one: T) => Row): Promise<Output> {
  if (input.options.all === true) return streamed(input, listing, row)
  const page = await listing
  if (page.has_more && (input.format === 'table' || input.format === 'csv'))
    input.io.stderr.write(
      `There are more: --all shows everything, --cursor ${page.next_cursor} the next page.\n`,
    )
  return listed(page, page.data.map(row))
}

/** Prints each page and drops it: a list may be larger than memory. */
async function streamed<T>(input: Input, listing: Listing<T>, row: (one: T) => Row): Promise<Output> {
  const { io, format } = input
  const stopped = io.stopped()
  let count = 0
  if (format === 'json') io.stdout.write('{"data":[')
  for await (const { data } of listing.pages()) {
    if (stopped.aborted) break
    if (format === 'table') io.stdout.write(rowsOf(data.map(row), count === 0))
    else if (format === 'csv') io.stdout.write(csv(data.map(row), { header: count === 0 }))
    else
      for (const [i, one] of data.entries())
        io.stdout.write(format === 'jsonl' ? `${toJson(one)}\n` : `${count + i > 0 ? ',' : ''}${toJson(one)}`)
    count += data.length
    if (!io.stdout.isTTY) io.progress(`${count} read …`)
  }
  if (!io.stdout.isTTY) io.progress('')
  if (stopped.aborted) return { exit_code: exitOfStop(stopped.reason) }
  if (format === 'json') io.stdout.write(']}\n')
  return undefined
}

/** Column widths are computed for each page; the header is printed once. */
function rowsOf(rows: readonly Row[], first: boolean): string {
  const text = rows.length === 0 && !first ? '' : table(rows)
  return first ? text : text.slice(text.indexOf('\n') + 1)
}
