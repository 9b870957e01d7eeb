import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Api } from '../support/api.ts'
import { asAdmin } from '../support/database.ts'
import { times } from '../support/parallel.ts'
import { noteFact } from '../support/proof.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { size } from '../support/size.ts'
import { openStage, type Stage } from '../support/stage.ts'
import { until } from '../support/wait.ts'

/** A receiver that hangs, drips or never ends is in nobody's way: not in that of other receivers, nor of the API. */
const EVENTS = size(400, 40)
const PAUSE_MS = 20
const PER_PARTNER = 20

const drips = (response: ServerResponse) => {
  const timer = setInterval(() => response.write('.'), 300)
  response.once('close', () => clearInterval(timer))
}
const pours = (response: ServerResponse) => {
  const pour = () => {
    while (response.write('x'.repeat(16_384)));
  }
  response.on('drain', pour)
  pour()
}
const bad: readonly ((response: ServerResponse) => void)[] = [
  ...times(20, () => () => {}),
  ...times(5, () => drips),
  ...times(5, () => pours),
]

let stage: Stage
let url: string
const receivers: Receiver[] = []
beforeAll(async () => {
  stage = await openStage({ nodes: 0, env: { WEBHOOK_ALLOW_PRIVATE: 'true' } })
  url = (await stage.start()).url
})
afterAll(async () => {
  await stage.stop()
  for (const receiver of receivers) await receiver.stop()
})

async function subscribe(api: Api, receiver: Receiver): Promise<void> {
  receivers.push(receiver)
  const made = await api.post('/v1/webhook_endpoints', {
    url: receiver.url,
    events: ['pix.payout.completed'],
  })
  expect(made.status).toBe(201)
}
const happen = (api: Api) => api.post('/v1/sandbox/events/pix.payout.completed')

type Figures = { delivery: number[]; api: number[]; idle_ms: number }

/** A stream of events, each timed from the call that makes it to the receiver, and of reads beside it. */
async function observe(client: Api, healthy: Receiver, beside: () => void): Promise<Figures> {
  const before = healthy.received.length
  const api: number[] = []
  const sent = new Map<string, number>()
  let idle_ms = 0
  let done = false
  const watching = (async () => {
    while (!done) {
      const [row] = await asAdmin(stage.database.url, [
        `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - state_change)) * 1000, 0)::float8 AS ms FROM pg_stat_activity
         WHERE state = 'idle in transaction' AND datname = current_database()`,
      ])
      idle_ms = Math.max(idle_ms, row!.ms as number)
      await sleep(10)
    }
  })()
  for (let i = 0; i < EVENTS; i++) {
    if (i % 20 === 0) beside()
    const begun = performance.now()
    await client.get('/v1/usage')
    api.push(performance.now() - begun)
    const asked_at = Date.now()
    sent.set((await happen(client)).json.id, asked_at)
    await sleep(PAUSE_MS)
  }
  await until(() => healthy.received.length >= before + EVENTS, 8000)
  done = true
  await watching
  const delivery = healthy.received.slice(before).map(({ at, json }) => at - sent.get(json.id)!)
  return { delivery, api, idle_ms }
}

const at = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

test('20 receivers that never answer, 5 that drip and 5 that never end delay neither a healthy one nor the API', async () => {
  const { api } = await stage.partner(url)
  const healthy = await openReceiver()
  await subscribe(api, healthy)
  await observe(api, healthy, () => {}) // to warm up
  const alone = await observe(api, healthy, () => {})

  const others = await Promise.all(times(Math.ceil(bad.length / PER_PARTNER), () => stage.partner(url)))
  const held: Receiver[] = []
  for (const [i, misbehave] of bad.entries()) {
    const receiver = await openReceiver((_, response) => misbehave(response))
    held.push(receiver)
    await subscribe(others[Math.floor(i / PER_PARTNER)]!.api, receiver)
  }
  for (const other of others) for (let i = 0; i < 10; i++) await happen(other.api)
  await until(() => held.every(({ received }) => received.length > 0), 8000)
  const beside = await observe(api, healthy, () => {
    for (const other of others) void happen(other.api)
  })

  // All of them arrived, once, while the others were still hanging.
  expect(new Set(healthy.received.map(({ json }) => json.id)).size).toBe(3 * EVENTS)
  const open = await stage.worlds.sandbox.db.query(
    `SELECT count(*)::integer AS n FROM webhook_deliveries WHERE status = 'pending'`,
  )
  expect(open.rows[0].n).toBeGreaterThan(200)
  // Receivers have ten seconds, and some take all of them: a transaction held open meanwhile would be idle for as long.
  expect(Math.max(alone.idle_ms, beside.idle_ms)).toBeLessThan(size(100, 9000))
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  const ms = (values: readonly number[], share: number) => at(values, share).toFixed(1)
  noteFact(
    `20 receivers that never answer, 5 that drip and 5 that never end beside a healthy one, ${EVENTS} events each: its p50 and p99 from the call that makes an event to its receipt were ${ms(alone.delivery, 0.5)} and ${ms(alone.delivery, 0.99)} ms alone, ${ms(beside.delivery, 0.5)} and ${ms(beside.delivery, 0.99)} ms beside them (p99 × ${(at(beside.delivery, 0.99) / at(alone.delivery, 0.99)).toFixed(2)}); p99 of a read over HTTP ${ms(alone.api, 0.99)} and ${ms(beside.api, 0.99)} ms; longest idle transaction ${Math.max(alone.idle_ms, beside.idle_ms).toFixed(0)} ms`,
  )
}, 300_000)
