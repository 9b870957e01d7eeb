import type { Bench } from '../bench.ts'
import { caller, type HttpJob, post } from '../http.ts'

/** Sandbox deposits, one commit each, alternating with the baseline rows without HTTP. */
export async function measureDeposits(bench: Bench) {
  const { seconds, rounds } = bench.settings
  const stage = await bench.small()
  const [yardstick, rows] = [await bench.yardstick(), await bench.rows()]
  const slices = bench.slices(stage)
  const bodies = stage.customers.map((customer_id) =>
    JSON.stringify({ customer_id, asset: 'BRL', amount: '100' }),
  )
  const http = (connections: number) => {
    const { url, key } = stage
    const job: HttpJob = { url, path: '/v1/sandbox/deposits', key, connections, seconds, bodies, expect: 201 }
    return post(job)
  }
  for (let round = 0; round < rounds; round++) {
    await slices.measure('yardstick, 16 clients', () => yardstick.run('deposit', { clients: 16, seconds }))
    await slices.measure('64 connections', () => http(64))
    await slices.measure('own rows, 16 clients', () => rows.run('deposit', { clients: 16, seconds }))
    await slices.measure('yardstick, 1 client', () => yardstick.run('deposit', { clients: 1, seconds }))
    await slices.measure('1 connection', () => http(1))
  }
  return {
    driver: yardstick.driver,
    caller,
    slices: slices.all,
    audit_ok: stage.audit(),
  }
}
