import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSealer } from '../../src/core/seal.ts'
import { insertEndpoint } from '../../src/webhooks/store.ts'
import type { Api } from '../support/api.ts'
import { times } from '../support/parallel.ts'
import { noteFact } from '../support/proof.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { size } from '../support/size.ts'
import { until } from '../support/wait.ts'

/** What one partner's receivers do costs no other partner its webhooks. */
const TIMEOUT_MS = 8000
/** Just in time, and with 200. */
const SLOW_MS = 7000
const ENDPOINTS = 36
const EVENTS = size(100, 25)

let service: TestService
const receivers: Receiver[] = []
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS) })
})
afterAll(async () => {
  await service.stop()
  for (const receiver of receivers) await receiver.stop()
})

const happen = (api: Api) => api.post('/v1/sandbox/events/pix.payout.completed')

/** Past the number that a partner may have, as if many partners had agreed. */
async function addEndpoints(partner_id: string, url: string, count: number): Promise<void> {
  const world = service.worlds.sandbox
  const sealer = createSealer([Buffer.alloc(32)])
  for (let i = 0; i < count; i++) {
    const id = world.newId('webhook_endpoint')
    const seal = async () => sealer.seal(Buffer.alloc(32), `sandbox ${id}`)
    const events = ['pix.payout.completed']
    await insertEndpoint(
      world.db,
      { id, partner_id, url: `${url}/${i}`, events, description: null },
      seal,
      1000,
    )
  }
}

/** From the call that makes an event to its receipt, event by event. */
async function lagsOf(api: Api, healthy: Receiver): Promise<number[]> {
  const before = healthy.received.length
  const sent = new Map<string, number>()
  for (let i = 0; i < EVENTS; i++) {
    const asked_at = Date.now()
    sent.set((await happen(api)).json.id, asked_at)
    await sleep(20)
  }
  await until(() => healthy.received.length >= before + EVENTS, 60_000)
  return healthy.received.slice(before).map(({ at, json }) => at - sent.get(json.id)!)
}

const at = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

test('a partner whose many receivers all answer 200 at the last moment delays nobody else', async () => {
  const { api } = await service.partner()
  const healthy = await openReceiver()
  receivers.push(healthy)
  await api.post('/v1/webhook_endpoints', { url: healthy.url, events: ['pix.payout.completed'] })
  await lagsOf(api, healthy) // to warm up
  const alone = await lagsOf(api, healthy)

  const hostile = await service.partner()
  let open = 0
  const slow = await openReceiver((_, response: ServerResponse) => {
    open++
    let isOpen = true
    const leave = () => {
      if (isOpen) open--
      isOpen = false
    }
    // Before the answer goes out: the next request may come before this one is closed.
    setTimeout(() => {
      leave()
      response.end('ok')
    }, SLOW_MS)
    response.once('close', leave)
  })
  receivers.push(slow)
  await addEndpoints(hostile.partner_id, slow.url, ENDPOINTS)
  for (const _ of times(10, () => 0)) await happen(hostile.api)
  await until(() => open >= 16, 20_000)
  const beside = await lagsOf(api, healthy)

  // Whoever had to wait for a place would have waited for one of theirs to answer.
  expect(at(beside, 0.9)).toBeLessThan(SLOW_MS / 2)
  // They delivered, all of them, and are known to be slow all the same.
  await until(() => slow.received.length > 2 * ENDPOINTS, 120_000)
  await sleep(100)
  expect(open).toBeLessThanOrEqual(16)
  const ms = (values: readonly number[], share: number) => at(values, share).toFixed(0)
  noteFact(
    `${ENDPOINTS} endpoints of one partner that answer 200 after ${SLOW_MS} of ${TIMEOUT_MS} ms: p50 and p99 of another partner's lag ${ms(alone, 0.5)} and ${ms(alone, 0.99)} ms alone, ${ms(beside, 0.5)} and ${ms(beside, 0.99)} ms beside them (p50 × ${(at(beside, 0.5) / at(alone, 0.5)).toFixed(2)})`,
  )
}, 300_000)
