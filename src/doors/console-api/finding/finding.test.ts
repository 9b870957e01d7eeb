import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ConsoleClient, openConsole, signedIn } from '../../../../test/support/console.ts'
import { asAdmin } from '../../../../test/support/database.ts'
import { someCpf, startTestService, type TestService } from '../../../../test/support/service.ts'
import { eventually } from '../../../../test/support/wait.ts'
import { openLogPoller } from '../../../db/log-poller.ts'
import { transaction } from '../../../db/pool.ts'
import { customersByName } from '../../../parties/customers/store.ts'
import { eventLogSource } from '../../../records/events/log-store.ts'
import { recordException } from '../../../records/exceptions/store.ts'
import { openHintHub, publishEvents } from './hints.ts'
import { streamOf } from './streams.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

async function openPartner() {
  const { partner_id, key_id, api } = await service.partner()
  const owner = await signedIn(service, { partner_id, role: 'viewer' })
  const find = async (q: string, client: ConsoleClient = owner) =>
    (await client.get(`/sandbox/search?q=${encodeURIComponent(q)}`)).json.data as {
      id: string
      path: string
    }[]
  return { partner_id, key_id, api, owner, find }
}

async function payoutOf(api: Awaited<ReturnType<typeof openPartner>>['api'], pix_key?: string) {
  const document = someCpf()
  const external_id = `ext-${document}`
  const customer = (await api.post('/v1/customers', { name: 'Zélia Prado', document, external_id })).json
  await api.post('/v1/sandbox/deposits', { customer_id: customer.id, asset: 'BRL', amount: '100000' })
  const idempotency_key = `invoice ${document}`
  const payout = await api.post('/v1/pix/payouts', {
    customer_id: customer.id,
    amount: '1050',
    counterparty: { type: 'pix_key', pix_key: pix_key ?? document },
    idempotency_key,
  })
  return { customer, document, external_id, idempotency_key, payout: payout.json, reply: payout }
}

test('a customer is found by any word of the name, whatever its case and accents', async () => {
  const { api, find } = await openPartner()
  const made = async (name: string) =>
    (await api.post('/v1/customers', { name, document: someCpf() })).json.id
  const ana = await made('Ana Conceição de Souza-Prado')
  const jose = await made("José D'Ávila")
  const found = async (q: string) => (await find(q)).map(({ id }) => id)
  for (const q of ['souza', 'SOUZA', 'prado', 'conceicao', 'Conceição', 'conc', 'prado ana', 'de souza'])
    expect(await found(q), q).toEqual([ana])
  for (const q of ['jose', 'avila', 'Ávila', 'josé d', "d'avila"]) expect(await found(q), q).toEqual([jose])
  for (const q of ['ouza', 'souza lima', 's', '.*', '[a-z]']) expect(await found(q), q).toEqual([])
  const { find: elsewhere } = await openPartner()
  expect(await elsewhere('souza')).toEqual([])
})

test('an object is found by a part of its id, as the console shows it', async () => {
  const { api, find, key_id } = await openPartner()
  const { customer, payout } = await payoutOf(api)
  const found = async (q: string) => (await find(q)).map(({ id }) => id)
  for (const { id } of [customer, payout, { id: key_id }]) {
    const [prefix, tail] = id.split('_')
    const shown = `${prefix}_${tail.slice(0, 4)}…${tail.slice(-5)}`
    for (const q of [
      tail.slice(-5),
      tail.slice(-5).toUpperCase(),
      `…${tail.slice(-5)}`,
      shown,
      shown.replace('…', '...'),
    ])
      expect(await found(q), q).toContain(id)
    expect(await found(`${prefix}_${tail.slice(0, 14)}`)).toEqual([id])
    expect(await found(tail.slice(-4)), 'four characters').not.toContain(id)
  }
  const event = (await api.get('/v1/events')).json.data[0].id
  expect(await found(`evt_${event.slice(4, 8)}…${event.slice(-5)}`)).toEqual([event])
  const { find: elsewhere } = await openPartner()
  expect(await elsewhere(payout.id.slice(-5))).toEqual([])
})

test('an id, a name or another reference leads to the page of its object', async () => {
  const { api, find, key_id } = await openPartner()
  const { customer, document, external_id, idempotency_key, payout, reply } = await payoutOf(api)
  const page = `/sandbox/payouts/${payout.id}`
  for (const q of [payout.id, payout.end_to_end_id, idempotency_key, ` ${payout.id} `])
    expect((await find(q)).map(({ path }) => path)).toEqual([page])
  const person = `/sandbox/customers/${customer.id}`
  for (const q of [customer.id, 'zélia', 'ZÉLIA PRADO', document, external_id])
    expect((await find(q)).map(({ path }) => path)).toEqual([person])
  expect(await find(key_id)).toMatchObject([{ kind: 'key', title: 'test' }])
  await eventually(async () =>
    expect(await find(reply.headers.get('x-request-id')!)).toMatchObject([
      { kind: 'request', title: 'POST /v1/pix/payouts', detail: '201' },
    ]),
  )
})

test('a deposit is found by its id and by the hash of its transaction, also before it is credited', async () => {
  const { api, find } = await openPartner()
  const { customer } = await payoutOf(api)
  const order = { customer_id: customer.id, network: 'polygon', amount: '25009003' }
  const { json } = await api.post('/v1/sandbox/onchain/deposits', order)
  for (const q of [json.id, json.tx_hash, ` ${json.tx_hash.toUpperCase()} `])
    expect(await find(q), q).toMatchObject([{ kind: 'deposit', path: `/sandbox/deposits/${json.id}` }])
  const { find: elsewhere } = await openPartner()
  expect(await elsewhere(json.tx_hash)).toEqual([])
})

test('transfers, quotes, trades, events and endpoints are found too', async () => {
  const { api, find } = await openPartner()
  const { customer } = await payoutOf(api)
  const quote = (
    await api.post('/v1/quotes', {
      customer_id: customer.id,
      from_asset: 'BRL',
      to_asset: 'USDT',
      amount: '50000',
    })
  ).json
  const trade = (await api.post(`/v1/quotes/${quote.id}/execute`)).json
  expect(await find(quote.id)).toMatchObject([{ kind: 'quote', title: 'BRL › USDT', detail: 'executed' }])
  expect(await find(trade.id)).toMatchObject([{ kind: 'trade', path: `/sandbox/trades/${trade.id}` }])
  const transfer = (
    await api.post('/v1/onchain/transfers', {
      customer_id: customer.id,
      asset: 'USDT',
      network: 'polygon',
      amount: '1000000',
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      idempotency_key: 'to the chain',
    })
  ).json
  const confirmed = (await api.post(`/v1/sandbox/onchain/transfers/${transfer.id}/confirm`)).json
  for (const q of [transfer.id, confirmed.tx_hash, 'to the chain'])
    expect(await find(q)).toMatchObject([{ kind: 'transfer', id: transfer.id }])
  const endpoint = (
    await api.post('/v1/webhook_endpoints', { url: 'https://example.com/hook', events: ['*'] })
  ).json
  expect(await find(endpoint.id)).toMatchObject([{ title: 'https://example.com/hook', detail: 'enabled' }])
  const event = (await api.get(`/v1/events?object_id=${trade.id}&after=start&wait=5`)).json.data[0]
  expect(await find(event.id)).toMatchObject([{ kind: 'event', title: 'trade.completed', detail: trade.id }])
})

test('nothing of another partner or of the other environment is found', async () => {
  const { api, owner } = await openPartner()
  const { find } = await openPartner()
  const { customer, document, external_id, idempotency_key, payout } = await payoutOf(api)
  const all = [customer.id, 'Zélia', document, external_id, idempotency_key, payout.id, payout.end_to_end_id]
  for (const q of all) expect(await find(q)).toEqual([])
  expect((await owner.get(`/production/search?q=${payout.id}`)).json.data).toEqual([])
})

test('wildcards, quotes and other special characters find nothing and break nothing', async () => {
  const { api, find } = await openPartner()
  await payoutOf(api)
  for (const q of ['%', '_', '\\', "' OR true --", 'po_', '�']) expect(await find(q)).toEqual([])
  // PostgreSQL rejects text with a NUL, so every query refuses it.
  expect(await find('zéli\0')).toBeUndefined()
})

test('an operator finds the objects of every partner by id', async () => {
  const { api, partner_id } = await openPartner()
  const { customer, payout } = await payoutOf(api)
  const reader = await signedIn(service, { role: 'reader', factor: true })
  const place = `/operator/sandbox/partners/${partner_id}`
  const found = async (q: string) => (await reader.get(`/operator/sandbox/search?q=${q}`)).json.data
  expect(await found(partner_id)).toMatchObject([{ id: partner_id, path: place }])
  expect(await found(customer.id)).toMatchObject([
    { id: customer.id, path: `${place}/customers/${customer.id}` },
  ])
  const page = { kind: 'payout', id: payout.id, path: `${place}/payouts/${payout.id}` }
  expect(await found(payout.id)).toMatchObject([page])
  // By the name that the Pix network gave the payment, and without the name of anybody.
  expect(await found(payout.end_to_end_id)).toMatchObject([page])
  expect(JSON.stringify(await found(payout.id))).not.toContain(customer.name)
  expect((await reader.get(`/operator/production/search?q=${payout.id}`)).json.data).toEqual([])
})

/** Reads a stream of hints for as long as a test needs. */
async function listen(client: ConsoleClient, path: string) {
  const leaving = new AbortController()
  const response = await fetch(`${service.url}/console/api${path}`, {
    headers: { cookie: client.cookie! },
    signal: leaving.signal,
  })
  let text = ''
  const ended = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
  })().catch(() => {})
  const hints = () => [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!))
  return { status: response.status, text: () => text, hints, ended, leave: () => leaving.abort() }
}

test('an event is hinted to its own partner, and to no other', async () => {
  const [one, other] = [await openPartner(), await openPartner()]
  const [told, untold] = [
    await listen(one.owner, '/sandbox/stream'),
    await listen(other.owner, '/sandbox/stream'),
  ]
  await eventually(async () => expect(told.text()).toContain(': live'))
  const { payout, customer } = await payoutOf(one.api)
  await eventually(async () => {
    expect(told.hints()).toContainEqual({ kind: 'payout', id: payout.id })
    expect(told.hints()).toContainEqual({ kind: 'customer', id: customer.id })
  })
  const later = await payoutOf(other.api)
  await eventually(async () => expect(untold.hints()).toContainEqual({ kind: 'payout', id: later.payout.id }))
  expect(JSON.stringify(untold.hints())).not.toContain(payout.id)
  expect(JSON.stringify(told.hints())).not.toContain(later.payout.id)
  told.leave()
  untold.leave()
})

test('every event after a stream says that it is live is hinted, however long the first read takes', async () => {
  const { api, partner_id } = await openPartner()
  const world = service.worlds.sandbox
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const query = (async (...asked: [string]) => {
    await released
    return world.reads.query(...asked)
  }) as typeof world.reads.query
  const slow = { ...world, reads: { query } as typeof world.reads }
  const poller = openLogPoller(eventLogSource(world.reads), pino({ level: 'silent' }))
  const leaving = new AbortController()
  const inbox = openHintHub().subscribe('slow', (send, until, begun) =>
    publishEvents(slow, poller, { partner_id, send, until, begun }),
  )
  let text = ''
  const reading = (async () => {
    const { chunks } = await streamOf(inbox, leaving.signal)
    for await (const chunk of chunks) text += chunk
  })()
  const made = eventually(() => expect(text).toContain(': live')).then(async () => {
    const { json } = await api.post('/v1/customers', { name: 'Ana', document: someCpf() })
    return json.id as string
  })
  // Long enough for a stream that does not wait for its first read to say that it is live, and for the customer.
  await Promise.race([made, sleep(2000)])
  release()
  const id = await made
  await eventually(() => expect(text).toContain(id))
  leaving.abort()
  await reading
  await poller.stop()
})

test('no hint is lost when connections to the database break', async () => {
  const { api, owner } = await openPartner()
  const told = await listen(owner, '/sandbox/stream')
  await eventually(async () => expect(told.text()).toContain(': live'))
  await payoutOf(api)
  await eventually(async () => expect(told.hints()).not.toEqual([]))
  await asAdmin(service.database.url, [
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  ])
  const { payout } = await eventually(
    async () => {
      const made = await payoutOf(api)
      expect(made.reply.status).toBe(201)
      return made
    },
    { timeout: 60_000 },
  )
  await eventually(async () => expect(told.hints()).toContainEqual({ kind: 'payout', id: payout.id }), {
    timeout: 60_000,
  })
  told.leave()
})

test('an operator gets a hint when an exception is opened', async () => {
  const reader = await signedIn(service, { role: 'reader', factor: true })
  const told = await listen(reader, '/operator/sandbox/stream')
  const { db, clock } = service.worlds.sandbox
  let opened = 0
  await eventually(
    async () => {
      const object_id = `po_${++opened}`
      await recordException(db, clock, {
        kind: 'stuck',
        rail: 'pix',
        object_id,
        partner_id: null,
        details: {},
      })
      expect(told.hints()).toContainEqual({ kind: 'exceptions' })
    },
    { timeout: 60_000, interval: 1000 },
  )
  expect(told.hints()).not.toContainEqual({ kind: 'proposals' })
  told.leave()
})

test('a name is searched along its index', async () => {
  const { partner_id } = await openPartner()
  const plan = await transaction(service.worlds.sandbox.db, async (tx) => {
    await tx.query('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off')
    const explaining = { query: (text: string, values: unknown[]) => tx.query(`EXPLAIN ${text}`, values) }
    return customersByName(explaining as never, { partner_id, begins: 'zél', limit: 5 })
  })
  expect(JSON.stringify(plan)).toMatch(/Index Scan using customers_by_name/)
  expect(JSON.stringify(plan)).not.toMatch(/Sort/)
})

test('a user has at most twelve streams, over all sessions', async () => {
  const { owner } = await openPartner()
  const { user, password } = owner.person
  const elsewhere = openConsole(service.url)
  await elsewhere.signIn(user.email, password)
  const both = Array.from({ length: 12 }, (_, i) => listen(i % 2 ? owner : elsewhere, '/sandbox/stream'))
  const streams = await Promise.all(both)
  expect(streams.map(({ status }) => status)).toEqual(Array(12).fill(200))
  const refused = await owner.get('/sandbox/stream')
  expect(refused.json.error.code).toBe('rate_limit_exceeded')
  expect(refused.headers.get('retry-after')).toBe('5')
  streams[0]!.leave()
  await eventually(async () => {
    const again = await listen(owner, '/sandbox/stream')
    again.leave()
    expect(again.status).toBe(200)
  })
  for (const { leave } of streams) leave()
})

test('a slow reader gets a single hint for many changes', async () => {
  const never = new AbortController().signal
  let tell: (id: number) => void = () => {}
  const inbox = openHintHub().subscribe('many', async (to) => {
    tell = (id) => to({ kind: 'payout', id: `po_${id}` })
  })
  for (let id = 0; id < 3; id++) tell(id)
  tell(0)
  expect(await inbox.take(0, never)).toHaveLength(3)
  for (let id = 0; id < 10_000; id++) tell(id)
  expect(await inbox.take(0, never)).toEqual([{ kind: 'all' }])
  tell(1)
  expect(await inbox.take(0, never)).toEqual([{ kind: 'payout', id: 'po_1' }])
})

test("a user of a partner cannot open the operator's stream", async () => {
  const { owner } = await openPartner()
  expect((await owner.get('/operator/sandbox/stream')).json.error.code).toBe('route_not_found')
  expect((await owner.get('/operator/sandbox/search?q=x')).json.error.code).toBe('route_not_found')
})

test('streams end by themselves when the node stops', async () => {
  const own = await startTestService()
  const { partner_id } = await own.partner()
  const viewer = await signedIn(own, { partner_id, role: 'viewer' })
  const response = await fetch(`${own.url}/console/api/sandbox/stream`, {
    headers: { cookie: viewer.cookie! },
  })
  const whole = response.text()
  await own.stop()
  // This would reject if the stream were cut off.
  expect(await whole).toContain(': live')
})
