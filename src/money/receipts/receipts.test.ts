import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../../../test/support/api.ts'
import { readPdf } from '../../../test/support/pdf.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { eventually } from '../../../test/support/wait.ts'

let service: TestService
let api: Api
let partner_id: string
let document: string
let customer_id: string

beforeAll(async () => {
  service = await startTestService({ PIX_WAIT_MS: '2000' })
  ;({ api, partner_id } = await service.partner())
  document = someCpf()
  customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json.id
  for (const asset of ['BRL', 'USDT'])
    await api.post('/v1/sandbox/deposits', { customer_id, asset, amount: '100000000' })
  // The first receipt loads the library: on a busy machine that takes longer than a request may.
  const { id } = await pay()
  await eventually(async () => expect((await receipt(id)).status).toBe(200))
})
afterAll(() => service.stop())

let keys = 0
const pay = async (pix_key = document): Promise<any> =>
  (
    await api.post('/v1/pix/payouts', {
      customer_id,
      amount: '1050',
      counterparty: { type: 'pix_key', pix_key },
      description: 'Nota 1042',
      idempotency_key: `key-${++keys}`,
    })
  ).json

/** Stays on its way until the sandbox ends it. */
const send = async (): Promise<any> =>
  (
    await api.post('/v1/onchain/transfers', {
      customer_id,
      asset: 'USDT',
      network: 'polygon',
      amount: '1009003',
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      idempotency_key: `key-${++keys}`,
    })
  ).json

const receipt = (id: string, query = '', headers: Record<string, string> = {}) =>
  api.send('GET', `/v1/${id.startsWith('po_') ? 'pix/payouts' : 'onchain/transfers'}/${id}/receipt${query}`, {
    headers,
  })

describe('a completed payout', () => {
  test('has a receipt as a PDF, in Portuguese or English', async () => {
    const paid = await pay()
    const reply = await receipt(paid.id)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="comprovante-${paid.id}.pdf"`)
    const { text, pages } = await readPdf(reply.bytes)
    expect(pages).toHaveLength(1)
    for (const said of [
      'COMPROVANTE DE SANDBOX, SEM VALOR',
      'R$ 10,50',
      paid.id,
      paid.end_to_end_id,
      paid.idempotency_key,
      paid.counterparty.document,
      'Nota 1042',
    ])
      expect(text).toContain(said)
    expect(text).not.toContain(document)
    const english = await receipt(paid.id, '?lang=en')
    expect(english.headers.get('content-disposition')).toBe(`attachment; filename="receipt-${paid.id}.pdf"`)
    expect((await readPdf(english.bytes)).text).toContain('Pix payment receipt R$ 10.50')
    expect((await receipt(paid.id, '?lang=pt')).bytes).toEqual(reply.bytes)
  })

  test('has the same bytes every time, and 304 for a caller who has them', async () => {
    const { id } = await pay()
    const [first, again] = [await receipt(id), await receipt(id)]
    expect(again.bytes).toEqual(first.bytes)
    const etag = first.headers.get('etag')!
    expect(again.headers.get('etag')).toBe(etag)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const reply = await receipt(id, '', { 'if-none-match': known })
      expect([known, reply.status, reply.headers.get('etag'), reply.bytes.length]).toEqual([
        known,
        304,
        etag,
        0,
      ])
    }
    expect((await receipt(id, '', { 'if-none-match': '"other"' })).status).toBe(200)
    expect((await receipt(id, '?lang=en', { 'if-none-match': etag })).status).toBe(200)
  })

  test('has another receipt once the customer has another name', async () => {
    const paid = await pay()
    const before = await receipt(paid.id)
    await api.patch(`/v1/customers/${customer_id}`, { name: 'Ana Souza Lima' })
    const after = await receipt(paid.id, '', { 'if-none-match': before.headers.get('etag')! })
    expect(after.status).toBe(200)
    expect((await readPdf(after.bytes)).text).toContain('Quem pagou Nome Ana Souza Lima')
  })
})

test('a confirmed transfer has a receipt', async () => {
  const { id } = await send()
  const { json } = await api.post(`/v1/sandbox/onchain/transfers/${id}/confirm`)
  const { status, bytes } = await receipt(id)
  expect(status).toBe(200)
  const { text, links } = await readPdf(bytes)
  for (const said of [id, json.tx_hash, json.destination_address, '1,009003 USDT', 'Polygon', 'SEM VALOR'])
    expect(text).toContain(said)
  expect(links).toEqual([])
})

describe('there is no receipt', () => {
  const refusal = async (id: string) => {
    const { status, json } = await receipt(id)
    return [status, json.error.code, json.error.message]
  }

  test('while the outcome is open', async () => {
    const slow = await pay('slow@sandbox.test')
    expect(slow.status).toBe('processing')
    expect(await refusal(slow.id)).toEqual([
      409,
      'receipt_not_available',
      'This payout is processing: a receipt exists once it is completed. Wait for the event, then try again.',
    ])
    const [status, code] = await refusal((await send()).id)
    expect([status, code]).toEqual([409, 'receipt_not_available'])
  })

  test('of what failed', async () => {
    const { id } = await pay('ac03@sandbox.test')
    expect(await refusal(id)).toEqual([
      409,
      'receipt_not_available',
      'This payout failed, and the money was given back: there is no receipt. Read the payout to see why.',
    ])
  })

  test('for another partner, another environment, or an id of nothing', async () => {
    const { id } = await pay()
    const path = `/v1/pix/payouts/${id}/receipt`
    const stranger = (await service.partner()).api
    const live = (await service.partner({ partner_id, environment: 'production' })).api
    for (const caller of [stranger, live]) {
      const { status, json } = await caller.get(path)
      expect([status, json.error.code]).toEqual([404, 'payout_not_found'])
    }
    expect((await api.get('/v1/onchain/transfers/nothing/receipt')).json.error.code).toBe(
      'transfer_not_found',
    )
  })

  test('without a scope that reads the object, or in another language', async () => {
    const { id } = await pay()
    const path = `/v1/pix/payouts/${id}/receipt`
    const statusWith = async (scope: 'read' | 'payouts' | 'transfers') =>
      (await (await service.partner({ partner_id, scopes: [scope] })).api.get(path)).status
    expect([await statusWith('read'), await statusWith('payouts'), await statusWith('transfers')]).toEqual([
      200, 200, 403,
    ])
    const { status, json } = await receipt(id, '?lang=fr')
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', 'lang'])
  })
})

test('a name that tries to deceive is printed without its tricks', async () => {
  const name = 'Ana \u200e\u200bSou\u200dza 😀 Аla'
  const made = await api.post('/v1/customers', { name, document: someCpf() })
  await api.post('/v1/sandbox/deposits', { customer_id: made.json.id, asset: 'BRL', amount: '100000' })
  const { json } = await api.post('/v1/pix/payouts', {
    customer_id: made.json.id,
    amount: '1050',
    counterparty: { type: 'pix_key', pix_key: 'ana@example.com' },
    idempotency_key: `key-${++keys}`,
  })
  const { text } = await readPdf((await receipt(json.id)).bytes)
  expect(text).toContain('Quem pagou Nome Ana Souza \ufffd \ufffdla CPF')
})

test('afterwards the books are right', async () => {
  expect((await service.audit()).sandbox.findings).toEqual([])
})
