import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { detailsOf, document, follow, misfit, operations } from '../../../test/support/fuzz/document.ts'
import { maskDocument } from '../../core/document.ts'
import { idPrefixes } from '../../core/ids.ts'
import { type Asset, assets } from '../../core/money.ts'
import { parsePrice } from '../../core/price.ts'
import { hasValueIn } from './example.ts'
import type { JsonSchema, Ref } from './json-schema.ts'
import type { Response } from './responses.ts'

/** An example with its schema. */
type Shown = { readonly where: string; readonly schema: JsonSchema | Ref; readonly value: any }

const contents = (where: string, content: Response['content']): Shown[] => {
  const { schema, example } = content?.['application/json'] ?? {}
  return schema && example !== undefined ? [{ where, schema, value: example }] : []
}

const ofSchema = (where: string, schema: JsonSchema): Shown[] => [
  ...(schema.examples ?? []).map((value) => ({ where, schema, value })),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => ofSchema(`${where}.${name}`, field)),
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((each) => ofSchema(where, each)),
  ...(schema.items ? ofSchema(`${where}[]`, schema.items) : []),
]

const { components } = document
const shown: readonly Shown[] = [
  ...operations.flatMap((operation) => [
    ...contents(`${operation['x-name']} request`, operation.requestBody?.content),
    ...(operation.body ? ofSchema(`${operation['x-name']} body`, operation.body) : []),
    ...operation.parameters.flatMap(({ name, schema }) =>
      ofSchema(`${operation['x-name']} ?${name}`, schema),
    ),
    ...Object.entries(operation.responses).flatMap(([status, response]) =>
      contents(`${operation['x-name']} ${status}`, follow<Response>(response).content),
    ),
  ]),
  ...Object.entries(components.schemas).flatMap(([name, schema]) => ofSchema(name, schema)),
  ...Object.entries(components.examples).map(([code, { value }]) => ({
    where: code,
    schema: components.schemas.Error!,
    value,
  })),
  ...(Object.entries({ ...components.headers, ...components.parameters }) as [string, any][]).flatMap(
    ([name, { schema }]) => ofSchema(name, schema),
  ),
]

/** Every object in an example, including JSON inside a string. */
function objectsIn(value: any, where: string): { where: string; object: Record<string, any> }[] {
  if (typeof value === 'string' && value.startsWith('{'))
    return objectsIn(JSON.parse(value), `${where}, read`)
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([name, part]) => objectsIn(part, `${where}.${name}`))
  return Array.isArray(value) ? inner : [{ where, object: value }, ...inner]
}

const objects = shown.flatMap(({ where, value }) => objectsIn(value, where))
const having = (...names: readonly string[]) =>
  objects.filter(({ object }) => names.every((name) => object[name] !== undefined && object[name] !== null))

test('the document has examples', () => {
  expect(shown.length).toBeGreaterThan(300)
  expect(Object.keys(document.webhooks).length).toBeGreaterThan(10)
})

test('every example fits the schema beside it', () => {
  const wrong = shown.flatMap(({ where, schema, value }) => {
    const fault = misfit(schema, value, 'answer')
    return fault ? [`${where}: ${fault}`] : []
  })
  expect(wrong).toEqual([])
})

test('the details of each error match the schema of its code', () => {
  for (const { object } of having('code', 'details')) {
    const schema = detailsOf(object.code)
    expect(schema, object.code).toBeDefined()
    expect(misfit(schema!, object.details, 'answer')).toBeUndefined()
  }
})

/** `npm start` creates this customer, so an example that created it too would be refused. */
const DEMO_DOCUMENT = '52998224725'

describe('no example contradicts itself', () => {
  test('ids have the prefix of their kind', () => {
    const kinds: Readonly<Record<string, string>> = { ...idPrefixes, endpoint: 'whe' }
    for (const { where, object } of objects) {
      for (const [name, value] of Object.entries(object)) {
        const prefix = kinds[name.replace(/_id$/, '')]
        if (/_id$/.test(name) && prefix && value) expect(value, `${where}.${name}`).toMatch(`${prefix}_`)
      }
    }
    const causes: Readonly<Record<string, string>> = {
      payout: 'po',
      transfer: 'tr',
      trade: 'td',
      deposit: 'dep',
    }
    for (const { where, object } of having('type', 'id')) {
      const prefix = causes[object.type]
      if (prefix) expect(object.id, where).toMatch(`${prefix}_`)
    }
  })

  test('decimals are those of the asset beside them', () => {
    for (const { where, object } of objects) {
      for (const side of ['', 'from_', 'to_']) {
        const [asset, decimals] = [object[`${side}asset`] as Asset, object[`${side}decimals`]]
        if (asset && decimals !== undefined) expect(decimals, where).toBe(assets[asset].decimals)
      }
    }
  })

  test('sums are right', () => {
    const sum = (object: Record<string, any>, ...names: string[]) =>
      names.reduce((total, name) => total + BigInt(object[name]), 0n)
    for (const { where, object } of having('amount_gross', 'amount_net', 'fee'))
      expect(sum(object, 'amount_gross'), where).toBe(sum(object, 'amount_net', 'fee'))
    for (const { where, object } of having('available', 'in_transit', 'total'))
      expect(sum(object, 'total'), where).toBe(sum(object, 'available', 'in_transit'))
    for (const { where, object } of having('limit', 'used', 'remaining'))
      expect(object.limit, where).toBe(object.used + object.remaining)
    for (const { where, object } of having('total', 'partner', 'service')) {
      expect(sum(object, 'total'), where).toBe(sum(object, 'partner', 'service'))
      expect(object.total_bps, where).toBe(object.partner_bps + object.service_bps)
    }
  })

  test('a conversion yields the amount that its price and fees give', () => {
    const conversions = having('from_amount', 'to_amount', 'fees')
    expect(conversions.length).toBeGreaterThan(4)
    for (const { where, object } of conversions) {
      const { fees, from_decimals, to_decimals } = object
      const [paid, fee] = [BigInt(object.from_amount), BigInt(fees.total)]
      expect(BigInt(fees.total_bps) * paid, where).toBe(fee * 10_000n)
      const price = BigInt(object.price ?? object.executed_price)
      expect(BigInt(object.to_amount), where).toBe(((paid - fee) * 10n ** BigInt(to_decimals)) / price)
      if (object.market_price)
        expect(parsePrice(object.market_price), where).toBe(price * 10n ** BigInt(8 - from_decimals))
    }
  })

  test('times are in order, and a quote holds for 30 seconds', () => {
    const later = ['completed_at', 'failed_at', 'expires_at', 'revoked_at', 'ended_at', 'resets_at', 'to']
    for (const { where, object } of objects) {
      const first = Date.parse(object.created_at ?? object.from)
      for (const name of later.filter((each) => object[each] && first))
        expect(Date.parse(object[name]), `${where}.${name}`).toBeGreaterThanOrEqual(first)
    }
    for (const { where, object } of having('expires_at', 'created_at', 'price'))
      expect(Date.parse(object.expires_at) - Date.parse(object.created_at), where).toBe(30_000)
    for (const { where, object } of having('created_at', 'sequence', 'data'))
      expect(Date.parse(object.created_at), where).toBeGreaterThanOrEqual(
        Date.parse(object.data.object.created_at),
      )
  })

  test('a field of another state is absent or null', () => {
    for (const { where, object } of having('status')) {
      // The interface requires completed_at on every trade.
      const names = Object.keys(object).filter((name) => !(name === 'completed_at' && object.quote_id))
      for (const name of names)
        if (!hasValueIn(name, object.status, object)) expect(object[name], `${where}.${name}`).toBeNull()
      if (object.status === 'failed') expect(object.failure, where).toBeTruthy()
      if (object.status === 'confirmed') expect(object.tx_hash, where).toBeTruthy()
    }
  })

  test('a masked document and a Pix key belong to the customer of the demo, or to the one that the example creates', () => {
    const { value } = shown.find(({ where }) => where === 'customers.create request')!
    const created = value.document.replaceAll(/\D/g, '')
    for (const { where, object } of having('document')) {
      const bare = [created, DEMO_DOCUMENT]
      if (object.document.includes('*')) expect(bare.map(maskDocument), where).toContain(object.document)
      else expect(bare, where).toContain(object.document.replaceAll(/\D/g, ''))
      if (object.document_type) expect(object.document_type, where).toBe('cpf')
    }
    for (const { where, object } of having('pix_key'))
      expect(object.pix_key.replaceAll(/\D/g, ''), where).toBe(DEMO_DOCUMENT)
  })

  test('a last page has no cursor', () => {
    for (const { where, object } of objects.filter((each) => 'has_more' in each.object))
      expect(object.has_more, where).toBe(object.next_cursor !== null)
  })

  test('a delivery carries the event that it names, with a valid signature', () => {
    const [endpoint] = having('secret')
    const deliveries = having('body', 'attempts', 'event_id')
    expect(deliveries.length).toBeGreaterThan(1)
    for (const { object } of deliveries) {
      const event = JSON.parse(object.body)
      expect([event.id, event.type]).toEqual([object.event_id, object.type])
      const { schema } = document.webhooks[event.type]!.post.requestBody.content['application/json']
      expect(misfit(schema, event, 'answer')).toBeUndefined()
      for (const { request } of object.attempts) {
        // The verifier refuses old messages, so its clock is set to the header's time.
        const at = new Date(Number(request.headers['webhook-timestamp']) * 1000)
        const sign = new Webhook(endpoint!.object.secret).sign(object.event_id, at, object.body)
        expect(request.headers['webhook-signature']).toBe(sign)
      }
    }
  })
})

describe('no response contradicts its request', () => {
  const creating = operations.filter(({ requestBody, responses }) => requestBody && responses[201])
  test.each(creating.map((operation) => [operation['x-name'], operation] as const))('%s', (_, operation) => {
    const sent = operation.requestBody!.content['application/json'].example as Record<string, any>
    const could = Object.keys(follow<JsonSchema>(operation.body!).properties ?? {})
    const content = follow<Response>(operation.responses[201]!).content?.['application/json']
    const answer = content?.example as Record<string, any>
    const required = follow<JsonSchema>(content!.schema).required ?? []
    for (const name of could.filter((each) => each in answer)) {
      if (name === 'metadata' && !(name in sent)) {
        expect(answer[name]).toEqual({})
        continue
      }
      // The address of the customer that was named.
      if (name === 'address' && 'customer_id' in sent && !(name in sent)) continue
      if (!(name in sent)) expect(required, `${name} was not sent`).toContain(name)
      // Other fields are returned in another format.
      else if (!['document', 'counterparty'].includes(name)) expect(answer[name], name).toEqual(sent[name])
    }
  })
})
