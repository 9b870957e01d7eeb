import { addr } from 'micro-eth-signer'
import { afterAll, beforeAll, expect } from 'vitest'
import type { CrashPoint } from '../../src/core/crash-point.ts'
import { setRailLimits } from '../../src/money/custody/controls.ts'
import { newestSweeps, transactionsOfSweeps } from '../../src/money/sweeps/store.ts'
import { asAdmin } from '../support/database.ts'
import { eventually, until } from '../support/wait.ts'
import { chainTest as test } from './chain-test.ts'
import {
  openProductionStage,
  type ProductionNode,
  type ProductionStage,
  startMiner,
} from './production-stage.ts'
import { ETHER, newDepositKeys } from './sweep-stage.ts'

/**
 * Deposits that the service itself finds on a chain are swept by nodes that die at every point of a sweep's way. At the end the wallet has
 * every token that was paid in, no nonce was spent twice, and the books have what the chain has.
 */
const PATIENCE_MS = 300_000
const points: readonly CrashPoint[] = [
  'after_sweep_begun',
  'after_sweep_reserve',
  'after_sweep_sign',
  'after_sweep_stored',
  'after_sweep_broadcast',
]
const { xprv, xpub, keys } = newDepositKeys()
const gas_account = addr.fromPrivateKey(keys.gasSecret())

let stage: ProductionStage
let miner: ReturnType<typeof startMiner> | undefined
beforeAll(async () => {
  const env = { EVM_DEPOSIT_XPUB: xpub, EVM_DEPOSIT_KEY: xprv, RECONCILE_EVERY_MS: '1000' }
  stage = await openProductionStage({ networks: ['polygon'], env })
})
afterAll(async () => {
  await miner?.stop()
  await stage?.stop()
})

/** A customer who asked for an address and paid in. */
async function payIn(node: ProductionNode, amount: bigint): Promise<string> {
  const { token } = stage.placeOf('polygon')
  const customer_id = await stage.customer(1n)
  const made = await stage
    .client(node.url)
    .post(`/v1/customers/${customer_id}/deposit_addresses`, { network: 'polygon' })
  expect(made.status).toBe(201)
  await miner!.inTurn(() => token.mint(made.json.address, amount))
  return made.json.address
}

/** A node that dies at the point, the first time that it comes by. */
async function dieAt(point: CrashPoint): Promise<void> {
  try {
    const doomed = await stage.start({ CRASH_AT: point })
    await until(() => doomed.process.signalCode === 'SIGKILL', PATIENCE_MS)
  } catch (error) {
    if (!/ended with SIGKILL/.test((error as Error).message)) throw error
  }
}

const countOf = async (address: string) =>
  BigInt(await stage.placeOf('polygon').node.call<string>('eth_getTransactionCount', address, 'latest'))

test(
  'sweeps go on with what dead nodes stored, and every token reaches the wallet once',
  async () => {
    const world = stage.worlds.production
    const place = stage.placeOf('polygon')
    const { token } = place
    await place.node.setBalance(gas_account, 10n * ETHER)
    miner = startMiner(place, { every_ms: 300, blocks: 4 })
    const held_before = await token.balanceOf(stage.wallet)
    const paid: { address: string; amount: bigint }[] = []
    const answering = await stage.start({ ROLE: 'api', EVM_WALLET_KEY: '', EVM_DEPOSIT_KEY: '' })
    const payInMore = async () => {
      const amount = 60_000_000n + BigInt(paid.length)
      paid.push({ address: await payIn(answering, amount), amount })
    }
    await setRailLimits(world, {
      ...{ rail: 'polygon', by: 'shell', reason: 'a test' },
      change: { sweep_from: 50_000_000n, sweep_fee_max: ETHER },
    })
    for (const point of [...points, ...points.slice(1)]) {
      await payInMore()
      await dieAt(point)
    }
    await Promise.all([stage.start(), stage.start()])
    await eventually(
      async () => {
        const swept = (await newestSweeps(world.db, 100)).filter(({ state }) => state === 'swept')
        expect(swept).toHaveLength(paid.length)
      },
      { timeout: PATIENCE_MS },
    )

    const total = paid.reduce((sum, { amount }) => sum + amount, 0n)
    expect(await token.balanceOf(stage.wallet)).toBe(held_before + total)
    for (const { address } of paid)
      expect([await token.balanceOf(address), await countOf(address)]).toEqual([0n, 1n])
    expect(await countOf(gas_account)).toBe(BigInt(paid.length))
    const sweeps = await newestSweeps(world.db, 100)
    expect(sweeps).toHaveLength(paid.length)
    const made = await transactionsOfSweeps(
      world.db,
      sweeps.map(({ id }) => id),
    )
    for (const transactions of made.values())
      expect(
        new Set(transactions.map(({ purpose, sender, nonce }) => `${purpose} ${sender} ${nonce}`)).size,
      ).toBe(2)
    // What the wallet had before is not booked. A comparison may have read the paid addresses before a deposit that it found in the
    // books, with a miner that makes thirteen blocks a second; the next one has both.
    const since = new Date().toISOString()
    await eventually(async () => {
      const compared = await asAdmin(stage.database.url, [
        `SELECT difference FROM live.reconciliations WHERE rail = 'polygon' AND at > '${since}' ORDER BY at DESC LIMIT 1`,
      ])
      expect(compared).toEqual([{ difference: held_before.toString() }])
    })
    expect((await stage.audit()).production.findings).toEqual([])
    expect(stage.output()).not.toContain(xprv)
  },
  3 * PATIENCE_MS,
)
