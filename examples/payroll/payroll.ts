import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { isPixKey, type PaidLine, payMany, Trilho, units } from '@trilho/sdk'

// Pays a payroll from a CSV file, each line once. Killed or cut off, it is started again with the same arguments.
const { values } = parseArgs({
  options: { run: { type: 'string' }, file: { type: 'string' }, book: { type: 'string' } },
})
const { run, file, book } = values
if (!run || !file)
  throw new Error('Usage: payroll.ts --run payroll-2026-11 --file salaries.csv [--book payroll.jsonl]')

// The columns are id, customer_id, pix_key and amount, such as 1250.00.
const [, ...rows] = readFileSync(file, 'utf8').trim().split(/\r?\n/)
const lines = rows.map((row) => {
  const [id = '', customer_id = '', pix_key = '', amount = ''] = row.split(',')
  if (!isPixKey(pix_key)) throw new Error(`${id}: ${pix_key} is not a Pix key. Nothing was paid.`)
  return {
    id,
    customer_id,
    amount: units(amount, 'BRL'),
    counterparty: { type: 'pix_key', pix_key } as const,
  }
})

const trilho = new Trilho({
  userAgent: 'payroll/1.0',
  log: ({ code, retryInMs }) => {
    if (retryInMs !== undefined) console.error(`${code}: trying again in ${retryInMs} ms`)
  },
})

const results = new Map<string, PaidLine>()
for await (const result of payMany(trilho, lines, { run, concurrency: 8 })) {
  results.set(result.id, result)
  console.log(result.id, result.status, reasonOf(result))
}
if (book) writeFileSync(book, bookOf())

console.log(`${run}, ${lines.length} lines:`)
const unpaid = count('failed', 'not paid') + count('refused', 'not paid')
const unsettled = count('unknown', 'run this again') + count('unsent', 'run this again')
const paid = [...results.values()].filter(({ status }) => status === 'completed')
const earlier = paid.filter(({ is_earlier }) => is_earlier).length
console.log(`  ${paid.length} completed: ${paid.length - earlier} now, ${earlier} earlier`)

// 0: all lines are paid. 1: some were refused or failed. 2: some are not settled yet, so run it again.
process.exitCode = unsettled ? 2 : unpaid ? 1 : 0

function reasonOf({ is_earlier, payout, error }: PaidLine): string {
  if (!payout) return error?.message ?? ''
  const why = payout.failure?.message ?? (payout.status === 'completed' ? '' : `is ${payout.status}`)
  return [is_earlier ? 'earlier' : 'now', payout.id, why].join(' ').trim()
}

/** Prints how many lines have a status, and which. */
function count(status: PaidLine['status'], advice: string): number {
  const ids = lines.filter(({ id }) => results.get(id)?.status === status).map(({ id }) => id)
  if (ids.length > 0) console.log(`  ${ids.length} ${status}, ${advice}: ${ids.join(' ')}`)
  return ids.length
}

/** What you book: customer and amount as the file has them, the rest as the payout says. A line without a payout is not booked. */
function bookOf(): string {
  const entries = lines.flatMap(({ id, customer_id, amount }) => {
    const { idempotency_key, payout } = results.get(id)!
    if (!payout) return []
    const { fee, status, created_at } = payout
    return { kind: 'payout', idempotency_key, customer_id, amount: String(amount), fee, status, created_at }
  })
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}
