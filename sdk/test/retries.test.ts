import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { someCpf, startTestService, type TestService } from '../../test/support/service.ts'
import { size } from '../../test/support/size.ts'
import {
  ApiError,
  ConnectionError,
  type Customer,
  type LogEntry,
  randomKey,
  Trilho,
  type TrilhoOptions,
} from '../dist/index.js'
import { type Fault, faults, openWire, type Wire } from './support/wire.ts'

let service: TestService
let wire: Wire
let key: string
/** Of the same partner. */
let other_key: string
let customer: Customer
let cpf: string

beforeAll(async () => {
  service = await startTestService()
  wire = await openWire(service.url)
  const partner = await service.partner()
  key = partner.key
  other_key = (await service.partner({ partner_id: partner.partner_id })).key
  cpf = someCpf()
  customer = await open().customers.create({ name: 'Ana Souza', document: cpf })
  await open().sandbox.deposits.create({ customer_id: customer.id, asset: 'BRL', amount: 100_000_000n })
})
afterAll(async () => {
  await wire?.stop()
  await service?.stop()
})

const open = (options: TrilhoOptions = {}) => new Trilho({ key, baseUrl: wire.url, ...options })
const refusalOf = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => expect.unreachable('it went through'),
    (error) => error,
  )

const order = (idempotency_key: string) => ({
  customer_id: customer.id,
  amount: 1050n,
  counterparty: { type: 'pix_key' as const, pix_key: cpf },
  idempotency_key,
})

/** A wire that nobody else uses. */
async function ownWire(): Promise<Wire> {
  const opened = await openWire(service.url)
  onTestFinished(opened.stop)
  return opened
}

/** Every way in which so many attempts in a row can fail. */
const plansOf = (length: number): Fault[][] =>
  length === 0 ? [[]] : plansOf(length - 1).flatMap((plan) => faults.map((fault) => [...plan, fault]))

/** Sixteen at a time: what comes late is meant to, not for want of a processor. */
async function inTurns<T, R>(all: readonly T[], each: (one: T) => Promise<R>): Promise<R[]> {
  const left = [...all]
  const done: R[] = []
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) done.push(await each(next))
  }
  await Promise.all(Array.from({ length: 16 }, work))
  return done
}

describe('a payout whose wire breaks', () => {
  const plans = [...plansOf(1), ...plansOf(2), ...(size(1, 0) ? plansOf(3) : [])]

  test(
    'is paid once, and every attempt sends the same bytes',
    async () => {
      const patient = open({ maxRetries: 10 })
      const paid = await inTurns(plans, async (plan) => {
        const idempotency_key = randomKey()
        wire.breakFor(idempotency_key, ...plan)
        const options = plan.includes('late') ? { timeout: 1000 } : {}
        const { data, replayed } = await patient.pix.payouts
          .create(order(idempotency_key), options)
          .withResponse()
        return { plan, idempotency_key, data, replayed }
      })
      for (const { plan, idempotency_key, data, replayed } of paid) {
        const what = plan.join(', ')
        const bodies = wire.seen.filter(({ body }) => body.includes(idempotency_key)).map(({ body }) => body)
        expect(bodies.length, what).toBeGreaterThan(plan.length)
        expect(new Set(bodies).size, what).toBe(1)
        // When an attempt before the last got through, the last one has its response.
        if (plan.some((fault) => !fault.endsWith('before'))) expect(replayed, what).toBe(true)
        expect(data.idempotency_key).toBe(idempotency_key)
      }
      const found = await open()
        .pix.payouts.list({ customer_id: customer.id, limit: 100 })
        .toArray({ limit: 10_000 })
      expect(found.map(({ id }) => id).sort()).toEqual(paid.map(({ data }) => data.id).sort())
      const { sandbox } = await service.audit()
      expect(sandbox.findings).toEqual([])
    },
    size(600_000, 60_000),
  )

  test('is told to be unknown when nobody got to know, also by a refusal at the end', async () => {
    const own = await ownWire()
    const trilho = open({ baseUrl: own.url, maxRetries: 1 })
    own.breakFor('unlucky', 'cut after', 'cut before')
    const cut = await refusalOf(trilho.pix.payouts.create(order('unlucky')))
    expect(cut).toBeInstanceOf(ConnectionError)
    expect(cut).toMatchObject({
      outcome: 'unknown',
      message: expect.stringContaining('same idempotency_key'),
    })
    own.breakFor('limited', 'cut after', '429 before')
    expect(await refusalOf(trilho.pix.payouts.create(order('limited')))).toMatchObject({
      status: 429,
      outcome: 'unknown',
    })
    own.breakFor('alone', '429 before', '429 before')
    expect(await refusalOf(trilho.pix.payouts.create(order('alone')))).toMatchObject({
      status: 429,
      outcome: 'none',
    })
    own.breakFor('busy', '503 before', '503 before')
    expect(await refusalOf(trilho.pix.payouts.create(order('busy')))).toMatchObject({
      status: 503,
      outcome: 'unknown',
    })
    // As the message says: the same key again.
    expect(await trilho.pix.payouts.create(order('unlucky'))).toMatchObject({ idempotency_key: 'unlucky' })
    expect((await trilho.pix.payouts.list({ idempotency_key: 'unlucky' })).data).toHaveLength(1)
  })

  test('is paid once, though the key is replaced by another between two attempts', async () => {
    const own = await ownWire()
    own.breakFor('replaced', 'cut after')
    const keys = [key, other_key]
    const trilho = open({ baseUrl: own.url, key: () => keys.shift() ?? other_key })
    const paid = await trilho.pix.payouts.create(order('replaced'))
    const { data } = await trilho.pix.payouts.list({ idempotency_key: 'replaced' })
    expect(data.map(({ id }) => id)).toEqual([paid.id])
  })

  test('is unknown when the first attempt was cut and then nobody was there', async () => {
    const own = await ownWire()
    own.breakFor('gone', 'cut after')
    const trilho = open({
      baseUrl: own.url,
      maxRetries: 1,
      log: ({ attempt }) => attempt === 1 && void own.leadTo(undefined),
    })
    expect(await refusalOf(trilho.pix.payouts.create(order('gone')))).toMatchObject({
      name: 'ConnectionError',
      outcome: 'unknown',
    })
  })
})

describe('a call that must not be repeated', () => {
  test.each(['cut before', 'cut after', 'cut within', 'late'] as const)(
    '%s: is sent once, and its outcome is unknown',
    async (fault) => {
      const document = someCpf()
      wire.breakFor(document, fault)
      const error = await refusalOf(open().customers.create({ name: 'Rui', document }, { timeout: 3000 }))
      expect(error).toBeInstanceOf(ConnectionError)
      expect(error).toMatchObject({ outcome: 'unknown' })
      expect(wire.seen.filter(({ body }) => body.includes(document))).toHaveLength(1)
    },
  )

  test('503: is sent once, for it may have happened', async () => {
    const document = someCpf()
    wire.breakFor(document, '503 after')
    expect(await refusalOf(open().customers.create({ name: 'Rui', document }))).toMatchObject({
      status: 503,
      code: 'unexpected_response',
      outcome: 'unknown',
    })
    const exists = await refusalOf(open().customers.create({ name: 'Rui', document }))
    expect(exists instanceof ApiError && exists.is('customer_exists') && exists.details.customer_id).toMatch(
      /^cus_/,
    )
  })

  test('429: is sent again, for it was turned away', async () => {
    const document = someCpf()
    wire.breakFor(document, '429 before', '429 before')
    expect((await open().customers.create({ name: 'Rui', document })).name).toBe('Rui')
    expect(wire.seen.filter(({ body }) => body.includes(document))).toHaveLength(3)
  })

  test('no connection: is tried again, and nothing happened', async () => {
    const own = await ownWire()
    await own.leadTo(undefined)
    const entries: LogEntry[] = []
    const trilho = open({ baseUrl: own.url, maxRetries: 2, log: (entry) => entries.push(entry) })
    const error = await refusalOf(trilho.customers.create({ name: 'Rui', document: someCpf() }))
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'none' })
    expect((error as Error).message).toMatch(/^POST \/v1\/customers: .*ECONNREFUSED.*\. It was not sent\.$/)
    expect(entries.map(({ attempt, code }) => [attempt, code])).toEqual(
      [1, 2, 3].map((attempt) => [attempt, 'no_response']),
    )
    // And as soon as somebody is there it goes through.
    const patient = open({ baseUrl: own.url, log: () => void own.leadTo(service.url) })
    expect((await patient.customers.create({ name: 'Rui', document: someCpf() })).name).toBe('Rui')
  })

  test('a name that nobody has: nothing happened', async () => {
    const trilho = open({ baseUrl: 'http://trilho.invalid', maxRetries: 0 })
    expect(await refusalOf(trilho.customers.create({ name: 'Rui', document: someCpf() }))).toMatchObject({
      outcome: 'none',
    })
  })
})

/** A server that says one thing to everybody. */
async function always(
  status: number,
  headers: Record<string, string>,
  body: object,
): Promise<{ url: string; asked(): number }> {
  let asked = 0
  const server = createServer((request, response) => {
    asked++
    request.resume()
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked }
}
const refusal = (code: string) => ({
  error: { type: 'api_error', code, message: 'No.', request_id: 'req_1' },
})

describe('waits', () => {
  test('a wait is never shorter than the server wants it', async () => {
    const busy = await always(429, { 'retry-after': '1' }, refusal('rate_limit_exceeded'))
    const entries: LogEntry[] = []
    const trilho = open({ baseUrl: busy.url, maxRetries: 1, log: (entry) => entries.push(entry) })
    await refusalOf(trilho.usage.get())
    expect(busy.asked()).toBe(2)
    expect(entries[0]!.retryInMs).toBeGreaterThanOrEqual(1000)
    expect(entries[0]!.retryInMs).toBeLessThanOrEqual(1500)
    expect(entries[1]).not.toHaveProperty('retryInMs')
  })

  test('a day’s window is thrown at once', async () => {
    const full = await always(429, { 'retry-after': '61' }, refusal('rate_limit_exceeded'))
    const error = await refusalOf(open({ baseUrl: full.url }).usage.get())
    expect(error).toMatchObject({ status: 429, retryAfter: 61 })
    expect(full.asked()).toBe(1)
  })

  test.each([400, 401, 403, 404, 409, 422])('a %i is not asked twice', async (status) => {
    const no = await always(status, {}, refusal('of_a_later_version'))
    const error = await refusalOf(open({ baseUrl: no.url }).quotes.execute('qt_1'))
    expect(error).toMatchObject({ status, code: 'of_a_later_version', outcome: 'none' })
    expect(no.asked()).toBe(1)
  })

  test('a rail that is not there says itself that nothing moved', async () => {
    const down = await always(503, {}, refusal('rail_unavailable'))
    const error = await refusalOf(
      open({ baseUrl: down.url, maxRetries: 0 }).pix.payouts.create(order('rail')),
    )
    expect(error).toMatchObject({ code: 'rail_unavailable', outcome: 'none' })
  })

  test('whoever leaves gets the reason that they gave, at once', async () => {
    const full = await always(429, { 'retry-after': '60' }, refusal('rate_limit_exceeded'))
    const leaving = new AbortController()
    const trilho = open({ baseUrl: full.url, log: () => leaving.abort(new Error('enough')) })
    await expect(trilho.usage.get({ signal: leaving.signal })).rejects.toThrow('enough')
    await expect(trilho.usage.get({ signal: leaving.signal })).rejects.toThrow('enough')
    expect(full.asked()).toBe(1)
  })

  test('a log that throws changes nothing', async () => {
    const trilho = open({
      log: () => {
        throw new Error('disk full')
      },
    })
    expect((await trilho.usage.get()).minute.used).toBeGreaterThan(0)
  })
})
