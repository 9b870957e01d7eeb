import { afterEach, expect, test } from 'vitest'
import { desk } from '../../../test/support/operators.ts'
import { type Bench, openBench, openGate, silent } from '../../../test/support/rail-bench.ts'
import { until } from '../../../test/support/wait.ts'
import { perform } from '../../control/operator/actions.ts'
import type { ChainRail } from '../../rails/chain/rail.ts'
import { simulatedTransaction } from '../../rails/chain/simulated.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import { stepTransfer } from './settle.ts'
import { transferSteps } from './steps.ts'
import { openTransferWorker } from './worker.ts'

const { approve, propose } = desk

let bench: Bench
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const BALANCE = 50_000_000n

function chainThat(more: Partial<ChainRail<'sandbox'>> = {}): ChainRail<'sandbox'> {
  return {
    environment: 'sandbox',
    feeInputs: async () => ({ gas_price_wei: 1n, eth_price: 1n, sat_per_vbyte: 1n }),
    prepare: async (order) => ({ kind: 'signed', ...simulatedTransaction(order) }),
    broadcast: async () => ({ kind: 'accepted' }),
    status: async () => ({ kind: 'waiting' }),
    ...more,
  }
}

test('a refusal that arrives after another node signed and broadcast returns no money', async () => {
  const gate = openGate()
  const sent: string[] = []
  bench = await openBench({
    lease_ms: 500,
    rail_timeout_ms: 20_000,
    chain: chainThat({
      async broadcast({ id }) {
        sent.push(id)
        return { kind: 'accepted' }
      },
    }),
  })
  const slow = bench.openNode({
    chain: chainThat({
      async prepare() {
        await gate.arrive()
        return { kind: 'refused', rail_code: 'refused_before_broadcast' }
      },
    }),
  })
  const customer = await bench.customer({ USDT: BALANCE })
  const { id } = await bench.transfer(customer)
  const first = openTransferWorker(slow, silent)
  await gate.reached
  // Its transfer keeps hanging and it takes no other, so the other node gets the lease.
  const stopped = first.stop()
  const second = openTransferWorker(bench.world, silent)
  await until(async () => (await bench.transferNow(id)).status === 'processing', 20_000)
  gate.open()
  await stopped
  await second.stop()
  expect(sent).toContain(id)
  expect(await bench.transferNow(id)).toMatchObject({ status: 'processing', failure_code: null })
  expect(await bench.balance(customer, 'USDT')).toEqual({ balance: 39_000_000n, in_transit: 11_000_000n })
})

test('the database refuses to fail a signed transfer that was not broadcast', async () => {
  bench = await openBench({ chain: chainThat() })
  const transfer = await bench.transfer(await bench.customer({ USDT: BALANCE }))
  const signed = { kind: 'signed', tx_hash: 'hash', signed: 'bytes' } as const
  await bench.world.commit(stepTransfer(bench.world, transfer, signed, { by: 'rail' }))
  const fail = `UPDATE transfers SET status = 'failed', failure_code = 'reverted', completed_at = now() WHERE id = '${transfer.id}'`
  await expect(bench.admin(fail)).rejects.toThrow(/was signed/)
})

test('a signed transfer fails only if the chain says so, whatever an operator says', async () => {
  let says: Awaited<ReturnType<ChainRail['status']>> = { kind: 'absent' }
  bench = await openBench({ chain: chainThat({ status: async () => says }) })
  const { world } = bench
  const customer = await bench.customer({ USDT: BALANCE })
  const transfer = await bench.transfer(customer)
  const signed = { kind: 'signed', tx_hash: 'hash', signed: 'bytes' } as const
  await world.commit(stepTransfer(world, transfer, signed, { by: 'rail' }))
  const resolve = () =>
    perform(world, {
      name: 'resolve_transfer',
      details: { transfer_id: transfer.id, outcome: 'failed', evidence: 'the explorer does not know it' },
    })
  await expect(resolve()).rejects.toThrow(/was signed.*no node knows it/)
  says = { kind: 'waiting' }
  await expect(resolve()).rejects.toThrow(/waiting to be mined/)
  expect(await bench.balance(customer, 'USDT')).toEqual({ balance: 39_000_000n, in_transit: 11_000_000n })
  says = { kind: 'failed', rail_code: 'reverted' }
  await resolve()
  expect(await bench.transferNow(transfer.id)).toMatchObject({ status: 'failed', failure_code: 'reverted' })
  expect(await bench.balance(customer, 'USDT')).toEqual({ balance: BALANCE, in_transit: 0n })
})

test('an operator can fail a transfer that was never signed, and it is not signed afterwards', async () => {
  const gate = openGate()
  const sent: string[] = []
  bench = await openBench({
    chain: chainThat({
      async prepare(order) {
        await gate.arrive()
        return { kind: 'signed', ...simulatedTransaction(order) }
      },
      async broadcast({ id }) {
        sent.push(id)
        return { kind: 'accepted' }
      },
    }),
  })
  const customer = await bench.customer({ USDT: BALANCE })
  const { id } = await bench.transfer(customer)
  const worker = openTransferWorker(bench.world, silent)
  await gate.reached
  await perform(bench.world, {
    name: 'resolve_transfer',
    details: { transfer_id: id, outcome: 'failed', evidence: 'never signed' },
  })
  gate.open()
  await worker.stop()
  expect(sent).toEqual([])
  expect(await bench.transferNow(id)).toMatchObject({ status: 'failed', tx_hash: null })
  expect(await bench.balance(customer, 'USDT')).toEqual({ balance: BALANCE, in_transit: 0n })
})

test('an open proposal holds its transfer: nothing is signed and nothing broadcast until it is decided', async () => {
  const gate = openGate()
  const sent: string[] = []
  bench = await openBench({
    chain: chainThat({
      async prepare(order) {
        await gate.arrive()
        return { kind: 'signed', ...simulatedTransaction(order) }
      },
      async broadcast({ id }) {
        sent.push(id)
        return { kind: 'accepted' }
      },
    }),
  })
  const { world } = bench
  const customer = await bench.customer({ USDT: BALANCE })
  const [signing, signed] = [await bench.transfer(customer), await bench.transfer(customer)]
  const bytes = { kind: 'signed', tx_hash: 'hash', signed: 'bytes' } as const
  await world.commit(stepTransfer(world, signed, bytes, { by: 'rail' }))
  const hold = ({ id }: typeof signed) =>
    propose(
      world,
      { name: 'resolve_transfer', details: { transfer_id: id, outcome: 'failed', evidence: 'x' } },
      'a@example.com',
    )
  await hold(signed)
  const { carry } = transferSteps(world, silent)
  await carry(await bench.transferNow(signed.id))
  // Held while the signer works: the signature is discarded.
  const carrying = carry(signing)
  await gate.reached
  const { id: proposal_id } = await hold(signing)
  gate.open()
  await carrying
  await carry(await bench.transferNow(signing.id))
  expect(sent).toEqual([])
  expect(await bench.transferNow(signing.id)).toMatchObject({ status: 'pending', tx_hash: null })
  await approve(world, proposal_id, 'b@example.com')
  expect(await bench.transferNow(signing.id)).toMatchObject({ status: 'failed', tx_hash: null })
  expect(await bench.balance(customer, 'USDT')).toEqual({ balance: 39_000_000n, in_transit: 11_000_000n })
})

test.each<[string, Partial<Record<'prepare' | 'broadcast' | 'status', unknown>>, string]>([
  ['nothing when it should sign', { prepare: undefined }, 'sign'],
  [
    'the hash of another network',
    { prepare: { kind: 'signed', tx_hash: `0x${'a'.repeat(64)}`, signed: 'x' } },
    'sign',
  ],
  ['no signed bytes', { prepare: { kind: 'signed', tx_hash: 'a'.repeat(64), signed: '' } }, 'sign'],
  ['a time that does not exist', { prepare: { kind: 'later', at: new Date(Number.NaN) } }, 'sign'],
  ['a refusal without a reason', { prepare: { kind: 'refused', rail_code: '' } }, 'sign'],
  ['null to a broadcast', { broadcast: null }, 'broadcast'],
  ['a charge below nothing', { status: { kind: 'confirmed', charged: -1n } }, 'status'],
  ['a charge that is no bigint', { status: { kind: 'confirmed', charged: 1 } }, 'status'],
  ['a failure with a lone surrogate', { status: { kind: 'failed', rail_code: '\ud800' } }, 'status'],
])(
  'a chain that answers %s: the transfer stays open, with one exception, until there is a valid answer',
  async (_, nonsense, call) => {
    const is_nonsense = new Set(Object.keys(nonsense))
    const chain = chainThat({ status: async () => ({ kind: 'confirmed' }) })
    const said = (name: keyof typeof nonsense, honest: () => unknown) =>
      Promise.resolve(is_nonsense.has(name) ? nonsense[name] : honest()) as never
    bench = await openBench({
      chain: {
        ...chain,
        prepare: (order) => said('prepare', () => chain.prepare(order)),
        broadcast: (order, signed) => said('broadcast', () => chain.broadcast(order, signed)),
        status: (order, signed) => said('status', () => chain.status(order, signed)),
      },
    })
    const { world } = bench
    const customer = await bench.customer({ USDT: BALANCE })
    const { id } = await bench.transfer(customer)
    const worker = openTransferWorker(world, silent)
    await until(async () => (await exceptionsAbout(world.db, id)).length > 0, 30_000)
    const dueNow = `UPDATE transfers SET next_attempt_at = now() WHERE id = '${id}' AND status IN ('pending', 'processing')`
    const { attempts } = await bench.transferNow(id)
    await until(async () => {
      await bench.admin(dueNow)
      return (await bench.transferNow(id)).attempts > attempts
    }, 30_000)
    expect(await bench.balance(customer, 'USDT')).toEqual({ balance: 39_000_000n, in_transit: 11_000_000n })
    expect(await exceptionsAbout(world.db, id)).toMatchObject([
      { kind: 'invalid_answer', rail: 'tron', details: { call, problem: expect.any(String) } },
    ])
    is_nonsense.clear()
    await until(async () => {
      await bench.admin(dueNow)
      return (await bench.transferNow(id)).status === 'confirmed'
    }, 30_000)
    await worker.stop()
  },
)
