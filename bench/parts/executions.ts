import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../../src/core/ids.ts'
import type { Bench } from '../bench.ts'
import { caller, type HttpJob, post } from '../http.ts'
import type { Stage } from '../stage.ts'

/** More quotes per second than 64 connections can execute on two cores. */
const PER_SECOND = 4000

/** Executions of quotes, one commit each, alternating with the baseline rows without HTTP. */
export async function measureExecutions(bench: Bench) {
  const { seconds, rounds } = bench.settings
  const stage = await bench.small()
  const [yardstick, rows] = [await bench.yardstick(), await bench.rows()]
  const slices = bench.slices(stage)
  const folder = mkdtempSync(join(tmpdir(), 'trilho-bench-quotes-'))
  const lines = join(folder, 'quotes')
  const http = async (connections: number) => {
    writeFileSync(lines, (await prepare(stage, PER_SECOND * seconds)).join('\n'))
    const { url, key } = stage
    const path = '/v1/quotes/{{line}}/execute'
    const job: HttpJob = { url, path, key, connections, seconds, bodies: [''], lines, expect: 201 }
    return post(job)
  }
  try {
    for (let round = 0; round < rounds; round++) {
      await slices.measure('yardstick, 16 clients', () =>
        yardstick.run('execution', { clients: 16, seconds }),
      )
      await slices.measure('64 connections', () => http(64))
      await slices.measure('own rows, 16 clients', () => rows.run('execution', { clients: 16, seconds }))
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return {
    driver: yardstick.driver,
    caller,
    slices: slices.all,
    audit_ok: stage.audit(),
  }
}

/** Inserts quotes that do not expire during the benchmark. */
async function prepare(stage: Stage, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('quote', Date.now()))
  await stage.sql(
    `INSERT INTO quotes (id, partner_id, customer_id, api_key_id, from_asset, to_asset, side, market_price, price_source,
       from_amount, to_amount, partner_fee, partner_bps, service_fee, service_bps, worth_brl, created_at, expires_at)
     SELECT id, $2, ($3::text[])[1 + n % cardinality($3::text[])], $4, 'BRL', 'USDT', 'buy', 540000000, 'fixed',
       1000, 1824074, 10, 100, 5, 50, 985, now() + interval '1 hour', now() + interval '1 hour 30 seconds'
     FROM unnest($1::text[]) WITH ORDINALITY AS new (id, n)`,
    [ids, stage.partner_id, stage.customers, stage.api_key_id],
  )
  await stage.sql('VACUUM ANALYZE quotes')
  return ids
}
