import { afterEach, describe, expect, onTestFinished, vi } from 'vitest'
import { chainTest as test } from '../../../test/chains/chain-test.ts'
import { type CustodyStage, openCustodyStage } from '../../../test/support/custody.ts'
import { silent } from '../../../test/support/rail-bench.ts'
import { perform } from '../../control/operator/actions.ts'
import { networks } from '../../core/networks.ts'
import type { ChainRail } from '../../rails/chain/rail.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import { noSteps } from '../../records/steps/recorder.ts'
import { chainBooks } from '../onchain/books.ts'
import { transferSteps } from '../onchain/steps.ts'
import { claimHeld, type Floors, refreshHoldings } from './holdings.ts'
import { reconcile } from './reconcile.ts'
import { newestMoves, reconciliationStates, storeHoldings } from './store.ts'

const TOKENS = 1_000_000_000n
const DEEP = networks.polygon.confirmations

let custody: CustodyStage
afterEach(async () => {
  expect(await custody.bench.findings()).toEqual([])
  await custody.stop()
})

const compare = (world = custody.world) => reconcile(world, 'polygon', chainBooks)
const exceptions = async () =>
  (await exceptionsAbout(custody.world.db, 'reconciliation polygon')).map(
    ({ details, closed_by }) => [details.problem, closed_by] as const,
  )
const move = (amount: bigint, direction: 'to_rail' | 'from_rail' = 'to_rail', reference = `ref ${amount}`) =>
  perform(custody.world, {
    name: 'move_custody',
    details: {
      rail: 'polygon',
      asset: 'USDT',
      direction,
      amount: amount.toString(),
      reason: 'test',
      reference,
    },
  })

/** A wallet whose tokens are booked, and a customer. */
async function openFunded(options: Parameters<typeof openCustodyStage>[0] = {}) {
  custody = await openCustodyStage({ tokens: TOKENS, ...options })
  await custody.stage.node.mine(DEEP)
  await move(TOKENS)
  const customer = await custody.bench.customer({ USDT: 500_000_000n })
  const { carry } = transferSteps(custody.world, silent)
  return {
    customer,
    carry: async (id: string) => carry(await custody.bench.transferNow(id)),
    mine: (blocks: number = DEEP) => custody.stage.node.mine(blocks),
  }
}

describe('reconciliation', () => {
  test('names tokens that nobody booked; the second time it opens an exception, which a custody move closes', async () => {
    custody = await openCustodyStage({ tokens: TOKENS })
    await custody.stage.node.mine(DEEP)
    expect(await compare()).toMatchObject({ outside: TOKENS, booked: 0n, on_its_way: 0n, difference: TOKENS })
    expect(await exceptions(), 'one sighting may be a passing one').toEqual([])
    await compare()
    const problem = 'The wallet holds 1000.000000 USDT more than the books say.'
    expect(await exceptions()).toEqual([[problem, null]])
    const { id } = await move(TOKENS)
    expect(await compare()).toMatchObject({ outside: TOKENS, booked: TOKENS, difference: 0n })
    expect(await exceptions()).toEqual([[problem, 'service']])
    expect(await reconciliationStates(custody.world.db)).toMatchObject([{ rail: 'polygon', difference: 0n }])
    expect(await move(TOKENS), 'a reference works once').toMatchObject({ id })
    await move(1n, 'from_rail')
    expect(await compare()).toMatchObject({ booked: TOKENS - 1n, difference: 1n })
    expect((await newestMoves(custody.world.db, 9)).map(({ amount }) => amount)).toEqual([1n, TOKENS])
  })

  test('is 0 at every moment of a transfer: waiting, mined and not booked, booked', async () => {
    const { customer, carry, mine } = await openFunded()
    const { id } = await custody.transfer(customer, 7_000_001n)
    const none = { not_booked_yet: [], mined_later: [], other: [], without_block: [] }
    expect(await compare()).toMatchObject({ difference: 0n, parts: none })
    await carry(id)
    expect(await compare()).toMatchObject({ difference: 0n, parts: none })
    await mine(1)
    expect(await compare(), 'mined, not final').toMatchObject({ difference: 0n, parts: none })
    await mine()
    const { tx_hash } = await custody.bench.transferNow(id)
    expect(await compare()).toMatchObject({
      ...{ outside: TOKENS - 7_000_001n, booked: TOKENS, on_its_way: 7_000_001n, difference: 0n },
      parts: { ...none, not_booked_yet: [{ transfer_id: id, amount: '7000001', tx_hash }] },
    })
    await carry(id)
    expect(await compare()).toMatchObject({ booked: TOKENS - 7_000_001n, difference: 0n, parts: none })
  })

  test('is 0 if a transfer was mined after the block and is booked already', async () => {
    const { customer, carry, mine } = await openFunded()
    const before = await custody.scene.chain.holdings()
    const { id } = await custody.transfer(customer)
    await carry(id)
    await mine()
    await carry(id)
    const chain = { ...custody.parts.chain, holdings: async () => before } as Partial<ChainRail<'sandbox'>>
    const slow = custody.bench.openNode({ ...custody.parts, chain })
    expect(await compare(slow)).toMatchObject({
      ...{ outside: TOKENS, on_its_way: -1_500_000n, difference: 0n },
      parts: { mined_later: [{ transfer_id: id, amount: '1500000' }] },
    })
  })

  test('names a payment that is not what was ordered, and money that left past the service', async () => {
    const { customer, carry, mine } = await openFunded()
    const { id } = await custody.transfer(customer)
    await custody.scene.token.setFee(1n)
    await carry(id)
    await mine()
    expect(await compare()).toMatchObject({
      ...{ on_its_way: 0n, difference: -1_500_000n },
      parts: { other: [{ transfer_id: id, amount: '1500000' }] },
    })
    await custody.scene.token.setFee(0n)
    const foreign = custody.scene.order()
    await custody.scene.chain.broadcast(foreign, await custody.scene.sign(foreign, [], 'pay', 1n))
    await mine()
    expect(await compare()).toMatchObject({ difference: -3_000_000n })
    expect(await exceptions()).toEqual([['The wallet holds 3.000000 USDT less than the books say.', null]])
  })
})

/** Only polygon has a wallet here: the other networks fail. */
const refresh = () => refreshHoldings(custody.world, custody.world.db).catch(() => {})

describe('an order is accepted', () => {
  const accept = (units: bigint, floors: Floors = { floor: null, gas_floor: null }) =>
    claimHeld(custody.bench.openNode(), { network: 'polygon', units }, floors)
  const unavailable = { code: 'rail_unavailable' }

  test('only if the wallet has what is open, the amount, and the floors', async () => {
    const { customer, carry, mine } = await openFunded({ gas_coin: 10n ** 18n })
    await expect(accept(1n), 'no figures yet').rejects.toMatchObject(unavailable)
    await refresh()
    await accept(TOKENS)
    await expect(accept(TOKENS + 1n)).rejects.toMatchObject(unavailable)
    await accept(TOKENS - 5n, { floor: 5n, gas_floor: 10n ** 18n })
    await expect(accept(TOKENS - 4n, { floor: 5n, gas_floor: null })).rejects.toMatchObject(unavailable)
    await expect(accept(1n, { floor: null, gas_floor: 10n ** 18n + 1n })).rejects.toMatchObject(unavailable)
    const { id } = await custody.transfer(customer, 2_000_000n)
    await expect(accept(TOKENS - 1_999_999n), 'an open transfer').rejects.toMatchObject(unavailable)
    await accept(TOKENS - 2_000_000n)
    await carry(id)
    await mine()
    await carry(id)
    await expect(accept(TOKENS - 1_999_999n), 'booked since the figures').rejects.toMatchObject(unavailable)
    await refresh()
    await accept(TOKENS - 2_000_000n)
    await custody.bench.admin(`UPDATE holdings SET read_at = now() - interval '2 minutes'`)
    await expect(accept(1n), 'old figures').rejects.toMatchObject(unavailable)
  })
  test('by no figures of the future: the clock of the database was set back', async () => {
    await openFunded()
    await refresh()
    await accept(1n)
    await custody.bench.admin(`UPDATE holdings SET read_at = now() + interval '1 hour'`)
    await expect(accept(1n)).rejects.toMatchObject(unavailable)
    await refresh()
    await accept(1n)
  })

  test('again within an hour after an endpoint, alone for a moment, told a block that the chain does not have', async () => {
    await openFunded()
    const held = await custody.scene.chain.holdings()
    await storeHoldings(custody.world.db, 'polygon', { ...held, block_height: 10n ** 9n })
    await refresh()
    await custody.bench.admin(`UPDATE holdings SET read_at = now() - interval '50 minutes'`)
    await refresh()
    await expect(accept(1n)).rejects.toMatchObject(unavailable)
    await custody.bench.admin(`UPDATE holdings SET read_at = now() - interval '61 minutes'`)
    await refresh()
    await accept(TOKENS)
    const exceptions = await exceptionsAbout(custody.world.db, 'holdings polygon')
    expect(exceptions).toMatchObject([{ kind: 'holdings_old', closed_by: 'service' }])
  })

  test('until the figures are too old while two endpoints tell different ones; an exception says so, and closes by itself', async () => {
    await openFunded()
    await refresh()
    custody.stage.endpoints[1].become({
      rewrite: ({ method }, reply) => (method === 'eth_getBalance' ? { ...reply, result: '0x1' } : reply),
    })
    const old = () => exceptionsAbout(custody.world.db, 'holdings polygon')
    await refresh()
    expect(await old(), 'the old figures still count').toEqual([])
    await accept(TOKENS)
    await custody.bench.admin(`UPDATE holdings SET read_at = read_at - interval '61 seconds'`)
    await refresh()
    await expect(accept(1n)).rejects.toMatchObject(unavailable)
    expect(await old()).toMatchObject([
      { kind: 'holdings_old', rail: 'polygon', closed_at: null, details: { why: 'endpoints_disagree' } },
    ])
    custody.stage.endpoints[1].become({})
    await refresh()
    await accept(TOKENS)
    expect(await old()).toMatchObject([{ kind: 'holdings_old', closed_by: 'service' }])
  })

  test('once by each node: orders of one moment share what the wallet holds, and a claim that makes no transfer is released', async () => {
    await openFunded()
    await refresh()
    // Stored holdings are read anew every second, and then claims are forgotten.
    const stopped = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    onTestFinished(() => stopped.mockRestore())
    const node = custody.bench.openNode()
    const claim = (units: bigint) =>
      claimHeld(node, { network: 'polygon', units }, { floor: null, gas_floor: null })
    const both = await Promise.allSettled([claim(TOKENS - 1n), claim(2n)])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    const [first] = both
    if (first?.status === 'fulfilled') {
      first.value.release()
      first.value.release()
    }
    await claim(TOKENS - 2n)
    await claim(2n)
    await expect(claim(1n)).rejects.toMatchObject(unavailable)
  })
})

describe('two nodes accept orders of the same moment against the same holdings', () => {
  async function openTooSmall() {
    const opened = await openFunded({ tokens: 2_000_000n })
    await refresh()
    const floors = { floor: null, gas_floor: null }
    for (const node of [custody.bench.openNode(), custody.bench.openNode()])
      await claimHeld(node, { network: 'polygon', units: 1_500_000n }, floors)
    const ids = [
      (await custody.transfer(opened.customer)).id,
      (await custody.transfer(opened.customer)).id,
    ] as const
    return { ...opened, ids, now: (id: string) => custody.bench.transferNow(id) }
  }

  test('the second waits visibly, and is paid when the wallet is funded', async () => {
    const { ids, mine, now } = await openTooSmall()
    const told: (string | null)[] = []
    const { carry } = transferSteps(custody.world, silent, {
      ...noSteps,
      begin: () => (heard) => void told.push(heard.said),
    })
    await carry(await now(ids[0]))
    await mine(1)
    told.length = 0
    await carry(await now(ids[1]))
    expect(told).toEqual(['later wallet_too_empty'])
    expect(await now(ids[1])).toMatchObject({ status: 'pending', nonce: null, tx_hash: null })
    await custody.scene.token.mint(custody.scene.wallet, 1_000_000n)
    for (let n = 0; n < 2; n++) {
      await carry(await now(ids[1]))
      await mine()
    }
    await carry(await now(ids[0]))
    for (const id of ids) expect(await now(id)).toMatchObject({ status: 'confirmed' })
  })

  test('the chain reverts the second if both are signed before one is mined, and the customer gets the money back', async () => {
    const { customer, carry, ids, mine, now } = await openTooSmall()
    // As nodes that estimate on the newest block, where the first payment is not mined yet.
    for (const endpoint of custody.stage.endpoints)
      endpoint.become({
        answer: ({ method }) => (method === 'eth_estimateGas' ? { result: '0xea60' } : undefined),
      })
    for (const id of ids) await carry(id)
    await mine()
    for (const id of ids) await carry(id)
    expect(await now(ids[0])).toMatchObject({ status: 'confirmed' })
    expect(await now(ids[1])).toMatchObject({ status: 'failed', failure_code: 'reverted' })
    const paid = await now(ids[0])
    expect(await custody.bench.balance(customer, 'USDT')).toEqual({
      balance: 500_000_000n - paid.amount_net - paid.fee,
      in_transit: 0n,
    })
  })
})
