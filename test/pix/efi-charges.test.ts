import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseBrCode } from '../../src/core/br-code.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { eventually } from '../support/wait.ts'
import type { ReceivedPayment } from './bank.ts'
import { receivedNotice } from './efi-answers.ts'
import { type EfiStub, efiSettings, NOTICE_TOKEN, startEfiStub } from './efi-stub.ts'
import { commonFaults } from './provider-stub.ts'

/** A service whose customers are paid by Pix over Efí, as a partner uses it. */
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

async function newCustomer() {
  const world = service.worlds.production
  const { api, partner_id } = await service.partner({ environment: 'production' })
  const { id: customer_id } = await addCustomer(world, {
    ...{ partner_id, name: 'Ana Souza', document: someCpf() },
  })
  let orders = 0
  return {
    api,
    charge: (more: object = {}) =>
      api.post('/v1/pix/charges', {
        ...{ customer_id, amount: '1050', idempotency_key: `charge-${++orders}`, ...more },
      }),
    became: (id: string, expected: object) =>
      eventually(async () => {
        const { json } = await api.get(`/v1/pix/charges/${id}`)
        expect(json).toMatchObject(expected)
        return json
      }),
    async balance() {
      const { rows } = await world.db.query(
        `SELECT balance FROM balances WHERE customer_id = $1 AND asset = 'BRL'`,
        [customer_id],
      )
      return rows[0]?.balance ?? 0n
    },
  }
}

const tell = (payment: ReceivedPayment) =>
  fetch(`${service.url}/rails/pix/efi/${NOTICE_TOKEN}?ignorar=`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(receivedNotice(payment)),
  })

describe('a live key', () => {
  test('has a customer paid: the code is Efí’s, and the payment is credited once it is asked for', async () => {
    const { charge, became, balance } = await newCustomer()
    const made = await charge({ description: 'Pedido 1042' })
    const { txid, pix_copia_e_cola } = await became(made.json.id, { status: 'open' })
    expect(parseBrCode(pix_copia_e_cola)?.url).toContain('qrcodespix.sejaefi.com.br/v2/')
    expect(efi.bank.charges.get(txid)).toMatchObject({ amount: 1050n, description: 'Pedido 1042' })
    const [part, rest] = [efi.bank.pay({ txid, amount: 50n }), efi.bank.pay({ txid, amount: 1000n })]
    for (const one of [part, part, rest]) expect((await tell(one)).status).toBe(200)
    await became(made.json.id, { status: 'paid', amount_received: '1050' })
    const again = efi.bank.pay({ txid })
    await tell(again)
    await became(made.json.id, { status: 'paid', amount_received: '2100' })
    expect(await balance()).toBe(2100n)
  })

  test.each(commonFaults(1500))(
    'is registered once although the answer is subject to $kind $reply.http',
    async (fault) => {
      const { charge, became } = await newCustomer()
      efi.spoil('charge', fault)
      efi.spoil('asked_charge', fault)
      const made = await charge()
      await became(made.json.id, { status: 'open' })
      expect(efi.bank.charges.size).toBe(1)
    },
  )

  test('is told when Efí refuses', async () => {
    const { charge, became } = await newCustomer()
    efi.spoil('charge', { kind: 'answer', reply: { http: 400, body: { nome: 'chave_invalida' } } })
    const made = await charge()
    await became(made.json.id, { status: 'failed' })
  })

  test('a payment that nobody told of is found in the list, and one without a charge credits nobody', async () => {
    const { charge, became, balance } = await newCustomer()
    const made = await charge()
    const { txid } = await became(made.json.id, { status: 'open' })
    efi.bank.pay({ amount: 7n })
    efi.bank.pay({ txid })
    await eventually(async () => expect(await balance()).toBe(1050n), { timeout: 120_000 })
  }, 300_000)
})
