import { afterEach, expect } from 'vitest'
import { chainTest as test } from '../../../test/chains/chain-test.ts'
import { type CustodyStage, openCustodyStage } from '../../../test/support/custody.ts'
import { byTwoOperators } from '../../../test/support/operators.ts'
import { silent } from '../../../test/support/rail-bench.ts'
import { networks } from '../../core/networks.ts'
import { gasPaidInADay } from '../custody/store.ts'
import { transferSteps } from './steps.ts'
import { attemptsOf } from './transactions.ts'

const GAS_COIN = 10n ** 19n
const DEEP = networks.polygon.confirmations

let custody: CustodyStage
afterEach(async () => {
  expect(await custody.bench.findings()).toEqual([])
  await custody.stop()
})

async function openPaying() {
  custody = await openCustodyStage({ tokens: 2_000_000n, gas_coin: GAS_COIN })
  const { bench, world, stage } = custody
  const customer = await bench.customer({ USDT: 500_000_000n })
  const { carry } = transferSteps(world, silent)
  return {
    customer,
    carry: async (id: string) => carry(await bench.transferNow(id)),
    now: (id: string) => bench.transferNow(id),
    gasOf: async (id: string) => (await attemptsOf(world.db, id)).map(({ gas_paid_wei }) => gas_paid_wei),
    mine: (blocks: number = DEEP) => stage.node.mine(blocks),
  }
}

test('what a payment, a reverted one and a cancel cost is stored with their blocks, and is what the wallet lost', async () => {
  const { customer, carry, now, gasOf, mine } = await openPaying()
  const { bench, world, stage, scene } = custody
  // The wallet has tokens for one of them, and the nodes do not say so before the second is signed.
  for (const endpoint of stage.endpoints)
    endpoint.become({
      answer: ({ method }) => (method === 'eth_estimateGas' ? { result: '0xea60' } : undefined),
    })
  const paid = (await custody.transfer(customer)).id
  const reverted = (await custody.transfer(customer)).id
  for (const id of [paid, reverted]) await carry(id)
  expect(await gasOf(paid), 'not mined yet').toEqual([null])
  await mine()
  for (const id of [paid, reverted]) await carry(id)
  for (const endpoint of stage.endpoints) endpoint.become({})
  await scene.token.mint(scene.wallet, 10_000_000n)
  await mine(1)
  const canceled = (await custody.transfer(customer)).id
  await carry(canceled)
  await byTwoOperators(world, {
    name: 'cancel_transfer',
    details: { transfer_id: canceled, reason: 'wrong address' },
  })
  await carry(canceled)
  await mine()
  await carry(canceled)
  expect((await now(paid)).status).toBe('confirmed')
  expect((await now(reverted)).failure_code).toBe('reverted')
  expect((await now(canceled)).failure_code).toBe('canceled')

  const [replaced, ...mined] = [
    ...(await gasOf(canceled)),
    ...(await gasOf(paid)),
    ...(await gasOf(reverted)),
  ]
  expect(replaced, 'a payment that its cancel replaced costs nothing').toBeNull()
  const sum = mined.reduce<bigint>((total, gas) => total + gas!, 0n)
  expect(mined.every((gas) => gas! > 0n)).toBe(true)
  const left = BigInt(await stage.node.call<string>('eth_getBalance', scene.wallet, 'latest'))
  expect(GAS_COIN - left).toBe(sum)
  expect(await gasPaidInADay(world.db)).toEqual([{ rail: 'polygon', wei: sum }])
  await expect(
    bench.admin(`UPDATE transactions SET gas_paid_wei = 1 WHERE transfer_id = '${paid}'`),
    'it is told once',
  ).rejects.toThrow(/never changes/)
})

test('a transfer settles although no node tells its gas', async () => {
  const { customer, carry, now, gasOf, mine } = await openPaying()
  for (const endpoint of custody.stage.endpoints)
    endpoint.become({
      rewrite: ({ method }, reply) =>
        method === 'eth_getTransactionReceipt' && reply.result
          ? { ...reply, result: { ...reply.result, gasUsed: undefined } }
          : reply,
    })
  const { id } = await custody.transfer(customer)
  await carry(id)
  await mine()
  await carry(id)
  expect((await now(id)).status).toBe('confirmed')
  expect(await gasOf(id)).toEqual([null])
  expect(await gasPaidInADay(custody.world.db)).toEqual([])
})
