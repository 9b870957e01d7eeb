import { parseArgs } from 'node:util'
import type { HttpJob } from './http-load.ts'
import { inChild } from './load.ts'
import { pgbenchFound, runPgbench } from './pgbench.ts'
import { openReport } from './report.ts'
import type { RowsJob } from './rows.ts'
import { openStage } from './stage.ts'

/**
 * Sandbox deposits over HTTP, each one committing entries, balance and event, beside the same rows written without HTTP.
 * In turns, so that what else the machine does falls on all of them alike.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    soak: { type: 'string', default: '60' },
  },
})
const seconds = Number(values.seconds)
const stage = await openStage({ customers: 200, balance: '0' })
const report = openReport('deposits', { seconds, soak_seconds: Number(values.soak) })
const bodies = stage.customers.map((customer_id) =>
  JSON.stringify({ customer_id, asset: 'BRL', amount: '100' }),
)

async function http(name: string, connections: number, duration = seconds): Promise<void> {
  const job: HttpJob = {
    url: stage.url,
    path: '/v1/sandbox/deposits',
    key: stage.key,
    connections,
    seconds: duration,
    bodies,
    expect: 201,
  }
  await report.measure(name, stage, () => inChild('./http-load.ts', job))
}

async function plain(connections: number): Promise<void> {
  const { database_url, partner_id, api_key_id, customers } = stage
  const job: RowsJob = { database_url, partner_id, api_key_id, customers, connections, seconds }
  await report.measure(`rows ${connections}`, undefined, () => inChild('./deposit-rows.ts', job))
}

try {
  await http('warm-up', 64, 3)
  for (let round = 0; round < Number(values.rounds); round++) {
    await plain(1)
    await http('http 1', 1)
    await plain(16)
    await http('http 64', 64)
    await http('http 256', 256)
    if (pgbenchFound())
      await report.measure('pgbench 16', undefined, async () =>
        runPgbench({ ...stage, clients: 16, seconds }),
      )
  }
  if (Number(values.soak) > 0) await http('http 256, soak', 256, Number(values.soak))
  const { server_rss_mb } = await stage.usage()
  const { ok } = stage.trilho('audit', '--environment', 'sandbox')
  report.write({
    ratios: {
      'http 64 ÷ rows 16': report.ratio('http 64', 'rows 16', 'per_second'),
      'http 256 ÷ rows 16': report.ratio('http 256', 'rows 16', 'per_second'),
      'p50 of http 1 ÷ p50 of rows 1': report.ratio('http 1', 'rows 1', 'p50'),
      ...(pgbenchFound()
        ? { 'http 64 ÷ pgbench 16': report.ratio('http 64', 'pgbench 16', 'per_second') }
        : {}),
    },
    server_rss_mb: Math.round(server_rss_mb),
    audit_ok: ok,
  })
} finally {
  await stage.stop()
}
