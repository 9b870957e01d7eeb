import { randomBytes } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { minedAs } from '../../../test/support/chain.ts'
import { desk } from '../../../test/support/operators.ts'
import { type Bench, openBench, silent } from '../../../test/support/rail-bench.ts'
import { perform } from '../../control/operator/actions.ts'
import type { Attempt, ChainRail, Purpose, Seen, Signed } from '../../rails/chain/rail.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { addWallet } from '../custody/wallets.ts'
import { stepTransfer } from './settle.ts'
import { transferSteps } from './steps.ts'
import { attemptsOf, reserveNonce } from './transactions.ts'

/** Two operators cancel a transfer, on a chain whose answers are up to the test. */
let bench: Bench
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const [ana, bea] = ['ana@operator.example', 'bea@operator.example'] as const
const BALANCE = 50_000_000n
const GROSS = 11_000_000n
const WALLET = { wallet: 'simulated', final: 0n, final_height: 0n, mined: 0n, pool: 0n, claimed: 0n }

const signed = (purpose: Purpose): Signed => ({
  purpose,
  tx_hash: randomBytes(32).toString('hex'),
  signed: randomBytes(8).toString('hex'),
  terms: {},
})

type Says = {
  screen: Awaited<ReturnType<ChainRail['screen']>>
  look(made: readonly Attempt[]): Seen
  signs: boolean
  broadcast: 'accepted' | 'unknown'
  wallet?: () => Promise<typeof WALLET>
}

const waiting = { kind: 'waiting' } as const

async function openStage(answers: Partial<Says> = {}) {
  const says: Says = {
    screen: { kind: 'payable' },
    look: (made) => (made.length === 0 ? { kind: 'absent' } : waiting),
    signs: true,
    broadcast: 'accepted',
    ...answers,
  }
  const sent: Purpose[] = []
  const chain: Partial<ChainRail<'sandbox'>> = {
    replace_after_ms: 0,
    screen: async () => says.screen,
    async attempt(_, __, ___, purpose) {
      return says.signs
        ? { kind: 'signed', transaction: signed(purpose) }
        : { kind: 'later', at: new Date(Date.now() + 60_000), why: 'fee_above_cap' }
    },
    async broadcast(_, { purpose }) {
      sent.push(purpose)
      return { kind: says.broadcast }
    },
    look: async (_, __, made) => says.look(made),
    ...(says.wallet && { has_wallet: true, wallet: says.wallet }),
  }
  bench = await openBench({ chain })
  const { world } = bench
  const customer_id = await bench.customer({ USDT: BALANCE })
  const { id } = await bench.transfer(customer_id)
  const now = () => bench.transferNow(id)
  const action = { name: 'cancel_transfer', details: { transfer_id: id, reason: 'wrong address' } } as const
  const carryOn = async (node: World) => transferSteps(node, silent).carry(await now())
  return {
    says,
    sent,
    chain,
    world,
    id,
    now,
    carryOn,
    carry: () => carryOn(world),
    balance: () => bench.balance(customer_id, 'USDT'),
    made: () => attemptsOf(world.db, id),
    purposes: async () => (await attemptsOf(world.db, id)).map(({ purpose }) => purpose),
    exceptions: async () => (await exceptionsAbout(world.db, id)).map(({ kind }) => kind),
    events: async () => {
      const { rows } = await world.db.query(
        `SELECT type, data ->> 'tx_hash' AS tx_hash FROM events WHERE object_id = $1 ORDER BY sequence`,
        [id],
      )
      return rows
    },
    async reserve() {
      await addWallet(world.db, 'tron', WALLET)
      await world.commit(reserveNonce(await now(), WALLET, 10))
    },
    async signPayment() {
      const step = { kind: 'signed', attempt: 1, ...signed('pay') } as const
      await world.commit(stepTransfer(world, await now(), step, { by: 'rail' }))
    },
    propose: () => desk.propose(world, action, ana),
    approve: (proposal: string) => desk.approve(world, proposal, bea),
    async cancel() {
      const { id: proposal } = await desk.propose(world, action, ana)
      return desk.approve(world, proposal, bea)
    },
    resolve: (outcome: 'confirmed' | 'failed') =>
      perform(world, {
        name: 'resolve_transfer',
        details: { transfer_id: id, outcome, evidence: 'explorer' },
      }),
  }
}

const returned = { balance: BALANCE, in_transit: 0n }
const out = { balance: BALANCE - GROSS, in_transit: 0n }
const open = { balance: BALANCE - GROSS, in_transit: GROSS }

test('a transfer without a nonce fails at the approval, and the money goes back once', async () => {
  const stage = await openStage({
    screen: { kind: 'later', at: new Date(Date.now() + 60_000), why: 'fee_above_cap' },
  })
  await stage.carry()
  expect(await stage.cancel()).toMatchObject({ ended: 'done', approved_by: bea, resource_id: stage.id })
  const transfer = await stage.now()
  expect(transfer).toMatchObject({ status: 'failed', failure_code: 'canceled', tx_hash: null, nonce: null })
  expect(transfer.cancel_requested_at).toEqual(transfer.completed_at)
  expect(await stage.balance()).toEqual(returned)
  await stage.carry()
  expect(stage.sent).toEqual([])
})

test('a transfer with a nonce and nothing signed: its only transaction is a cancel, and it shows no hash', async () => {
  const stage = await openStage()
  await stage.reserve()
  await stage.cancel()
  expect(await stage.balance()).toEqual(open)
  await stage.carry()
  expect([await stage.purposes(), stage.sent]).toEqual([['cancel'], ['cancel']])
  expect(await stage.now()).toMatchObject({ status: 'pending', tx_hash: null })
  stage.says.look = (made) => minedAs(made, 'none')
  await stage.carry()
  expect(await stage.now()).toMatchObject({ status: 'failed', failure_code: 'canceled', tx_hash: null })
  expect(await stage.balance()).toEqual(returned)
  expect(await stage.events()).toEqual([
    { type: 'onchain.transfer.created', tx_hash: null },
    { type: 'onchain.transfer.failed', tx_hash: null },
  ])
})

test('a payment that was signed and not broadcast is not broadcast after the cancel', async () => {
  const stage = await openStage()
  await stage.reserve()
  await stage.signPayment()
  const { tx_hash } = await stage.now()
  await stage.cancel()
  await stage.carry()
  expect([await stage.purposes(), stage.sent]).toEqual([['pay', 'cancel'], ['cancel']])
  stage.says.look = (made) => minedAs(made, 'none')
  await stage.carry()
  expect(await stage.now()).toMatchObject({ status: 'failed', failure_code: 'canceled', tx_hash })
  expect(await stage.balance()).toEqual(returned)
})

test('the cancel of a broadcast payment is mined: the transfer fails, and shows the payment, not the cancel', async () => {
  const stage = await openStage()
  await stage.carry()
  const { tx_hash } = await stage.now()
  await stage.cancel()
  await stage.carry()
  expect(stage.sent).toEqual(['pay', 'cancel'])
  expect(await stage.now()).toMatchObject({ status: 'processing', tx_hash })
  stage.says.look = (made) => minedAs(made, 'none')
  await stage.carry()
  await stage.carry()
  expect(await stage.now()).toMatchObject({ status: 'failed', failure_code: 'canceled', tx_hash })
  expect(await stage.balance()).toEqual(returned)
  expect((await stage.made()).map(({ purpose }) => purpose)).toEqual(['pay', 'cancel'])
})

test('the payment is mined although its cancel was broadcast: the transfer is confirmed', async () => {
  const stage = await openStage()
  await stage.carry()
  await stage.cancel()
  await stage.carry()
  const [payment] = await stage.made()
  stage.says.look = () => minedAs([payment!])
  await stage.carry()
  expect(await stage.now()).toMatchObject({ status: 'confirmed', tx_hash: payment!.tx_hash })
  expect(await stage.balance()).toEqual(out)
})

test('a payment that was mined before the worker could cancel it is confirmed, and no cancel is signed', async () => {
  const stage = await openStage()
  await stage.carry()
  await stage.cancel()
  stage.says.look = (made) => minedAs(made)
  await stage.carry()
  expect(await stage.now()).toMatchObject({ status: 'confirmed' })
  expect(await stage.purposes()).toEqual(['pay'])
})

test('a cancel that waits is replaced by cancels only, and broadcast again when no node knows it', async () => {
  const stage = await openStage()
  await stage.carry()
  await stage.cancel()
  await stage.carry()
  await stage.carry()
  expect(await stage.purposes()).toEqual(['pay', 'cancel', 'cancel'])
  stage.says.look = () => ({ kind: 'absent' })
  await stage.carry()
  expect(stage.sent).toEqual(['pay', 'cancel', 'cancel', 'cancel'])
  expect(await stage.purposes()).toEqual(['pay', 'cancel', 'cancel'])
})

test('while the fee is above the cap nothing is signed, and the payment is not broadcast again', async () => {
  const stage = await openStage()
  await stage.carry()
  await stage.cancel()
  stage.says.signs = false
  stage.says.look = () => ({ kind: 'absent' })
  await stage.carry()
  expect(stage.sent).toEqual(['pay'])
  stage.says.signs = true
  await stage.carry()
  expect(stage.sent).toEqual(['pay', 'cancel'])
})

test('a payment that a node signs while the cancel is approved is neither stored nor broadcast', async () => {
  const stage = await openStage()
  await stage.reserve()
  const before = await stage.now()
  await stage.cancel()
  await transferSteps(stage.world, silent).carry(before)
  expect([await stage.purposes(), stage.sent]).toEqual([[], []])
  await stage.carry()
  expect(await stage.purposes()).toEqual(['cancel'])
})

test('two nodes that cancel at once store one cancel', async () => {
  const stage = await openStage()
  await stage.carry()
  await stage.cancel()
  const chain = { ...stage.chain, replace_after_ms: 60_000 }
  await Promise.all([bench.openNode({ chain }), bench.openNode({ chain })].map(stage.carryOn))
  expect(await stage.purposes()).toEqual(['pay', 'cancel'])
})

test('the open proposal holds the transfer: nothing is signed until it is decided', async () => {
  const stage = await openStage()
  await stage.carry()
  const proposal = await stage.propose()
  await stage.carry()
  expect(await stage.purposes()).toEqual(['pay'])
  await expect(stage.propose()).rejects.toThrow(/has an open proposal already/)
  await desk.reject(stage.world, proposal.id, bea, 'the address is right')
  await stage.carry()
  expect(await stage.purposes()).toEqual(['pay', 'pay'])
  expect((await stage.now()).cancel_requested_at).toBeNull()
})

test('the hold of an approved proposal that a crash left behind does not stop the cancel', async () => {
  const stage = await openStage()
  await stage.carry()
  const proposal = await stage.propose()
  const crashed: World = {
    ...stage.world,
    async commit(command) {
      await stage.world.commit(command)
      throw new Error('the node has crashed')
    },
  }
  await expect(desk.approve(crashed, proposal.id, bea)).rejects.toThrow(/crashed/)
  expect((await stage.world.db.query('SELECT FROM holds')).rowCount).toBe(1)
  await stage.carry()
  expect(stage.sent).toEqual(['pay', 'cancel'])
  stage.says.look = (made) => minedAs(made, 'none')
  await stage.carry()
  expect(await stage.now()).toMatchObject({ status: 'failed', failure_code: 'canceled' })
  expect(await stage.approve(proposal.id)).toMatchObject({ ended: 'done', approved_by: bea })
  expect((await stage.world.db.query('SELECT FROM holds')).rowCount).toBe(0)
})

test.each(['confirmed', 'failed'] as const)(
  'a transfer that is %s before the approval supersedes the proposal',
  async (status) => {
    const stage = await openStage()
    await stage.carry()
    const proposal = await stage.propose()
    stage.says.look = (made) => minedAs(made, status === 'confirmed' ? 'paid' : 'none')
    await stage.carry()
    await expect(stage.approve(proposal.id)).rejects.toThrow(
      new RegExp(`superseded: .* is ${status} already`),
    )
    expect(await desk.findProposal(stage.world, proposal.id)).toMatchObject({ ended: 'superseded' })
    expect(await stage.exceptions()).toEqual(['superseded'])
    expect((await stage.now()).cancel_requested_at).toBeNull()
    await expect(stage.propose()).rejects.toThrow(/never changes/)
  },
)

test.each(['before', 'after'] as const)(
  'a stranger spends the nonce %s the cancel of an unsigned transfer is signed: operators give the money back',
  async (moment) => {
    const stage = await openStage()
    await stage.reserve()
    await stage.cancel()
    if (moment === 'after') await stage.carry()
    stage.says.look = () => ({ kind: 'taken' })
    stage.says.broadcast = 'unknown'
    await stage.carry()
    await stage.carry()
    expect(await stage.exceptions()).toEqual(['contradiction'])
    expect(await stage.now()).toMatchObject({ status: 'pending', tx_hash: null })
    await expect(stage.resolve('confirmed')).rejects.toThrow(/never signed/)
    await stage.resolve('failed')
    expect(await stage.now()).toMatchObject({ status: 'failed', failure_code: 'canceled', tx_hash: null })
    expect(await stage.balance()).toEqual(returned)
    expect(await stage.purposes()).toEqual(['cancel'])
  },
)

test('a transfer is canceled once', async () => {
  const stage = await openStage()
  await stage.carry()
  await stage.cancel()
  await expect(stage.propose()).rejects.toThrow(/was canceled at .* already/)
  const again = `UPDATE transfers SET cancel_requested_at = now() + interval '1 second' WHERE id = '${stage.id}'`
  await expect(bench.admin(again)).rejects.toThrow(/never changes/)
})

test('the refusal to fail a transfer by hand names the command that cancels it', async () => {
  const stage = await openStage()
  await stage.reserve()
  const command = `Run: trilho transfers cancel ${stage.id}`
  await expect(stage.resolve('failed')).rejects.toThrow(command)
  await stage.carry()
  await expect(stage.resolve('failed')).rejects.toThrow(command)
  await stage.cancel()
  await expect(stage.resolve('failed')).rejects.toThrow(/It was canceled at/)
  await expect(stage.resolve('confirmed')).rejects.toThrow(/is being canceled/)
})

test('the database refuses a payment behind a cancel, and the audit names one', async () => {
  const stage = await openStage()
  await stage.carry()
  await stage.cancel()
  await stage.carry()
  const pay = `INSERT INTO transactions (transfer_id, attempt, network, purpose, tx_hash, signed, terms, created_at)
    VALUES ('${stage.id}', 3, 'tron', 'pay', '${'a'.repeat(64)}', 'x', '{}', clock_timestamp())`
  await expect(bench.admin(pay)).rejects.toThrow(/is being canceled/)
  const trigger = (how: string) => `ALTER TABLE transactions ${how} TRIGGER transactions_canceled`
  await bench.admin(trigger('DISABLE'), pay, trigger('ENABLE'))
  expect((await bench.findings()).map(({ check }) => check)).toContain(
    'every transaction belongs to a transfer, which shows one of its payments and ends by at most one of them',
  )
  await bench.admin(`DELETE FROM transactions WHERE attempt = 3`)
})

test('a canceled transfer stays open while payments of the wallet may be unknown, as after a restore', async () => {
  let state: typeof WALLET | undefined
  const stage = await openStage({
    look: () => ({ kind: 'expired' }),
    async wallet() {
      if (!state) throw new Error('the blocks are not read')
      return state
    },
  })
  await stage.reserve()
  await stage.signPayment()
  await stage.cancel()
  await stage.carry()
  expect(await stage.now(), 'the wallet is not known').toMatchObject({ status: 'processing' })
  state = { ...WALLET, pool: 2n, claimed: 2n }
  await stage.carry()
  expect(await stage.now(), 'payments from elsewhere').toMatchObject({ status: 'processing' })
  expect(await stage.balance()).toMatchObject(open)
  state = { ...WALLET, pool: 1n, claimed: 1n }
  await stage.carry()
  expect(await stage.now()).toMatchObject({ status: 'failed', failure_code: 'canceled' })
  expect(await stage.balance()).toMatchObject(returned)
})

test('a canceled transfer gives nothing back while a draft that the signer may have signed can be mined', async () => {
  const stage = await openStage({ look: () => ({ kind: 'expired', is_drafted: true }) })
  await stage.reserve()
  await stage.signPayment()
  await stage.cancel()
  await stage.carry()
  expect(await stage.now()).toMatchObject({ status: 'processing' })
  await expect(stage.resolve('failed')).rejects.toThrow(
    /one that the signer may have signed can still be mined/,
  )
  expect(await stage.balance()).toMatchObject(open)
  stage.says.look = () => ({ kind: 'expired' })
  await stage.carry()
  expect(await stage.now()).toMatchObject({ status: 'failed', failure_code: 'canceled' })
  expect(await stage.balance()).toMatchObject(returned)
})

test('operators fail no signed transfer while a further draft of it can be mined', async () => {
  const stage = await openStage({ look: () => ({ kind: 'expired', is_drafted: true }) })
  await stage.reserve()
  await stage.signPayment()
  await expect(stage.resolve('failed')).rejects.toThrow(
    /one that the signer may have signed can still be mined/,
  )
  expect(await stage.balance()).toMatchObject(open)
  stage.says.look = () => ({ kind: 'expired' })
  await stage.resolve('failed')
  expect(await stage.balance()).toMatchObject(returned)
})
