import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { causes, type PreparedCause, withoutCause } from '../../site/errors/causes.ts'
import { texts as english } from '../../site/errors/en.ts'
import { texts as portuguese } from '../../site/errors/pt.ts'
import { type ErrorCode, errors } from '../../src/core/errors.ts'
import { setMoneyLimits } from '../../src/money/money-limits/money-limits.ts'
import { blockCustomer } from '../../src/parties/customers/customers.ts'
import { createKey, revokeKey } from '../../src/parties/keys/keys.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** What the error pages say: a text per code in both languages, and requests that really cause what they claim. */
let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

type Variables = Record<string, string>

describe('the request on the error page causes', () => {
  test.each(Object.entries(causes) as [ErrorCode, PreparedCause][])('%s', async (code, cause) => {
    // A window of a minute may end between two requests; the one after it is long enough.
    for (const last of [false, true]) {
      const variables = await somebody(cause)
      for (const step of cause.before ?? []) learn(variables, await send(step, variables))
      const { status, body } = await send(cause, variables)
      if (body.error?.code !== code && !last) continue
      expect(body.error?.code).toBe(code)
      expect(status).toBe(errors[code].status)
      return
    }
  })
})

test('every code has a cause, or says why it has none', () => {
  expect(Object.keys({ ...causes, ...withoutCause }).sort()).toEqual(Object.keys(errors).sort())
})

describe.each([
  ['English', english],
  ['Portuguese', portuguese],
])('the texts in %s', (_, texts) => {
  test('are sentences, and name only fields in backticks', () => {
    for (const text of Object.values(texts).flatMap((text) => Object.values(text))) {
      expect(text).toMatch(/^[\p{Lu}`].*\.$/su)
      expect(text.split('`').length % 2, text).toBe(1)
    }
  })

  test('are about one code each', () => {
    const all = Object.values(texts).map(({ what }) => what)
    expect(new Set(all).size).toBe(all.length)
  })
})

/** A partner with the limits of a new one, the customer of a first start, and whatever else the cause names. */
async function somebody(cause: PreparedCause): Promise<Variables> {
  const { partner_id, key, api } = await service.partner({ limited: true })
  const customer = await api.post('/v1/customers', { name: 'Ana Souza', document: '529.982.247-25' })
  const CUSTOMER = customer.json.id
  for (const [asset, amount] of Object.entries({ BRL: '1000000', USDT: '2000000000', BTC: '5000000' }))
    await api.post('/v1/sandbox/deposits', { customer_id: CUSTOMER, asset, amount })
  const variables: Variables = { KEY: key, CUSTOMER }
  const { sandbox, production } = service.worlds
  const another = { partner_id, name: 'another' }
  const makers: Record<string, () => Promise<string>> = {
    async REVOKED_KEY() {
      const made = await createKey(sandbox, another)
      await revokeKey(sandbox, made.key.id)
      return made.value
    },
    async EXPIRED_KEY() {
      const expires_at = new Date(Date.now() + 1000)
      const { value } = await createKey(sandbox, { ...another, expires_at })
      while (Date.now() <= expires_at.getTime()) await sleep(50)
      return value
    },
    KEY_FOR_192_0_2_1: async () =>
      (await createKey(sandbox, { ...another, ip_allowlist: ['192.0.2.1'] })).value,
    READ_KEY: async () => (await createKey(sandbox, { ...another, scopes: ['read'] })).value,
    LIVE_KEY: async () => (await createKey(production, another)).value,
    async BLOCKED_CUSTOMER() {
      await blockCustomer(sandbox, CUSTOMER, 'blocked')
      return CUSTOMER
    },
    async LIMITED_CUSTOMER() {
      await setMoneyLimits(sandbox, CUSTOMER, { payout_order: 1000n })
      return CUSTOMER
    },
  }
  const named = JSON.stringify(cause).matchAll(/\$([A-Z0-9_]+)/g)
  for (const name of new Set([...named].map(([, name]) => name!)))
    if (makers[name]) variables[name] = await makers[name]()
  return variables
}

const prefixes = { po: 'PAYOUT', qt: 'QUOTE', evt: 'EVENT', whe: 'ENDPOINT' }

function learn(variables: Variables, { body }: { body: { id?: string } }): void {
  for (const [prefix, name] of Object.entries(prefixes))
    if (body.id?.startsWith(`${prefix}_`)) variables[name] = body.id
}

async function send({ method, path, body, headers }: PreparedCause, variables: Variables) {
  const fill = (text: string) =>
    text.replaceAll(/\$([A-Z0-9_]+)/g, (_, name) => variables[name] ?? `no variable ${name}`)
  const all = {
    Authorization: `Bearer $KEY`,
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...headers,
  }
  const sent = Object.entries(all).filter(([, value]) => value !== '')
  const response = await fetch(service.url + fill(path), {
    method,
    headers: sent.map(([name, value]): [string, string] => [name, fill(value)]),
    ...(body === undefined ? {} : { body: fill(typeof body === 'string' ? body : JSON.stringify(body)) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}
