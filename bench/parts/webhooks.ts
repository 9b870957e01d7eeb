import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { type Endpoint, openEndpoint } from '../endpoint.ts'
import { type Measure, summarize } from '../load.ts'
import type { Stage } from '../stage.ts'

const EVENTS_PER_SECOND = 20
const LONE_SECONDS = 20

/**
 * Webhooks to one endpoint on the same machine: throughput when all history is redelivered, so that the queue is never empty,
 * and latency when events come one by one. The time of an event is taken inside its transaction, so the latency includes the
 * commit.
 */
export async function measureWebhooks(bench: Bench) {
  const stage = await bench.small()
  const slices = bench.slices(stage)
  const endpoint = await openEndpoint(stage)
  try {
    await flood(stage, endpoint)
    for (let round = 0; round < bench.settings.rounds; round++)
      await slices.measure('one endpoint, all history again', () => flood(stage, endpoint))
    await slices.measure('lag of lone events', () => trickle(stage, endpoint))
  } finally {
    await endpoint.close()
  }
  return { slices: slices.all }
}

/**
 * Redelivers one call's worth of events: if a second call overlapped with deliveries still in flight, an event in both would
 * arrive once.
 */
async function flood(stage: Stage, endpoint: Endpoint): Promise<Measure> {
  await endpoint.take()
  const range = {
    from: new Date(Date.now() - 86_400_000).toISOString(),
    to: new Date(Date.now() - 240_000).toISOString(),
  }
  const { redelivered } = await stage.call('POST', `/v1/webhook_endpoints/${endpoint.id}/redeliver`, range)
  await arrival(endpoint, redelivered)
  const { count, first_at, last_at, lags } = await endpoint.take()
  return {
    ...summarize(lags.splice(0), 1),
    per_second: Math.round((count - 1) / ((last_at - first_at) / 1000)),
    count,
    p50: 0,
    p99: 0,
  }
}

/** Single events at a low rate. */
async function trickle(stage: Stage, endpoint: Endpoint): Promise<Measure> {
  await endpoint.take()
  const events = LONE_SECONDS * EVENTS_PER_SECOND
  for (let i = 0; i < events; i++) {
    const pause = sleep(1000 / EVENTS_PER_SECOND)
    const customer_id = stage.customers[i % stage.customers.length]
    await stage.call('POST', '/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1' })
    await pause
  }
  await arrival(endpoint, events)
  return summarize((await endpoint.take()).lags, LONE_SECONDS)
}

const PATIENCE_S = 120

async function arrival(endpoint: Endpoint, expected: number): Promise<void> {
  for (let waited = 0; (await endpoint.received()) < expected; waited += 0.05) {
    if (waited > PATIENCE_S) throw new Error(`${await endpoint.received()} of ${expected} webhooks arrived`)
    await sleep(50)
  }
}
