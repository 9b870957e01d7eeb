import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Api, openApi } from '../../../test/support/api.ts'
import { asAdmin, createDatabase, holdLock } from '../../../test/support/database.ts'
import { startNode } from '../../../test/support/node.ts'
import {
  openDirectAccess,
  someCpf,
  spawnServer,
  startTestService,
  type TestService,
  testEnv,
} from '../../../test/support/service.ts'
import { size } from '../../../test/support/size.ts'
import { promptly, until } from '../../../test/support/wait.ts'
import { scopes } from '../../core/actor.ts'
import { Refusal } from '../../core/errors.ts'
import { money } from '../../core/money.ts'
import { endpoints } from '../../doors/api/endpoints.ts'
import { deposit } from '../../money/deposits/deposits.ts'
import type { Service } from '../../node/serve.ts'
import { createKey, onBehalfOf, revokeKey, rotateKey } from './keys.ts'
import { listKeys } from './store.ts'
import { hashKeyValue } from './value.ts'

/** Two servers on one database: one trusts the proxy on this machine, the other trusts none. */
let service: TestService
let plain: Service
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: '127.0.0.1' })
  plain = await startNode(service.database.url)
})
afterAll(async () => {
  await plain.stop()
  await service.stop()
})

const codeOf = async (
  url: string,
  authorization: string | undefined,
  headers: Record<string, string> = {},
) => {
  const reply = await openApi(url, undefined).send('GET', '/v1/usage', {
    headers: { ...(authorization === undefined ? {} : { authorization }), ...headers },
  })
  if (reply.status === 401) expect(reply.json.error.type).toBe('authentication_error')
  return reply.status === 200 ? 'welcome' : reply.json.error.code
}
const answer = (url: string, value: string) => codeOf(url, `Bearer ${value}`)

describe('interface §5, item 6: the answer to a request without a good key', () => {
  test('no header', async () => {
    expect(await codeOf(service.url, undefined)).toBe('missing_authorization')
  })

  test('a header without a key, or with an unknown key', async () => {
    const { key } = await service.partner()
    for (const header of [
      '',
      'Bearer',
      'Bearer  ',
      key,
      `Basic ${key}`,
      `Bearer ${key} ${key}`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key}0`,
      `Bearer ${key.toUpperCase()}`,
      `Bearer ${key.replace('test', 'live')}`,
      `Bearer svc_test_sk_${'x'.repeat(43)}`,
      'Bearer svc_test_sk_',
      'Bearer null',
    ]) {
      expect(await codeOf(service.url, header), header).toBe('invalid_api_key')
    }
  })

  test('a revoked key', async () => {
    const { key, key_id } = await service.partner()
    expect(await answer(service.url, key)).toBe('welcome')
    await revokeKey(service.worlds.sandbox, key_id)
    await promptly(async () => (await answer(service.url, key)) === 'revoked_api_key', 1000)
  })

  test('the scheme is case-insensitive', async () => {
    const { key } = await service.partner()
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
      expect(await codeOf(service.url, `${scheme} ${key}`)).toBe('welcome')
    }
  })

  test('a short form is refused, and the message shows the form of a key', async () => {
    const { key } = await service.partner()
    const secret = key.replace('svc_test_sk_', '')
    for (const short of [`sk_test_${secret}`, `sk_live_${secret}`, `test_sk_${secret}`, secret]) {
      const reply = await openApi(service.url, short).get('/v1/usage')
      expect(reply.json.error.code).toBe('invalid_api_key')
      expect(reply.json.error.message).toMatch(/svc_live_sk_… or svc_test_sk_….*Authorization: Bearer/)
      expect(reply.text).not.toContain(secret)
    }
  })
})

test('interface §5, item 2: a key works in the environment of its prefix only', async () => {
  const sandbox = await service.partner()
  const live = await service.partner({ environment: 'production', partner_id: sandbox.partner_id })
  expect(sandbox.key).toMatch(/^svc_test_sk_[A-Za-z0-9]{32,}$/)
  expect(live.key).toMatch(/^svc_live_sk_[A-Za-z0-9]{32,}$/)
  const ids: string[] = []
  for (const { api } of [sandbox, live]) {
    const { status, json } = await api.post('/v1/customers', { name: 'Ana', document: '52998224725' })
    expect(status).toBe(201)
    ids.push(json.id)
  }
  const listed = async (api: Api) =>
    (await api.get('/v1/customers')).json.data.map(({ id }: { id: string }) => id)
  expect(await listed(sandbox.api)).toEqual([ids[0]])
  expect(await listed(live.api)).toEqual([ids[1]])
  expect((await live.api.get(`/v1/customers/${ids[0]}`)).status).toBe(404)
  expect((await sandbox.api.get(`/v1/customers/${ids[1]}`)).status).toBe(404)
  const swapped = (key: string) =>
    key.replace(/_(live|test)_/, (found) => (found === '_live_' ? '_test_' : '_live_'))
  expect(await answer(service.url, swapped(sandbox.key))).toBe('invalid_api_key')
  expect(await answer(service.url, swapped(live.key))).toBe('invalid_api_key')
  const [row] = await asAdmin(service.database.url, [
    `SELECT (SELECT count(*)::int FROM live.api_keys WHERE id = '${sandbox.key_id}') AS live,
            (SELECT count(*)::int FROM sandbox.api_keys WHERE id = '${live.key_id}') AS sandbox`,
  ])
  expect(row).toEqual({ live: 0, sandbox: 0 })
})

describe('contract §5: scopes', () => {
  test('a key has all scopes by default; a call without a scope accepts any key', async () => {
    const { key_id } = await service.partner()
    expect((await listKeys(service.worlds.sandbox.db, { id: key_id }))[0]!.scopes).toEqual(scopes)
    const { key } = await service.partner({ scopes: [] })
    expect(await answer(service.url, key)).toBe('welcome')
  })

  test('an unknown scope or an invalid range is refused', async () => {
    const { partner_id } = await service.partner()
    const made = (wanted: object) =>
      createKey(service.worlds.sandbox, { partner_id, name: 'x', ...wanted }).catch((error) => error)
    for (const wanted of [
      { scopes: ['reed'] },
      { ip_allowlist: ['10.0.0.1/8'] },
      { ip_allowlist: ['10.0.0.0/8', ''] },
      { ip_allowlist: ['example.com'] },
    ]) {
      const error = await made(wanted)
      expect(error).toBeInstanceOf(Refusal)
      expect(error.code).toBe('invalid_request')
    }
    expect(await listKeys(service.worlds.sandbox.db, { partner_id })).toHaveLength(1)
  })
})

describe('interface §5, item 5: an allowlist', () => {
  const list = ['203.0.113.0/24', '192.0.2.7', '2001:db8::/32']

  test('allows the addresses that the trusted proxy names, and no others', async () => {
    const { key } = await service.partner({ ip_allowlist: list })
    const through = (forwarded: string | undefined) =>
      codeOf(service.url, `Bearer ${key}`, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded })
    for (const inside of [
      '203.0.113.9',
      '192.0.2.7',
      '2001:db8::1',
      '::ffff:203.0.113.9',
      '198.51.100.1, 203.0.113.9',
      '203.0.113.9, 127.0.0.1',
    ]) {
      expect(await through(inside), inside).toBe('welcome')
    }
    for (const outside of [
      undefined,
      '198.51.100.1',
      '192.0.2.8',
      '2001:db9::1',
      // The client's own claim comes first; the address that the proxy saw comes last.
      '203.0.113.9, 198.51.100.1',
      '203.0.113.9, nonsense',
    ]) {
      expect(await through(outside), outside).toBe('ip_not_allowed')
    }
  })

  test('checks the address of the connection if no proxy is trusted', async () => {
    const local = await service.partner({ ip_allowlist: ['127.0.0.1'] })
    const remote = await service.partner({ ip_allowlist: list })
    const claim = { 'x-forwarded-for': '203.0.113.9' }
    expect(await codeOf(plain.url, `Bearer ${local.key}`, claim)).toBe('welcome')
    expect(await codeOf(plain.url, `Bearer ${remote.key}`, claim)).toBe('ip_not_allowed')
  })

  test('is checked after the key itself', async () => {
    const { key, key_id } = await service.partner({ ip_allowlist: list })
    await revokeKey(service.worlds.sandbox, key_id)
    await promptly(async () => (await answer(service.url, key)) === 'revoked_api_key', 1000)
  })
})

test('contract §5: a key with an expiry works until then', async () => {
  const { key, partner_id, key_id } = await service.partner({ expires_at: new Date(Date.now() + 3_600_000) })
  expect(await answer(service.url, key)).toBe('welcome')
  await asAdmin(service.database.url, [
    `UPDATE sandbox.api_keys SET expires_at = clock_timestamp() + interval '1.5 seconds' WHERE id = '${key_id}'`,
  ])
  for (const { url } of [service, plain])
    await until(async () => (await answer(url, key)) === 'expired_api_key', 5000)
  const refused = await underKey(partner_id, key_id, key).catch((error) => error)
  expect(refused).toMatchObject({ code: 'expired_api_key' })
})

test('contract §5: a request whose key is revoked while its body arrives gets no stored answer', async () => {
  const { api, key, key_id } = await service.partner()
  const document = someCpf()
  const { id: customer_id } = (await api.post('/v1/customers', { name: 'Ana', document })).json
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1000' })
  const counterparty = { type: 'pix_key', pix_key: document }
  const order = { customer_id, amount: '100', counterparty, idempotency_key: 'before' }
  expect((await api.post('/v1/pix/payouts', order)).status).toBe(201)
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    expect: '100-continue',
  }
  const sending = request(`${service.url}/v1/pix/payouts`, { method: 'POST', headers })
  sending.flushHeaders()
  await once(sending, 'continue')
  sending.write('{')
  await sleep(200) // Long enough for the request to pass the gate.
  await revokeKey(service.worlds.sandbox, key_id)
  await until(async () => (await answer(service.url, key)) === 'revoked_api_key', 5000)
  await sleep(150)
  sending.end(JSON.stringify(order).slice(1))
  const [{ statusCode }] = await once(sending, 'response')
  expect(statusCode).toBe(401)
})

test('contract §5: a list whose key is revoked while it waits for the database returns nothing', async () => {
  const { api, key, key_id } = await service.partner()
  await api.get('/v1/customers')
  const unlock = await holdLock(service.database.url, 'sandbox.customers')
  const listing = api.get('/v1/customers')
  try {
    await sleep(120) // Long enough for the request to pass the gate and for the cached key to expire.
    await revokeKey(service.worlds.sandbox, key_id)
    await until(async () => (await answer(service.url, key)) === 'revoked_api_key', 5000)
  } finally {
    await unlock()
  }
  // 503 if the wait exceeded the lock timeout.
  expect([401, 503]).toContain((await listing).status)
})

/** A deposit for a new customer, as a request under this key makes it after the gate. */
async function underKey(partner_id: string, key_id: string, value: string) {
  const { sandbox } = service.worlds
  const { api } = await service.partner({ partner_id })
  const { id } = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json
  const key_hash = hashKeyValue(value).toString('hex')
  const actor = { key_id, key_hash, partner_id } as Parameters<typeof onBehalfOf>[0]
  const order = deposit(sandbox, { partner_id, customer_id: id, money: money('BRL', 1n), rail: 'sandbox' })
  return sandbox.commit(onBehalfOf(actor, order))
}

describe('contract §5: rotation', () => {
  test('keeps the id, and the old value works until the grace period ends', async () => {
    const { sandbox } = service.worlds
    const { key: old, key_id, api } = await service.partner()
    await api.get('/v1/usage')
    // Longer than a busy machine may stop before both values were used.
    const grace_seconds = 15
    const rotated = await rotateKey(sandbox, key_id, grace_seconds)
    expect(rotated.key.id).toBe(key_id)
    expect(rotated.key.last_four).toBe(rotated.value.slice(-4))
    expect(rotated.value).not.toBe(old)
    for (const value of [old, rotated.value]) expect(await answer(service.url, value)).toBe('welcome')
    // Both values belong to one key: their requests are counted together.
    const { json } = await openApi(service.url, rotated.value).get('/v1/usage')
    expect(json.day.used).toBeGreaterThanOrEqual(4)
    await promptly(
      async () => (await answer(service.url, old)) === 'revoked_api_key',
      grace_seconds * 1000 + 200,
    )
    // The clocks of the nodes agree to within the precision of a busy machine.
    await promptly(async () => (await answer(plain.url, old)) === 'revoked_api_key', 1000)
    expect(await answer(service.url, rotated.value)).toBe('welcome')
  })

  test('without a grace period ends the old value at once', async () => {
    const { sandbox } = service.worlds
    const { key: old, key_id } = await service.partner()
    for (const { url } of [service, plain]) expect(await answer(url, old)).toBe('welcome')
    const { value } = await rotateKey(sandbox, key_id, 0)
    for (const { url } of [service, plain]) {
      await promptly(async () => (await answer(url, old)) === 'revoked_api_key', 1000)
      expect(await answer(url, value)).toBe('welcome')
    }
  })

  test('a second time does not extend the grace period of the first value', async () => {
    const { sandbox } = service.worlds
    const { key: first, key_id } = await service.partner()
    const second = await rotateKey(sandbox, key_id, 0)
    const third = await rotateKey(sandbox, key_id, 3600)
    await promptly(async () => (await answer(service.url, first)) === 'revoked_api_key', 1000)
    expect(await answer(service.url, second.value)).toBe('welcome')
    expect(await answer(service.url, third.value)).toBe('welcome')
  })

  test('writes only values that it ends sooner, however often the key was rotated', async () => {
    const { sandbox } = service.worlds
    const { key_id } = await service.partner()
    const versions = () =>
      asAdmin(service.database.url, [
        `SELECT last_four, xmin::text AS written_by FROM sandbox.api_key_values WHERE api_key_id = '${key_id}' ORDER BY created_at`,
      ])
    for (const grace of [0, 60, 60]) await rotateKey(sandbox, key_id, grace)
    const before = await versions()
    await rotateKey(sandbox, key_id, 60)
    // Three values had their end, the latest one got it now.
    expect((await versions()).slice(0, 3)).toEqual(before.slice(0, 3))
    expect((await versions())[3]).not.toEqual(before[3])
    const later = await versions()
    await rotateKey(sandbox, key_id, 1)
    expect((await versions())[0]).toEqual(later[0])
    for (const i of [1, 2, 3, 4]) expect((await versions())[i], `${i}`).not.toEqual(later[i])
  })

  test('waits for running operations', async () => {
    const { key_id } = await service.partner()
    const holder = new pg.Client({ connectionString: service.database.url })
    await holder.connect()
    await holder.query('SELECT pg_advisory_lock_shared(hashtextextended($1, 0))', [key_id])
    const rotating = rotateKey(service.worlds.sandbox, key_id, 0)
    await sleep(700)
    await holder.end()
    expect((await rotating).key.id).toBe(key_id)
  })

  test('and revocation ends all values; a revoked key is not rotated', async () => {
    const { sandbox } = service.worlds
    const { key, key_id } = await service.partner()
    const { value } = await rotateKey(sandbox, key_id, 3600)
    const revoked = await revokeKey(sandbox, key_id)
    for (const one of [key, value])
      await promptly(async () => (await answer(service.url, one)) === 'revoked_api_key', 1000)
    await expect(rotateKey(sandbox, key_id, 0)).rejects.toThrow(/revoked/)
    // Revoking again changes nothing.
    expect((await revokeKey(sandbox, key_id)).revoked_at).toEqual(revoked.revoked_at)
    const [row] = await asAdmin(service.database.url, [
      `SELECT count(*)::int AS told FROM sandbox.events WHERE object_id = '${key_id}' AND type = 'api_key.revoked'`,
    ])
    expect(row!.told).toBe(1)
  })
})

test('a request that passed the gate is refused if its key is revoked before the money moves', async () => {
  const { partner_id, key_id, key } = await service.partner()
  expect((await underKey(partner_id, key_id, key)).amount).toBe(1n)
  await revokeKey(service.worlds.sandbox, key_id)
  await expect(underKey(partner_id, key_id, key)).rejects.toMatchObject({ code: 'revoked_api_key' })
  await expect(underKey(partner_id, 'key_none', key)).rejects.toMatchObject({ code: 'revoked_api_key' })
})

test('a request that passed the gate is refused if its value was rotated out, and a value of another key does not count', async () => {
  const { sandbox } = service.worlds
  const { partner_id, key_id, key: old } = await service.partner()
  const { value } = await rotateKey(sandbox, key_id, 0)
  await expect(underKey(partner_id, key_id, old)).rejects.toMatchObject({ code: 'revoked_api_key' })
  expect((await underKey(partner_id, key_id, value)).amount).toBe(1n)
  const graceful = await rotateKey(sandbox, key_id, 3600)
  for (const one of [value, graceful.value]) expect((await underKey(partner_id, key_id, one)).amount).toBe(1n)
  const other = await service.partner()
  await expect(underKey(partner_id, key_id, other.key)).rejects.toMatchObject({ code: 'revoked_api_key' })
})

describe('a node that missed the hint about a rotation without grace', () => {
  const document = '52998224725'
  let made: Record<
    'customer' | 'payout' | 'paid' | 'charge' | 'payment' | 'transfer' | 'quote' | 'endpoint' | 'event',
    string
  >
  let owner: Awaited<ReturnType<TestService['partner']>>
  beforeAll(async () => {
    owner = await service.partner()
    const post = async (path: string, body?: object) => (await owner.api.post(path, body)).json
    const customer = (await post('/v1/customers', { name: 'Ana', document })).id
    for (const asset of ['BRL', 'USDT'])
      await post('/v1/sandbox/deposits', { customer_id: customer, asset, amount: '900000000' })
    const payout = await post('/v1/pix/payouts', payoutBody(customer, 'accepted@sandbox.test'))
    const paid = await post('/v1/pix/payouts', payoutBody(customer, document))
    const charge = await post('/v1/pix/charges', {
      customer_id: customer,
      amount: '700',
      idempotency_key: 'charge',
    })
    const payment = await post('/v1/sandbox/pix/payments', { charge_id: charge.id, amount: '500' })
    const transfer = await post('/v1/onchain/transfers', transferBody(customer, '10009003'))
    const quote = await post('/v1/quotes', quoteBody(customer))
    const endpoint = await post('/v1/webhook_endpoints', endpointBody)
    const event = await post('/v1/sandbox/events/customer.created')
    made = {
      customer,
      payout: payout.id,
      paid: paid.id,
      charge: charge.id,
      payment: payment.end_to_end_id,
      transfer: transfer.id,
      quote: quote.id,
      endpoint: endpoint.id,
      event: event.id,
    }
  })

  const payoutBody = (customer_id: string, pix_key: string) => ({
    customer_id,
    amount: '1000',
    counterparty: { type: 'pix_key', pix_key },
    idempotency_key: randomBytes(8).toString('hex'),
  })
  const transferBody = (customer_id: string, amount: string) => ({
    customer_id,
    asset: 'USDT',
    network: 'tron',
    amount,
    destination_address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    idempotency_key: randomBytes(8).toString('hex'),
  })
  const quoteBody = (customer_id: string) => ({
    customer_id,
    from_asset: 'BRL',
    to_asset: 'USDT',
    amount: '10000',
  })
  const endpointBody = { url: 'https://example.com/hook', events: ['*'] }

  const writes: [string, () => [method: string, path: string, body?: object]][] = [
    [
      'a deposit',
      () => ['POST', '/v1/sandbox/deposits', { customer_id: made.customer, asset: 'BRL', amount: '1' }],
    ],
    [
      'a deposit on a network',
      () => [
        'POST',
        '/v1/sandbox/onchain/deposits',
        { customer_id: made.customer, network: 'bitcoin', amount: '100000' },
      ],
    ],
    [
      'a deposit address',
      () => ['POST', `/v1/customers/${made.customer}/deposit_addresses`, { network: 'tron' }],
    ],
    ['a payout', () => ['POST', '/v1/pix/payouts', payoutBody(made.customer, document)]],
    [
      'a charge',
      () => [
        'POST',
        '/v1/pix/charges',
        { customer_id: made.customer, amount: '1', idempotency_key: 'charge' },
      ],
    ],
    ['a payment', () => ['POST', '/v1/sandbox/pix/payments', { charge_id: made.charge }]],
    ['a payment without a charge', () => ['POST', '/v1/sandbox/pix/payments', { amount: '7' }]],
    ['an end of a charge', () => ['POST', `/v1/sandbox/pix/charges/${made.charge}/expire`]],
    ['a return of a payment', () => ['POST', `/v1/sandbox/pix/payments/${made.payment}/return`, {}]],
    ['a return of a payout', () => ['POST', `/v1/sandbox/pix/payouts/${made.paid}/return`, {}]],
    ['a transfer', () => ['POST', '/v1/onchain/transfers', transferBody(made.customer, '10000000')]],
    ['a quote', () => ['POST', '/v1/quotes', quoteBody(made.customer)]],
    ['a trade', () => ['POST', `/v1/quotes/${made.quote}/execute`]],
    ['an end of a quote', () => ['POST', `/v1/sandbox/quotes/${made.quote}/expire`]],
    ['an end of a payout', () => ['POST', `/v1/sandbox/pix/payouts/${made.payout}/fail`]],
    ['the other end of a payout', () => ['POST', `/v1/sandbox/pix/payouts/${made.payout}/complete`]],
    ['an end of a transfer', () => ['POST', `/v1/sandbox/onchain/transfers/${made.transfer}/confirm`]],
    ['the other end of a transfer', () => ['POST', `/v1/sandbox/onchain/transfers/${made.transfer}/fail`]],
    ['a price', () => ['POST', '/v1/sandbox/prices', { pair: 'USDT/BRL', price: '9' }]],
    ['a customer', () => ['POST', '/v1/customers', { name: 'Eva', document: someCpf() }]],
    ['a change of a customer', () => ['PATCH', `/v1/customers/${made.customer}`, { name: 'Eva' }]],
    ['a webhook endpoint', () => ['POST', '/v1/webhook_endpoints', endpointBody]],
    [
      'a change of a webhook endpoint',
      () => ['PATCH', `/v1/webhook_endpoints/${made.endpoint}`, { url: 'https://example.org/' }],
    ],
    ['a secret', () => ['POST', `/v1/webhook_endpoints/${made.endpoint}/rotate_secret`]],
    ['a test event', () => ['POST', `/v1/webhook_endpoints/${made.endpoint}/test`]],
    ['a sample event', () => ['POST', '/v1/sandbox/events/customer.created']],
    ['a redelivery', () => ['POST', `/v1/events/${made.event}/redeliver`]],
    [
      'a redelivery of many events',
      () => [
        'POST',
        `/v1/webhook_endpoints/${made.endpoint}/redeliver`,
        { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' },
      ],
    ],
    ['a deletion', () => ['DELETE', `/v1/webhook_endpoints/${made.endpoint}`]],
  ]

  const send = (api: Api, method: string, path: string, body?: object) =>
    api.send(
      method,
      path,
      body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {},
    )

  /** The rows that a write would leave and that no worker changes by itself. */
  const traces = () => {
    const rows = (table: string, columns: string) =>
      `(SELECT json_agg(json_build_array(${columns}) ORDER BY id) FROM sandbox.${table} WHERE partner_id = '${owner.partner_id}') AS ${table}`
    const kept = [
      rows('customers', 'id, name'),
      rows('webhook_endpoints', 'id, url, status, secret, tests'),
      rows('quotes', 'id, trade_id, expires_at'),
      rows('pix_charges', 'id, status, amount_received'),
      `(SELECT count(*) FROM sandbox.pix_received) AS received`,
      ...['deposits', 'deposit_addresses', 'payouts', 'pix_returns', 'transfers', 'trades'].map((table) =>
        rows(table, 'id'),
      ),
      `(SELECT count(*) FROM sandbox.events WHERE partner_id = '${owner.partner_id}'
         AND type IN ('customer.created', 'webhook_endpoint.test')) AS told`,
    ]
    return asAdmin(service.database.url, [`SELECT ${kept.join(', ')}`])
  }

  test.each(writes)('does not make %s with the replaced value', async (_, request) => {
    const { value, key } = await createKey(service.worlds.sandbox, {
      partner_id: owner.partner_id,
      name: 'old',
    })
    const before = await traces()
    const api = openApi(service.url, value)
    expect((await api.get('/v1/usage')).status).toBe(200)
    // A rotation without its hint: the node caches the value for most of a second.
    await asAdmin(service.database.url, [
      `UPDATE sandbox.api_key_values SET valid_until = clock_timestamp() WHERE api_key_id = '${key.id}'`,
    ])
    const [method, path, json] = request()
    const reply = await send(api, method, path, json)
    expect(reply.json.error.code).toBe('revoked_api_key')
    const after = await traces()
    expect(after).toEqual(before)
  })

  test('the list above has every call that writes', () => {
    const listed = writes.map(([, request]) => request().slice(0, 2).join(' '))
    const matches = (route: string) =>
      listed.some((one) => new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(one))
    const unlisted = endpoints.filter(({ route }) => !route.startsWith('GET ') && !matches(route))
    expect(unlisted.map(({ route }) => route)).toEqual([])
  })
})

describe('contract §5: a revocation holds on every node', () => {
  let other: Awaited<ReturnType<typeof spawnServer>>
  beforeAll(async () => {
    other = await spawnServer(testEnv(service.database.url))
  })
  afterAll(() => other.kill('SIGKILL'))

  test('within one second, on a server of another process too', async () => {
    const { key, key_id } = await service.partner()
    for (const { url } of [service, plain, other]) expect(await answer(url, key)).toBe('welcome')
    await revokeKey(service.worlds.sandbox, key_id)
    await Promise.all(
      [service, plain, other].map(({ url }) =>
        promptly(async () => (await answer(url, key)) === 'revoked_api_key', 1000),
      ),
    )
  })

  test('within one second even if no node gets the hint', async () => {
    const { key, key_id } = await service.partner()
    for (const { url } of [service, other]) expect(await answer(url, key)).toBe('welcome')
    await asAdmin(service.database.url, [
      `UPDATE sandbox.api_keys SET revoked_at = clock_timestamp() WHERE id = '${key_id}'`,
    ])
    await Promise.all(
      [service, other].map(({ url }) =>
        promptly(async () => (await answer(url, key)) === 'revoked_api_key', 1000),
      ),
    )
  })

  test('and a node that lost its hint connection gets hints again', async () => {
    await asAdmin(service.database.url, [
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trilho hints' AND datname = current_database()`,
    ])
    await until(async () => {
      const [row] = await asAdmin(service.database.url, [
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'trilho hints' AND datname = current_database()`,
      ])
      return row!.n === 3
    }, 3000)
    const { key, key_id } = await service.partner()
    for (const { url } of [service, plain, other]) expect(await answer(url, key)).toBe('welcome')
    await revokeKey(service.worlds.sandbox, key_id)
    // Sooner than the cache expires, so the hint arrived.
    await Promise.all(
      [service, plain, other].map(({ url }) =>
        promptly(async () => (await answer(url, key)) === 'revoked_api_key', 800),
      ),
    )
  })

  test('and under load no deposit is made after revoke returned, in repeated rounds', async () => {
    for (let round = 0; round < size(10, 3); round++) {
      const { key, key_id, api } = await service.partner()
      const customer_id = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json.id
      const servers = [openApi(service.url, key), openApi(other.url, key)]
      let acknowledged = 0
      const load = Array.from({ length: 50 }, async (_, i) => {
        const made: string[] = []
        for (;;) {
          const reply = await servers[i % 2]!.post('/v1/sandbox/deposits', {
            customer_id,
            asset: 'BRL',
            amount: '1',
          })
          if (reply.status !== 201) return { made, refused: reply.json.error.code }
          made.push(reply.json.id)
          acknowledged++
        }
      })
      await until(() => acknowledged >= 30, 10_000)
      await sleep(Math.random() * 50)
      const { revoked_at } = await revokeKey(service.worlds.sandbox, key_id)
      const [clock] = await asAdmin(service.database.url, ['SELECT clock_timestamp() AS now'])
      const journals = await Promise.all(load)
      const rows = await asAdmin(service.database.url, [
        `SELECT id, created_at FROM sandbox.deposits WHERE customer_id = '${customer_id}'`,
      ])
      const late = rows.filter(
        ({ created_at }) => (created_at as Date) > (clock!.now as Date) || (created_at as Date) > revoked_at!,
      )
      expect(late).toEqual([])
      // Every acknowledged deposit exists, and no other one does.
      const made = journals.flatMap((journal) => journal.made)
      expect(rows.map(({ id }) => id).sort()).toEqual(made.sort())
      expect(journals.map(({ refused }) => refused)).toEqual(Array(50).fill('revoked_api_key'))
    }
    const { sandbox } = await service.audit()
    expect(sandbox.findings).toEqual([])
  })
})

test('interface §5, item 3: the value of a key is in no table and in no log line', async () => {
  const direct = openDirectAccess(await createDatabase())
  onTestFinished(direct.stop)
  const server = await spawnServer(testEnv(direct.database.url, { LOG_LEVEL: 'trace' }))
  onTestFinished(() => server.kill('SIGKILL'))
  const sandbox = await direct.partner(server.url)
  const live = await direct.partner(server.url, { environment: 'production' })
  const rotated = await rotateKey(direct.worlds.sandbox, sandbox.key_id, 3600)
  const guess = `svc_test_sk_${randomBytes(20).toString('hex')}`
  const values = [sandbox.key, live.key, rotated.value, guess]
  for (const value of values) {
    const api = openApi(server.url, value)
    await api.post('/v1/customers', { name: 'Ana', document: someCpf() })
    await api.get('/v1/nothing')
    await api.send('POST', '/v1/customers', { body: '{', headers: { 'content-type': 'application/json' } })
  }
  await revokeKey(direct.worlds.production, live.key_id)
  await promptly(async () => (await answer(server.url, live.key)) === 'revoked_api_key', 1000)
  await server.kill('SIGTERM')

  const tables = await asAdmin(direct.database.url, [
    `SELECT table_schema AS schema, table_name AS name FROM information_schema.tables
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`,
  ])
  let stored = ''
  for (const { schema, name } of tables) {
    const rows = await asAdmin(direct.database.url, [`SELECT t::text AS row FROM ${schema}.${name} AS t`])
    stored += rows.map(({ row }) => row).join('\n')
  }
  const log = server.output()
  expect(log).toContain('"route":"/v1/customers"')
  for (const value of values) {
    const secret = value.split('_sk_')[1]!
    for (const text of [secret, Buffer.from(secret).toString('hex'), Buffer.from(value).toString('base64')]) {
      expect(stored.includes(text)).toBe(false)
      expect(log.includes(text)).toBe(false)
    }
  }
  expect(stored).toContain(hashKeyValue(sandbox.key).toString('hex'))
  expect(stored).not.toContain(hashKeyValue(guess).toString('hex'))
})

test('contract §5: the last use of a key is recorded with its address', async () => {
  const direct = openDirectAccess(await createDatabase())
  onTestFinished(direct.stop)
  const node = await startNode(direct.database.url, { TRUST_PROXY: '127.0.0.1' })
  onTestFinished(node.stop)
  const used = await direct.partner(node.url)
  const unused = await direct.partner(node.url, { ip_allowlist: ['203.0.113.0/24'] })
  const before = Date.now()
  for (const address of ['198.51.100.1', '203.0.113.9'])
    await used.api.send('GET', '/v1/usage', { headers: { 'x-forwarded-for': address } })
  expect(await answer(node.url, unused.key)).toBe('ip_not_allowed')
  // Uses are written in the background, and at the latest when the server stops.
  await node.stop()
  const find = async (id: string) => (await listKeys(direct.worlds.sandbox.db, { id }))[0]!
  const { last_used_at, last_used_address } = await find(used.key_id)
  expect(last_used_address).toBe('203.0.113.9')
  expect(last_used_at!.getTime()).toBeGreaterThanOrEqual(before - 50)
  expect(last_used_at!.getTime()).toBeLessThanOrEqual(Date.now() + 50)
  expect(await find(unused.key_id)).toMatchObject({ last_used_at: null, last_used_address: null })
})
