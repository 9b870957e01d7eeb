import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/node/config.ts'
import { isAllowedAddress } from '../../src/webhooks/address.ts'
import { attempt, isDelivered } from '../../src/webhooks/attempt.ts'
import { dnsResolver, openEgress } from '../../src/webhooks/outside.ts'
import { servicePorts } from '../../src/webhooks/ports.ts'
import { refusalOfUrl } from '../../src/webhooks/url.ts'
import type { Api } from '../support/api.ts'
import { type UrlCase, webhookUrls } from '../support/corpora.ts'
import { asAdmin } from '../support/database.ts'
import { expectIntact } from '../support/intact.ts'
import { type NameServer, openNameServer } from '../support/name-server.ts'
import { inParallel } from '../support/parallel.ts'
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
  service = await startTestService({
    WEBHOOK_DNS: names.address,
    WEBHOOK_RETRY_MS: '10',
    WEBHOOK_DENY: '9.9.9.0/24, 2620:fe::/48',
  })
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
  const results = await inParallel(partners, 2, async ({ api }, i) => {
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
    `${reachable.length} URLs of this machine, of private, link-local, metadata and reserved addresses, in every spelling and behind names that resolve to them, each delivered to twice without the check at creation: a listener on every address of the machine saw ${knocks} connections`,
  )
}, 300_000)

const newEndpoint = async (api: Api): Promise<string> =>
  (await api.post('/v1/webhook_endpoints', { url: 'https://example.com/', events: ['deposit.completed'] }))
    .json.id

test('a name that nobody knows and one that leads inside are told alike, by words and by time', async () => {
  const { api } = await service.partner()
  const asked = ['nothing.attacker.test', 'localtest.me', 'azure.attacker.test', 'denied.attacker.test']
  const made = []
  for (const host of asked) {
    const body = { url: `https://${host}/`, events: ['deposit.completed'] }
    made.push(await api.post('/v1/webhook_endpoints', body))
  }
  expect(made.map(({ status }) => status)).toEqual(asked.map(() => 201))
  const event = (await api.post('/v1/sandbox/events/deposit.completed')).json
  const attempts = await Promise.all(
    made.map(async ({ json: { id } }) => {
      const path = `/v1/webhook_endpoints/${id}/deliveries/${event.id}`
      await until(async () => (await api.get(path)).json.status === 'exhausted', 20_000)
      return (await api.get(path)).json.attempts
    }),
  )
  for (const { error, answer, duration_ms } of attempts.flat()) {
    expect([error, answer]).toEqual(['the URL has a host without a public address', undefined])
    // Not a millisecond that a name server saved can be seen.
    expect(duration_ms).toBeGreaterThanOrEqual(499)
  }
  const refusals = []
  for (const host of [
    '10.0.0.1',
    'localhost',
    'db.internal',
    'printer',
    '168.63.129.16',
    '9.9.9.9',
    '[::1]',
  ]) {
    const refused = await api.post('/v1/webhook_endpoints', { url: `https://${host}/`, events: ['*'] })
    refusals.push([refused.status, refused.json.error.code, refused.json.error.message])
  }
  expect(new Set(refusals.map(String)).size).toBe(1)
  expect(refusals[0]![2]).toContain('url has a host without a public address')
})

test('the listener does hear whoever connects', async () => {
  const before = knocks
  const { port } = listener.address() as AddressInfo
  await fetch(`http://${own}:${port}/`).catch(() => {})
  await fetch(`http://127.0.0.1:${port}/`).catch(() => {})
  expect(knocks).toBe(before + 2)
})

/** Two servers on one port, on two addresses of this machine; another program may have the port on the second one. */
async function openBoth(onConnection: () => void) {
  for (;;) {
    const outer = await openReceiver(undefined, { host: '127.0.0.2' })
    const { port } = new URL(outer.url)
    const inner = createServer((socket) => socket.destroy())
    inner.on('connection', onConnection)
    inner.listen(Number(port), '127.0.0.1')
    const listens = await once(inner, 'listening').then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE') throw error
        return false
      },
    )
    if (listens) return { outer, inner, port }
    await outer.stop()
  }
}

test('a name that changes its mind between two questions never leads inside', async () => {
  const DELIVERIES = size(200, 60)
  // 127.0.0.2 stands for the public internet here, 127.0.0.1 for our own network.
  let inside = 0
  const { outer, inner, port } = await openBoth(() => inside++)
  let turn = 0
  const rebinding = await openNameServer((name, type) => {
    if (type === 'A') turn++
    return name.startsWith('rebind-mixed')
      ? ['127.0.0.2', '127.0.0.1']
      : [turn % 2 === 0 ? '127.0.0.2' : '127.0.0.1']
  })
  const resolve = dnsResolver({ servers: [rebinding.address], allow_private: false })
  const allows = (address: string) => address === '127.0.0.2'
  const egress = openEgress({ resolve, allows, connect_ms: 20_000, refusal_ms: 10 })
  const post = (url: string) => attempt(egress.agent, { url, headers: {}, body: '{}', timeout_ms: 30_000 })
  try {
    // A name of its own each time, so that no connection is used again.
    const answers = await inParallel(Array.from({ length: DELIVERIES }), 5, (_, i) =>
      post(`http://rebind${i}.test:${port}/`),
    )
    const delivered = answers.filter(isDelivered).length
    const refused = answers.filter(({ error }) => error?.includes('without a public address')).length
    expect(delivered + refused).toBe(DELIVERIES)
    expect(Math.min(delivered, refused)).toBeGreaterThan(0)
    expect(outer.received).toHaveLength(delivered)
    for (let i = 0; i < 5; i++)
      expect(isDelivered(await post(`http://rebind-mixed${i}.test:${port}/`))).toBe(false)
    expect(inside).toBe(0)
    // One and the same name: whatever connection is kept, it stays with the address that was judged.
    const same = await inParallel(Array.from({ length: DELIVERIES }), 5, () =>
      post(`http://rebind.test:${port}/`),
    )
    expect(same.some(isDelivered)).toBe(true)
    expect(inside).toBe(0)
    noteFact(
      `${2 * DELIVERIES} deliveries to names whose server answers a public and an internal address by turns: ${delivered + same.filter(isDelivered).length} went to the public one, the rest were refused, ${inside} connections inside`,
    )
  } finally {
    await egress.stop()
    await rebinding.stop()
    await outer.stop()
    inner.close()
  }
})

test('of a name with thousands of addresses a few are judged, and the others are never gone to', async () => {
  const receiver = await openReceiver()
  const { port } = new URL(receiver.url)
  const resolve = async () => [
    '127.0.0.1',
    ...Array.from({ length: 4000 }, (_, i) => `8.8.${i >> 8}.${i & 255}`),
  ]
  let judged = 0
  const allows = () => ++judged > 0
  const egress = openEgress({ resolve, allows, connect_ms: 20_000 })
  try {
    const url = `http://many.test:${port}/`
    const answer = await attempt(egress.agent, {
      url,
      headers: {},
      body: '{}',
      timeout_ms: 30_000,
    })
    expect(isDelivered(answer)).toBe(true)
    expect(judged).toBeLessThan(100)
  } finally {
    await egress.stop()
    await receiver.stop()
  }
})

const [closed, open] = [{ allow_private: false }, { allow_private: true }]

describe('with WEBHOOK_ALLOW_PRIVATE', () => {
  test.each(['127.0.0.1', '10.1.2.3', '172.20.0.1', '192.168.1.1', '::1', 'fd12::1', '::ffff:10.0.0.1'])(
    '%s may be reached',
    (address) =>
      expect([isAllowedAddress(address, closed), isAllowedAddress(address, open)]).toEqual([false, true]),
  )

  test.each([
    '169.254.169.254',
    '169.254.0.1',
    '::ffff:169.254.169.254',
    'fe80::1',
    'fe80::1%lo',
    'fd00:ec2::254',
    '100.100.100.200',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    'fd00:c1::a9fe:a9fe',
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
  ])('%s never', (address) => expect(isAllowedAddress(address, open)).toBe(false))

  test.each(['8.8.8.8', '93.184.216.34', '2606:4700::1111', '2a00:1450:4001:81b::200e', '::ffff:8.8.8.8'])(
    '%s always',
    (address) => expect(isAllowedAddress(address, closed)).toBe(true),
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

describe('ports', () => {
  const refused = (port: number, rules: { allow_http: boolean; allow_private: boolean }) =>
    refusalOfUrl(`https://example.com:${port}/`, rules) !== undefined
  const production = { allow_http: false, allow_private: false }
  const sandbox = { allow_http: true, allow_private: false }

  test('443, 8443 and free ones from 1024 on are for the web; 80 is in the sandbox', () => {
    for (const port of [443, 8443, 1024, 3000, 8000, 8080, 9443, 40_000, 65_535])
      expect([port, refused(port, production), refused(port, sandbox)]).toEqual([port, false, false])
    expect([refused(80, production), refused(80, sandbox)]).toEqual([true, false])
    for (const port of [1, 22, 25, 81, 442, 444, 1023, ...Object.values(servicePorts).flat()])
      expect([port, refused(port, production), refused(port, sandbox)]).toEqual([port, true, true])
  })

  test('in development a program may listen on any that is not reserved', () => {
    const development = { allow_http: true, allow_private: true }
    for (const port of [80, 5432, 9090, 50_000]) expect(refused(port, development)).toBe(false)
    for (const port of [22, 81, 1023]) expect(refused(port, development)).toBe(true)
  })

  test('the list is the one in the decision', () => {
    const path = '../../docs/decisions/0017-webhook-egress.md'
    const page = readFileSync(new URL(path, import.meta.url), 'utf8')
    for (const [kind, ports] of Object.entries(servicePorts))
      expect(page).toContain(`| ${kind} | ${ports.join(', ')} |`)
  })
})

test('what the operator denies is denied in development too, and must be written as ranges', () => {
  const denied = readConfig({ WEBHOOK_DENY: '10.1.0.0/16, 2001:db9::/32' }).webhooks.denied
  const reach = { allow_private: true, denied }
  expect(isAllowedAddress('10.1.2.3', reach)).toBe(false)
  expect(isAllowedAddress('::ffff:10.1.2.3', reach)).toBe(false)
  expect(isAllowedAddress('10.2.2.3', reach)).toBe(true)
  expect(isAllowedAddress('2001:db9::1', reach)).toBe(false)
  for (const wrong of ['example.com', '10.0.0.1/8', '10.0.0.0/33', '10.0.0.0-10.0.0.9'])
    expect(() => readConfig({ WEBHOOK_DENY: wrong })).toThrow(/WEBHOOK_DENY has/)
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
