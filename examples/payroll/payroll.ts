import { readFileSync } from 'node:fs'
import { isPixKey, payMany, Trilho, units } from '@trilho/sdk'

// payroll.ts RUN FILE: pays the lines `number,salary,pix_key` of a file, each once, however often it is started.
const [run, file] = process.argv.slice(2)
const customer_id = process.env.CUSTOMER
if (!run || !file || !customer_id) throw new Error('Usage: CUSTOMER=cus_… payroll.ts RUN FILE')

const lines = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [id = '', salary = '', pix_key = ''] = line.split(',')
    if (!isPixKey(pix_key)) throw new Error(`${id}: ${pix_key} is not a Pix key. Nothing was paid.`)
    return {
      id,
      customer_id,
      amount: units(salary, 'BRL'),
      counterparty: { type: 'pix_key', pix_key } as const,
    }
  })

const trilho = new Trilho({
  log: ({ code, retryInMs }) => {
    if (retryInMs !== undefined) console.error(`${code}: trying again in ${retryInMs} ms`)
  },
})

const count: Record<string, number> = {}
for await (const { id, status, payout, error } of payMany(trilho, lines, { run })) {
  count[status] = (count[status] ?? 0) + 1
  console.log(id, status, payout?.end_to_end_id ?? error?.message ?? '')
}
console.log(count)
// Lines that are unknown or unsent: start the same run again.
process.exitCode = count.unknown || count.unsent ? 4 : 0
