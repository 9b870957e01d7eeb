import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAllowedAddress } from '../../src/webhooks/address.ts'
import { attempt, isDelivered } from '../../src/webhooks/attempt.ts'
import { dnsResolver, openOutside } from '../../src/webhooks/outside.ts'
import { refusalOfUrl } from '../../src/webhooks/url.ts'
import type { Api } from '../support/api.ts'
import { type UrlCase, webhookUrls } from '../support/corpora.ts'
import { crowd } from '../support/crowd.ts'
import { asAdmin } from '../support/database.ts'
import { expectIntact } from '../support/intact.ts'
import { type NameServer, openNameServer } from '../support/name-server.ts'
import { noteFact } from '../support/proof.ts'
import { openReceiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { size } from '../support/size.ts'
import { until } from '../support/wait.ts'

/** Nothing that a partner gives, and nothing that its name servers say, makes us connect to an address of our own. */
const PER_PARTNER = 20

const own =
  Object.values(networkInterfaces())
    .flat()
    .find((each) => each && !each.internal && each.family === 'IPv4')?.address ?? '127.0.0.1'

/** On every address of this machine; counts whoever knocks. */
const listener = createServer((socket) => socket.destroy())
let knocks = 0
listener.on('connection', () => knocks++)

let service: TestService
let names: NameServer
let cases: readonly UrlCase[]
beforeAll(async () => {
  listener.listen(0, '::')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const fill = (text: string) => text.replaceAll('{{port}}', String(port)).replaceAll('{{own}}', own)
  cases = webhookUrls.map((one) => ({
    ...one,
    url: fill(one.url),
    ...(one.dns ? { dns: one.dns.map(fill) } : {}),
  }))
  const known = new Map(
    cases.flatMap(({ url, dns }) => (dns ? [[new URL(url).hostname.replace(/\.$/, ''), dns] as const] : [])),
  )
  names = await openNameServer((name) => known.get(name) ?? [])
  service = await startTestService({ WEBHOOK_DNS: names.address, WEBHOOK_RETRY_MS: '10' })
})
afterAll(async () => {
  await service.stop()
  await names.stop()
  listener.close()
})

test('the corpus has names of its own, and is large enough', () => {
  expect(webhookUrls.length).toBeGreaterThanOrEqual(140)
  expect(new Set(webhookUrls.map(({ name }) => name)).size).toBe(webhookUrls.length)
})

test('a URL that can never be reached is refused when it is given, and the field is named', async () => {
  const { api } = await service.partner()
  const live = await service.partner({ environment: 'production' })
  const made: string[] = []
  for (const { name, url, refused } of cases) {
    for (const client of [api, live.api]) {
      const reply = await client.post('/v1/webhook_endpoints', { url, events: ['*'] })
      if (refused === 'at creation' || (client === live.api && url.startsWith('http:'))) {
        // What is no JSON to begin with has no field to be named.
        const { param, code } = reply.json.error ?? {}
        expect([name, reply.status, code === 'invalid_json' || param]).toEqual([
          name,
          400,
          url.includes('\0') || 'url',
        ])
      } else {
        expect([name, reply.status]).toEqual([name, 201])
        made.push(name)
        await client.delete(`/v1/webhook_endpoints/${reply.json.id}`)
      }
    }
  }
  expect(made.length).toBeGreaterThan(20)
  const { id } = (await api.post('/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] }))
    .json
  const patched = await api.patch(`/v1/webhook_endpoints/${id}`, { url: 'http://127.0.0.1/' })
  expect(patched.json.error.param).toBe('url')
})

test('nobody connects to any of them, also when they are in the database already', async () => {
  // Those that the parser takes at all, put past every check that is made when a URL is given.
  const reachable = cases.filter(
    ({ url }) => URL.canParse(url) && /^https?:/.test(url) && !url.includes('\0'),
  )
  const asked_before = names.queries()
  const partners = await Promise.all(
    Array.from({ length: Math.ceil(reachable.length / PER_PARTNER) }, () => service.partner()),
  )
  const results = await crowd(partners, 2, async ({ api }, i) => {
    const part = reachable.slice(i * PER_PARTNER, (i + 1) * PER_PARTNER)
    const made: string[] = []
    for (const _ of part) made.push(await newEndpoint(api))
    const rows = part.map(({ url }, n) => `('${made[n]}', '${url.replaceAll("'", "''")}')`)
    await asAdmin(service.database.url, [
      `UPDATE sandbox.webhook_endpoints w SET url = v.url FROM (VALUES ${rows.join(', ')}) AS v (id, url) WHERE w.id = v.id`,
    ])
    const event = (await api.post('/v1/sandbox/events/deposit.completed')).json
    return Promise.all(
      made.map(async (id, n) => {
        const path = `/v1/webhook_endpoints/${id}/deliveries/${event.id}`
        await until(async () => (await api.get(path)).json.status === 'exhausted', 20_000)
        return { name: part[n]!.name, attempts: (await api.get(path)).json.attempts }
      }),
    )
  })
  const all = results.flat()
  expect(all).toHaveLength(reachable.length)
  for (const { name, attempts } of all) {
    expect(attempts, name).toHaveLength(2)
    for (const { answer, error } of attempts)
      expect([name, answer, typeof error]).toEqual([name, undefined, 'string'])
  }
  expect(names.queries()).toBeGreaterThan(asked_before + 20)
  expect(knocks).toBe(0)
  noteFact(
    `${reachable.length} URLs of this machine, of private, link-local, metadata and reserved addresses, in every spelling and behind names that resolve to them, each delivered to twice past the check at creation: a listener on every address of the machine saw ${knocks} connections`,
  )
}, 120_000)

const newEndpoint = async (api: Api): Promise<string> =>
  (await api.post('/v1/webhook_endpoints', { url: 'https://example.com/', events: ['deposit.completed'] }))
    .json.id

test('the listener does hear whoever connects', async () => {
  const before = knocks
  const { port } = listener.address() as AddressInfo
  await fetch(`http://${own}:${port}/`).catch(() => {})
  await fetch(`http://127.0.0.1:${port}/`).catch(() => {})
  expect(knocks).toBe(before + 2)
})

test('a name that changes its mind between two questions never leads inside', async () => {
  const DELIVERIES = size(200, 60)
  // 127.0.0.2 stands for the public internet here, 127.0.0.1 for our own network.
  const outer = await openReceiver(undefined, { host: '127.0.0.2' })
  const { port } = new URL(outer.url)
  const inner = createServer((socket) => socket.destroy())
  let inside = 0
  inner.on('connection', () => inside++)
  inner.listen(Number(port), '127.0.0.1')
  await once(inner, 'listening')
  let turn = 0
  const rebinding = await openNameServer((name, type) => {
    if (type === 'A') turn++
    return name.startsWith('rebind-mixed')
      ? ['127.0.0.2', '127.0.0.1']
      : [turn % 2 === 0 ? '127.0.0.2' : '127.0.0.1']
  })
  const resolve = dnsResolver({ servers: [rebinding.address], allow_private: false })
  const allows = (address: string) => address === '127.0.0.2'
  const outside = openOutside({ resolve, allows, connect_ms: 1000 })
  const post = (url: string) =>
    attempt(outside.agent, { url, headers: {}, body: '{}', timeout_ms: 2000, cutter: new AbortController() })
  try {
    // A name of its own each time, so that no connection is used again.
    const answers = await crowd(Array.from({ length: DELIVERIES }), 5, (_, i) =>
      post(`http://rebind${i}.test:${port}/`),
    )
    const delivered = answers.filter(isDelivered).length
    const refused = answers.filter(({ error }) => error?.includes('is not a public address')).length
    expect(delivered + refused).toBe(DELIVERIES)
    expect(Math.min(delivered, refused)).toBeGreaterThan(0)
    expect(outer.received).toHaveLength(delivered)
    for (let i = 0; i < 5; i++)
      expect(isDelivered(await post(`http://rebind-mixed${i}.test:${port}/`))).toBe(false)
    expect(inside).toBe(0)
    // One and the same name: whatever connection is kept, it stays with the address that was judged.
    const same = await crowd(Array.from({ length: DELIVERIES }), 5, () => post(`http://rebind.test:${port}/`))
    expect(same.some(isDelivered)).toBe(true)
    expect(inside).toBe(0)
    noteFact(
      `${2 * DELIVERIES} deliveries to names whose server answers a public and an internal address by turns: ${delivered + same.filter(isDelivered).length} went to the public one, the rest were refused, ${inside} connections inside`,
    )
  } finally {
    await outside.stop()
    await rebinding.stop()
    await outer.stop()
    inner.close()
  }
})

describe('with WEBHOOK_ALLOW_PRIVATE', () => {
  test.each(['127.0.0.1', '10.1.2.3', '172.20.0.1', '192.168.1.1', '::1', 'fd12::1', '::ffff:10.0.0.1'])(
    '%s may be reached',
    (address) =>
      expect([isAllowedAddress(address, false), isAllowedAddress(address, true)]).toEqual([false, true]),
  )

  test.each([
    '169.254.169.254',
    '169.254.0.1',
    '::ffff:169.254.169.254',
    'fe80::1',
    'fe80::1%lo',
    'fd00:ec2::254',
    '100.100.100.200',
    '192.0.0.192',
    '100.64.0.1',
    '0.0.0.0',
    '::',
    '224.0.0.1',
    '255.255.255.255',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    'nonsense',
    '',
  ])('%s never', (address) => expect(isAllowedAddress(address, true)).toBe(false))

  test.each(['8.8.8.8', '93.184.216.34', '2606:4700::1111', '2a00:1450:4001:81b::200e', '::ffff:8.8.8.8'])(
    '%s always',
    (address) => expect(isAllowedAddress(address, false)).toBe(true),
  )

  test('names nearby may be given, those of metadata never', () => {
    const rules = { allow_http: true, allow_private: true }
    for (const url of [
      'http://localhost:3000/',
      'http://app:3000/',
      'http://127.0.0.1:3000/',
      'http://[::1]:3000/',
    ])
      expect(refusalOfUrl(url, rules)).toBeUndefined()
    for (const url of ['http://metadata/', 'http://metadata.google.internal/', 'http://169.254.169.254/'])
      expect(refusalOfUrl(url, rules)).toBeDefined()
  })
})

test.each([
  'https://example.com/',
  'https://example.com',
  'https://example.com:8443/a/b?c=d&e=%20',
  'https://sub.example.co.uk/hook',
  'https://xn--exmple-cua.com/',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'http://example.com:3000/',
  `https://example.com/${'a'.repeat(2000)}`,
])('%s is a good URL', (url) => {
  expect(refusalOfUrl(url, { allow_http: true, allow_private: false })).toBeUndefined()
})

test('afterwards the books are right', () => expectIntact(service))
