import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makeCpf } from '../src/core/document.ts'
import { type Measure, summarize } from './load.ts'
import { openReport } from './report.ts'
import { openStage } from './stage.ts'
import type { Receipts } from './webhook-receiver.ts'

/**
 * Webhooks to a receiver on the same machine. How many per second when a time range is sent again, so that the queue is
 * never empty; and how long after its event a webhook arrives when events come one by one. The time of an event is taken
 * inside its transaction, so the lag holds the commit too.
 */
const { values } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '6000' },
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
  },
})
const PER_PARTNER = 20
const EVENTS_PER_SECOND = 20
process.env.WEBHOOK_ALLOW_PRIVATE = 'true'
process.env.WEBHOOK_PER_SECOND = '1000000'
const stage = await openStage({ customers: 0, balance: '0' })
const report = openReport('webhooks', {
  deliveries: Number(values.deliveries),
  seconds: Number(values.seconds),
})
const receiver = await openReceiver()

/** Each endpoint with a key of its own: one key may ask for few redeliveries a minute. */
type Target = { readonly id: string; readonly key: string }
type Partner = { readonly key: string; readonly customer_id: string; readonly endpoints: Target[] }

async function call(key: string, path: string, body: unknown): Promise<any> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(stage.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

const nameOf = (endpoints: number) => (endpoints === 1 ? '1 endpoint' : `${endpoints} endpoints`)
let cpf = Date.now() % 100_000_000

/** Partners with so many endpoints in all. */
async function subscribe(endpoints: number): Promise<Partner[]> {
  const partners: Partner[] = []
  for (let left = endpoints; left > 0; left -= PER_PARTNER) {
    const { id } = stage.trilho('partners', 'create', '--name', `bench ${endpoints} ${left}`)
    const newKey = (): string => {
      const made = stage.trilho('keys', 'create', '--partner', id, '--environment', 'sandbox')
      stage.trilho('keys', 'set-limits', made.id, '--per-minute', '10000000', '--per-day', '10000000')
      return made.key
    }
    const key = newKey()
    const document = makeCpf(String(100_000_000 + ++cpf))
    const { id: customer_id } = await call(key, '/v1/customers', { name: 'Bench', document })
    const partner: Partner = { key, customer_id, endpoints: [] }
    for (let i = 0; i < Math.min(left, PER_PARTNER); i++) {
      const made = { url: `${receiver.url}/${i}`, events: ['deposit.completed'] }
      partner.endpoints.push({ id: (await call(key, '/v1/webhook_endpoints', made)).id, key: newKey() })
    }
    partners.push(partner)
  }
  return partners
}

const deposit = ({ key, customer_id }: Partner) =>
  call(key, '/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1' })

/** As many deliveries as wanted, all at once. */
async function flood(partners: readonly Partner[], events: number): Promise<Measure> {
  const endpoints = partners.flatMap((partner) => partner.endpoints)
  const expected = events * endpoints.length
  await receiver.take()
  const started = Date.now()
  const range = { from: '2020-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' }
  await Promise.all(endpoints.map(({ id, key }) => call(key, `/v1/webhook_endpoints/${id}/redeliver`, range)))
  while ((await receiver.look()) < expected) await sleep(20)
  const { at } = await receiver.take()
  const seconds = (Math.max(...at) - Math.min(...at)) / 1000
  return summarize(
    at.map((one) => one - started),
    seconds,
  )
}

/** Events one by one, as they come on a quiet day. */
async function trickle(partners: readonly Partner[], seconds: number): Promise<Measure> {
  await receiver.take()
  const events = seconds * EVENTS_PER_SECOND
  let expected = 0
  for (let i = 0; i < events; i++) {
    const partner = partners[i % partners.length]!
    const pause = sleep(1000 / EVENTS_PER_SECOND)
    await deposit(partner)
    expected += partner.endpoints.length
    await pause
  }
  while ((await receiver.look()) < expected) await sleep(20)
  return summarize((await receiver.take()).lags, seconds)
}

async function openReceiver() {
  const path = fileURLToPath(new URL('./webhook-receiver.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [{ port }] = await once(child, 'message')
  const ask = async (message: 'look' | 'take'): Promise<Receipts> => {
    child.send(message)
    return (await once(child, 'message'))[0]
  }
  return {
    url: `http://127.0.0.1:${port}`,
    look: async () => (await ask('look')).count,
    take: () => ask('take'),
    stop: () => child.disconnect(),
  }
}

try {
  const sizes = [1, 10, 100]
  for (const endpoints of sizes) {
    const partners = await subscribe(endpoints)
    const events = Math.max(1, Math.round(Number(values.deliveries) / endpoints))
    for (let i = 0; i < events; i++) await Promise.all(partners.map(deposit))
    const all = events * endpoints
    while ((await receiver.look()) < all) await sleep(20)
    await report.measure('warm-up', stage, () => flood(partners, events))
    for (let round = 0; round < Number(values.rounds); round++) {
      await report.measure(nameOf(endpoints), stage, () => flood(partners, events))
    }
    await report.measure(`lag, ${nameOf(endpoints)}`, stage, () => trickle(partners, Number(values.seconds)))
    for (const { key, endpoints } of partners) {
      for (const id of endpoints) {
        const headers = { authorization: `Bearer ${key}` }
        await fetch(`${stage.url}/v1/webhook_endpoints/${id}`, { method: 'DELETE', headers })
      }
    }
  }
  const { ok } = stage.trilho('audit', '--environment', 'sandbox')
  report.write({
    ratios: {
      'deliveries to 10 endpoints ÷ to 1': report.ratio('10 endpoints', '1 endpoint', 'per_second'),
      'deliveries to 100 endpoints ÷ to 1': report.ratio('100 endpoints', '1 endpoint', 'per_second'),
      'p50 of the lag with 100 endpoints ÷ with 1': report.ratio(
        'lag, 100 endpoints',
        'lag, 1 endpoint',
        'p50',
      ),
    },
    server_rss_mb: Math.round((await stage.usage()).server_rss_mb),
    audit_ok: ok,
  })
} finally {
  receiver.stop()
  await stage.stop()
}
