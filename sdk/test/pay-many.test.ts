import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { asAdmin } from '../../test/support/database.ts'
import { moveIntoThePast } from '../../test/support/past.ts'
import { someCpf, startTestService, type TestService } from '../../test/support/service.ts'
import { eventually } from '../../test/support/wait.ts'
import { type Customer, type PaidLine, type PayLine, payMany, Trilho } from '../dist/index.js'
import { type Fault, openWire, type Wire } from './support/wire.ts'

let service: TestService
let key: string
let customer: Customer
let trilho: Trilho

beforeAll(async () => {
  service = await startTestService()
  key = (await service.partner()).key
  trilho = new Trilho({ key, baseUrl: service.url })
  customer = await trilho.customers.create({ name: 'Ana Souza', document: someCpf() })
  await trilho.sandbox.deposits.create({ customer_id: customer.id, asset: 'BRL', amount: 100_000_000n })
})
afterAll(async () => {
  if (!service) return
  const { sandbox } = await service.audit()
  expect(sandbox.ok).toBe(true)
  await service.stop()
})

let runs = 0
const newRun = () => `run-${++runs}`

const line = (id: string, pix_key = `${id}@example.com`, amount = 100n): PayLine => ({
  id,
  customer_id: customer.id,
  amount,
  counterparty: { type: 'pix_key', pix_key },
})
const linesOf = (count: number) => Array.from({ length: count }, (_, i) => line(`employee-${i}`))

const statusesOf = (results: readonly PaidLine[]) => results.map(({ status }) => status)

/** All payouts of a run, by the key that each was made under. */
async function paidUnder(run: string): Promise<string[]> {
  const keys: string[] = []
  for await (const payout of trilho.pix.payouts.list({ customer_id: customer.id, limit: 100 }))
    if (payout.idempotency_key.startsWith(`${run}:`)) keys.push(payout.idempotency_key)
  return keys
}

async function ownWire(): Promise<Wire> {
  const wire = await openWire(service.url)
  onTestFinished(wire.stop)
  return wire
}

describe('payMany', () => {
  test('pays every line once, gives the results in the order of the lines, and finds them in a second run', async () => {
    const run = newRun()
    const lines = linesOf(12)
    const first = await payMany(trilho, lines, { run, concurrency: 5 })
    expect(first.map(({ id }) => id)).toEqual(lines.map(({ id }) => id))
    expect(new Set(statusesOf(first))).toEqual(new Set(['completed']))
    const again = await payMany(trilho, lines, { run })
    expect(again.map(({ payout }) => payout?.id)).toEqual(first.map(({ payout }) => payout?.id))
    expect(await paidUnder(run)).toHaveLength(12)
  })

  test('says of each line what became of it', async () => {
    const run = newRun()
    const lines = [
      line('paid'),
      line('failed', 'ac03@sandbox.test'),
      line('refused', 'notfound@sandbox.test'),
      line('dear', 'dear@example.com', 10n ** 17n),
      line('open', 'unknown@sandbox.test'),
    ]
    const results = await payMany(trilho, lines, { run, wait: 0 })
    expect(statusesOf(results)).toEqual(['completed', 'failed', 'refused', 'refused', 'unknown'])
    expect(results[2]!.error).toMatchObject({ code: 'pix_key_not_found' })
    expect(results[4]!.payout).toMatchObject({ status: 'processing' })
    await eventually(() => trilho.sandbox.payouts.complete(results[4]!.payout!.id))
    expect(statusesOf(await payMany(trilho, lines, { run }))[4]).toBe('completed')
  })

  test('says of each line whether it was sent now or found', async () => {
    const run = newRun()
    const lines = [line('failed', 'ac03@sandbox.test'), line('open', 'garbage@sandbox.test'), ...linesOf(2)]
    const earlierOf = async (given: readonly PayLine[]) =>
      (await payMany(trilho, given, { run })).map(({ is_earlier }) => is_earlier)
    expect(await earlierOf(lines.slice(0, 3))).toEqual([false, false, false])
    expect(await earlierOf(lines)).toEqual([true, true, true, false])
    // The response to a line is lost: the payout that is found then was sent now.
    const wire = await ownWire()
    const client = new Trilho({ key, baseUrl: wire.url, maxRetries: 0 })
    wire.breakFor('"idempotency_key":"', 'cut after')
    const [lost] = await payMany(client, [line('employee-9')], { run })
    expect(lost).toMatchObject({ status: 'completed', is_earlier: false })
  })

  test('waits for payouts that are open, and does not let one hold up the others', async () => {
    const run = newRun()
    const lines = [line('stuck', 'unknown@sandbox.test'), ...linesOf(3), line('slow', 'unknown@sandbox.test')]
    const seen: string[] = []
    for await (const result of payMany(trilho, lines, { run, concurrency: 1 })) {
      seen.push(`${result.id} ${result.status}`)
      if (seen.length === 3)
        for (const id of ['slow', 'stuck']) {
          const { data } = await trilho.pix.payouts.list({ idempotency_key: `${run}:${id}` })
          if (data[0]) await eventually(() => trilho.sandbox.payouts.complete(data[0]!.id))
        }
      // The one that was sent last ends after all lines were sent.
      if (seen.length === 4) {
        const { data } = await trilho.pix.payouts.list({ idempotency_key: `${run}:slow` })
        if (data[0]?.status === 'processing')
          await eventually(() => trilho.sandbox.payouts.complete(data[0]!.id))
      }
      if (seen.length === 5) break
    }
    expect(seen.toSorted()).toEqual(
      [...linesOf(3).map(({ id }) => `${id} completed`), 'slow completed', 'stuck completed'].toSorted(),
    )
  })

  test.each<[string, Fault[]]>([
    ['cut after', ['cut after', 'cut after']],
    ['cut within', ['cut within', '503 after']],
    ['limits', ['429 before', '429 before', 'cut before']],
    [
      'more failures than one call retries',
      ['cut after', 'cut before', '503 before', 'cut after', 'cut within'],
    ],
  ])('resolves an unknown outcome by the same key: %s', async (_, plan) => {
    const run = newRun()
    const wire = await ownWire()
    wire.breakFor(`"idempotency_key":"${run}:employee-1"`, ...plan)
    const client = new Trilho({ key, baseUrl: wire.url, maxRetries: 1 })
    expect(new Set(statusesOf(await payMany(client, linesOf(3), { run })))).toEqual(new Set(['completed']))
    expect((await paidUnder(run)).toSorted()).toEqual([0, 1, 2].map((i) => `${run}:employee-${i}`))
  })

  test('pays nothing twice when it is resumed after the keys have expired', async () => {
    const run = newRun()
    const lines = linesOf(4)
    for (const { payout } of await payMany(trilho, lines.slice(0, 2), { run }))
      await moveIntoThePast(service.database.url, { table: 'payouts', id: payout!.id, by: '3 days' })
    expect(new Set(statusesOf(await payMany(trilho, lines, { run })))).toEqual(new Set(['completed']))
    expect(await paidUnder(run)).toHaveLength(4)
  })

  test('does not call a line unpaid that was paid under this run with another amount or recipient', async () => {
    const run = newRun()
    await payMany(trilho, [line('a')], { run })
    for (const other of [line('a', 'a@example.com', 999n), line('a', 'b@example.com')]) {
      const [changed] = await payMany(trilho, [other], { run })
      expect(changed).toMatchObject({ status: 'unknown' })
      expect(changed!.error!.message).toMatch(/^po_\w+ was made under the same run and line/)
    }
    expect(await paidUnder(run)).toHaveLength(1)
    expect(statusesOf(await payMany(trilho, [line('a', 'A@EXAMPLE.com')], { run }))).toEqual(['completed'])
  })

  test('the error that ends a run is not the result of a line that waited', async () => {
    const wire = await ownWire()
    const waiting = new Trilho({ key, baseUrl: wire.url, maxRetries: 0 })
    const leaving = new AbortController()
    await wire.leadTo(undefined)
    const paying = payMany(waiting, [line('a')], { run: newRun(), signal: leaving.signal })
    setTimeout(
      () => leaving.abort(Object.assign(new Error('another line'), { status: 403, outcome: 'none' })),
      50,
    )
    const [result] = await paying
    expect(result).toMatchObject({ status: 'unsent' })
  })

  test('a concurrency that is no whole number pays nothing and says so', async () => {
    const run = newRun()
    await expect(payMany(trilho, [line('a')], { run, concurrency: Number.NaN })).rejects.toThrow(
      /concurrency/,
    )
    expect(await paidUnder(run)).toEqual([])
  })

  test('a blocked customer has its own lines refused, and does not end the run', async () => {
    const blocked = await trilho.customers.create({ name: 'Bia Lima', document: someCpf() })
    // Set back at the end, because the audit would name a status that no event tells of.
    const set = (status: string) =>
      asAdmin(service.database.url, [
        `UPDATE sandbox.customers SET status = '${status}' WHERE id = '${blocked.id}'`,
      ])
    await set('blocked')
    const lines = [{ ...line('blocked'), customer_id: blocked.id }, ...linesOf(6)]
    const results = await payMany(trilho, lines, { run: newRun(), concurrency: 1 })
    await set('active')
    expect(statusesOf(results)).toEqual(['refused', ...Array(6).fill('completed')])
  })

  test('a run that is left sends no further line, and is resumed under its name', async () => {
    const run = newRun()
    const lines = linesOf(20)
    let count = 0
    for await (const _ of payMany(trilho, lines, { run, concurrency: 2 })) if (++count === 3) break
    const paid = (await paidUnder(run)).length
    expect(paid).toBeLessThan(10)
    const leaving = new AbortController()
    leaving.abort(new Error('stopped'))
    const stopped = await payMany(trilho, lines, { run, signal: leaving.signal })
    expect(new Set(statusesOf(stopped))).toEqual(new Set(['unsent']))
    expect(stopped[0]!.error).toMatchObject({ message: 'stopped' })
    expect(new Set(statusesOf(await payMany(trilho, lines, { run })))).toEqual(new Set(['completed']))
    expect(await paidUnder(run)).toHaveLength(20)
  })

  test('ends when the key is refused, and when there is no progress', async () => {
    const stranger = new Trilho({ key: 'svc_test_sk_nobody', baseUrl: service.url })
    const turnedAway = await payMany(stranger, linesOf(3), { run: newRun() })
    expect(statusesOf(turnedAway)).toEqual(['unsent', 'unsent', 'unsent'])
    expect(turnedAway[0]!.error).toMatchObject({ status: 401 })
    const wire = await ownWire()
    await wire.leadTo(undefined)
    const away = new Trilho({ key, baseUrl: wire.url, maxRetries: 0 })
    const unsent = await payMany(away, linesOf(2), { run: newRun(), timeout: 1500 })
    expect(statusesOf(unsent)).toEqual(['unsent', 'unsent'])
    expect(unsent[0]!.error!.message).toMatch(
      /^The run made no progress for 1\.5 seconds\. The last error: ./,
    )
  })

  test('no two pairs of run and line share a key, and mistakes are found before anything is sent', async () => {
    const keyOf = async (run: string, id: string) => {
      const leaving = new AbortController()
      leaving.abort()
      const [result] = await payMany(trilho, [line(id)], { run, signal: leaving.signal })
      return result!.idempotency_key
    }
    expect(await keyOf('payroll-2026-11', 'a:b')).toBe('payroll-2026-11:a:b')
    const wrong = (lines: PayLine[], run: string) => () => payMany(trilho, lines, { run })
    expect(wrong([line('a'), line('a')], 'x')).toThrow(/Two lines have the id 'a'/)
    for (const part of ['', 'João', 'a\n', undefined, 7] as string[]) {
      expect(wrong([line(part)], 'x')).toThrow(/`id` is a text of your own/)
      expect(wrong([line('a')], part)).toThrow(/`run` is a text of your own/)
    }
    expect(wrong([line('b')], 'x:a')).toThrow(/`run` has no colon/)
    expect(wrong([line('a'.repeat(254))], 'x')).toThrow(/more than 254 characters/)
  })
})
