import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { asAdmin } from './support/database.ts'
import { openDelayingProxy } from './support/delaying-proxy.ts'
import { someCpf } from './support/service.ts'
import { openStage, type Stage } from './support/stage.ts'
import { until } from './support/wait.ts'

/** A node starts beside another one, which is called all the time or stands still. */

const CLIENTS = 4

let stage: Stage
beforeAll(async () => {
  stage = await openStage({ nodes: 1 })
})
afterAll(() => stage.stop())

/** Calls the first node without a pause until `work` has ended. Returns every response that is no success. */
async function failuresDuring(work: () => Promise<void>): Promise<string[]> {
  const api = stage.api(0)
  const failed: string[] = []
  let working = true
  const call = async (asking: ReturnType<typeof api.get>) => {
    const { status, text, json } = await asking
    if (status > 201) failed.push(`${status} ${text}`)
    return json
  }
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (working) {
      const customer = { name: 'Ana Souza', document: someCpf() }
      const { id: customer_id } = await call(api.post('/v1/customers', customer))
      if (customer_id === undefined) continue
      await call(api.patch(`/v1/customers/${customer_id}`, { name: 'Ana Maria' }))
      await call(api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1' }))
      await call(api.post('/v1/sandbox/events/trade.failed'))
      await call(api.get(`/v1/customers/${customer_id}/balances`))
    }
  })
  await work().finally(() => {
    working = false
  })
  await Promise.all(clients)
  return failed
}

test('no request fails while another node starts', { timeout: 300_000 }, async () => {
  const failed = await failuresDuring(async () => {
    const node = await stage.start()
    await node.kill('SIGTERM')
  })
  expect(failed).toEqual([])
})

test('no request fails while a node that is far from the database states functions and triggers anew', {
  timeout: 300_000,
}, async () => {
  const wire = await openDelayingProxy(stage.database.url, 40)
  onTestFinished(wire.stop)
  // As after an upgrade.
  await asAdmin(
    stage.database.url,
    ['live', 'sandbox', 'shared'].map((schema) => `UPDATE ${schema}.functions SET digest = 'x'`),
  )
  const failed = await failuresDuring(async () => {
    const node = await stage.start({ DATABASE_URL: wire.url })
    await node.kill('SIGTERM')
  })
  expect(failed).toEqual([])
  const [row] = await asAdmin(stage.database.url, ['SELECT digest FROM sandbox.functions'])
  expect(row!.digest).not.toBe('x')
})

test('a node starts, and counts requests, although the node that counted alone stands still', {
  timeout: 300_000,
}, async () => {
  const still = await openStage({ nodes: 0 })
  onTestFinished(still.stop)
  const frozen = await still.start()
  const usage = '/v1/usage'
  expect((await still.client(frozen.url).get(usage)).status).toBe(200)
  frozen.process.kill('SIGSTOP')
  const node = await still.start()
  expect((await still.client(node.url).get(usage)).status).toBe(200)
  frozen.process.kill('SIGCONT')
  // What it lost it takes again: both nodes count in the database.
  await until(async () => (await still.client(frozen.url).get(usage)).status === 200, 60_000)
  expect((await still.client(node.url).get(usage)).status).toBe(200)
})
