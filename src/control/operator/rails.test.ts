import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Bench, openBench } from '../../../test/support/rail-bench.ts'
import { Refusal } from '../../core/errors.ts'
import { setRailLimits } from '../../money/custody/controls.ts'
import { storeHoldings } from '../../money/custody/store.ts'
import { describeRails } from './rails.ts'

let bench: Bench
let refusal: Refusal | undefined
beforeEach(async () => {
  refusal = undefined
  bench = await openBench({ chain: { has_wallet: true, endpoints: () => [] } })
})
afterEach(() => bench.stop())

async function reportOf(rail: 'pix' | 'tron') {
  // Figures of a wallet are shared for a second by the orders of a node.
  const node = bench.openNode()
  const pix = {
    ...node.pix,
    async ready() {
      if (refusal) throw refusal
    },
  }
  const reports = await describeRails({ ...node, pix })
  return reports.find((one) => one.rail === rail)!
}

test('a wallet at its floor, below its gas floor, or with old figures refuses every order, and the report says so', async () => {
  const { db } = bench.world
  const limit = (change: { floor?: bigint; gas_floor?: bigint }) =>
    setRailLimits(bench.world, { rail: 'tron', by: 'shell', reason: 'first week', change })
  const held = { wallet: 'T1', block_hash: '0x1', asset: 500n, native: 10n, at_addresses: 0n }
  expect((await reportOf('tron')).message).toMatch(/holdings of the wallet were not read/)
  await storeHoldings(db, 'tron', { ...held, block_height: 1n })
  expect(await reportOf('tron')).toMatchObject({ configured: true, message: null })
  await limit({ floor: 500n })
  expect((await reportOf('tron')).message).toBe('The wallet is at its floor or below.')
  await limit({ floor: 499n, gas_floor: 11n })
  expect((await reportOf('tron')).message).toBe('The wallet is below its gas floor.')
  await limit({ gas_floor: 10n })
  expect((await reportOf('tron')).message).toBe(null)
})

test('Pix stays configured while its provider refuses the sign-in', async () => {
  expect(await reportOf('pix')).toMatchObject({ configured: true, message: null })
  refusal = new Refusal('rail_unavailable', { message: 'The provider refused the sign-in.' })
  expect(await reportOf('pix')).toMatchObject({
    configured: true,
    message: 'The provider refused the sign-in.',
  })
})
