import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { hex } from '../../../test/chains/anvil.ts'
import { chainTest as test } from '../../../test/chains/chain-test.ts'
import {
  type EvmStage,
  openEvmStage,
  type SceneOptions,
  type StageScene,
} from '../../../test/chains/evm-stage.ts'
import { byTwoOperators, desk } from '../../../test/support/operators.ts'
import { type Bench, openBench, silent } from '../../../test/support/rail-bench.ts'
import type { ChainOrder, ChainRail } from '../../rails/chain/rail.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import { addWallet } from '../custody/wallets.ts'
import { transferSteps } from './steps.ts'
import { attemptsOf, reserveNonce, signedWithinAnHour } from './transactions.ts'

/** Two operators cancel transfers that a real node has in its pool or in a block. */
const DEPTH = 3
const GWEI = 10n ** 9n
const AMOUNT = 10_000_000n
const BALANCE = 50_000_000n
const TOKENS = 10n ** 9n
const DESTINATION = '0x00000000000000000000000000000000000c0ffe'

let stage: EvmStage
let bench: Bench
beforeAll(async () => {
  stage = await openEvmStage('polygon')
})
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
  await stage.clear()
})
afterAll(() => stage?.stop())

async function openScene({
  beforeReservation,
  ...options
}: SceneOptions & { readonly beforeReservation?: (scene: StageScene) => Promise<void> } = {}) {
  const scene = await stage.open({
    confirmations: DEPTH,
    tokens: TOKENS,
    replace_after_ms: 60_000,
    ...options,
  })
  const sealed = ({ seal: _, ...order }: ChainOrder) => scene.order(order)
  const chain: Partial<ChainRail<'sandbox'>> = {
    ...scene.chain,
    environment: 'sandbox',
    attempt: (order, ...rest) => scene.chain.attempt(sealed(order), ...rest),
    async wallet() {
      await beforeReservation?.(scene)
      return scene.chain.wallet()
    },
  }
  bench = await openBench({ chain })
  const { world } = bench
  const customer_id = await bench.customer({ USDT: BALANCE })
  const order = async (destination_address = DESTINATION, amount = AMOUNT) =>
    (await bench.transfer(customer_id, { amount, network: 'polygon', destination_address })).id
  const id = await order()
  const now = (of = id) => bench.transferNow(of)
  return {
    id,
    now,
    order,
    carry: async (of = id) => transferSteps(world, silent).carry(await now(of)),
    async reserve() {
      const wallet = await scene.chain.wallet()
      await addWallet(world.db, 'polygon', wallet)
      await world.commit(reserveNonce(await now(), wallet, 16))
    },
    cancel: () =>
      byTwoOperators(world, {
        name: 'cancel_transfer',
        details: { transfer_id: id, reason: 'wrong address' },
      }),
    purposes: async () => (await attemptsOf(world.db, id)).map(({ purpose }) => purpose),
    /** What the destination and the wallet have, and what the customer has. */
    async holdings() {
      const [paid, kept] = await Promise.all([DESTINATION, scene.wallet].map(scene.token.balanceOf))
      const { balance, in_transit } = await bench.balance(customer_id, 'USDT')
      return { paid, kept, balance, in_transit }
    },
  }
}

const returned = { paid: 0n, kept: TOKENS, balance: BALANCE, in_transit: 0n }

test('a cancel takes the place of the payment in the pool, is mined, and the money goes back', async () => {
  const { carry, cancel, now, purposes, holdings } = await openScene()
  await carry()
  const { tx_hash } = await now()
  await cancel()
  await carry()
  expect(await purposes()).toEqual(['pay', 'cancel'])
  await stage.node.mine(DEPTH - 1)
  await carry()
  expect(await now()).toMatchObject({ status: 'processing' })
  await stage.node.mine()
  await carry()
  expect(await now()).toMatchObject({ status: 'failed', failure_code: 'canceled', tx_hash })
  expect(await holdings()).toEqual(returned)
})

test('a payment that is mined before its cancel is confirmed, although the cancel was signed and sent', async () => {
  const { carry, cancel, now, purposes, holdings } = await openScene()
  await carry()
  await cancel()
  await stage.node.mine()
  await carry()
  expect(await purposes()).toEqual(['pay', 'cancel'])
  await stage.node.mine(DEPTH)
  await carry()
  expect(await now()).toMatchObject({ status: 'confirmed' })
  expect(await holdings()).toEqual({
    ...{ paid: AMOUNT, kept: TOKENS - AMOUNT },
    ...{ balance: BALANCE - AMOUNT - 1_000_000n, in_transit: 0n },
  })
})

test('a transfer that is canceled before any signature spends its nonce by a cancel, and shows no hash', async () => {
  const { carry, cancel, now, purposes, holdings, reserve } = await openScene()
  await reserve()
  await cancel()
  await carry()
  expect(await now()).toMatchObject({ status: 'pending', tx_hash: null })
  await stage.node.mine(DEPTH)
  await carry()
  expect(await now()).toMatchObject({ status: 'failed', failure_code: 'canceled', tx_hash: null, nonce: 0n })
  expect(await purposes()).toEqual(['cancel'])
  expect(await holdings()).toEqual(returned)
})

const OTHER = '0x00000000000000000000000000000000000c0ffd'

test('a transfer that the token refuses after it got a nonce is canceled without a payment, and later nonces go on', async () => {
  const at = await openScene({
    beforeReservation: ({ token }) => token.setBlackListed(DESTINATION, true),
  })
  await at.carry()
  expect(await at.now()).toMatchObject({ status: 'pending', nonce: 0n, tx_hash: null })
  const later = await at.order(OTHER)
  await at.carry(later)
  await stage.node.mine(DEPTH)
  await at.carry(later)
  expect(await at.now(later), 'it waits behind nonce 0').toMatchObject({ nonce: 1n, completed_at: null })
  await at.cancel()
  await at.carry()
  expect(await at.purposes()).toEqual(['cancel'])
  await at.carry(later)
  await stage.node.mine(DEPTH)
  await at.carry()
  await at.carry(later)
  expect(await at.now()).toMatchObject({ status: 'failed', failure_code: 'canceled', tx_hash: null })
  expect(await at.now(later)).toMatchObject({ status: 'confirmed' })
  const kept = TOKENS - AMOUNT
  const balance = BALANCE - AMOUNT - 1_000_000n
  expect(await at.holdings()).toEqual({ paid: 0n, kept, balance, in_transit: 0n })
})

test('a transfer with a nonce that a proposal to resolve holds is an exception, and is canceled after the proposal is rejected', async () => {
  const { id, carry, cancel, now, purposes, holdings, reserve } = await openScene()
  const { world } = bench
  await reserve()
  const details = { transfer_id: id, outcome: 'failed', evidence: 'nothing in the explorer' } as const
  const proposal = await desk.propose(world, { name: 'resolve_transfer', details }, 'ana@x.example')
  const clock = { ...world.clock, now: () => Date.now() + 660_000 }
  await transferSteps({ ...world, clock }, silent).carry(await now())
  expect(await purposes()).toEqual([])
  expect(await exceptionsAbout(world.db, id)).toMatchObject([
    { kind: 'stuck', details: { why: 'held_by_proposal' } },
  ])
  await expect(desk.approve(world, proposal.id, 'bea@x.example')).rejects.toThrow(
    /Cancel the transfer instead/,
  )
  await expect(cancel()).rejects.toThrow(/open proposal already: prp_\w+\. Reject or withdraw it first/)
  await desk.reject(world, proposal.id, 'bea@x.example', 'to be canceled')
  await cancel()
  await carry()
  await stage.node.mine(DEPTH)
  await carry()
  expect(await now()).toMatchObject({ status: 'failed', failure_code: 'canceled', tx_hash: null, nonce: 0n })
  expect(await holdings()).toEqual(returned)
  await bench.admin(
    'ALTER TABLE exceptions DISABLE TRIGGER USER',
    'UPDATE exceptions SET opened_at = now() WHERE opened_at > now()',
    'ALTER TABLE exceptions ENABLE TRIGGER USER',
  )
})

test('transfers that do not fit into the signer’s hour wait without a nonce, also if two are prepared at once', async () => {
  const { id, carry, now, order } = await openScene({ usdt_per_hour: 2n * AMOUNT - 1n })
  const second = await order(OTHER)
  await Promise.all([carry(id), carry(second)])
  const nonces = [(await now(id)).nonce, (await now(second)).nonce]
  expect(nonces.toSorted(), 'one of them has a nonce').toEqual([0n, null])
  const smaller = await order(OTHER, AMOUNT - 1n)
  await carry(smaller)
  expect(await now(smaller), 'what fits goes before them').toMatchObject({ status: 'processing', nonce: 1n })
})

test('what was signed within the last hour is read for a signer that starts', async () => {
  const { carry, cancel } = await openScene()
  await carry()
  await cancel()
  await carry()
  const [pay, canceled, ...more] = await signedWithinAnHour(bench.world.db)
  expect(more).toEqual([])
  expect(pay).toMatchObject({ network: 'polygon', spends: '0', amount: AMOUNT, at: expect.any(Date) })
  expect(canceled).toMatchObject({ network: 'polygon', spends: '0', amount: 0n })
  const [{ terms }] = (await bench.world.db.query('SELECT terms FROM transactions ORDER BY attempt')).rows
  expect(pay!.cost).toBe(BigInt(terms.max_fee_per_gas) * BigInt(terms.gas_limit))
})

test('a cancel that waits while fees rise is replaced by a cancel with higher fees', async () => {
  const { carry, cancel, now, purposes, holdings } = await openScene({ replace_after_ms: 0 })
  await carry()
  await cancel()
  await carry()
  await stage.node.call('anvil_setNextBlockBaseFeePerGas', hex(500n * GWEI))
  await stage.node.mine()
  await carry()
  expect(await purposes()).toEqual(['pay', 'cancel', 'cancel'])
  await stage.node.mine(DEPTH)
  await carry()
  expect(await now()).toMatchObject({ status: 'failed', failure_code: 'canceled' })
  expect(await holdings()).toEqual(returned)
})
