import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Api } from '../../../test/support/api.ts'
import { isLockAwaited } from '../../../test/support/database.ts'
import { moveIntoThePast } from '../../../test/support/past.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { size } from '../../../test/support/size.ts'
import { roomInMinute } from '../../../test/support/wait.ts'
import { editPartner } from '../../parties/partners/partners.ts'

let service: TestService
let api: Api
let partner_id: string

beforeAll(async () => {
  // Long enough for an answer that says how the payout ended, on a busy machine too.
  service = await startTestService({ PIX_WAIT_MS: '3000' })
  ;({ api, partner_id } = await service.partner())
})
afterEach(async () => {
  expect((await service.audit()).sandbox.findings).toEqual([])
})
afterAll(() => service.stop())

async function customer(balance = '100000', by = api): Promise<{ id: string; document: string }> {
  const document = someCpf()
  const { id } = (await by.post('/v1/customers', { name: 'Ana Souza', document })).json
  if (balance !== '0')
    await by.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: balance })
  return { id, document }
}

let keys = 0
const order = (customer_id: string, pix_key: string, more: Record<string, unknown> = {}) => ({
  customer_id,
  amount: '1050',
  counterparty: { type: 'pix_key', pix_key },
  idempotency_key: `key-${++keys}`,
  ...more,
})

async function brl(id: string, by = api) {
  const { available, in_transit } = (await by.get(`/v1/customers/${id}/balances`)).json.data[0]
  return { available, in_transit }
}

async function until(id: string, status: string, by = api): Promise<any> {
  for (let i = 0; i < 600; i++) {
    const { json } = await by.get(`/v1/pix/payouts/${id}`)
    if (json.status === status) return json
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`payout ${id} never became ${status}`)
}

describe('a payout', () => {
  test('interface §4.1: completes at once, with every field of interface §2.4', async () => {
    const { id, document } = await customer()
    const sent = await api.post('/v1/pix/payouts', order(id, document, { description: 'Nota 1042 ✓' }))
    expect(sent.status).toBe(201)
    expect(sent.json).toMatchObject({
      customer_id: id,
      direction: 'outbound',
      amount: '1050',
      fee: '0',
      decimals: 2,
      status: 'completed',
      description: 'Nota 1042 ✓',
      failure: null,
      counterparty: {
        name: 'Ana Souza',
        document: `***.${document.slice(3, 6)}.${document.slice(6, 9)}-**`,
        pix_key: document,
      },
    })
    expect(sent.json.end_to_end_id).toMatch(/^E[0-9A-Z]{8}[0-9]{12}[A-Za-z0-9]{11}$/)
    expect(sent.json.completed_at >= sent.json.created_at).toBe(true)
    expect((await api.get(`/v1/pix/payouts/${sent.json.id}`)).json).toEqual(sent.json)
    expect(await brl(id)).toEqual({ available: '98950', in_transit: '0' })
    const { data } = (await api.get(`/v1/customers/${id}/statement`)).json
    expect(data[0]).toMatchObject({
      amount: '-1050',
      balance_after: '98950',
      cause: { type: 'payout', id: sent.json.id },
    })
  })

  test('every failure of the network returns the money once and gives its reason', async () => {
    const { id } = await customer()
    for (const code of ['ac03', 'ac06', 'ac07', 'am02', 'be01', 'ds04', 'rr04', 'ab03']) {
      const { status, json } = await api.post('/v1/pix/payouts', order(id, `${code}@sandbox.test`))
      expect(status).toBe(201)
      expect(json).toMatchObject({
        status: 'failed',
        end_to_end_id: null,
        failure: { rail_code: code.toUpperCase() },
      })
      expect(json).not.toHaveProperty('completed_at')
      expect(json.failure.message).toBeTruthy()
    }
    expect(await brl(id)).toEqual({ available: '100000', in_transit: '0' })
    const { data } = (await api.get(`/v1/customers/${id}/statement?limit=2`)).json
    expect(data.map((line: any) => [line.amount, line.cause.type])).toEqual([
      ['1050', 'reversal'],
      ['-1050', 'payout'],
    ])
  })

  test('an unknown outcome is processing, never failed; the money stays in transit until it is known', async () => {
    const { id } = await customer()
    const { json } = await api.post('/v1/pix/payouts', order(id, 'slow@sandbox.test'))
    expect(json).toMatchObject({ status: 'processing', end_to_end_id: null })
    expect(await brl(id)).toEqual({ available: '98950', in_transit: '1050' })
    const done = await api.post(`/v1/sandbox/pix/payouts/${json.id}/complete`)
    expect(done.json.status).toBe('completed')
    expect(await brl(id)).toEqual({ available: '98950', in_transit: '0' })
  })

  test('a repeated outcome changes nothing, a different one is already_final', async () => {
    const { id } = await customer()
    for (const [word, other, status] of [
      ['complete', 'fail', 'completed'],
      ['fail', 'complete', 'failed'],
    ] as const) {
      const made = (await api.post('/v1/pix/payouts', order(id, 'slow@sandbox.test'))).json
      const end = (how: string) => api.post(`/v1/sandbox/pix/payouts/${made.id}/${how}`)
      const first = await end(word)
      const again = await end(word)
      expect([first.status, again.status]).toEqual([200, 200])
      expect(again.json).toEqual(first.json)
      const refused = await end(other)
      expect([refused.status, refused.json.error.code]).toEqual([409, 'already_final'])
      expect(refused.json.error.message).toContain(status)
    }
    expect(await brl(id)).toEqual({ available: '98950', in_transit: '0' })
  })

  test('a payout lost on its way is sent again under the same id; one that timed out is found', async () => {
    // Answers before any of them can be known to have ended.
    const impatient = await startTestService({ PIX_WAIT_MS: '400' })
    onTestFinished(impatient.stop)
    const { api: by } = await impatient.partner()
    const { id } = await customer('100000', by)
    const lost = await by.post('/v1/pix/payouts', order(id, 'lost@sandbox.test'))
    const timeout = await by.post('/v1/pix/payouts', order(id, 'timeout@sandbox.test'))
    const garbage = await by.post('/v1/pix/payouts', order(id, 'garbage@sandbox.test'))
    const slow = await by.post('/v1/pix/payouts', order(id, 'slow@sandbox.test'))
    expect([lost, timeout, garbage, slow].map(({ json }) => json.status)).toEqual(
      Array.from({ length: 4 }, () => 'processing'),
    )
    for (const { json } of [lost, garbage, timeout, slow]) await until(json.id, 'completed', by)
    expect(await brl(id, by)).toEqual({ available: '95800', in_transit: '0' })
    // About a second on an idle machine.
    const took = async ({ json }: typeof slow): Promise<number> => {
      const { completed_at, created_at } = (await by.get(`/v1/pix/payouts/${json.id}`)).json
      return Date.parse(completed_at) - Date.parse(created_at)
    }
    const tolerance = size(1000, 10_000)
    for (const [payout, ms] of [
      [timeout, 10_000],
      [slow, 15_000],
    ] as const) {
      expect(await took(payout)).toBeGreaterThanOrEqual(ms)
      expect(await took(payout)).toBeLessThan(ms + tolerance)
    }
    expect((await impatient.audit()).sandbox.findings).toEqual([])
  })

  test('interface §4.1, rule 2: only to the customer’s own document, unless arranged', async () => {
    const { id } = await customer()
    for (const pix_key of ['other-owner@sandbox.test', '111.444.777-35']) {
      const { json } = await api.post('/v1/pix/payouts', order(id, pix_key))
      expect(json.error.code).toBe('counterparty_not_allowed')
    }
    expect((await api.post('/v1/pix/payouts', order(id, 'notfound@sandbox.test'))).json.error.code).toBe(
      'pix_key_not_found',
    )
    expect(await brl(id)).toEqual({ available: '100000', in_transit: '0' })
    const becomes = async (third_party_payouts: boolean) => {
      await editPartner(service.shared, partner_id, { third_party_payouts })
      const dry = `/v1/pix/payouts?dry_run=true`
      const isAllowed = async () =>
        (await api.post(dry, order(id, 'other-owner@sandbox.test'))).json.error === undefined
      await expect.poll(isAllowed).toBe(third_party_payouts)
    }
    await becomes(true)
    const allowed = await api.post('/v1/pix/payouts', order(id, 'other-owner@sandbox.test'))
    expect(allowed.json).toMatchObject({
      status: 'completed',
      counterparty: { name: 'Outra Pessoa', document: '***.444.777-**' },
    })
    await becomes(false)
  })

  test('an arrangement that ends while a payout waits for its turn no longer applies to it', async () => {
    const own = await service.partner()
    const { id } = (await own.api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json
    await own.api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: '5000' })
    await editPartner(service.shared, own.partner_id, { third_party_payouts: true })
    const looked = async () =>
      (await own.api.get(`/v1/pix/keys/other-owner@sandbox.test?customer_id=${id}`)).json
    await expect.poll(async () => (await looked()).payable, { interval: 400 }).toBe(true)
    const holder = new pg.Client({ connectionString: service.database.url })
    await holder.connect()
    onTestFinished(() => holder.end())
    await holder.query('BEGIN')
    await holder.query('SELECT FROM sandbox.balances WHERE customer_id = $1 FOR UPDATE', [id])
    const sent = own.api.post('/v1/pix/payouts', order(id, 'other-owner@sandbox.test'))
    await expect.poll(() => isLockAwaited(service.database.url), { interval: 20 }).toBe(true)
    await editPartner(service.shared, own.partner_id, { third_party_payouts: false })
    await holder.query('COMMIT')
    expect((await sent).json.error.code).toBe('counterparty_not_allowed')
  })

  test('other-owner@ belongs to another holder for every customer, also for the document it usually has', async () => {
    const own = await service.partner()
    const document = '111.444.777-35'
    const { id } = (await own.api.post('/v1/customers', { name: 'Bruno Lima', document })).json
    await own.api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: '5000' })
    const looked = await own.api.get(`/v1/pix/keys/other-owner@sandbox.test?customer_id=${id}`)
    expect(looked.json).toMatchObject({ payable: false, holder: { document: '***.555.888-**' } })
    expect(
      (await own.api.post('/v1/pix/payouts', order(id, 'other-owner@sandbox.test'))).json.error.code,
    ).toBe('counterparty_not_allowed')
  })

  test('a declared document must be that of the key’s holder; it belongs to the request only when it is sent', async () => {
    const { id, document } = await customer()
    const to = (pix_key: string, declared?: string) => ({
      counterparty: { type: 'pix_key', pix_key, ...(declared === undefined ? {} : { document: declared }) },
    })
    const punctuated = document.replace(/^(...)(...)(...)/, '$1.$2.$3-')
    const good = await api.post('/v1/pix/payouts', order(id, '', to('ana@example.com', punctuated)))
    expect(good.json).toMatchObject({ status: 'completed', counterparty: { pix_key: 'ana@example.com' } })
    expect(good.text).not.toContain(document)
    const own = await api.post('/v1/pix/payouts', order(id, '', to(document, document)))
    expect(own.json.counterparty).toEqual({
      name: 'Ana Souza',
      document: `***.${document.slice(3, 6)}.${document.slice(6, 9)}-**`,
      pix_key: document,
    })
    const body = order(id, '', to('ana@example.com', '111.444.777-35'))
    for (const query of ['?dry_run=true', '']) {
      const { status, json } = await api.post(`/v1/pix/payouts${query}`, body)
      expect([status, json.error.code, json.error.param]).toEqual([
        422,
        'counterparty_not_allowed',
        'counterparty.document',
      ])
      expect(JSON.stringify(json)).not.toContain(document)
    }
    const bad = await api.post('/v1/pix/payouts', order(id, '', to('ana@example.com', '111.444.777-30')))
    expect(bad.json.error).toMatchObject({ code: 'invalid_request', param: 'counterparty.document' })
    // Without the document it is another request.
    const once = order(id, '', to('ana@example.com'))
    expect((await api.post('/v1/pix/payouts', once)).status).toBe(201)
    const again = { ...once, ...to('ana@example.com', document) }
    expect((await api.post('/v1/pix/payouts', again)).json.error.code).toBe('idempotency_conflict')
  })

  test('to a bank account with the customer’s document', async () => {
    const { id, document } = await customer()
    const bank = {
      type: 'bank_account',
      ispb: '18236120',
      branch: '0001',
      account_number: '1234567',
      account_type: 'payment',
      name: 'Ana Souza',
      document,
    }
    const { json } = await api.post('/v1/pix/payouts', order(id, '', { counterparty: bank }))
    expect(json).toMatchObject({
      status: 'completed',
      counterparty: { pix_key: null, ispb: '18236120', branch: '0001', account_type: 'payment' },
    })
    expect(json.counterparty).not.toHaveProperty('type')
    const other = await api.post(
      '/v1/pix/payouts',
      order(id, '', { counterparty: { ...bank, document: '111.444.777-35' } }),
    )
    expect(other.json.error.code).toBe('counterparty_not_allowed')
    const bad = await api.post(
      '/v1/pix/payouts',
      order(id, '', { counterparty: { ...bank, document: '111.444.777-30' } }),
    )
    expect(bad.json.error).toMatchObject({ code: 'invalid_request', param: 'counterparty.document' })
  })

  test('a fee of the schedule is debited, kept when it completes and returned when it fails', async () => {
    const { id } = await customer()
    const becomes = async (pix_fee: number) => {
      await editPartner(service.shared, partner_id, { pix_fee })
      // A payout is charged by the terms that the node has cached.
      const dry = `/v1/pix/payouts?dry_run=true`
      const charged = async () => (await api.post(dry, order(id, 'ana@example.com'))).json.fee
      await expect.poll(charged).toBe(String(pix_fee))
    }
    await becomes(99)
    expect((await api.post('/v1/pix/payouts', order(id, 'ana@example.com'))).json).toMatchObject({
      amount: '1050',
      fee: '99',
    })
    expect(await brl(id)).toEqual({ available: '98851', in_transit: '0' })
    await api.post('/v1/pix/payouts', order(id, 'ac03@sandbox.test'))
    expect(await brl(id)).toEqual({ available: '98851', in_transit: '0' })
    await becomes(0)
  })

  test('50 at once of 100 from a balance of 1,000: exactly ten pass', async () => {
    const { id } = await customer('1000')
    const sent = await Promise.all(
      Array.from({ length: 50 }, () =>
        api.post('/v1/pix/payouts', order(id, 'ana@example.com', { amount: '100' })),
      ),
    )
    expect(sent.filter(({ status }) => status === 201)).toHaveLength(10)
    const refused = sent.filter(({ json }) => json.error?.code === 'insufficient_balance')
    expect(refused).toHaveLength(40)
    expect(refused.at(-1)!.json.error.details).toMatchObject({ asset: 'BRL', needed: '100' })
    const { error } = (await api.post('/v1/pix/payouts', order(id, 'ana@example.com'))).json
    expect(error.details).toEqual({ asset: 'BRL', needed: '1050', available: '0' })
    expect(error.message).toContain('10.50 BRL are needed, 0.00 BRL are available')
    expect(await brl(id)).toEqual({ available: '0', in_transit: '0' })
  })

  test('each kind of bad input has its own error, and nothing moves', async () => {
    const { id } = await customer()
    const cases: [unknown, string, string?][] = [
      [order(id, ''), 'invalid_pix_key'],
      [order(id, 'x'), 'invalid_pix_key'],
      [
        { ...order(id, 'ana@example.com'), counterparty: { type: 'pix_key' } },
        'invalid_request',
        'counterparty.pix_key',
      ],
      [
        { ...order(id, 'ana@example.com'), counterparty: { type: 'cash' } },
        'invalid_request',
        'counterparty.type',
      ],
      [{ ...order(id, 'ana@example.com'), counterparty: {} }, 'invalid_request', 'counterparty.type'],
      [
        { ...order(id, 'ana@example.com'), counterparty: 'ana@example.com' },
        'invalid_request',
        'counterparty',
      ],
      [
        order(id, 'ana@example.com', {
          counterparty: { type: 'pix_key', pix_key: 'ana@example.com', name: 'x' },
        }),
        'invalid_request',
        'counterparty.name',
      ],
      [order(id, 'ana@example.com', { amount: 1050 }), 'invalid_amount'],
      [order(id, 'ana@example.com', { amount: '0' }), 'invalid_amount'],
      [order(id, 'ana@example.com', { amount: '999999999999999999' }), 'insufficient_balance'],
      [order(id, 'ana@example.com', { description: 'é'.repeat(141) }), 'invalid_request', 'description'],
      [order(id, 'ana@example.com', { description: 'a\u0007b' }), 'invalid_request', 'description'],
      [order(id, 'ana@example.com', { idempotency_key: '' }), 'invalid_request', 'idempotency_key'],
      [order(id, 'ana@example.com', { idempotency_key: 'é' }), 'invalid_request', 'idempotency_key'],
      [
        order(id, 'ana@example.com', { idempotency_key: 'k'.repeat(256) }),
        'invalid_request',
        'idempotency_key',
      ],
      [order('cus_01kc3v4x9zq8rj5m2t7w6y0ahb', 'ana@example.com'), 'customer_not_found'],
    ]
    for (const [body, code, param] of cases) {
      const { json } = await api.post('/v1/pix/payouts', body)
      expect(json.error?.code, JSON.stringify(body)).toBe(code)
      if (param) expect(json.error.param).toBe(param)
    }
    expect(
      (await api.post('/v1/pix/payouts', order(id, 'ana@example.com', { description: '😀'.repeat(140) })))
        .status,
    ).toBe(201)
  })

  test('there is an event for every state, in order, with the object as it was', async () => {
    const { id } = await customer()
    const { json } = await api.post('/v1/pix/payouts', order(id, 'ana@example.com'))
    const { rows } = await service.worlds.sandbox.db.query(
      'SELECT type, sequence, data FROM events WHERE object_id = $1 ORDER BY sequence',
      [json.id],
    )
    expect(rows.map((row) => [row.type, row.sequence, row.data.status])).toEqual([
      ['pix.payout.created', 1, 'pending'],
      ['pix.payout.processing', 2, 'processing'],
      ['pix.payout.completed', 3, 'completed'],
    ])
    expect(rows[2].data).toEqual(json)
  })

  test('lists filter and page', async () => {
    const { id } = await customer()
    for (let i = 0; i < 5; i++)
      await api.post(
        '/v1/pix/payouts',
        order(id, i % 2 ? 'ac03@sandbox.test' : 'ana@example.com', { amount: `${i + 1}` }),
      )
    const first = (await api.get(`/v1/pix/payouts?customer_id=${id}&limit=2`)).json
    expect(first.data.map((p: any) => p.amount)).toEqual(['5', '4'])
    const second = (await api.get(`/v1/pix/payouts?customer_id=${id}&limit=2&cursor=${first.next_cursor}`))
      .json
    expect(second.data.map((p: any) => p.amount)).toEqual(['3', '2'])
    expect((await api.get(`/v1/pix/payouts?customer_id=${id}&status=failed`)).json.data).toHaveLength(2)
    expect(
      (await api.get(`/v1/pix/payouts?customer_id=${id}&created_after=${first.data[0].created_at}`)).json
        .data,
    ).toHaveLength(1)
    expect((await api.get('/v1/pix/payouts/po_01kc3v4x9zq8rj5m2t7w6y0ahb')).json.error.code).toBe(
      'payout_not_found',
    )
    const stranger = await service.partner()
    expect((await stranger.api.get(`/v1/pix/payouts/${first.data[0].id}`)).json.error.code).toBe(
      'payout_not_found',
    )
    expect((await stranger.api.get('/v1/pix/payouts')).json.data).toEqual([])
  })

  test('in production, without a configured rail, nothing is debited', async () => {
    const live = await service.partner({ environment: 'production' })
    const { id } = (await live.api.post('/v1/customers', { name: 'A', document: someCpf() })).json
    const { json } = await live.api.post('/v1/pix/payouts', order(id, 'ana@example.com'))
    expect(json.error.code).toBe('rail_unavailable')
  })
})

describe('idempotency (contract §7)', () => {
  test('the same key and body get the same bytes, whatever became of the payout', async () => {
    const { id } = await customer()
    for (const pix_key of [
      'ana@example.com',
      'ac03@sandbox.test',
      'slow@sandbox.test',
      'notfound@sandbox.test',
      'other-owner@sandbox.test',
    ]) {
      const body = order(id, pix_key)
      const first = await api.post('/v1/pix/payouts', body)
      expect(first.headers.get('idempotent-replayed')).toBeNull()
      if (first.json.status === 'processing')
        await api.post(`/v1/sandbox/pix/payouts/${first.json.id}/complete`)
      const again = await api.post('/v1/pix/payouts', Object.fromEntries(Object.entries(body).reverse()))
      expect(again.text).toBe(first.text)
      expect(again.status).toBe(first.status)
      expect(again.headers.get('idempotent-replayed')).toBe('true')
    }
    const poor = order(id, 'ana@example.com', { amount: '100000000' })
    const refused = await api.post('/v1/pix/payouts', poor)
    expect(refused.json.error.code).toBe('insufficient_balance')
    await api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: '100000000' })
    expect((await api.post('/v1/pix/payouts', poor)).text).toBe(refused.text)
  })

  test('a final response is read from its event; a stored response, and one stored by reference, are the same', async () => {
    const { id } = await customer()
    const body = order(id, 'ana@example.com')
    const first = await api.post('/v1/pix/payouts', body)
    const { db } = service.worlds.sandbox
    const kept = async () =>
      (
        await db.query(
          `SELECT final, answer_status, answer_body, answer_sequence FROM claims WHERE resource_id = '${first.json.id}'`,
        )
      ).rows[0]
    const silent = { final: false, answer_status: null, answer_body: null, answer_sequence: null }
    expect(await kept()).toEqual(silent)
    const replayed = async () => (await api.post('/v1/pix/payouts', body)).text
    expect(await replayed()).toBe(first.text)
    expect(await kept()).toEqual(silent)
    // Stored whole; by reference to a deleted event; by reference to an existing event.
    for (const [answer_body, answer_sequence] of [
      [first.text, null],
      [null, 9],
      [null, 3],
    ]) {
      await db.query(
        `UPDATE claims SET final = true, answer_status = 201, answer_body = $2, answer_sequence = $3 WHERE resource_id = $1`,
        [first.json.id, answer_body, answer_sequence],
      )
      expect(await replayed()).toBe(first.text)
    }
  })

  test('another body under the same key is a conflict, and moves nothing', async () => {
    const { id } = await customer()
    const body = order(id, 'ana@example.com')
    await api.post('/v1/pix/payouts', body)
    for (const change of [
      { amount: '1051' },
      { description: 'x' },
      { counterparty: { type: 'pix_key', pix_key: 'ANA@example.com' } },
    ]) {
      expect((await api.post('/v1/pix/payouts', { ...body, ...change })).json.error.code).toBe(
        'idempotency_conflict',
      )
    }
    expect(await brl(id)).toEqual({ available: '98950', in_transit: '0' })
  })

  test('a request refused by validation does not use up its idempotency key', async () => {
    const { id } = await customer()
    const body = order(id, 'ana@example.com')
    expect((await api.post('/v1/pix/payouts', { ...body, amount: '01' })).status).toBe(400)
    expect(
      (await api.post('/v1/pix/payouts', { ...body, customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb' })).status,
    ).toBe(404)
    expect((await api.post('/v1/pix/payouts', body)).status).toBe(201)
  })

  test('50 equal requests at once make one payout and get one body', async () => {
    const { id } = await customer()
    for (const pix_key of ['ana@example.com', 'slow@sandbox.test']) {
      const body = order(id, pix_key)
      const sent = await Promise.all(Array.from({ length: 50 }, () => api.post('/v1/pix/payouts', body)))
      expect(new Set(sent.map(({ text }) => text)).size).toBe(1)
      expect(sent.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
    }
    expect(await brl(id)).toEqual({ available: '97900', in_transit: '1050' })
  })

  test('exactly 24 hours after the first request the key is free again, unless its payout is not final', async () => {
    const { id } = await customer()
    const done = order(id, 'ana@example.com')
    const open = order(id, 'slow@sandbox.test')
    const first = await api.post('/v1/pix/payouts', done)
    const stuck = await api.post('/v1/pix/payouts', open)
    await moveIntoThePast(service.database.url, { table: 'payouts', id: first.json.id, by: '24 hours' })
    // Only the claim of the open payout is made older: the simulated network would settle a payout of yesterday.
    const move = (sign: '+' | '-') =>
      service.worlds.sandbox.db.query(
        `UPDATE claims SET expires_at = expires_at ${sign} interval '24 hours' WHERE resource_id = $1`,
        [stuck.json.id],
      )
    await move('-')
    const fresh = await Promise.all(Array.from({ length: 20 }, () => api.post('/v1/pix/payouts', done)))
    expect(new Set(fresh.map(({ json }) => json.id)).size).toBe(1)
    expect(fresh[0]!.json.id).not.toBe(first.json.id)
    expect((await api.post('/v1/pix/payouts', open)).text).toBe(stuck.text)
    await move('+')
  })

  test('a payout and a transfer may share a key', async () => {
    const { id } = await customer()
    await api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'USDT', amount: '100000000' })
    const body = order(id, 'ana@example.com')
    expect((await api.post('/v1/pix/payouts', body)).status).toBe(201)
    const transfer = {
      customer_id: id,
      asset: 'USDT',
      network: 'polygon',
      amount: '1000000',
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      idempotency_key: body.idempotency_key,
    }
    expect((await api.post('/v1/onchain/transfers', transfer)).status).toBe(201)
  })
})

describe('looking before paying', () => {
  test('a dry run runs every check, moves nothing and uses up no idempotency key', async () => {
    const { id, document } = await customer()
    const body = order(id, document)
    const dry = await api.post('/v1/pix/payouts?dry_run=true', body)
    expect(dry.status).toBe(200)
    expect(dry.json).toMatchObject({
      dry_run: true,
      fee: '0',
      balance_after: '98950',
      would_replay: false,
      counterparty: { name: 'Ana Souza', pix_key: document },
    })
    expect(await brl(id)).toEqual({ available: '100000', in_transit: '0' })
    expect(
      (await api.post('/v1/pix/payouts?dry_run=true', { ...body, amount: '100001' })).json.error.code,
    ).toBe('insufficient_balance')
    expect(
      (await api.post('/v1/pix/payouts?dry_run=true', order(id, 'notfound@sandbox.test'))).json.error.code,
    ).toBe('pix_key_not_found')
    expect((await api.post('/v1/pix/payouts?dry_run=maybe', body)).json.error).toMatchObject({
      code: 'invalid_request',
      param: 'dry_run',
    })
    expect((await api.post('/v1/pix/payouts', body)).status).toBe(201)
    expect((await api.post('/v1/pix/payouts?dry_run=true', body)).json).toMatchObject({ would_replay: true })
  })

  test('a Pix key can be checked for a customer', async () => {
    const { id, document } = await customer()
    const own = await api.get(`/v1/pix/keys/${document}?customer_id=${id}`)
    expect(own.json).toMatchObject({
      type: 'cpf',
      pix_key: document,
      payable: true,
      holder: { name: 'Ana Souza' },
    })
    expect((await api.get(`/v1/pix/keys/other-owner@sandbox.test?customer_id=${id}`)).json).toMatchObject({
      type: 'email',
      payable: false,
      holder: { document: '***.444.777-**' },
    })
    expect((await api.get('/v1/pix/keys/ana@example.com')).json).not.toHaveProperty('payable')
    expect((await api.get('/v1/pix/keys/nonsense')).json.error.code).toBe('invalid_pix_key')
    expect((await api.get('/v1/pix/keys/notfound@sandbox.test')).json.error.code).toBe('pix_key_not_found')
    expect((await api.get(`/v1/pix/keys/${encodeURIComponent('+55 11 98765-4321')}`)).json).toMatchObject({
      type: 'phone',
      pix_key: '+5511987654321',
    })
  })

  test('pre-checks, dry runs and refused payouts share one small limit; accepted payouts do not count', async () => {
    const { api: limited } = await service.partner({ limited: true })
    const document = someCpf()
    const { id } = (await limited.post('/v1/customers', { name: 'A', document })).json
    await limited.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: '100000' })
    await roomInMinute(10)
    for (let i = 0; i < 7; i++) expect((await limited.get('/v1/pix/keys/ana@example.com')).status).toBe(200)
    for (let i = 0; i < 7; i++)
      expect((await limited.post('/v1/pix/payouts?dry_run=true', order(id, document))).status).toBe(200)
    for (let i = 0; i < 6; i++)
      expect((await limited.post('/v1/pix/payouts', order(id, 'other-owner@sandbox.test'))).status).toBe(422)
    expect((await limited.get('/v1/pix/keys/ana@example.com')).status).toBe(429)
    expect((await limited.post('/v1/pix/payouts?dry_run=true', order(id, document))).status).toBe(429)
    expect((await limited.post('/v1/pix/payouts', order(id, 'other-owner@sandbox.test'))).status).toBe(429)
    expect((await limited.post('/v1/pix/payouts', order(id, document))).status).toBe(201)
  })
})
