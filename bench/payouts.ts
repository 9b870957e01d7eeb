import { parseArgs } from 'node:util'
import type { HttpJob } from './http-load.ts'
import { inChild } from './load.ts'
import { openReport } from './report.ts'
import type { RowsJob } from './rows.ts'
import { openStage } from './stage.ts'

/**
 * Payouts over HTTP from create to the answer `completed`: debit, simulated rail, settlement, two commits each. Beside
 * them the same rows without HTTP, and the same load on one single customer.
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '8' }, rounds: { type: 'string', default: '3' } },
})
const seconds = Number(values.seconds)
const stage = await openStage({ customers: 200, balance: '100000000000' })
const report = openReport('payouts', { seconds })

const bodyOf = (customer_id: string) =>
  JSON.stringify({
    customer_id,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key: 'ana@example.com' },
    idempotency_key: '{{unique}}',
  })

async function http(
  name: string,
  connections: number,
  customers: readonly string[],
  duration = seconds,
): Promise<void> {
  const job: HttpJob = {
    url: stage.url,
    path: '/v1/pix/payouts',
    key: stage.key,
    connections,
    seconds: duration,
    bodies: customers.map(bodyOf),
    expect: 201,
  }
  await report.measure(name, stage, () => inChild('./http-load.ts', job))
}

async function plain(connections: number): Promise<void> {
  const { database_url, partner_id, api_key_id, customers } = stage
  const job: RowsJob = { database_url, partner_id, api_key_id, customers, connections, seconds }
  await report.measure(`rows ${connections}`, undefined, () => inChild('./payout-rows.ts', job))
}

try {
  await http('warm-up', 64, stage.customers, 3)
  for (let round = 0; round < Number(values.rounds); round++) {
    await plain(1)
    await http('http 1', 1, stage.customers)
    await plain(16)
    await http('http 64', 64, stage.customers)
    await http('http 64, one customer', 64, stage.customers.slice(0, 1))
  }
  const { ok } = stage.trilho('audit', '--environment', 'sandbox')
  report.write({
    ratios: {
      'http 64 ÷ rows 16': report.ratio('http 64', 'rows 16', 'per_second'),
      'one customer ÷ spread, http 64': report.ratio('http 64, one customer', 'http 64', 'per_second'),
      'p50 of http 1 ÷ p50 of rows 1': report.ratio('http 1', 'rows 1', 'p50'),
    },
    server_rss_mb: Math.round((await stage.usage()).server_rss_mb),
    audit_ok: ok,
  })
} finally {
  await stage.stop()
}
