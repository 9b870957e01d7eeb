import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { isPixKey, payMany, Trilho, units } from '@trilho/sdk'

// Pays a payroll from a CSV file, each line once. Killed or cut off, it is started again with the same arguments.
const { run, file } = parseArgs({ options: { run: { type: 'string' }, file: { type: 'string' } } }).values
if (!run || !file) throw new Error('Usage: payroll.ts --run payroll-2026-11 --file salaries.csv')

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

const counts: Record<string, number> = {}
for await (const { id, status, payout, error } of payMany(trilho, lines, { run, concurrency: 8 })) {
  counts[status] = (counts[status] ?? 0) + 1
  console.log(id, status, payout?.id ?? error?.message ?? '')
}
console.log(counts)

// 0: all lines are paid. 1: some were refused or failed. 2: some are not settled yet, so run it again.
process.exitCode = counts.unknown || counts.unsent ? 2 : counts.refused || counts.failed ? 1 : 0
