import { afterEach, beforeEach, describe, expect } from 'vitest'
import { hex } from '../../../test/chains/anvil.ts'
import { chainTest as test } from '../../../test/chains/chain-test.ts'
import type { RpcReply, RpcRequest } from '../../../test/chains/rpc-proxy.ts'
import {
  creditMore,
  DEPTH,
  ETHER,
  FINALIZED,
  openSweepStage,
  type SweepStage,
} from '../../../test/chains/sweep-stage.ts'
import { pauseRail } from '../custody/controls.ts'
import { paidAddresses } from '../deposits/books.ts'

/** Deposits on a real chain are swept into the wallet, round by round of the chore. */
const GWEI = 10n ** 9n
const AMOUNT = 75_000_000n
let stage: SweepStage
beforeEach(async () => {
  stage = await openSweepStage()
})
afterEach(async () => {
  expect((await stage.audit()).production.findings).toEqual([])
  await stage.stop()
})

type Round = () => Promise<void>
const states = async () => (await stage.sweeps()).map(({ state, failure }) => failure ?? state)
const balances = async (address: string) => [
  await stage.token.balanceOf(address),
  await stage.token.balanceOf(stage.wallet),
]

/** What sweeps have moved away from each address for good: the network has finalized their blocks. */
async function sweptByAddress(): Promise<Map<string, bigint>> {
  const { rows } = await stage.world.db.query<{ address: string; swept: bigint }>(
    `SELECT address, sum(amount)::numeric(40, 0) AS swept FROM sweeps WHERE network = 'polygon' AND state = 'swept' GROUP BY address`,
  )
  return new Map(rows.map(({ address, swept }) => [address, BigInt(swept)]))
}

/** Mines after each round until the sweeps have ended. */
async function toTheEnd(round: Round): Promise<void> {
  for (let i = 0; i < 12; i++) {
    await round()
    if ((await stage.sweeps()).every(({ ended_at }) => ended_at !== null)) return
    await stage.node.mine(i < 4 ? DEPTH : FINALIZED)
  }
  throw new Error(`not swept: ${await states()}`)
}

test('all tokens of an address reach the wallet, and its gas comes from the gas account', async () => {
  const address = await stage.deposit(50_000_000n, 25_000_000n)
  const { round, sweeper } = stage.openNode()
  await round()
  expect(await stage.sweeps(), 'without a rule nothing is swept').toEqual([])
  await stage.rule(50_000_000n)
  await round()
  expect(await states()).toEqual(['funding'])
  await stage.node.mine(DEPTH)
  await round()
  expect(await states()).toEqual(['sweeping'])
  await stage.node.mine(DEPTH)
  await round()
  expect(await states(), 'deep enough, and not finalized').toEqual(['mined'])
  expect(await balances(address)).toEqual([0n, AMOUNT])
  expect(await sweptByAddress()).toEqual(new Map())
  await stage.node.mine(FINALIZED)
  await round()
  const [sweep, ...others] = await stage.sweeps()
  expect(others).toEqual([])
  expect(sweep).toMatchObject({ state: 'swept', amount: AMOUNT, address, wallet: stage.wallet })
  expect(sweep!.made.map(({ purpose, sender, nonce }) => [purpose, sender, nonce])).toEqual([
    ['fund', stage.gas_account, 0n],
    ['sweep', address, 0n],
  ])
  const paid = sweep!.made.reduce((sum, { gas_paid_wei }) => sum + gas_paid_wei!, 0n)
  const left = (await sweeper.readAddress(address))!.native
  const { native } = (await sweeper.readGasAccount())!
  expect(native + paid + left, 'no coin is lost').toBe(10n * ETHER)
  expect(await sweptByAddress()).toEqual(new Map([[address, AMOUNT]]))
  await round()
  expect(await states(), 'nothing is left to sweep').toEqual(['swept'])
})

test('what was paid in again is swept again, with the gas that was left', async () => {
  const address = await stage.deposit(AMOUNT)
  const { round } = stage.openNode()
  await stage.rule(50_000_000n)
  await toTheEnd(round)
  await stage.token.mint(address, 60_000_000n)
  await stage.node.mine(DEPTH)
  await creditMore(stage.world, { address, amount: 60_000_000n })
  await stage.node.setBalance(address, ETHER)
  await toTheEnd(round)
  expect(await states()).toEqual(['swept', 'swept'])
  const [, second] = await stage.sweeps()
  expect(second).toMatchObject({ amount: 60_000_000n, fund_nonce: null, nonce: 1n })
  expect(await balances(address)).toEqual([0n, AMOUNT + 60_000_000n])
})

describe('waits', () => {
  test('below the rule', async () => {
    const address = await stage.deposit(49_999_999n)
    const { round } = stage.openNode()
    await stage.rule(50_000_000n)
    await round()
    expect(await stage.sweeps()).toEqual([])
    await stage.token.mint(address, 1n)
    await stage.node.mine(DEPTH)
    await round()
    expect(await stage.sweeps(), 'what is not credited does not count').toEqual([])
    await creditMore(stage.world, { address, amount: 1_000_000n })
    await round()
    expect(await states()).toEqual(['funding'])
    expect((await stage.sweeps())[0]!.amount, 'the whole balance of the chain').toBe(50_000_000n)
    await toTheEnd(round)
  })

  test('while the fee is above the rule', async () => {
    await stage.deposit(AMOUNT)
    const { round } = stage.openNode()
    await stage.rule(50_000_000n, 1000n * GWEI)
    await round()
    expect(await stage.sweeps()).toEqual([])
    await stage.rule(50_000_000n, ETHER)
    await round()
    expect(await states()).toEqual(['funding'])
    const [{ fund_wei, made }] = (await stage.sweeps()) as [Awaited<ReturnType<SweepStage['sweeps']>>[number]]
    const { max_fee_per_gas, gas_limit } = made[0]!.terms
    expect(fund_wei! + BigInt(max_fee_per_gas!) * BigInt(gas_limit!)).toBeLessThanOrEqual(ETHER)
    await toTheEnd(round)
  })

  test('without gas in the gas account, and says so; goes on when the account is funded', async () => {
    await stage.deposit(AMOUNT)
    const { round } = stage.openNode()
    await stage.rule(50_000_000n)
    await stage.node.setBalance(stage.gas_account, 1000n)
    await round()
    await round()
    expect(await stage.sweeps()).toEqual([])
    expect(await stage.exceptions()).toMatchObject([
      {
        kind: 'stuck',
        object_id: 'gas account polygon',
        details: { problem: expect.stringContaining(stage.gas_account) },
      },
    ])
    await stage.node.setBalance(stage.gas_account, ETHER)
    await toTheEnd(round)
    expect([await states(), await stage.exceptions()]).toEqual([['swept'], []])
  })

  test('while the rail is paused, and what was begun sends nothing new', async () => {
    await stage.deposit(AMOUNT)
    const { round } = stage.openNode()
    await stage.rule(50_000_000n)
    await round()
    await pauseRail(stage.world, { rail: 'polygon', by: 'shell', reason: 'a test' })
    await stage.deposit(AMOUNT)
    await stage.node.mine(DEPTH)
    await round()
    const sweeps = await stage.sweeps()
    expect(sweeps.map(({ state, made }) => [state, made.length])).toEqual([['funding', 1]])
    expect(await stage.token.balanceOf(stage.wallet)).toBe(0n)
  })

  test('with four others under way on the network', async () => {
    for (let i = 0; i < 6; i++) await stage.deposit(AMOUNT + BigInt(i))
    const { round } = stage.openNode()
    await stage.rule(50_000_000n)
    await round()
    const first = await stage.sweeps()
    expect(
      first.map(({ fund_nonce, amount }) => [fund_nonce, amount]),
      'the most first',
    ).toEqual([5n, 4n, 3n, 2n].map((more, nonce) => [BigInt(nonce), AMOUNT + more]))
    await toTheEnd(round)
    expect(await states()).toEqual(Array(6).fill('swept'))
    expect(await stage.token.balanceOf(stage.wallet)).toBe(6n * AMOUNT + 15n)
  })

  test('without the key of deposit addresses, and the figures count the USDT at them', async () => {
    await stage.deposit(AMOUNT)
    const { round } = stage.openNode({ signer: undefined as never })
    await stage.rule(50_000_000n)
    await round()
    expect(await stage.sweeps()).toEqual([])
    expect(await stage.admin('SELECT gas_account, unswept, addresses FROM live.sweep_figures')).toEqual([
      { gas_account: stage.gas_account, unswept: AMOUNT.toString(), addresses: 1 },
    ])
  })
})

describe('two nodes', () => {
  test('at once sweep each address once', async () => {
    const addresses = [await stage.deposit(AMOUNT), await stage.deposit(AMOUNT), await stage.deposit(AMOUNT)]
    const nodes = [stage.openNode(), stage.openNode(), stage.openNode()]
    await stage.rule(50_000_000n)
    await toTheEnd(async () => void (await Promise.all(nodes.map(({ round }) => round()))))
    expect(await states()).toEqual(['swept', 'swept', 'swept'])
    for (const { made } of await stage.sweeps())
      expect(made.map(({ purpose }) => purpose)).toEqual(['fund', 'sweep'])
    for (const address of addresses) expect(await balances(address)).toEqual([0n, 3n * AMOUNT])
    const sent = await stage.node.call<string>('eth_getTransactionCount', stage.gas_account, 'latest')
    expect(BigInt(sent)).toBe(3n)
  })
})

describe('a transaction that is stuck', () => {
  test('is replaced with the same nonce and an eighth more, for gas and for the sweep', async () => {
    const address = await stage.deposit(AMOUNT)
    const { round } = stage.openNode()
    await stage.rule(50_000_000n)
    await round()
    const raise = async () => {
      const { baseFeePerGas } = await stage.node.call<{ baseFeePerGas: string }>(
        'eth_getBlockByNumber',
        'latest',
        false,
      )
      await stage.node.call(
        'anvil_setNextBlockBaseFeePerGas',
        `0x${((BigInt(baseFeePerGas) * 12n) / 10n + 1n).toString(16)}`,
      )
    }
    const replaceOnce = async (purpose: 'fund' | 'sweep') => {
      const madeNow = async () => (await stage.sweeps())[0]!.made.filter((one) => one.purpose === purpose)
      const [first] = await madeNow()
      await stage.node.dropTransaction(first!.tx_hash)
      await raise()
      await stage.node.mine()
      for (const endpoint of stage.endpoints)
        endpoint.become({
          answer: ({ method }) =>
            method === 'eth_sendRawTransaction' ? { result: first!.tx_hash } : undefined,
        })
      stage.passTime(600_000)
      await round()
      for (const endpoint of stage.endpoints) endpoint.become({})
      const made = await madeNow()
      expect(made).toHaveLength(2)
      expect(made[1]).toMatchObject({ sender: first!.sender, nonce: first!.nonce, attempt: 2 })
      for (const fee of ['max_fee_per_gas', 'max_priority_fee_per_gas'])
        expect(BigInt(made[1]!.terms[fee]!) * 8n).toBeGreaterThanOrEqual(BigInt(first!.terms[fee]!) * 9n)
      await round()
      await stage.node.mine(DEPTH)
      await round()
    }
    await replaceOnce('fund')
    expect(await states()).toEqual(['sweeping'])
    await replaceOnce('sweep')
    await toTheEnd(round)
    expect(await states()).toEqual(['swept'])
    expect(await balances(address)).toEqual([0n, AMOUNT])
  })
})

describe('a sweep that the token refuses', () => {
  test('ends before anything is sent, with an exception, and the address rests for a day', async () => {
    const address = await stage.deposit(AMOUNT)
    await stage.token.setBlackListed(address, true)
    const { round } = stage.openNode()
    await stage.rule(50_000_000n)
    await round()
    expect(await states()).toEqual(['token_reverts'])
    const [{ id, made }] = (await stage.sweeps()) as [Awaited<ReturnType<SweepStage['sweeps']>>[number]]
    expect(made).toEqual([])
    expect(await stage.exceptions()).toMatchObject([{ kind: 'contradiction', object_id: id }])
    await stage.token.setBlackListed(address, false)
    await round()
    expect(await states(), 'not tried again today').toEqual(['token_reverts'])
  })

  test('ends as reverted if it was mined without effect', async () => {
    const address = await stage.deposit(AMOUNT)
    const { round } = stage.openNode()
    await stage.rule(50_000_000n)
    await round()
    await stage.node.mine(DEPTH)
    await round()
    expect(await states()).toEqual(['sweeping'])
    const [{ made }] = (await stage.sweeps()) as [Awaited<ReturnType<SweepStage['sweeps']>>[number]]
    const signed = made.find(({ purpose }) => purpose === 'sweep')!
    await stage.node.dropTransaction(signed.tx_hash)
    await stage.token.setPaused(true)
    await stage.node.call('eth_sendRawTransaction', signed.signed)
    await stage.node.mine(DEPTH)
    await toTheEnd(round)
    expect(await states()).toEqual(['reverted'])
    expect(await balances(address)).toEqual([AMOUNT, 0n])
    expect(await stage.exceptions()).toMatchObject([{ kind: 'contradiction' }])
    await stage.token.setPaused(false)
    await round()
    expect(await states(), 'not tried again today').toEqual(['reverted'])
  })
})

test('the reconciliation asks no more about an address that was swept for good, unless the books lack a deposit', async () => {
  const whole = await stage.deposit(AMOUNT)
  // Below the minimum: the second one is not credited, and is swept along.
  const uncredited = await stage.deposit(AMOUNT, 5n)
  const { round } = stage.openNode()
  const asked = () => paidAddresses(stage.world.db, 'polygon')
  await stage.rule(50_000_000n)
  await round()
  await stage.node.mine(DEPTH)
  await round()
  await stage.node.mine(DEPTH)
  await round()
  expect(await states()).toEqual(['mined', 'mined'])
  expect(new Set(await asked()), 'not finalized').toEqual(new Set([whole, uncredited]))
  await toTheEnd(round)
  expect(await stage.token.balanceOf(stage.wallet)).toBe(2n * AMOUNT + 5n)
  expect(await asked()).toEqual([uncredited])
  await creditMore(stage.world, { address: whole, amount: AMOUNT })
  expect(new Set(await asked())).toEqual(new Set([whole, uncredited]))
})

test('an address that is not derived from the key is not swept, and no gas is sent to it', async () => {
  const address = await stage.deposit(AMOUNT)
  const forge = (index: number) =>
    stage.admin(
      'SET session_replication_role = replica',
      `UPDATE live.deposit_addresses SET address_index = ${index}`,
    )
  await forge(77)
  const { round } = stage.openNode()
  await stage.rule(50_000_000n)
  await round()
  expect(await stage.sweeps()).toEqual([])
  expect(await stage.exceptions()).toMatchObject([{ kind: 'contradiction', object_id: `polygon:${address}` }])
  await forge(0)
  await toTheEnd(round)
  expect(await states()).toEqual(['swept'])
})

test('a reorganisation that takes the sweep away is undone by the same bytes', async () => {
  const address = await stage.deposit(AMOUNT)
  await stage.node.mine(10)
  const { round } = stage.openNode()
  await stage.rule(50_000_000n)
  await round()
  await stage.node.mine(DEPTH)
  await round()
  await stage.node.mine(DEPTH)
  await round()
  expect(await states()).toEqual(['mined'])
  const before = (await stage.sweeps())[0]!.made
  await stage.node.reorganize(2 * DEPTH + 1)
  expect(await balances(address), 'the fund and the sweep are gone').toEqual([AMOUNT, 0n])
  await toTheEnd(round)
  const [sweep] = await stage.sweeps()
  expect(sweep!.state).toBe('swept')
  expect(sweep!.made.map(({ tx_hash }) => tx_hash)).toEqual(before.map(({ tx_hash }) => tx_hash))
  expect(await balances(address)).toEqual([0n, AMOUNT])
})

describe('a restored database', () => {
  /** As a backup of before the sweep would have it: the chain has transactions of the gas account and of the address. */
  async function forget(): Promise<void> {
    await stage.admin(
      'ALTER TABLE live.sweeps DISABLE TRIGGER USER; ALTER TABLE live.sweep_transactions DISABLE TRIGGER USER',
      'DELETE FROM live.sweep_transactions; DELETE FROM live.sweeps',
      'ALTER TABLE live.sweeps ENABLE TRIGGER USER; ALTER TABLE live.sweep_transactions ENABLE TRIGGER USER',
    )
  }

  test('finds the address empty and sweeps nothing; a new deposit is swept with the nonces of the chain', async () => {
    const address = await stage.deposit(AMOUNT)
    const other = await stage.deposit(AMOUNT - 1n)
    const { round } = stage.openNode()
    await stage.rule(AMOUNT)
    await toTheEnd(round)
    await forget()
    await round()
    expect(await stage.sweeps(), 'the address is empty').toEqual([])
    expect(await stage.exceptions()).toMatchObject([
      { kind: 'contradiction', object_id: `polygon:${address}` },
    ])
    await stage.token.mint(address, AMOUNT)
    await stage.node.setBalance(address, 0n)
    await stage.node.mine(DEPTH)
    await creditMore(stage.world, { address, amount: AMOUNT })
    await toTheEnd(round)
    const [sweep] = await stage.sweeps()
    expect(sweep).toMatchObject({ state: 'swept', fund_nonce: 1n, nonce: 1n })
    expect(await balances(address)).toEqual([0n, 2n * AMOUNT])
    expect(await stage.token.balanceOf(other)).toBe(AMOUNT - 1n)
  })

  test('whose forgotten sweep is still on its way ends its own as taken, and loses nothing', async () => {
    const address = await stage.deposit(AMOUNT)
    const { round } = stage.openNode()
    await stage.rule(50_000_000n)
    await round()
    await stage.node.mine(DEPTH)
    await round()
    const forgotten = (await stage.sweeps())[0]!.made.find(({ purpose }) => purpose === 'sweep')!
    await stage.node.dropTransaction(forgotten.tx_hash)
    await forget()
    await stage.node.setBalance(address, ETHER)
    for (const endpoint of stage.endpoints)
      endpoint.become({
        answer: ({ method }) => (method === 'eth_sendRawTransaction' ? { result: '0x' } : undefined),
      })
    await stage.node.call('anvil_setNextBlockBaseFeePerGas', `0x${(5n * GWEI).toString(16)}`)
    await stage.node.mine()
    await round()
    for (const endpoint of stage.endpoints) endpoint.become({})
    expect((await stage.sweeps())[0]!.made.some(({ tx_hash }) => tx_hash === forgotten.tx_hash)).toBe(false)
    await stage.node.call('anvil_setNextBlockBaseFeePerGas', '0x1')
    await stage.node.call('eth_sendRawTransaction', forgotten.signed)
    await stage.node.mine(2 * DEPTH)
    await round()
    expect(await states()).toEqual(['nonce_taken'])
    expect(await balances(address)).toEqual([0n, AMOUNT])
    expect(await stage.exceptions()).toMatchObject([{ kind: 'contradiction' }])
  })
})

describe('an endpoint that answers alone', () => {
  const inventing = (invented: bigint) => ({
    rewrite: ({ method }: RpcRequest, reply: RpcReply) =>
      method === 'eth_getTransactionCount' ? { ...reply, result: hex(invented) } : reply,
  })

  test('cannot have a nonce reserved that is never mined', async () => {
    await stage.deposit(AMOUNT)
    const { round } = stage.openNode()
    await stage.rule(50_000_000n)
    stage.endpoints[0].become(inventing(1_000_000n))
    stage.endpoints[1].become({ cut: true })
    await round()
    await round()
    expect(await stage.sweeps()).toEqual([])
    for (const endpoint of stage.endpoints) endpoint.become({})
    await toTheEnd(stage.openNode().round)
    expect(await states()).toEqual(['swept'])
  })

  test('cannot have gas sent for tokens that an address does not have', async () => {
    const address = await stage.deposit(AMOUNT)
    await creditMore(stage.world, { address, amount: 10n * AMOUNT })
    const { round } = stage.openNode()
    await stage.rule(2n * AMOUNT)
    stage.endpoints[0].become({
      rewrite: ({ method }: RpcRequest, reply: RpcReply) =>
        method === 'eth_call'
          ? { ...reply, result: `0x${(10n * AMOUNT).toString(16).padStart(64, '0')}` }
          : reply,
    })
    stage.endpoints[1].become({ cut: true })
    await round()
    expect(await stage.sweeps()).toEqual([])
  })
})
