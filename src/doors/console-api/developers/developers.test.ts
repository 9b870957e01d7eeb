import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openApi } from '../../../../test/support/api.ts'
import { type ConsoleClient, openConsole, signedIn } from '../../../../test/support/console.ts'
import { asAdmin } from '../../../../test/support/database.ts'
import { openReceiver, verifies } from '../../../../test/support/receiver.ts'
import {
  someCpf,
  spawnServer,
  startTestService,
  type TestService,
  testEnv,
} from '../../../../test/support/service.ts'
import { promptly, roomInMinute, until } from '../../../../test/support/wait.ts'
import { createKey, PLAYGROUND_NAME } from '../../../parties/keys/keys.ts'

const webhookSettings = { WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_MS: '600000,600000' }

let service: TestService
beforeAll(async () => {
  service = await startTestService(webhookSettings)
})
afterAll(() => service.stop())

let forms = 0
const form_id = () => `form-of-a-test-${++forms}-${Date.now()}`
const wanted = (more: object = {}) => ({
  form_id: form_id(),
  name: 'payroll',
  scopes: ['read', 'payouts'],
  ip_allowlist: [] as string[],
  ...more,
})
const developer = (partner_id: string, factor = false) =>
  signedIn(service, { partner_id, role: 'developer', factor })
const code = (reply: { json: any }) => reply.json?.error?.code
const ask = (url: string, key: string) => openApi(url, key).get('/v1/usage')
const admin = (...statements: string[]) => asAdmin(service.database.url, statements)

/** The tables with a row that contains this text. */
async function placesOf(text: string): Promise<string[]> {
  const tables = await admin(
    `SELECT table_schema || '.' || quote_ident(table_name) AS name FROM information_schema.tables
     WHERE table_schema IN ('live', 'sandbox', 'shared') AND table_type = 'BASE TABLE'`,
  )
  const found: string[] = []
  for (const { name } of tables as { name: string }[]) {
    const [row] = await admin(
      `SELECT count(*)::int AS n FROM ${name} AS t WHERE strpos(t::text, '${text}') > 0 OR strpos(t::text, encode('${text}', 'hex')) > 0`,
    )
    if ((row as { n: number }).n > 0) found.push(name)
  }
  return found
}

describe('a key', () => {
  test('is created, works, is listed without its value, and is revoked', async () => {
    const { partner_id } = await service.partner()
    const person = await developer(partner_id)
    const made = await person.post('/sandbox/keys', wanted({ name: 'checkout' }))
    expect(made.status).toBe(201)
    const { key, value } = made.json
    expect(value).toMatch(/^svc_test_sk_/)
    expect(key).toMatchObject({
      name: 'checkout',
      state: 'active',
      last_four: value.slice(-4),
      scopes: ['read', 'payouts'],
      old_values: [],
      playground: false,
    })
    await roomInMinute(10)
    const used = await ask(service.url, value)
    expect(used.status).toBe(200)

    const listed = (await person.get('/sandbox/keys')).json.data.find(({ id }: any) => id === key.id)
    expect(listed).toMatchObject({ minute: { used: 1 }, day: { used: 1 } })
    const request_id = used.headers.get('x-request-id')
    await until(async () => (await person.get(`/sandbox/requests/${request_id}`)).status === 200, 10_000)
    const one = (await person.get(`/sandbox/keys/${key.id}`)).json
    expect(one.requests.map(({ id }: any) => id)).toEqual([request_id])
    expect(one.usage.minute.used).toBe(1)

    const revoked = await person.post(`/sandbox/keys/${key.id}/revoke`)
    expect(revoked.json.state).toBe('revoked')
    await promptly(async () => code(await ask(service.url, value)) === 'revoked_api_key', 1000)
    expect(
      code(await person.post(`/sandbox/keys/${key.id}/rotate`, { form_id: form_id(), grace_hours: 0 })),
    ).toBe('already_final')
    const acts = await admin(`SELECT action FROM sandbox.acts WHERE object_id = '${key.id}' ORDER BY seq`)
    expect(acts.map(({ action }) => action)).toEqual(['create_key', 'revoke_key'])
  })

  test('is created once by a form that arrives twice concurrently, and its value is never shown again', async () => {
    const { partner_id } = await service.partner()
    const person = await developer(partner_id)
    const form = wanted()
    const replies = await Promise.all([
      person.post('/sandbox/keys', form),
      person.post('/sandbox/keys', form),
    ])
    const [made, again] = replies.toSorted((a, b) => a.status - b.status)
    expect([made!.status, again!.status]).toEqual([201, 409])
    expect(code(again!)).toBe('already_done')
    expect(again!.json.error.details).toEqual({ id: made!.json.key.id })
    expect(again!.text).not.toContain(made!.json.value)
    const { data } = (await person.get('/sandbox/keys')).json
    expect(data.filter(({ name }: any) => name === form.name)).toHaveLength(1)
  })

  test('has its value in the reply only: in no table and no log', async () => {
    const { partner_id } = await service.partner()
    const person = await developer(partner_id)
    const node = await spawnServer({ ...testEnv(service.database.url), LOG_LEVEL: 'trace' })
    onTestFinished(() => node.kill('SIGTERM'))
    const elsewhere = openConsole(node.url)
    await elsewhere.signIn(person.person.user.email, person.person.password)
    const { key, value } = (await elsewhere.post('/sandbox/keys', wanted())).json
    const rotated = (
      await elsewhere.post(`/sandbox/keys/${key.id}/rotate`, { form_id: form_id(), grace_hours: 24 })
    ).json.value
    const { secret } = (
      await elsewhere.post('/sandbox/webhooks', {
        form_id: form_id(),
        url: 'https://example.com/hooks',
        events: ['*'],
      })
    ).json
    expect(await ask(node.url, rotated)).toMatchObject({ status: 200 })
    for (const shown of [value, rotated, secret]) {
      expect(shown).toMatch(/^(svc_test_sk_|whsec_)/)
      expect(await placesOf(shown.replace(/^.*_/, ''))).toEqual([])
      expect(node.output()).not.toContain(shown.replace(/^.*_/, ''))
    }
    // The search works: it finds the id, and the log line exists.
    expect(await placesOf(key.id)).toContain('sandbox.acts')
    expect(node.output()).toContain('/console/api/')

    // A changed allowlist takes effect at once, on this node and on the other.
    const changed = await person.patch(`/sandbox/keys/${key.id}`, { ip_allowlist: ['203.0.113.0/24'] })
    expect(changed.json.ip_allowlist).toEqual(['203.0.113.0/24'])
    await until(async () => code(await ask(node.url, rotated)) === 'ip_not_allowed', 5000)
    await until(async () => code(await ask(service.url, rotated)) === 'ip_not_allowed', 5000)
  })

  test('that is rotated keeps its id, and shows until when the old value works', async () => {
    const { partner_id } = await service.partner()
    const person = await developer(partner_id)
    const { key, value } = (await person.post('/sandbox/keys', wanted())).json
    const rotated = await person.post(`/sandbox/keys/${key.id}/rotate`, {
      form_id: form_id(),
      grace_hours: 8,
    })
    expect(rotated.status).toBe(200)
    expect(rotated.json.key).toMatchObject({ id: key.id, state: 'rotating' })
    const [old] = rotated.json.key.old_values
    expect(old.last_four).toBe(value.slice(-4))
    const hours = (Date.parse(old.valid_until) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(7)
    expect(hours).toBeLessThanOrEqual(8.01)
    for (const each of [value, value, rotated.json.value])
      expect((await ask(service.url, each)).status).toBe(200)
    const one = async () => (await person.get(`/sandbox/keys/${key.id}`)).json
    await until(async () => (await one()).requests.length === 3, 10_000)
    expect((await one()).old_calls).toEqual([{ last_four: value.slice(-4), in_last_hour: 2 }])
  })

  test('is one of at most 100 that work, however many are created at once; the operator may create more', async () => {
    const { partner_id, key_id } = await service.partner()
    const person = await developer(partner_id)
    const world = service.worlds.sandbox
    // The key of service.partner() is one of the 98; expired ones do not count, nor does the playground's.
    for (let n = 1; n < 98; n++) await createKey(world, { partner_id, name: `shop ${n}` })
    await createKey(world, { partner_id, name: PLAYGROUND_NAME, made_for: 'playground' })
    await admin(
      `INSERT INTO sandbox.api_keys (id, partner_id, name, scopes, expires_at)
       VALUES ('key_expired_of_${partner_id}', '${partner_id}', 'old', '{read}', now() - interval '1 day')`,
    )
    const made = await Promise.all(Array.from({ length: 6 }, () => person.post('/sandbox/keys', wanted())))
    expect(made.filter(({ status }) => status === 201)).toHaveLength(2)
    for (const refused of made.filter(({ status }) => status !== 201)) {
      expect([refused.status, code(refused)]).toEqual([409, 'too_many_api_keys'])
      expect(refused.json.error.message).toMatch(/Revoke .* ask the operator/)
    }
    const rotation = { form_id: form_id(), grace_hours: 1 }
    expect((await person.post(`/sandbox/keys/${key_id}/rotate`, rotation)).status).toBe(200)
    await createKey(world, { partner_id, name: 'of the operator' })
    const id = made.find(({ status }) => status === 201)!.json.key.id
    for (const revoked of [key_id, id])
      expect((await person.post(`/sandbox/keys/${revoked}/revoke`)).status).toBe(200)
    expect((await person.post('/sandbox/keys', wanted())).status).toBe(201)
    expect(code(await person.post('/sandbox/keys', wanted()))).toBe('too_many_api_keys')
  })

  test('of the playground is marked, cannot be rotated, and its name is reserved', async () => {
    const { partner_id } = await service.partner()
    const person = await developer(partner_id)
    const { key } = await createKey(service.worlds.sandbox, {
      partner_id,
      name: PLAYGROUND_NAME,
      made_for: 'playground',
    })
    expect((await person.get(`/sandbox/keys/${key.id}`)).json.key.playground).toBe(true)
    const rotated = await person.post(`/sandbox/keys/${key.id}/rotate`, {
      form_id: form_id(),
      grace_hours: 1,
    })
    expect(code(rotated)).toBe('invalid_request')
    expect((await person.post('/sandbox/keys', wanted({ name: 'playground' }))).json.error.param).toBe('name')
  })
})

describe('an allowlist', () => {
  test('with an invalid line is refused with an explanation and a suggestion', async () => {
    const { partner_id } = await service.partner()
    const person = await developer(partner_id)
    const ranges = ['203.0.113.0/24', '2001:db8:42::/48', '198.51.100.7/24']
    const made = await person.post('/sandbox/keys', wanted({ ip_allowlist: ranges }))
    expect(made.json.error).toMatchObject({
      code: 'invalid_request',
      param: 'ip_allowlist',
      message:
        'Line 3: 198.51.100.7/24 has host bits set. For the range write 198.51.100.0/24, for the one address 198.51.100.7.',
      details: { line: 3, range: '198.51.100.0/24', address: '198.51.100.7' },
    })
    const checked = await person.post('/sandbox/allowlist', { ranges: [...ranges, '203.0.113.*', 'office'] })
    expect(checked.json.faults.map(({ line, kind }: any) => [line, kind])).toEqual([
      [3, 'host_bits'],
      [4, 'wildcard'],
      [5, 'no_address'],
    ])
    expect(checked.json).toMatchObject({ everybody: false, you: { allowed: false }, last_use: null })
  })

  test('that allows every address, or excludes a recent caller, gets a warning before it is saved', async () => {
    const { partner_id, key, key_id } = await service.partner()
    const person = await developer(partner_id)
    expect((await ask(service.url, key)).status).toBe(200)
    const check = async (...ranges: string[]) =>
      (await person.post('/sandbox/allowlist', { ranges, key_id })).json
    await until(async () => (await check()).last_use !== null, 15_000)
    expect(await check('0.0.0.0/0')).toMatchObject({ everybody: true, you: { allowed: true } })
    expect(await check('203.0.113.0/24')).toMatchObject({ everybody: false, last_use: { allowed: false } })
    expect(await check()).toMatchObject({ you: { allowed: true }, last_use: { allowed: true } })
  })
})

describe('permissions', () => {
  const calls = (key_id: string) =>
    ({
      create: (client: ConsoleClient, environment: string) => client.post(`/${environment}/keys`, wanted()),
      rotate: (client: ConsoleClient, environment: string) =>
        client.post(`/${environment}/keys/${key_id}/rotate`, { form_id: form_id(), grace_hours: 1 }),
      change: (client: ConsoleClient, environment: string) =>
        client.patch(`/${environment}/keys/${key_id}`, { name: 'other' }),
      revoke: (client: ConsoleClient, environment: string) =>
        client.post(`/${environment}/keys/${key_id}/revoke`),
    }) as const

  test('on keys: owner and developer may do everything, finance may revoke, a viewer may read', async () => {
    const { partner_id } = await service.partner()
    const may = {
      owner: ['create', 'rotate', 'change', 'revoke'],
      developer: ['create', 'rotate', 'change', 'revoke'],
      finance: ['revoke'],
      viewer: [],
    } as const
    for (const role of ['owner', 'developer', 'finance', 'viewer'] as const) {
      const client = await signedIn(service, { partner_id, role })
      const { key_id } = await service.partner({ partner_id })
      for (const [name, call] of Object.entries(calls(key_id))) {
        const reply = await call(client, 'sandbox')
        const allowed = (may[role] as readonly string[]).includes(name)
        expect([role, name, allowed ? reply.status < 300 : code(reply)]).toEqual([
          role,
          name,
          allowed ? true : 'not_permitted',
        ])
      }
      expect((await client.get('/sandbox/keys')).status).toBe(200)
    }
  })

  test('in production need a second factor and a fresh proof; revoking needs neither', async () => {
    const { partner_id, key_id } = await service.partner({ environment: 'production' })
    const bare = await developer(partner_id)
    const { create, rotate, change, revoke } = calls(key_id)
    for (const call of [create, rotate, change])
      expect(code(await call(bare, 'production'))).toBe('factor_needed')
    const person = await developer(partner_id, true)
    await admin(
      `UPDATE shared.sessions SET proved_at = now() - interval '6 minutes' WHERE user_id = '${person.person.user.id}'`,
    )
    for (const call of [create, rotate, change])
      expect(code(await call(person, 'production'))).toBe('proof_needed')
    await admin(`UPDATE shared.sessions SET proved_at = now() WHERE user_id = '${person.person.user.id}'`)
    const made = await create(person, 'production')
    expect(made.json.value).toMatch(/^svc_live_sk_/)
    expect((await revoke(bare, 'production')).json.state).toBe('revoked')
  })

  test('show nothing of another partner or of the other environment', async () => {
    const mine = await service.partner()
    const theirs = await service.partner({ limited: true })
    const person = await developer(mine.partner_id)
    const stranger = await developer(theirs.partner_id)
    const { endpoint } = (
      await person.post('/sandbox/webhooks', {
        form_id: form_id(),
        url: 'https://example.com/hooks',
        events: ['customer.created'],
      })
    ).json
    await mine.api.post('/v1/customers', { name: 'Ana', document: someCpf() })
    await until(async () => (await person.get('/sandbox/events')).json.data.length > 1, 10_000)
    const [event] = (await person.get('/sandbox/events')).json.data
    const used = (await mine.api.get('/v1/usage')).headers.get('x-request-id')!
    await until(async () => (await person.get(`/sandbox/requests/${used}`)).status === 200, 10_000)
    const paths = [
      `keys/${mine.key_id}`,
      `webhooks/${endpoint.id}`,
      `webhooks/${endpoint.id}/deliveries`,
      `events/${event.id}`,
      `requests/${used}`,
    ]
    for (const path of paths) {
      expect([path, (await person.get(`/sandbox/${path}`)).status]).toEqual([path, 200])
      expect([path, (await stranger.get(`/sandbox/${path}`)).status]).toEqual([path, 404])
      expect([path, (await person.get(`/production/${path}`)).status]).toEqual([path, 404])
    }
    const changes: [string, object][] = [
      [`keys/${mine.key_id}/revoke`, {}],
      [`keys/${mine.key_id}/rotate`, { form_id: form_id(), grace_hours: 0 }],
      [`webhooks/${endpoint.id}/test`, {}],
      [`webhooks/${endpoint.id}/deliveries/${event.id}/try`, {}],
      [`events/${event.id}/redeliver`, {}],
    ]
    for (const [path, body] of changes)
      expect([path, (await stranger.post(`/sandbox/${path}`, body)).status]).toEqual([path, 404])
    expect((await mine.api.get('/v1/usage')).status).toBe(200)
  })
})

describe('a webhook', () => {
  test('that fails shows it, is repaired, tried by hand and delivered, without using up the schedule', async () => {
    let status = 503
    const receiver = await openReceiver((_, response) => {
      response.statusCode = status
      response.end('<b>not now</b>')
    })
    onTestFinished(receiver.stop)
    const { partner_id, api } = await service.partner()
    const person = await developer(partner_id)
    const made = await person.post('/sandbox/webhooks', {
      form_id: form_id(),
      url: `${receiver.url}/hooks`,
      events: ['customer.created'],
    })
    expect(made.status).toBe(201)
    const { endpoint, secret } = made.json
    const customer = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json
    const path = `/sandbox/webhooks/${endpoint.id}`
    const line = async () => (await person.get(`${path}/deliveries`)).json.data[0]
    await until(async () => (await line())?.answer_status === 503, 10_000)
    await until(async () => (await person.get(path)).json.failing_since !== undefined, 10_000)
    expect((await person.get('/sandbox/webhooks')).json.data[0]).toMatchObject({
      waiting: 1,
      last: { status: 'pending', attempts: 1, answer_status: 503 },
    })
    const { event_id } = await line()
    const before = (await person.get(`${path}/deliveries/${event_id}`)).json
    expect(before).toMatchObject({ then_after_ms: [600_000], under_way: false })
    expect(before.delivery).toMatchObject({
      type: 'customer.created',
      attempts: [{ attempt: 1, answer: { status: 503, body: '<b>not now</b>' } }],
    })
    expect(JSON.parse(before.delivery.body).data.object.id).toBe(customer.id)

    // A failed attempt by hand leaves the schedule as it was.
    await person.post(`${path}/deliveries/${event_id}/try`)
    await until(async () => (await line()).attempts === 2 && (await line()).answer_status === 503, 10_000)
    await until(
      async () => (await person.get(`${path}/deliveries/${event_id}`)).json.delivery.attempts.length === 2,
      10_000,
    )
    expect((await person.get(`${path}/deliveries/${event_id}`)).json.then_after_ms).toEqual([600_000])

    status = 200
    const tried = await person.post(`${path}/deliveries/${event_id}/try`)
    expect(tried.status).toBe(200)
    await until(async () => (await line()).status === 'delivered', 10_000)
    // The state of the endpoint is written right after the result.
    await until(async () => (await person.get(path)).json.failing_since === undefined, 10_000)
    expect(verifies(secret, receiver.received.at(-1)!)).toBe(true)

    // A delivered event is sent again on request.
    const got = receiver.received.length
    await person.post(`${path}/deliveries/${event_id}/try`)
    await until(() => receiver.received.length === got + 1, 10_000)
    const event = (await person.get(`/sandbox/events/${event_id}`)).json
    expect(event).toMatchObject({ object_id: customer.id, deliveries: [{ url: `${receiver.url}/hooks` }] })
    const filtered = async (query: string) =>
      (await person.get(`${path}/deliveries?${query}`)).json.data.length
    expect(await filtered('type=customer.created')).toBe(1)
    expect(await filtered('type=trade.completed')).toBe(0)
    expect(await filtered(`event_id=${event_id}`)).toBe(1)
    expect(await filtered('status=exhausted')).toBe(0)
  })

  test('is tested, redelivered by range and changed; its secret and its deletion need a proof', async () => {
    const receiver = await openReceiver()
    onTestFinished(receiver.stop)
    const { partner_id, api } = await service.partner()
    const person = await developer(partner_id)
    const { endpoint, secret } = (
      await person.post('/sandbox/webhooks', {
        form_id: form_id(),
        url: receiver.url,
        events: ['customer.created'],
      })
    ).json
    const path = `/sandbox/webhooks/${endpoint.id}`
    const { event_id } = (await person.post(`${path}/test`)).json
    await until(() => receiver.received.some(({ json }) => json.id === event_id), 10_000)
    await api.post('/v1/customers', { name: 'Ana', document: someCpf() })
    await until(() => receiver.received.some(({ json }) => json.type === 'customer.created'), 10_000)
    const range = {
      from: new Date(Date.now() - 60_000).toISOString(),
      to: new Date(Date.now() + 60_000).toISOString(),
    }
    expect((await person.post(`${path}/redeliver`, range)).json).toEqual({ redelivered: 1 })
    const changed = await person.patch(path, { status: 'disabled', description: 'Old' })
    expect(changed.json).toMatchObject({ status: 'disabled', description: 'Old' })
    expect(code(await person.post(`${path}/test`))).toBe('webhook_endpoint_disabled')

    await admin(`UPDATE shared.sessions SET proved_at = NULL WHERE user_id = '${person.person.user.id}'`)
    const rotate = { form_id: form_id(), grace_hours: 0 }
    expect(code(await person.post(`${path}/rotate_secret`, rotate))).toBe('proof_needed')
    expect(code(await person.delete(path))).toBe('proof_needed')
    await admin(`UPDATE shared.sessions SET proved_at = now() WHERE user_id = '${person.person.user.id}'`)
    const rotated = await person.post(`${path}/rotate_secret`, rotate)
    expect(rotated.json.secret).toMatch(/^whsec_/)
    expect(rotated.json.secret).not.toBe(secret)
    expect(code(await person.post(`${path}/rotate_secret`, rotate))).toBe('already_done')
    expect((await person.delete(path)).status).toBe(204)
    expect((await person.get(path)).status).toBe(404)
    const viewer = await signedIn(service, { partner_id, role: 'finance' })
    const form = { form_id: form_id(), url: receiver.url, events: ['*'] }
    expect(code(await viewer.post('/sandbox/webhooks', form))).toBe('not_permitted')
  })

  test('of production needs a fresh proof to create, to send elsewhere or to send more, and none to stop', async () => {
    const { partner_id } = await service.partner()
    const person = await developer(partner_id)
    const proved_at = (value: string) =>
      admin(`UPDATE shared.sessions SET proved_at = ${value} WHERE user_id = '${person.person.user.id}'`)
    const form = () => ({ form_id: form_id(), url: 'https://hooks.example.com/in', events: ['*'] })
    await proved_at('NULL')
    expect(code(await person.post('/production/webhooks', form()))).toBe('proof_needed')
    expect((await person.post('/sandbox/webhooks', form())).status).toBe(201)
    await proved_at('now()')
    const narrow = { ...form(), events: ['deposit.completed'] }
    const { endpoint } = (await person.post('/production/webhooks', narrow)).json
    const path = `/production/webhooks/${endpoint.id}`
    await proved_at('NULL')
    const elsewhere = { url: 'https://hooks.example.com/other' }
    for (const change of [elsewhere, { events: ['*'] }, { events: ['deposit.completed', 'trade.completed'] }])
      expect(code(await person.patch(path, change))).toBe('proof_needed')
    expect((await person.get(path)).json).toMatchObject({ url: endpoint.url, events: ['deposit.completed'] })
    expect((await person.patch(path, { url: endpoint.url, description: 'Old' })).status).toBe(200)
    expect((await person.patch(path, { status: 'disabled' })).status).toBe(200)
    await proved_at('now()')
    expect((await person.patch(path, elsewhere)).json).toMatchObject(elsewhere)
  })
})

describe('the log of requests', () => {
  test('finds a call by its X-Request-Id, with its request and its response', async () => {
    const { partner_id, api, key_id } = await service.partner()
    const person = await developer(partner_id)
    const document = someCpf()
    const customer_id = (await api.post('/v1/customers', { name: 'Ana', document })).json.id
    await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '100000' })
    const order = {
      customer_id,
      amount: '4820',
      counterparty: { type: 'pix_key', pix_key: document },
      idempotency_key: 'payroll-0412',
    }
    const paid = await api.post('/v1/pix/payouts', order)
    const lost = await api.get('/v1/payouts/none')
    const found = async (reply: { headers: Headers }) =>
      person.get(`/sandbox/requests/${reply.headers.get('x-request-id')}`)
    await until(async () => (await found(lost)).status === 200, 10_000)
    const { request, said, answer } = (await found(paid)).json
    expect(request).toMatchObject({
      route: '/v1/pix/payouts',
      status: 201,
      key_id,
      key_name: 'test',
      object_id: paid.json.id,
    })
    expect(JSON.parse(said)).toMatchObject({ customer_id, amount: '4820', idempotency_key: 'payroll-0412' })
    expect(answer).toEqual({ status: 201, body: paid.text })
    expect((await found(lost)).json).toMatchObject({ said: null, answer: null })

    const listed = async (query: string) =>
      (await person.get(`/sandbox/requests?${query}`)).json.data.map(({ id }: any) => id)
    const [ours, missing] = [paid, lost].map((reply) => reply.headers.get('x-request-id'))
    for (const query of ['route=/v1/pix/payouts', 'status=201', `key_id=${key_id}`])
      expect(await listed(query)).toContain(ours)
    for (const query of [
      'refused=true',
      'error_code=route_not_found',
      'status=404',
      'refused=true&status=404',
    ])
      expect([query, await listed(query)]).toEqual([query, [missing]])
    expect(await listed('error_code=rate_limit_exceeded')).toEqual([])
  })
})
