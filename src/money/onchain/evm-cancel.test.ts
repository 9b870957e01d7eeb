import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { hex } from '../../../test/chains/anvil.ts'
import { chainTest as test } from '../../../test/chains/chain-test.ts'
import { type EvmStage, openEvmStage, type SceneOptions } from '../../../test/chains/evm-stage.ts'
import { byTwoOperators } from '../../../test/support/operators.ts'
import { type Bench, openBench, silent } from '../../../test/support/rail-bench.ts'
import type { ChainOrder, ChainRail } from '../../rails/chain/rail.ts'
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

async function openScene(options: SceneOptions = {}) {
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
  }
  bench = await openBench({ chain })
  const { world } = bench
  const customer_id = await bench.customer({ USDT: BALANCE })
  const to = { amount: AMOUNT, network: 'polygon', destination_address: DESTINATION } as const
  const { id } = await bench.transfer(customer_id, to)
  const now = () => bench.transferNow(id)
  return {
    now,
    carry: async () => transferSteps(world, silent).carry(await now()),
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
