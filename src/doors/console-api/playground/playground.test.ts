import { afterAll, beforeAll, expect, test } from 'vitest'
import { signedIn } from '../../../../test/support/console.ts'
import { asAdmin } from '../../../../test/support/database.ts'
import { someCpf, startTestService, type TestService } from '../../../../test/support/service.ts'
import { eventually } from '../../../../test/support/wait.ts'
import { newId } from '../../../core/ids.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(async () => {
  const { sandbox } = await service.audit()
  expect(sandbox.findings).toEqual([])
  await service.stop()
})

async function openPlayground() {
  const { partner_id, api } = await service.partner()
  const developer = await signedIn(service, { partner_id, role: 'developer' })
  const document = someCpf()
  const customer = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json
  await api.post('/v1/sandbox/deposits', { customer_id: customer.id, asset: 'BRL', amount: '1000000' })
  const payout = (more: object = {}) => ({
    customer_id: customer.id,
    amount: '1050',
    counterparty: { type: 'pix_key', pix_key: document },
    idempotency_key: `play-${Math.random()}`,
    ...more,
  })
  const play = async (what: string, body: unknown = {}) =>
    (await developer.post(`/sandbox/playground/${what}`, body)).json
  return { partner_id, api, developer, customer, document, payout, play, db: service.worlds.sandbox.db }
}

test('a payout is sent and read as a program would', async () => {
  const { api, play, payout, customer } = await openPlayground()
  const told = await play('payouts', payout())
  expect(told).toMatchObject({ status: 201, body: { status: 'completed', customer_id: customer.id } })
  expect(told.headers).toMatchObject({ 'x-request-id': told.request_id, 'x-ratelimit-limit': '10000000' })
  expect((await api.get(`/v1/pix/payouts/${told.object_id}`)).json).toEqual(told.body)
})

test('the same idempotency key returns the same payout, and another body under it is a conflict', async () => {
  const { play, payout } = await openPlayground()
  const body = payout()
  const first = await play('payouts', body)
  const again = await play('payouts', body)
  expect(again.body).toEqual(first.body)
  expect(again.headers['idempotent-replayed']).toBe('true')
  const other = await play('payouts', { ...body, amount: '1' })
  expect(other).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } })
})

test('magic values have their documented effect', async () => {
  const { play, payout } = await openPlayground()
  const to = (pix_key: string) => play('payouts', payout({ counterparty: { type: 'pix_key', pix_key } }))
  expect((await to('ac03@sandbox.test')).body).toMatchObject({
    status: 'failed',
    failure: { rail_code: 'AC03' },
  })
  expect((await to('notfound@sandbox.test')).body.error.code).toBe('pix_key_not_found')
  expect((await to('other-owner@sandbox.test')).body.error.code).toBe('counterparty_not_allowed')
  expect((await to('timeout@sandbox.test')).body).toMatchObject({ status: 'processing' })
})

test('a quote is created and executed; a transfer is sent', async () => {
  const { play, customer } = await openPlayground()
  const wish = { customer_id: customer.id, from_asset: 'BRL', to_asset: 'USDT', amount: '100000' }
  const quote = await play('quotes', wish)
  expect(quote).toMatchObject({ status: 201, body: { status: 'pending', price: '540' } })
  const trade = await play(`quotes/${quote.object_id}/execute`)
  expect(trade).toMatchObject({ status: 201, body: { status: 'completed', quote_id: quote.object_id } })
  const transfer = await play('transfers', {
    customer_id: customer.id,
    asset: 'USDT',
    network: 'polygon',
    amount: '1000000',
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: 'to the chain',
  })
  expect(transfer).toMatchObject({ status: 201, body: { status: 'pending' } })
  expect((await play(`quotes/${newId('quote', Date.now())}/execute`)).body.error.code).toBe('quote_not_found')
})

test('the key is created at first use, once, and nobody has its value', async () => {
  const { partner_id, developer, play, payout, db } = await openPlayground()
  expect((await developer.get('/sandbox/playground')).json.key).toBeNull()
  await Promise.all([1, 2, 3, 4].map(() => play('payouts', payout())))
  const { key, customers } = (await developer.get('/sandbox/playground')).json
  expect(key.name).toBe('Playground')
  expect(customers).toMatchObject([{ name: 'Ana Souza', document: expect.stringMatching(/^\*\*\*/) }])
  const { rows } = await db.query(
    `SELECT id FROM api_keys WHERE partner_id = $1 AND made_for = 'playground'`,
    [partner_id],
  )
  expect(rows).toEqual([{ id: key.id }])
})

test('after its revocation the next use creates another key', async () => {
  const { developer, play, payout, db } = await openPlayground()
  await play('payouts', payout())
  const { id } = (await developer.get('/sandbox/playground')).json.key
  await db.query('UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1', [id])
  expect((await play('payouts', payout())).status).toBe(201)
  expect((await developer.get('/sandbox/playground')).json.key.id).not.toBe(id)
})

test('a revocation right after the creation does no harm', async () => {
  const { partner_id, developer, play, payout } = await openPlayground()
  await asAdmin(service.database.url, [
    `CREATE FUNCTION sandbox.revoke_the_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF NOT EXISTS (SELECT FROM sandbox.api_keys WHERE partner_id = NEW.partner_id AND made_for = 'playground')
         THEN NEW.revoked_at := clock_timestamp(); END IF;
       RETURN NEW;
     END $$`,
    `CREATE TRIGGER revoke_the_first BEFORE INSERT ON sandbox.api_keys FOR EACH ROW
       WHEN (NEW.partner_id = '${partner_id}') EXECUTE FUNCTION sandbox.revoke_the_first()`,
  ])
  expect(await play('payouts', payout())).toMatchObject({ status: 201 })
  expect((await developer.get('/sandbox/playground')).json.key).toMatchObject({ name: 'Playground' })
})

test("calls count against the limits of the playground's key", async () => {
  const { developer, play, payout, db } = await openPlayground()
  await play('payouts', payout())
  const { id } = (await developer.get('/sandbox/playground')).json.key
  await db.query('UPDATE api_keys SET per_minute = 1 WHERE id = $1', [id])
  // In a minute that has just begun one more is admitted.
  await eventually(async () => {
    const refused = await play('payouts', payout())
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } })
    expect(refused.headers['retry-after']).toMatch(/^[0-9]+$/)
  })
})

test('calls are in the log of requests and in the act log', async () => {
  const { api, play, payout, developer, db } = await openPlayground()
  const told = await play('payouts', payout())
  await eventually(async () =>
    expect((await api.get(`/v1/requests/${told.request_id}`)).json).toMatchObject({
      route: '/v1/pix/payouts',
      status: 201,
      object_id: told.object_id,
    }),
  )
  const { rows } = await db.query('SELECT action, actor_email, after FROM acts WHERE object_id = $1', [
    told.object_id,
  ])
  expect(rows).toMatchObject([
    { action: 'play pix.payouts.create', actor_email: developer.person.user.email },
  ])
})

test('a refused call names no object, or the one in its path', async () => {
  const { play, payout } = await openPlayground()
  const refused = await play('payouts', { ...payout(), amount: '999999999999' })
  expect(refused).toMatchObject({ status: 422, object_id: null })
  const object_id = newId('quote', Date.now())
  expect(await play(`quotes/${object_id}/execute`)).toMatchObject({ status: 404, object_id })
})

test('a call counts as a use of the key, and its limits show it', async () => {
  const { developer, play, payout } = await openPlayground()
  await play('payouts', payout())
  const { id } = (await developer.get('/sandbox/playground')).json.key
  expect((await developer.get(`/sandbox/keys/${id}`)).json.key.last_used_at).not.toBeNull()
  expect((await developer.get('/sandbox/overview')).json.limits).toContainEqual(
    expect.objectContaining({ key_id: id, window: 'minute' }),
  )
})

test('a user without the permit cannot play, and nobody can in production', async () => {
  const { partner_id, payout, developer } = await openPlayground()
  for (const role of ['finance', 'viewer'] as const) {
    const client = await signedIn(service, { partner_id, role })
    expect((await client.get('/sandbox/playground')).json.error.code).toBe('not_permitted')
    expect((await client.post('/sandbox/playground/payouts', payout())).json.error.code).toBe('not_permitted')
  }
  expect((await developer.post('/production/playground/payouts', payout())).json.error.code).toBe(
    'route_not_found',
  )
})

test('a customer of another partner is not found', async () => {
  const { play, payout } = await openPlayground()
  const { customer } = await openPlayground()
  expect((await play('payouts', payout({ customer_id: customer.id }))).body.error.code).toBe(
    'customer_not_found',
  )
})

test('a malformed call is refused with the errors of the API', async () => {
  const { play, payout } = await openPlayground()
  expect((await play('payouts', payout({ amount: '1.5' }))).error).toMatchObject({
    code: 'invalid_amount',
    param: 'amount',
  })
})
