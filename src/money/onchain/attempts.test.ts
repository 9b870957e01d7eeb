import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { openBareWorld } from '../../../test/support/bare-world.ts'
import { minedAs } from '../../../test/support/chain.ts'
import { findInPieces } from '../../../test/support/pieces.ts'
import { type Bench, openBench, silent } from '../../../test/support/rail-bench.ts'
import { perform } from '../../control/operator/actions.ts'
import { transaction } from '../../db/pool.ts'
import type { Attempt, ChainRail, Purpose, Seen, Signed } from '../../rails/chain/rail.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { selectControls } from '../custody/controls-store.ts'
import { addWallet } from '../custody/wallets.ts'
import { stepTransfer, type TransferStep } from './settle.ts'
import { transferSteps } from './steps.ts'
import { attemptsOf, reserveNonce } from './transactions.ts'

/** Transfers with several transactions, on a chain whose answers are up to the test. */
let bench: Bench
afterEach(async () => {
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const BALANCE = 50_000_000n
const WALLET = { wallet: 'simulated', final: 0n, final_height: 0n, mined: 0n, pool: 0n, claimed: 0n }

/** Like a real signer, which never returns a hash twice. */
const signed = (purpose: Purpose): Signed => ({
  purpose,
  tx_hash: randomBytes(32).toString('hex'),
  signed: randomBytes(8).toString('hex'),
  terms: {},
})

type Answers = {
  look(made: readonly Attempt[]): Seen
  /** What the rail signs next. */
  next(made: readonly Attempt[]): Purpose | undefined
  broadcast: 'accepted' | 'unknown'
}

async function openStage(answers: Partial<Answers> = {}) {
  const says: Answers = {
    look: () => ({ kind: 'waiting' }),
    next: (made) => (made.length === 0 ? 'pay' : undefined),
    broadcast: 'accepted',
    ...answers,
  }
  const sent: string[] = []
  const chain: Partial<ChainRail<'sandbox'>> = {
    replace_after_ms: 0,
    screen: async () => ({ kind: 'payable' }),
    async attempt(_, __, made) {
      const purpose = says.next(made)
      return purpose
        ? { kind: 'signed', transaction: signed(purpose) }
        : { kind: 'later', at: new Date(Date.now() + 60_000), why: 'fee_above_cap' }
    },
    async broadcast(_, { tx_hash }) {
      sent.push(tx_hash)
      return { kind: says.broadcast }
    },
    look: async (_, __, made) => says.look(made),
  }
  bench = await openBench({ chain })
  const { world } = bench
  const { id } = await bench.transfer(await bench.customer({ USDT: BALANCE }))
  const { carry, compare } = transferSteps(world, silent)
  const now = () => bench.transferNow(id)
  return {
    says,
    sent,
    world,
    id,
    now,
    carry: async () => carry(await now()),
    compare: () => compare({ resource_id: id, asked: 1 }),
    made: () => attemptsOf(world.db, id),
    exceptions: async () => (await exceptionsAbout(world.db, id)).map(({ kind }) => kind),
    async reserve() {
      await addWallet(world.db, 'tron', WALLET)
      await world.commit(reserveNonce(await now(), WALLET, 10))
    },
    step: async (step: TransferStep, node: World = world) =>
      (await node.commit(stepTransfer(node, await now(), step, { by: 'rail' }))).transfer,
    resolve: (outcome: 'confirmed' | 'failed') =>
      perform(world, {
        name: 'resolve_transfer',
        details: { transfer_id: id, outcome, evidence: 'explorer' },
      }),
  }
}

const twoPayments = { next: (made: readonly Attempt[]) => (made.length < 2 ? 'pay' : undefined) } as const
const payThenCancel = {
  next: (made: readonly Attempt[]) => (['pay', 'cancel'] as const)[made.length],
} as const

test.each([
  ['confirmed', 'paid', null],
  ['failed', 'none', 'reverted'],
] as const)(
  'a transfer whose older payment is mined is %s, and shows the hash of that payment',
  async (status, effect, failure_code) => {
    const stage = await openStage(twoPayments)
    await stage.carry()
    await stage.carry()
    const [older, newer] = await stage.made()
    expect((await stage.now()).tx_hash).toBe(newer!.tx_hash)
    stage.says.look = () => minedAs([older!], effect)
    await stage.carry()
    expect(await stage.now()).toMatchObject({ status, failure_code, tx_hash: older!.tx_hash })
  },
)

test('a replacement that was stored and not broadcast is broadcast later, while the older payment waits', async () => {
  const stage = await openStage()
  await stage.carry()
  const replacement = signed('pay')
  await stage.step({ kind: 'signed', attempt: 2, ...replacement })
  await stage.carry()
  expect(stage.sent.at(-1)).toBe(replacement.tx_hash)
})

test('a transaction that no node takes, because it offers too little, is replaced', async () => {
  const { sent, carry, made, now } = await openStage({
    broadcast: 'unknown',
    look: () => ({ kind: 'absent' }),
    next: () => 'pay',
  })
  await carry()
  expect(await now()).toMatchObject({ status: 'processing' })
  await carry()
  const [first, second] = await made()
  expect(sent).toEqual([first!.tx_hash, first!.tx_hash, second!.tx_hash])
  expect(await now()).toMatchObject({ status: 'processing', tx_hash: second!.tx_hash })
})

test('a chain that says that a cancel has paid gives an invalid answer, with an exception', async () => {
  const stage = await openStage(payThenCancel)
  await stage.carry()
  await stage.carry()
  stage.says.look = (made) => minedAs(made, 'paid')
  await stage.carry()
  expect(await stage.exceptions()).toEqual(['invalid_answer'])
  expect(await stage.now()).toMatchObject({ status: 'processing' })
})

test('a nonce that was taken before the broadcast was accepted is an exception', async () => {
  const stage = await openStage({ broadcast: 'unknown', look: () => ({ kind: 'taken' }) })
  await stage.carry()
  expect(await stage.exceptions()).toEqual(['contradiction'])
  expect(await stage.now()).toMatchObject({ status: 'pending' })
  // Another program has the wallet's key: nothing more is paid from the wallet.
  expect(await selectControls(bench.world.db)).toMatchObject([{ rail: 'tron', paused_by: 'service' }])
})

test.each<[string, (made: readonly Attempt[]) => Seen]>([
  ['the older payment is mined', ([older]) => minedAs([older!])],
  ['its nonce is taken', () => ({ kind: 'taken' })],
  ['its payment has another effect', (made) => minedAs(made, 'other')],
])('a transfer that an operator confirmed, and then %s: an exception', async (_, look) => {
  const stage = await openStage(twoPayments)
  await stage.carry()
  await stage.carry()
  await stage.resolve('confirmed')
  await stage.compare()
  expect(await stage.exceptions()).toEqual([])
  stage.says.look = look
  await stage.compare()
  expect(await stage.exceptions()).toEqual(['contradiction'])
})

test.each<['confirmed' | 'failed', string, (made: readonly Attempt[]) => Seen]>([
  ['confirmed', 'a nonce that somebody else spent for good', () => ({ kind: 'taken' })],
  ['failed', 'a nonce that somebody else spent for good', () => ({ kind: 'taken' })],
  ['confirmed', 'a payment with another effect', (made) => minedAs(made, 'other')],
  ['failed', 'a payment with another effect', (made) => minedAs(made, 'other')],
])('operators end as %s a transfer with %s, and the rail stays resumed', async (outcome, _, look) => {
  const stage = await openStage()
  await stage.carry()
  stage.says.look = look
  await stage.carry()
  expect(await stage.exceptions()).toEqual(['contradiction'])
  await stage.resolve(outcome)
  expect(await stage.now()).toMatchObject({ status: outcome })
  const { rows } = await bench.world.db.query('SELECT FROM follow_ups')
  expect(rows, 'asked again, the chain would pause the rail again').toEqual([])
})

test('an operator does not confirm a transfer while a cancel of it may be mined', async () => {
  const stage = await openStage(payThenCancel)
  await stage.carry()
  await stage.carry()
  await expect(stage.resolve('confirmed')).rejects.toThrow(/is being canceled/)
  const [payment] = await stage.made()
  stage.says.look = () => minedAs([payment!])
  await stage.resolve('confirmed')
  expect(await stage.now()).toMatchObject({ status: 'confirmed', tx_hash: payment!.tx_hash })
})

test('callers that sign at once store one transaction, and roll back no batch', async () => {
  const stage = await openStage()
  await stage.reserve()
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const { world, stop } = openBareWorld({ url: bench.database.url, log })
  onTestFinished(stop)
  const stepped = await Promise.all(
    Array.from({ length: 10 }, () => stage.step({ kind: 'signed', attempt: 1, ...signed('pay') }, world)),
  )
  const [stored, ...more] = await stage.made()
  expect(more).toEqual([])
  expect(new Set(stepped.map(({ tx_hash }) => tx_hash))).toEqual(new Set([stored!.tx_hash]))
  expect(lines).toEqual([])
})

test('the database refuses to fail a transfer that has a nonce, and the audit names one that failed so', async () => {
  const stage = await openStage()
  await stage.reserve()
  const fail = `UPDATE transfers SET status = 'failed', failure_code = 'refused_before_broadcast', sequence = 2, completed_at = now() WHERE id = '${stage.id}'`
  await expect(bench.admin(fail)).rejects.toThrow(/has a nonce/)
  const trigger = (how: string) => `ALTER TABLE transfers ${how} TRIGGER transfers_signed_is_out`
  await bench.admin(trigger('DISABLE'), fail, trigger('ENABLE'))
  const state =
    'every transfer is in a state that can be, over a network that carries it, of a customer and a key of its partner'
  expect((await bench.findings()).map(({ check }) => check)).toContain(state)
  await bench.admin(
    'ALTER TABLE transfers DISABLE TRIGGER USER',
    `UPDATE transfers SET status = 'pending', failure_code = NULL, sequence = 1, completed_at = NULL WHERE id = '${stage.id}'`,
    'ALTER TABLE transfers ENABLE TRIGGER USER',
  )
  await bench.admin(
    `DELETE FROM open_transfers`,
    `INSERT INTO open_transfers (partner_id, followed, created_at, id, status, next_attempt_at, network)
       SELECT partner_id, false, created_at, id, status, next_attempt_at, network FROM transfers`,
  )
})

test('the hash of a transfer is that of a stored payment of its own, also before anything was signed', async () => {
  const stage = await openStage()
  await stage.reserve()
  const sign = stage.world.db.query(
    `UPDATE transfers SET tx_hash = $2, signed_transaction = 'x' WHERE id = $1`,
    [stage.id, randomBytes(32).toString('hex')],
  )
  await expect(sign).rejects.toThrow(/has no such transaction/)
})

test.each([
  ['of no transfer', 'tr_zzzz', 'now()'],
  ['of no id', 'zz', 'now()'],
  ['of the future', undefined, `now() + interval '1 year'`],
])('the background audit names a transaction %s', async (_, of, created_at) => {
  const stage = await openStage()
  await stage.carry()
  const ROLLED_BACK = new Error('rolled back')
  const names: string[] = []
  const forging = transaction(stage.world.db, async (tx) => {
    await tx.query(
      `INSERT INTO transactions (transfer_id, attempt, network, purpose, tx_hash, signed, terms, created_at)
       VALUES ($1, 2, 'tron', 'cancel', 'x', 'x', '{}', ${created_at})`,
      [of ?? stage.id],
    )
    for (const { check } of await findInPieces(tx, 1)) names.push(check)
    throw ROLLED_BACK
  })
  await expect(forging).rejects.toBe(ROLLED_BACK)
  expect(names).not.toEqual([])
})
