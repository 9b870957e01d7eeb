import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { newId } from '../src/core/ids.ts'
import type { HttpJob } from './http-load.ts'
import { inChild } from './load.ts'
import { openReport } from './report.ts'
import { openStage } from './stage.ts'

/**
 * Quotes created, and quotes executed, over HTTP: one commit each. Beside them the same rows without HTTP, and a POST of
 * the same size that is authenticated, counted and validated but touches no database.
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '6' }, rounds: { type: 'string', default: '3' } },
})
const seconds = Number(values.seconds)
const stage = await openStage({ customers: 200, balance: '100000000000' })
const report = openReport('quotes', { seconds })
const folder = mkdtempSync(join(tmpdir(), 'trilho-bench-quotes-'))

const bodyOf = (to_asset: string) => (customer_id: string) =>
  JSON.stringify({ customer_id, from_asset: 'BRL', to_asset, amount: '1000', partner_fee_bps: 100 })

const job = (connections: number, duration: number): Omit<HttpJob, 'path' | 'bodies' | 'expect'> => ({
  url: stage.url,
  key: stage.key,
  connections,
  seconds: duration,
})

async function create(
  name: string,
  connections: number,
  to_asset = 'USDT',
  duration = seconds,
): Promise<void> {
  const bodies = stage.customers.map(bodyOf(to_asset))
  const expect = to_asset === 'BRL' ? 422 : 201
  const load: HttpJob = { ...job(connections, duration), path: '/v1/quotes', bodies, expect }
  await report.measure(name, stage, () => inChild('./http-load.ts', load))
}

async function execute(name: string, connections: number): Promise<void> {
  const lines = await prepare(connections === 1 ? 2000 : 6000)
  const load: HttpJob = {
    ...job(connections, seconds),
    path: '/v1/quotes/{{line}}/execute',
    bodies: [''],
    lines,
    expect: 201,
  }
  await report.measure(name, stage, () => inChild('./http-load.ts', load))
}

async function plain(name: string, script: string, connections: number): Promise<void> {
  const { database_url, partner_id, api_key_id, customers } = stage
  const lines = script.includes('trade') ? await prepare(connections === 1 ? 2000 : 6000) : undefined
  const load = { database_url, partner_id, api_key_id, customers, connections, seconds, lines }
  await report.measure(name, undefined, () => inChild(script, load))
}

/** Quotes that do not end while the bench runs, enough for so many executions a second. */
async function prepare(per_second: number): Promise<string> {
  const ids = Array.from({ length: per_second * seconds }, () => newId('quote', Date.now()))
  const client = new pg.Client({ connectionString: stage.database_url, options: '-c search_path=sandbox' })
  await client.connect()
  await client.query(
    `INSERT INTO quotes (id, partner_id, customer_id, api_key_id, from_asset, to_asset, side, market_price, price_source,
       from_amount, to_amount, partner_fee, partner_bps, service_fee, service_bps, worth_brl, created_at, expires_at)
     SELECT id, $2, ($3::text[])[1 + n % cardinality($3::text[])], $4, 'BRL', 'USDT', 'buy', 540000000, 'fixed',
       1000, 1824074, 10, 100, 5, 50, 985, now() + interval '1 hour', now() + interval '1 hour 30 seconds'
     FROM unnest($1::text[]) WITH ORDINALITY AS new (id, n)`,
    [ids, stage.partner_id, stage.customers, stage.api_key_id],
  )
  await client.query('VACUUM ANALYZE quotes')
  await client.end()
  const file = join(folder, 'quotes')
  writeFileSync(file, ids.join('\n'))
  return file
}

try {
  await create('warm-up', 64, 'USDT', 3)
  for (let round = 0; round < Number(values.rounds); round++) {
    await create('no database 64', 64, 'BRL')
    await create('quotes 64', 64)
    await plain('quote rows 16', './quote-rows.ts', 16)
    await execute('executions 64', 64)
    await plain('trade rows 16', './trade-rows.ts', 16)
    await create('quotes 1', 1)
    await execute('executions 1', 1)
  }
  const { ok } = stage.trilho('audit', '--environment', 'sandbox')
  report.write({
    ratios: {
      'quotes 64 ÷ no database 64': report.ratio('quotes 64', 'no database 64', 'per_second'),
      'quotes 64 ÷ quote rows 16': report.ratio('quotes 64', 'quote rows 16', 'per_second'),
      'executions 64 ÷ trade rows 16': report.ratio('executions 64', 'trade rows 16', 'per_second'),
    },
    server_rss_mb: Math.round((await stage.usage()).server_rss_mb),
    audit_ok: ok,
  })
} finally {
  rmSync(folder, { recursive: true })
  await stage.stop()
}
