import { afterAll, beforeAll, expect } from 'vitest'
import { noteFact } from '../support/proof.ts'
import { retryUntilAnswered } from '../support/retry.ts'
import { until } from '../support/wait.ts'
import { chainTest as test } from './chain-test.ts'
import { randomAddress } from './evm-stage.ts'
import { expectPaidOnce } from './paid-once.ts'
import { openProductionStage, type ProductionStage, startMiner } from './production-stage.ts'

/** Two nodes share one wallet: what one of them reserves, the other does not. */
const COUNT = 64
const RESERVED_MOST = 16
const PATIENCE_MS = 300_000
let stage: ProductionStage

beforeAll(async () => {
  stage = await openProductionStage({ networks: ['polygon'] })
})
afterAll(() => stage?.stop())

test(
  '64 transfers in flight on one network, over two nodes and three endpoints: nonces without gap or double, at most 16 open',
  async () => {
    const nodes = await Promise.all([stage.start(), stage.start()])
    const customers = await Promise.all([stage.customer(200_000_000n), stage.customer(200_000_000n)])
    const trouble = { cut: 0, unavailable: 0 }
    const answers = await Promise.all(
      Array.from({ length: COUNT }, (_, i) => {
        const order = {
          ...{ customer_id: customers[i % 2], asset: 'USDT', network: 'polygon', amount: `${1_000_000 + i}` },
          ...{ destination_address: randomAddress(), idempotency_key: `in-flight-${i}` },
        }
        const ask = (tries: number) =>
          stage.client(nodes[(i + tries) % 2]!.url).post('/v1/onchain/transfers', order)
        return retryUntilAnswered(ask, trouble)
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))

    // No block is mined yet. Every transfer is taken at least twice, so each had its chance to reserve.
    await until(async () => {
      await stage.hurry()
      const { rows } = await stage.worlds.production.db.query(
        `SELECT FROM transfers WHERE status = 'pending' AND nonce IS NULL AND attempts < 2`,
      )
      return rows.length === 0 && (await reserved()) >= RESERVED_MOST
    }, PATIENCE_MS)
    expect(await reserved()).toBe(RESERVED_MOST)

    const miner = startMiner(stage.places[0]!, { every_ms: 100, blocks: 4 })
    let most = 0
    const began = performance.now()
    await until(async () => {
      await stage.hurry()
      most = Math.max(most, await open())
      return (await stage.transfers()).every(({ status }) => status === 'confirmed')
    }, PATIENCE_MS)
    const seconds = Math.round((performance.now() - began) / 1000)
    await miner.stop()

    expect(most).toBeLessThanOrEqual(RESERVED_MOST)
    const { paid } = await expectPaidOnce(stage)
    expect(paid).toBe(COUNT)
    noteFact(
      `${COUNT} transfers in flight on one network, over 2 nodes with workers and 3 endpoints: nonces 0 to ${COUNT - 1} without gap or double, at most ${most} open at once; all confirmed ${seconds} s after the first block`,
    )
  },
  2 * PATIENCE_MS,
)

const reserved = async () => (await stage.transfers()).filter(({ nonce }) => nonce !== null).length

/** Nonces that are reserved and not mined. The chain is asked last: a block that is mined meanwhile makes the number smaller. */
async function open(): Promise<number> {
  const { rows } = await stage.worlds.production.db.query('SELECT next_nonce FROM wallets')
  const { node } = stage.places[0]!
  const mined = BigInt(await node.call<string>('eth_getTransactionCount', stage.wallet, 'latest'))
  return Number(rows[0].next_nonce - mined)
}
