import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assetNames } from '../../src/core/money.ts'
import type { Api, Reply } from '../support/api.ts'
import { type AmountCase, amounts } from '../support/corpora.ts'
import { expectIntact } from '../support/intact.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'

let service: TestService
let api: Api
beforeAll(async () => {
  service = await startTestService()
  api = (await service.partner()).api
})
afterAll(() => service.stop())

const newCustomer = async (): Promise<string> =>
  (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json.id

/** `amount` is spliced into the body as it is, so it may be no JSON at all. */
const deposit = (customer_id: string, amount: string, asset = 'BRL'): Promise<Reply> =>
  api.send('POST', '/v1/sandbox/deposits', {
    body: `{"customer_id":"${customer_id}","asset":"${asset}","amount":${amount}}`,
    headers: { 'content-type': 'application/json' },
  })

async function balances(customer_id: string): Promise<Record<string, string>> {
  const { json } = await api.get(`/v1/customers/${customer_id}/balances`)
  return Object.fromEntries(json.data.map((row: any) => [row.asset, row.available]))
}

/** Text that is no JSON, names the amount twice, or holds what no text may hold, never gets as far as being an amount. */
function codeOf({ name, json }: AmountCase): string {
  if (name.startsWith('amount twice')) return 'invalid_json'
  try {
    const value: unknown = JSON.parse(`{"amount":${json}}`).amount
    const unstorable = typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())
    return unstorable ? 'invalid_json' : 'invalid_amount'
  } catch {
    return 'invalid_json'
  }
}

describe('an amount of whole smallest units is credited to the last digit', () => {
  test.each(amounts.filter(({ valid }) => valid))('$name', async ({ json }) => {
    const amount: string = JSON.parse(json)
    const customer_id = await newCustomer()
    for (const asset of assetNames) {
      const reply = await deposit(customer_id, json, asset)
      expect(reply.status).toBe(201)
      expect(reply.json).toMatchObject({ customer_id, asset, amount })
    }
    expect(await balances(customer_id)).toEqual({ BRL: amount, USDT: amount, BTC: amount })
  })
})

describe('whatever else stands in its place is refused, and nothing is credited', () => {
  let customer_id: string
  beforeAll(async () => {
    customer_id = await newCustomer()
    await deposit(customer_id, '"7"')
  })

  test.each(amounts.filter(({ valid }) => !valid))('$name', async (entry) => {
    const reply = await deposit(customer_id, entry.json)
    expect(reply.status).toBe(400)
    const code = codeOf(entry)
    expect(reply.json.error.code).toBe(code)
    expect(reply.json.error.param).toBe(code === 'invalid_amount' ? 'amount' : undefined)
    expect(await balances(customer_id)).toEqual({ BRL: '7', USDT: '0', BTC: '0' })
  })

  test('a missing amount is a missing field', async () => {
    const reply = await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL' })
    expect(reply.json.error).toMatchObject({ code: 'invalid_request', param: 'amount' })
  })
})

test('only 1 to 18 ASCII digits without a leading zero are an amount', async () => {
  const digit = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0x30, max: 0x39 }) },
    // Arabic-Indic, full-width, signs, spaces, letters, and a line end, which `$` of a careless pattern lets pass.
    { weight: 1, arbitrary: fc.constantFrom(0x663, 0xff11, 0x2b, 0x2d, 0x2e, 0x20, 0x65, 0x78, 0x0a) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 0xd7ff }) },
  )
  const text = fc
    .array(digit, { minLength: 0, maxLength: 20 })
    .map((codes) => codes.map((code) => String.fromCodePoint(code)).join(''))
  let customer_id = await newCustomer()
  let expected = 0n
  await fc.assert(
    fc.asyncProperty(text, async (amount) => {
      const right = amount.length <= 18 && amount !== '' && [...amount].every((c) => c >= '0' && c <= '9')
      const reply = await deposit(customer_id, JSON.stringify(amount))
      if (!right || amount.startsWith('0')) {
        expect(reply.json.error).toMatchObject({ code: 'invalid_amount', param: 'amount' })
      } else if (expected + BigInt(amount) >= 10n ** 18n) {
        expect(reply.json.error.code).toBe('amount_too_large')
        customer_id = await newCustomer()
        expected = 0n
      } else {
        expect(reply.json.amount).toBe(amount)
        expected += BigInt(amount)
      }
    }),
    { numRuns: 300 },
  )
  expect((await balances(customer_id)).BRL).toBe(String(expected))
})

test('a balance takes 10^18 - 1 and not one unit more', async () => {
  const customer_id = await newCustomer()
  expect((await deposit(customer_id, '"999999999999999998"')).status).toBe(201)
  expect((await deposit(customer_id, '"2"')).json.error.code).toBe('amount_too_large')
  expect((await deposit(customer_id, '"1"')).status).toBe(201)
  for (const more of ['"1"', '"999999999999999999"']) {
    const reply = await deposit(customer_id, more)
    expect(reply.status).toBe(422)
    expect(reply.json.error.code).toBe('amount_too_large')
  }
  expect((await balances(customer_id)).BRL).toBe('999999999999999999')
  expect((await deposit(customer_id, '"1"', 'BTC')).status).toBe(201)
})

test('afterwards the books are right', () => expectIntact(service))
