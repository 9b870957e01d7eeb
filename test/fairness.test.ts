import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomLimits } from '../src/limits/tiers.ts'
import { editPartner } from '../src/partners/partners.ts'
import { type Attacker, startAttack } from './support/attacker.ts'
import type { Counts } from './support/attacks/pace.ts'
import { type Ask, openPayers } from './support/payers.ts'
import { noteFact } from './support/proof.ts'
import { openReceiver, type Receiver } from './support/receiver.ts'
import { someCpf } from './support/service.ts'
import { size } from './support/size.ts'
import { openStage, type Stage } from './support/stage.ts'
import { until } from './support/wait.ts'

/**
 * Whoever misbehaves is alone with it. A partner pays and gets its webhooks, with nobody else there, then beside an attacker,
 * then alone again: a machine is not as fast at one time as at another. In the small size only that everything arrives is
 * judged: how long it took is judged on a quiet machine.
 */
const SLICES = size(6, 2)
const SLICE_MS = size(12_000, 1500)
const PAYERS = 4
const PAUSE_MS = 80
const WITHIN = 2

let stage: Stage
let url: string
const receivers: Receiver[] = []
const attackers: Attacker[] = []
beforeAll(async () => {
  // The attacker speaks for a whole network through what passes for a proxy.
  stage = await openStage({
    nodes: 0,
    env: { WEBHOOK_ALLOW_PRIVATE: 'true', TRUST_PROXY: '127.0.0.1/32' },
  })
  url = (await stage.start()).url
})
afterAll(async () => {
  await Promise.all(attackers.map((attacker) => attacker.stop().catch(() => {})))
  await stage.stop()
  for (const receiver of receivers) await receiver.stop()
})

/** A partner with its customer, its money and its receiver. */
async function openPartner(limits?: Partial<CustomLimits>) {
  const { key, api, partner_id } = await stage.partner(url)
  if (limits) await editPartner(stage.shared, partner_id, limits)
  const pix_key = someCpf()
  const customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document: pix_key })).json.id
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1000000000' })
  const receiver = await openReceiver()
  receivers.push(receiver)
  await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['pix.payout.completed'] })
  return { api, partner_id, key, customer_id, pix_key, receiver }
}

type Victim = Awaited<ReturnType<typeof openPartner>>
type Slice = { readonly asks: readonly Ask[]; readonly lags: readonly number[] }
let crowds = 0

/** Pays for a while, and waits for the webhook of every payout. */
async function observe({ key, customer_id, pix_key, receiver }: Victim): Promise<Slice> {
  const before = receiver.received.length
  const prefix = `crowd-${++crowds}`
  const load = { nodes: [url], key, customer_id, pix_key, payers: PAYERS, pause_ms: PAUSE_MS, prefix }
  const payers = openPayers(load)
  await sleep(SLICE_MS)
  await payers.stop()
  const ids = new Set(payers.acknowledged.map(({ id }) => id))
  const told = () => receiver.received.slice(before).filter(({ json }) => ids.has(json.data.object.id))
  await until(() => new Set(told().map(({ json }) => json.id)).size >= ids.size, 30_000)
  return { asks: payers.asks, lags: told().map(({ at, json }) => at - Date.parse(json.created_at)) }
}

async function observeOften(victim: Victim, slices: number): Promise<Slice[]> {
  const seen: Slice[] = []
  for (let i = 0; i < slices; i++) seen.push(await observe(victim))
  return seen
}

/** How an attack begins, and what its end leaves behind and must go before anybody is alone again. */
type Attack = { begin(): Attacker; clear?(): Promise<void> }
type Observed = {
  readonly quiet: readonly Slice[]
  readonly beside: readonly Slice[]
  readonly counts: Counts
}

async function observeBeside(victim: Victim, { begin, clear }: Attack): Promise<Observed> {
  await observe(victim)
  const before = await observeOften(victim, SLICES / 2)
  const attacker = begin()
  attackers.push(attacker)
  await until(() => attacker.output() !== '', 30_000)
  // Under way for a while before anything is measured beside it.
  await sleep(size(8000, 1000))
  const beside = await observeOften(victim, SLICES)
  const counts = await attacker.stop()
  await clear?.()
  const after = await observeOften(victim, SLICES / 2)
  return { quiet: [...before, ...after], beside, counts }
}

const at = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!
/** Of all slices the middle one: what else the machine did in one of them does not count. */
const typical = (slices: readonly Slice[], share: number, values: (slice: Slice) => readonly number[]) =>
  at(
    slices.map((slice) => at(values(slice), share)),
    0.5,
  )
const durations = ({ asks }: Slice) => asks.map(({ ms }) => ms)
const lagsOf = ({ lags }: Slice) => lags

function judge(who: string, { quiet, beside, counts }: Observed): void {
  const asks = [...quiet, ...beside].flatMap((slice) => slice.asks)
  expect(asks.filter(({ status }) => status !== 201)).toEqual([])
  const figures = [
    { what: 'payout', values: durations },
    { what: 'webhook lag', values: lagsOf },
  ].map(({ what, values }) => {
    const shown = (share: number) =>
      `${typical(quiet, share, values).toFixed(0)} → ${typical(beside, share, values).toFixed(0)} ms`
    const ratio = typical(beside, 0.99, values) / typical(quiet, 0.99, values)
    return { what, ratio, text: `${what} p50 ${shown(0.5)}, p99 ${shown(0.99)} (× ${ratio.toFixed(2)})` }
  })
  const done = Object.entries(counts)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, count]) => `${count} × ${what}`)
  noteFact(
    `${asks.length} payouts of a partner, quiet and beside ${who}: ${figures.map(({ text }) => text).join('; ')}. The attacker counted ${done.join(', ')}`,
  )
  if (process.env.PROVE)
    for (const { what, ratio } of figures) expect(ratio, what).toBeLessThanOrEqual(WITHIN)
}

/** Its receivers would be tried for days to come. */
async function removeEndpoints({ api, partner_id }: Victim): Promise<void> {
  await editPartner(stage.shared, partner_id, { per_minute: 100_000 })
  const endpoints = async () => (await api.get('/v1/webhook_endpoints?limit=100')).json.data
  await until(async () => (await endpoints()) !== undefined, 90_000)
  for (const { id } of await endpoints())
    expect((await api.delete(`/v1/webhook_endpoints/${id}`)).status).toBe(204)
}

test('a client without a key delays nobody’s payouts and webhooks, whatever it sends and from wherever', {
  timeout: 400_000,
}, async () => {
  const victim = await openPartner()
  const observed = await observeBeside(victim, { begin: () => startAttack('stranger', [url]) })
  const { counts } = observed
  expect((counts['401'] ?? 0) + (counts['429'] ?? 0)).toBeGreaterThan(size(1000, 0))
  expect(counts['500'] ?? 0).toBe(0)
  judge('a client without a key', observed)
})

test('a hostile partner delays nobody else’s payouts and webhooks, with floods, dear reads and receivers that hang', {
  timeout: 400_000,
}, async () => {
  const victim = await openPartner()
  // Six times what the largest tier may ask for, and as many look-ups as everybody.
  const hostile = await openPartner({ per_minute: 3000, lookup_per_minute: 20 })
  const observed = await observeBeside(victim, {
    begin: () => startAttack('partner', [url, hostile.key, hostile.customer_id, hostile.pix_key]),
    clear: () => removeEndpoints(hostile),
  })
  expect(observed.counts['201']).toBeGreaterThan(0)
  expect(observed.counts['500'] ?? 0).toBe(0)
  judge('a hostile partner with 3,000 requests a minute', observed)
})
