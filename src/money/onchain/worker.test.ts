import { afterEach, expect, test } from 'vitest'
import { minedAs, signedAs, signTransfer } from '../../../test/support/chain.ts'
import { desk } from '../../../test/support/operators.ts'
import { type Bench, openBench, openGate, silent } from '../../../test/support/rail-bench.ts'
import { until } from '../../../test/support/wait.ts'
import { perform } from '../../control/operator/actions.ts'
import type { Attempt, ChainRail, Seen } from '../../rails/chain/rail.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import { transferSteps } from './steps.ts'
import { openTransferWorker } from './worker.ts'

const { approve, propose } = desk

let bench: Bench
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const BALANCE = 50_000_000n

const chainThat = (more: Partial<ChainRail<'sandbox'>> = {}) =>
  ({
    screen: async () => ({ kind: 'payable' }),
    attempt: async (order, _, made) =>
      made.length === 0
        ? signedAs(order)
        : { kind: 'later', at: new Date(Date.now() + 60_000), why: 'fee_above_cap' },
    broadcast: async () => ({ kind: 'accepted' }),
    look: async () => ({ kind: 'waiting' }),
    ...more,
  }) satisfies Partial<ChainRail<'sandbox'>>

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
      async screen() {
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
  await signTransfer(bench.world, transfer)
  const fail = `UPDATE transfers SET status = 'failed', failure_code = 'reverted', completed_at = now() WHERE id = '${transfer.id}'`
  await expect(bench.admin(fail)).rejects.toThrow(/was signed/)
})

test('a signed transfer fails only if the chain says so, whatever an operator says', async () => {
  let says: (made: readonly Attempt[]) => Seen = () => ({ kind: 'absent' })
  bench = await openBench({ chain: chainThat({ look: async (_, __, made) => says(made) }) })
  const { world } = bench
  const customer = await bench.customer({ USDT: BALANCE })
  const transfer = await bench.transfer(customer)
  await signTransfer(world, transfer)
  const resolve = () =>
    perform(world, {
      name: 'resolve_transfer',
      details: { transfer_id: transfer.id, outcome: 'failed', evidence: 'the explorer does not know it' },
    })
  await expect(resolve()).rejects.toThrow(/was signed.*no node knows it/)
  says = () => ({ kind: 'waiting' })
  await expect(resolve()).rejects.toThrow(/waiting to be mined/)
  expect(await bench.balance(customer, 'USDT')).toEqual({ balance: 39_000_000n, in_transit: 11_000_000n })
  says = (made) => minedAs(made, 'none')
  await resolve()
  expect(await bench.transferNow(transfer.id)).toMatchObject({ status: 'failed', failure_code: 'reverted' })
  expect(await bench.balance(customer, 'USDT')).toEqual({ balance: BALANCE, in_transit: 0n })
})

test('an operator can fail a transfer that was never signed, and it is not signed afterwards', async () => {
  const gate = openGate()
  const sent: string[] = []
  bench = await openBench({
    chain: chainThat({
      async screen() {
        await gate.arrive()
        return { kind: 'payable' }
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
      async screen() {
        await gate.arrive()
        return { kind: 'payable' }
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
  await signTransfer(world, signed)
  const hold = ({ id }: typeof signed) =>
    propose(
      world,
      { name: 'resolve_transfer', details: { transfer_id: id, outcome: 'failed', evidence: 'x' } },
      'a@example.com',
    )
  await hold(signed)
  const { carry } = transferSteps(world, silent)
  await carry(await bench.transferNow(signed.id))
  // Held before a nonce is reserved: none is.
  const carrying = carry(signing)
  await gate.reached
  const { id: proposal_id } = await hold(signing)
  gate.open()
  await carrying
  await carry(await bench.transferNow(signing.id))
  expect(sent).toEqual([])
  expect(await bench.transferNow(signing.id)).toMatchObject({ status: 'pending', nonce: null, tx_hash: null })
  await approve(world, proposal_id, 'b@example.com')
  expect(await bench.transferNow(signing.id)).toMatchObject({ status: 'failed', tx_hash: null })
  expect(await bench.balance(customer, 'USDT')).toEqual({ balance: 39_000_000n, in_transit: 11_000_000n })
})

const HASH = 'a'.repeat(64)
const transaction = { purpose: 'pay', tx_hash: HASH, signed: 'x', terms: {} }
const seen = { ...minedAs([{ tx_hash: HASH }]), kind: 'mined' }

test.each<[string, Partial<Record<'screen' | 'wallet' | 'attempt' | 'broadcast' | 'look', unknown>>, string]>(
  [
    ['nothing when it should sign', { attempt: undefined }, 'sign'],
    [
      'the hash of another network',
      { attempt: { kind: 'signed', transaction: { ...transaction, tx_hash: `0x${HASH}` } } },
      'sign',
    ],
    ['no signed bytes', { attempt: { kind: 'signed', transaction: { ...transaction, signed: '' } } }, 'sign'],
    ['no transaction', { attempt: { kind: 'signed' } }, 'sign'],
    [
      'terms that are no numbers',
      { attempt: { kind: 'signed', transaction: { ...transaction, terms: { gas: '-1' } } } },
      'sign',
    ],
    [
      'a time that does not exist',
      { attempt: { kind: 'later', at: new Date(Number.NaN), why: 'fee_above_cap' } },
      'sign',
    ],
    ['a refusal without a reason', { screen: { kind: 'refused', rail_code: '' } }, 'screen'],
    ['a refusal with a lone surrogate', { screen: { kind: 'refused', rail_code: '\ud800' } }, 'screen'],
    [
      'a nonce below nothing',
      { wallet: { wallet: 'simulated', final: 0n, final_height: 0n, mined: -1n, pool: 0n, claimed: 0n } },
      'wallet',
    ],
    [
      'a final nonce above the mined one',
      { wallet: { wallet: 'simulated', final: 2n, final_height: 0n, mined: 1n, pool: 1n, claimed: 1n } },
      'wallet',
    ],
    ['null to a broadcast', { broadcast: null }, 'broadcast'],
    ['a charge below nothing', { look: { ...seen, charged: -1n } }, 'look'],
    ['a charge that is no bigint', { look: { ...seen, charged: 1 } }, 'look'],
    ['an effect that there is not', { look: { ...seen, effect: 'half' } }, 'look'],
    ['a transaction of somebody else', { look: seen }, 'look'],
  ],
)(
  'a chain that answers %s: the transfer stays open, with one exception, until there is a valid answer',
  async (_, nonsense, call) => {
    const is_nonsense = new Set(Object.keys(nonsense))
    const chain = chainThat({ look: async (_, __, made) => minedAs(made) })
    const said = (name: keyof typeof nonsense, honest: () => unknown) =>
      Promise.resolve(is_nonsense.has(name) ? nonsense[name] : honest()) as never
    bench = await openBench({
      chain: {
        ...chain,
        screen: () => said('screen', () => ({ kind: 'payable' })),
        wallet: () =>
          said('wallet', () => ({
            wallet: 'simulated',
            final: 0n,
            final_height: 0n,
            mined: 0n,
            pool: 0n,
            claimed: 0n,
          })),
        attempt: (order) => said('attempt', () => signedAs(order)),
        broadcast: () => said('broadcast', () => ({ kind: 'accepted' })),
        look: (_, __, made) => said('look', () => minedAs(made)),
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
