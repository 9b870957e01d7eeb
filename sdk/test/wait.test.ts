import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { someCpf, startTestService, type TestService } from '../../test/support/service.ts'
import { eventually } from '../../test/support/wait.ts'
import { ApiError, type Customer, randomKey, StillOpenError, Trilho, waitForEnd } from '../dist/index.js'
import { openWire, type Wire } from './support/wire.ts'

let service: TestService
let key: string
let customer: Customer
let trilho: Trilho

beforeAll(async () => {
  service = await startTestService()
  key = (await service.partner()).key
  trilho = new Trilho({ key, baseUrl: service.url })
  customer = await trilho.customers.create({ name: 'Ana Souza', document: someCpf() })
  const money = { customer_id: customer.id, amount: 100_000_000n }
  await trilho.sandbox.deposits.create({ ...money, asset: 'BRL' })
  await trilho.sandbox.deposits.create({ ...money, asset: 'USDT' })
})
afterAll(() => service?.stop())

const pay = (pix_key: string) =>
  trilho.pix.payouts.create({
    customer_id: customer.id,
    amount: 1050n,
    counterparty: { type: 'pix_key', pix_key },
    idempotency_key: randomKey(),
  })

async function ownWire(): Promise<Wire> {
  const wire = await openWire(service.url)
  onTestFinished(wire.stop)
  return wire
}

describe('waitForEnd', () => {
  test('returns a payout that completes, one that fails, and one that has ended already', async () => {
    const [paid, lost] = [await pay('unknown@sandbox.test'), await pay('unknown@sandbox.test')]
    expect(paid.status).toBe('processing')
    const ends = Promise.all([waitForEnd(trilho, paid), waitForEnd(trilho, lost.id)])
    await eventually(() => trilho.sandbox.payouts.complete(paid.id))
    await eventually(() => trilho.sandbox.payouts.fail(lost.id))
    const [completed, failed] = await ends
    expect(completed).toMatchObject({ id: paid.id, status: 'completed' })
    expect(failed).toMatchObject({ id: lost.id, status: 'failed' })
    expect(await waitForEnd(trilho, completed)).toBe(completed)
  })

  test('returns transfers and trades', async () => {
    const transfer = await trilho.onchain.transfers.create({
      customer_id: customer.id,
      asset: 'USDT',
      network: 'polygon',
      amount: '10009003',
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      idempotency_key: randomKey(),
    })
    const end = waitForEnd(trilho, transfer)
    await eventually(() => trilho.sandbox.transfers.confirm(transfer.id))
    expect((await end).status).toBe('confirmed')
    const order = { customer_id: customer.id, from_asset: 'BRL', to_asset: 'USDT', amount: 10_000n } as const
    const trade = await trilho.quotes.execute((await trilho.quotes.create(order)).id)
    expect(await waitForEnd(trilho, trade.id)).toEqual(trade)
  })

  test('waits out a network that is cut, and a proxy that answers for it', async () => {
    const wire = await ownWire()
    const payout = await pay('unknown@sandbox.test')
    wire.breakFor(payout.id, 'cut before', '503 before', 'cut within', '429 before')
    const end = waitForEnd(new Trilho({ key, baseUrl: wire.url }), payout)
    await eventually(() => trilho.sandbox.payouts.complete(payout.id))
    expect((await end).status).toBe('completed')
    expect(wire.seen.length).toBeGreaterThan(4)
  })

  test('after its time says that the payout is still open, and never that it failed', async () => {
    const payout = await pay('unknown@sandbox.test')
    const late = await waitForEnd(trilho, payout, { timeout: 300 }).catch((error: unknown) => error)
    expect(late).toBeInstanceOf(StillOpenError)
    expect((late as StillOpenError).last).toMatchObject({ id: payout.id, status: 'processing' })
    expect((late as StillOpenError).message).toMatch(/is still processing\. It goes on, and may complete/)
    const wire = await ownWire()
    await wire.leadTo(undefined)
    const away = new Trilho({ key, baseUrl: wire.url })
    const unread = await waitForEnd(away, payout.id, { timeout: 300 }).catch((error: unknown) => error)
    expect(unread).toMatchObject({
      name: 'StillOpenError',
      last: undefined,
      cause: { name: 'ConnectionError' },
    })
  })

  test('ends with the reason of its signal, and with an error that no waiting mends', async () => {
    const payout = await pay('unknown@sandbox.test')
    const leaving = new AbortController()
    const left = waitForEnd(trilho, payout, { signal: leaving.signal }).catch((error: unknown) => error)
    leaving.abort(new Error('enough'))
    expect(await left).toMatchObject({ message: 'enough' })
    const missing = await waitForEnd(trilho, `po_${'0'.repeat(26)}`).catch((error: unknown) => error)
    expect(missing).toBeInstanceOf(ApiError)
    expect(missing).toMatchObject({ status: 404 })
    await expect(waitForEnd(trilho, customer.id)).rejects.toThrow(/is not the id of a payout \(po_…\)/)
  })
})
