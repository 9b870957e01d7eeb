import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { editPartner } from '../../src/parties/partners/partners.ts'
import { runCli } from '../support/cli.ts'
import { openDesk } from '../support/operators.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { eventually } from '../support/wait.ts'
import { type EfiStub, efiSettings, NOTICE_TOKEN, startEfiStub } from './efi-stub.ts'

/** A service whose production world pays Pix over Efí, as a partner uses it. */
let efi: EfiStub
let service: TestService

beforeEach(async () => {
  efi = await startEfiStub()
  service = await startTestService({
    ...efiSettings(efi),
    ...{ LEASE_MS: '3000', RAIL_TIMEOUT_MS: '900', PIX_WAIT_MS: '100' },
  })
})
afterEach(async () => {
  expect((await service.audit()).production.findings).toEqual([])
  await service.stop()
  await efi.stop()
})

async function newCustomer(terms: { third_party_payouts?: true } = {}) {
  const world = service.worlds.production
  const { api, partner_id } = await service.partner({ environment: 'production' })
  if (terms.third_party_payouts) await editPartner(service.shared, partner_id, terms)
  const document = someCpf()
  const { id: customer_id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document })
  const { propose, approve } = openDesk(() => service.office)
  const details = { partner_id, customer_id, asset: 'BRL', amount: '100000' } as const
  const order = { ...details, reason: 'funding', reference: randomBytes(6).toString('hex') }
  const { id } = await propose(world, { name: 'credit', details: order }, 'maria@operator.example')
  await approve(world, id, 'joao@operator.example')
  const balance = async () => {
    const { rows } = await world.db.query(
      'SELECT balance, in_transit FROM balances WHERE customer_id = $1 AND asset = $2',
      [customer_id, 'BRL'],
    )
    return rows[0]
  }
  let orders = 0
  const pay = (counterparty: object, more: object = {}) =>
    api.post('/v1/pix/payouts', {
      ...{ customer_id, amount: '1050', counterparty, idempotency_key: `order-${++orders}` },
      ...more,
    })
  const ended = (id: string, status: string) =>
    eventually(async () => {
      const { json } = await api.get(`/v1/pix/payouts/${id}`)
      expect(json.status).toBe(status)
      return json
    })
  return { api, customer_id, document, balance, pay, ended }
}

const toKey = (pix_key: string, document?: string) => ({
  ...{ type: 'pix_key', pix_key },
  ...(document === undefined ? {} : { document }),
})

describe('a live key', () => {
  test('pays a customer’s own key: Efí gets the document, and the payout completes', async () => {
    const { pay, ended, document, balance } = await newCustomer()
    const made = await pay(toKey('ana@example.com'), { description: 'Invoice 1042' })
    expect(made).toMatchObject({ status: 201, json: { counterparty: { name: 'Ana Souza' } } })
    const { end_to_end_id } = await ended(made.json.id, 'completed')
    const [payment] = [...efi.payments.values()]
    expect(efi.payments.size).toBe(1)
    expect(payment).toMatchObject({
      endToEndId: end_to_end_id,
      body: { valor: '10.50', favorecido: { chave: 'ana@example.com', cpf: document } },
    })
    expect(await balance()).toEqual({ balance: 98_950n, in_transit: 0n })
  })

  test('gets the money back when Efí or the network refuses', async () => {
    const { pay, ended, balance } = await newCustomer()
    const nome = 'chave_nao_pertence_ao_documento'
    efi.spoil('send', { kind: 'answer', reply: { http: 400, body: { nome, mensagem: 'x' } } })
    const first = await pay(toKey('other@example.com'))
    expect(await ended(first.json.id, 'failed')).toMatchObject({
      failure: { code: 'recipient_document_mismatch', rail_code: nome },
    })
    efi.decide(() => ({ refused: 'AC06' }))
    const second = await pay(toKey('ana@example.com'))
    expect(await ended(second.json.id, 'failed')).toMatchObject({
      failure: { code: 'recipient_account_blocked', rail_code: 'AC06' },
    })
    expect(await balance()).toEqual({ balance: 100_000n, in_transit: 0n })
  })

  test.each([{ kind: 'lose' }, { kind: 'delay', ms: 1500 }] as const)(
    'is paid once although the answer is subject to $kind',
    async (fault) => {
      const { pay, ended, balance } = await newCustomer()
      efi.spoil('send', fault)
      efi.spoil('status', fault)
      const made = await pay(toKey('ana@example.com'))
      await ended(made.json.id, 'completed')
      expect(efi.payments.size).toBe(1)
      expect(efi.count('send')).toBe(1)
      expect(await balance()).toEqual({ balance: 98_950n, in_transit: 0n })
    },
  )

  test('is sent again under the same id when the first try never arrived, and the token had expired', async () => {
    const { pay, ended } = await newCustomer()
    efi.spoil('send', { kind: 'drop' })
    const made = await pay(toKey('ana@example.com'))
    efi.expireTokens()
    await ended(made.json.id, 'completed')
    expect([...efi.payments.keys()]).toEqual([`TRILHO${made.json.id.slice(3)}`])
  })

  test('hands one payment over at a time', async () => {
    const { pay, ended } = await newCustomer()
    const made = await Promise.all(Array.from({ length: 8 }, () => pay(toKey('ana@example.com'))))
    for (const { json } of made) await ended(json.id, 'completed')
    expect(efi.payments.size).toBe(8)
    expect(efi.atOnce('send')).toBe(1)
  })

  test('pays other people only with their document, and only where that is arranged', async () => {
    const [other, stranger] = [someCpf(), someCpf()]
    const own = await newCustomer()
    const refused = await own.pay(toKey('other@example.com', other))
    expect(refused).toMatchObject({ status: 422, json: { error: { code: 'counterparty_not_allowed' } } })
    expect(await own.pay(toKey(other))).toMatchObject({ status: 422 })
    const free = await newCustomer({ third_party_payouts: true })
    const made = await free.pay(toKey('other@example.com', other))
    expect(made.json.counterparty.name).toBe('')
    await free.ended(made.json.id, 'completed')
    const [payment] = [...efi.payments.values()]
    expect(payment!.body.favorecido).toEqual({ chave: 'other@example.com', cpf: other })
    const contradicted = await free.pay(toKey(other, stranger))
    expect(contradicted).toMatchObject({ status: 422, json: { error: { param: 'counterparty.document' } } })
  })

  test('learns nothing of the holders of keys, and which accounts cannot be paid', async () => {
    const { api, customer_id, document, pay } = await newCustomer()
    const look = (key: string) => api.get(`/v1/pix/keys/${key}?customer_id=${customer_id}`)
    expect((await look('ana@example.com')).json).toEqual({ type: 'email', pix_key: 'ana@example.com' })
    expect((await look(document)).json).toMatchObject({ holder: { name: 'Ana Souza' }, payable: true })
    const stranger = someCpf()
    expect((await look(stranger)).json).toEqual({ type: 'cpf', pix_key: stranger, payable: false })
    const account = { ispb: '00000000', branch: '0001', account_number: '1', name: 'Ana Souza', document }
    const salary = await pay({ type: 'bank_account', account_type: 'salary', ...account })
    expect(salary).toMatchObject({ status: 400, json: { error: { param: 'counterparty.account_type' } } })
  })
})

describe('a notice', () => {
  const post = (token: string, body: string, type = 'application/json') =>
    fetch(`${service.url}/rails/pix/efi/${token}?ignorar=`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    })

  test('makes the payout be asked about at once, and is not believed', async () => {
    const { pay, ended } = await newCustomer()
    efi.decide(() => 'EM_PROCESSAMENTO')
    const { id } = (await pay(toKey('ana@example.com'))).json
    const send_id = `TRILHO${id.slice(3)}`
    await eventually(async () => expect(efi.count('status')).toBeGreaterThan(0))
    const later = () =>
      service.worlds.production.db.query(
        `UPDATE payouts SET next_attempt_at = now() + interval '1 hour' WHERE id = $1`,
        [id],
      )
    const notice = JSON.stringify({
      pix: [
        { endToEndId: 'E1', tipo: 'SOLICITACAO', status: 'NAO_REALIZADO', gnExtras: { idEnvio: send_id } },
      ],
    })
    const asked = async () => {
      await later()
      const before = efi.count('status')
      expect((await post(NOTICE_TOKEN, notice)).status).toBe(200)
      await eventually(async () => expect(efi.count('status')).toBeGreaterThan(before))
    }
    await asked()
    expect((await service.worlds.production.db.query('SELECT status FROM payouts')).rows).toEqual([
      { status: 'processing' },
    ])
    const payment = efi.payments.get(send_id)! as { end: string }
    payment.end = 'REALIZADO'
    await later()
    await post(NOTICE_TOKEN, notice)
    await ended(id, 'completed')
  })

  test('with another token finds nothing there; what is no notice is answered and forgotten', async () => {
    for (const token of ['x', `${NOTICE_TOKEN}x`, NOTICE_TOKEN.toUpperCase(), '%00']) {
      const refused = await post(token, 'not even JSON', 'text/plain')
      expect(refused.status).toBe(404)
      expect(await refused.json()).toMatchObject({ error: { code: 'route_not_found' } })
    }
    for (const body of ['{"evento":"teste_webhook"}', '[]', '{"pix":[null]}', ''])
      expect((await post(NOTICE_TOKEN, body)).status).toBe(200)
    expect((await post(NOTICE_TOKEN, `"${'x'.repeat(70_000)}"`)).status).toBe(413)
    expect((await post(NOTICE_TOKEN, '{')).status).toBe(400)
  })
})

test('rails check signs in and prints the balance, or says what is wrong', async () => {
  efi.hold({ saldo: '1234.56', total: '0.00' })
  const check = async (more: Record<string, string> = {}) => {
    const { code, out } = await runCli(['rails', 'check', '--json'], { ...efiSettings(efi), ...more })
    return { code, json: JSON.parse(out) }
  }
  expect(await check()).toEqual({
    code: 0,
    json: { ok: true, networks: [], pix: { available: '123456', problem: null, charges_problem: null } },
  })
  expect(await check({ EFI_CLIENT_SECRET: 'wrong' })).toMatchObject({
    code: 1,
    json: { ok: false, pix: { problem: expect.stringContaining('Efí refused the sign-in') } },
  })
  efi.grant('pix.send gn.pix.send.read gn.balance.read')
  expect(await check()).toMatchObject({
    code: 1,
    json: {
      ok: false,
      pix: {
        problem: null,
        charges_problem: 'the application at Efí lacks the scope cob.write, cob.read, pix.read',
      },
    },
  })
})

test('rails list says that the provider refuses the sign-in, and not that Pix is not configured', async () => {
  const list = async (more: Record<string, string> = {}) => {
    const here = { DATABASE_URL: service.database.url, SECRET_KEY: '00'.repeat(32) }
    const { code, out } = await runCli(['rails', 'list'], { ...here, ...efiSettings(efi), ...more })
    expect(code, out).toBe(0)
    return out.split('\n').find((line) => line.startsWith('pix'))
  }
  expect(await list()).toMatch(/^pix +accepts orders/)
  expect(await list({ EFI_CLIENT_SECRET: 'wrong' })).toMatch(/^pix +refuses orders: /)
})

test('the list of Efí is compared as soon as a node starts: a restored database pauses the rail', async () => {
  const { pay, ended } = await newCustomer()
  const made = await pay(toKey('ana@example.com'))
  await ended(made.json.id, 'completed')
  await service.stop()
  // The next service has another database, which knows nothing of the payment.
  service = await startTestService({ ...efiSettings(efi), PIX_WAIT_MS: '100' })
  const restored = await newCustomer()
  await eventually(async () => {
    const refused = await restored.pay(toKey('ana@example.com'))
    expect(refused).toMatchObject({ status: 503, json: { error: { code: 'rail_unavailable' } } })
  })
})

test('a fault of our own account pauses the rail: no further payout is accepted', async () => {
  const { pay, ended } = await newCustomer()
  efi.spoil('send', { kind: 'answer', reply: { http: 400, body: { nome: 'documento_bloqueado' } } })
  const made = await pay(toKey('ana@example.com'))
  expect(await ended(made.json.id, 'failed')).toMatchObject({ failure: { code: 'provider_error' } })
  await eventually(async () => expect((await pay(toKey('ana@example.com'))).status).toBe(503))
})
