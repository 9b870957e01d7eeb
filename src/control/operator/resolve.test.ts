import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { minedAs, signTransfer } from '../../../test/support/chain.ts'
import { asAdmin, createDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { desk } from '../../../test/support/operators.ts'
import { moveIntoThePast } from '../../../test/support/past.ts'
import { openTestWorld, type TestWorld } from '../../../test/support/world.ts'
import { audit } from '../../ledger/audit.ts'
import { stepTransfer, type TransferStep } from '../../money/onchain/settle.ts'
import { type Transfer, transferById } from '../../money/onchain/store.ts'
import { type FinalOutcome, settlePayout } from '../../money/pix/settle.ts'
import { type Payout, payoutById } from '../../money/pix/store.ts'
import { sliceChecks } from '../../node/worlds.ts'
import { type Attempt, type ChainRail, chainsOf, type Seen } from '../../rails/chain/rail.ts'
import type { PixRail, PixStatus } from '../../rails/pix/rail.ts'
import { simulatedTerms } from '../../rails/pix/simulated.ts'
import { openExceptions } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { perform } from './actions.ts'
import { describeProposal } from './description.ts'

/** Two operators decide about a payout or transfer while the rail and the ledger go on. */
const [ana, bea] = ['ana@operator.example', 'bea@operator.example'] as const
const [X, Y] = ['E99999999202601010000XXXXXXXXXXX', 'E00000000202601010000YYYYYYYYYYY'] as const

/** The answers of the rails. */
let pix_says: PixStatus | Error
let chain_says: ((made: readonly Attempt[]) => Seen) | Error
const say = async <Said>(said: Said | Error): Promise<Said> => {
  if (said instanceof Error) throw said
  return said
}
const pix = {
  environment: 'sandbox',
  ...simulatedTerms,
  ready: async () => {},
  holder: async (_: unknown, holder: unknown) => ({ kind: 'held', holder }),
  send: async () => ({ kind: 'unknown' }),
  status: () => say(pix_says),
} as unknown as PixRail<'sandbox'>
const chain: Partial<ChainRail<'sandbox'>> = {
  look: async (_, __, made) => {
    if (chain_says instanceof Error) throw chain_says
    return chain_says(made)
  },
} satisfies Partial<ChainRail<'sandbox'>>

let database: TestDatabase
let at: TestWorld
let customer: Awaited<ReturnType<TestWorld['customer']>>
beforeAll(async () => {
  database = await createDatabase()
  at = await openTestWorld({ url: database.url, parts: { pix, chain } })
  customer = await at.customer({ BRL: 100_000n, USDT: 500_000_000n })
})
afterAll(async () => {
  expect((await audit(at.db, sliceChecks)).findings).toEqual([])
  await at.stop()
  await database.drop()
})

const accepted = async <Row>(command: Promise<unknown>) => ((await command) as { made: Row }).made
const newPayout = () => accepted<Payout>(at.world.commit(at.payout(customer, 700n)))
const settle = (payout: Payout, outcome: FinalOutcome) =>
  at.world.commit(settlePayout(at.world, payout, outcome, { by: 'rail', attempt: 1 }))
const takeStep = (transfer: Transfer, step: TransferStep) =>
  at.world.commit(stepTransfer(at.world, transfer, step, { by: 'rail' }))
async function newTransfer(): Promise<Transfer> {
  const made = await accepted<Transfer>(at.world.commit(at.transfer(customer.id, 10_000_000n)))
  await signTransfer(at.world, made)
  await takeStep(made, { kind: 'broadcast' })
  return (await transferById(at.db, made.id))!
}

const proposePaid = ({ id }: Payout, end_to_end_id: string) => {
  const details = { payout_id: id, outcome: 'completed', end_to_end_id, evidence: 'statement' } as const
  return desk.propose(at.world, { name: 'resolve_payout', details }, ana)
}
const proposeEnd = ({ id }: Transfer, outcome: 'confirmed' | 'failed', world: World = at.world) => {
  const details = { transfer_id: id, outcome, evidence: 'explorer' } as const
  return desk.propose(world, { name: 'resolve_transfer', details }, ana)
}
const exceptionsOf = async (id: string) =>
  (await openExceptions(at.db, 100)).filter(({ object_id }) => object_id === id)
const resolutions = async (id: string) =>
  (await at.db.query('SELECT outcome FROM resolutions WHERE resource_id = $1', [id])).rows

test('a payout that was paid meanwhile under another id: the proposal is superseded, with an exception', async () => {
  const payout = await newPayout()
  pix_says = new Error('silent')
  const proposal = await proposePaid(payout, X)
  await settle(payout, { kind: 'settled', end_to_end_id: Y })
  await expect(desk.approve(at.world, proposal.id, bea)).rejects.toThrow(
    /was superseded: .* completed already as E/,
  )
  const ended = await desk.findProposal(at.world, proposal.id)
  expect(ended).toMatchObject({ ended: 'superseded', ended_by: bea, approved_by: null, resource_id: null })
  expect(ended.ended_reason).toContain(Y)
  expect(await exceptionsOf(payout.id)).toMatchObject([
    { kind: 'superseded', rail: 'pix', details: { proposal_id: proposal.id, approved_by: bea } },
  ])
  expect(await resolutions(payout.id)).toEqual([])
  expect((await at.db.query('SELECT * FROM holds WHERE proposal_id = $1', [proposal.id])).rows).toEqual([])
  await expect(desk.approve(at.world, proposal.id, bea)).rejects.toThrow(/was superseded.*YYYY/)
  await expect(desk.withdraw(at.world, proposal.id, ana, null)).rejects.toThrow(/was superseded/)
})

test('a payout that failed meanwhile supersedes its proposal; one that was paid under the same id is done', async () => {
  const [failed, same] = [await newPayout(), await newPayout()]
  pix_says = new Error('silent')
  const [wrong, right] = [await proposePaid(failed, X), await proposePaid(same, Y.replaceAll('Y', 'Z'))]
  await settle(failed, { kind: 'refused', rail_code: 'AC03' })
  await settle(same, { kind: 'settled', end_to_end_id: Y.replaceAll('Y', 'Z') })
  await expect(desk.approve(at.world, wrong.id, bea)).rejects.toThrow(/is failed already/)
  expect(await desk.findProposal(at.world, wrong.id)).toMatchObject({ ended: 'superseded' })
  expect(await exceptionsOf(failed.id)).toMatchObject([{ kind: 'superseded' }])
  expect(await desk.approve(at.world, right.id, bea)).toMatchObject({ ended: 'done', resource_id: same.id })
  expect(await exceptionsOf(same.id)).toEqual([])
})

test('a transfer that ended differently meanwhile, or under another hash, supersedes its proposal', async () => {
  const [reverted, replaced] = [await newTransfer(), await newTransfer()]
  const [wrong, other] = [await proposeEnd(reverted, 'confirmed'), await proposeEnd(replaced, 'confirmed')]
  await takeStep(reverted, { kind: 'failed', rail_code: 'reverted' })
  await takeStep(replaced, { kind: 'confirmed' })
  await rename(replaced.id)
  for (const { id } of [wrong, other]) {
    await expect(desk.approve(at.world, id, bea)).rejects.toThrow(/was superseded/)
    expect(await desk.findProposal(at.world, id)).toMatchObject({ ended: 'superseded' })
  }
  for (const { id } of [reverted, replaced])
    expect(await exceptionsOf(id)).toMatchObject([{ kind: 'superseded', rail: 'polygon' }])
  await rename(replaced.id, replaced.tx_hash!)
})

/** Simulates a replacement of the signed bytes. */
async function rename(id: string, tx_hash = `0xother${id}`): Promise<void> {
  await asAdmin(database.url, [
    'SET session_replication_role = replica',
    `UPDATE sandbox.transfers SET tx_hash = '${tx_hash}' WHERE id = '${id}'`,
  ])
}

test.each([
  ['reverted', (made: readonly Attempt[]) => minedAs(made, 'none'), /the chain says that it failed/],
  ['unknown to every node', (): Seen => ({ kind: 'absent' }), /no node knows it/],
  ['not to be asked about', new Error('timeout'), /the chain gives no answer.*Try again/s],
] as const)('a transfer that is %s is not confirmed by hand', async (_, said, refused) => {
  const transfer = await newTransfer()
  // In the sandbox `absent` says nothing: another process does not know the simulated chain.
  const live = { ...at.world, environment: 'production' } as unknown as World
  const { id } = await proposeEnd(transfer, 'confirmed', live)
  chain_says = said
  await expect(desk.approve(live, id, bea)).rejects.toThrow(refused)
  expect(await desk.findProposal(live, id)).toMatchObject({ ended: null, approved_by: null })
  expect((await transferById(at.db, transfer.id))!.status).toBe('processing')
  expect(await resolutions(transfer.id)).toEqual([])
})

test('a transfer that the chain reports as confirmed, or as not deep enough yet, is confirmed by hand', async () => {
  for (const said of [minedAs, (): Seen => ({ kind: 'waiting' })]) {
    const transfer = await newTransfer()
    const { id } = await proposeEnd(transfer, 'confirmed')
    chain_says = (made) => said(made)
    expect(await desk.approve(at.world, id, bea)).toMatchObject({ ended: 'done', resource_id: transfer.id })
    expect((await transferById(at.db, transfer.id))!.status).toBe('confirmed')
  }
})

test('a transfer on a real chain is not confirmed by hand before its payment is final: the worker settles it', async () => {
  const chains = chainsOf((network) => ({ ...at.world.chains[network], has_wallet: true }))
  const real = { ...at.world, chains } as World
  const transfer = await newTransfer()
  const { id } = await proposeEnd(transfer, 'confirmed', real)
  for (const [said, words] of [
    [{ kind: 'waiting' }, /waiting to be mined, or to be deep enough.*The worker confirms/],
    [{ kind: 'absent' }, /no node knows it.*The worker/],
  ] as const) {
    chain_says = () => said
    await expect(desk.approve(real, id, bea)).rejects.toMatchObject({
      code: 'not_possible',
      sentence: expect.stringMatching(words),
      details: { reason: 'worker_settles' },
    })
    expect((await transferById(at.db, transfer.id))!.status).toBe('processing')
    expect(await resolutions(transfer.id)).toEqual([])
  }
  chain_says = minedAs
  expect(await desk.approve(real, id, bea)).toMatchObject({ ended: 'done' })
  for (const said of [
    (): Seen => ({ kind: 'taken' }),
    (made: readonly Attempt[]) => minedAs(made, 'other'),
  ]) {
    const unclear = await newTransfer()
    const proposed = await proposeEnd(unclear, 'confirmed', real)
    chain_says = said
    expect(await desk.approve(real, proposed.id, bea), 'a person must judge').toMatchObject({ ended: 'done' })
  }
})

describe('a payout that the network accepted', () => {
  const failing = ({ id }: Payout, more: { readonly despite_acceptance?: true } = {}) =>
    ({
      name: 'resolve_payout',
      details: { payout_id: id, outcome: 'failed', evidence: 'not on the statement', ...more },
    }) as const
  const accept = ({ id }: Payout) =>
    asAdmin(database.url, [`UPDATE sandbox.payouts SET accepted_at = clock_timestamp() WHERE id = '${id}'`])
  /** A payout old enough that no worker can be sending it any more. */
  async function oldPayout(): Promise<Payout> {
    const payout = await newPayout()
    await moveIntoThePast(database.url, { table: 'payouts', id: payout.id, by: '1 hour' })
    await asAdmin(database.url, [
      `UPDATE sandbox.payouts SET next_attempt_at = next_attempt_at - interval '1 hour' WHERE id = '${payout.id}'`,
    ])
    return payout
  }
  const statusOf = async ({ id }: Payout) => (await payoutById(at.db, id))!.status

  test.each([
    ['does not know it now', { kind: 'absent' }],
    ['gives no answer', new Error('silent')],
  ] as const)(
    'and now %s is given back only if both operators state that it was accepted',
    async (_, said) => {
      const payout = await oldPayout()
      await accept(payout)
      pix_says = said
      await expect(desk.propose(at.world, failing(payout), ana)).rejects.toThrow(
        /accepted by the network at 20/,
      )
      await expect(perform(at.world, failing(payout))).rejects.toThrow(/accepted by the network at 20/)
      const stated = failing(payout, { despite_acceptance: true })
      const proposal = await desk.propose(at.world, stated, ana)
      expect((await describeProposal(at.world, proposal)).what).toMatch(
        /although the network accepted it at 20/,
      )
      expect(await desk.approve(at.world, proposal.id, bea)).toMatchObject({ ended: 'done' })
      expect(await statusOf(payout)).toBe('failed')
    },
  )

  test('after it was proposed without that statement is not given back', async () => {
    const payout = await oldPayout()
    pix_says = { kind: 'absent' }
    const { id } = await desk.propose(at.world, failing(payout), ana)
    await accept(payout)
    await expect(desk.approve(at.world, id, bea)).rejects.toThrow(/accepted by the network at 20/)
    expect(await desk.findProposal(at.world, id)).toMatchObject({ ended: null, approved_by: null })
    expect(await statusOf(payout)).toBe('processing')
  })

  test('and still reports as accepted is never given back; the statement is refused for other payouts', async () => {
    const [payout, never] = [await oldPayout(), await oldPayout()]
    await accept(payout)
    pix_says = { kind: 'accepted' }
    const stated = failing(payout, { despite_acceptance: true })
    await expect(perform(at.world, stated)).rejects.toThrow(
      /was accepted by the network, which may still pay it/,
    )
    pix_says = { kind: 'absent' }
    const wrong = failing(never, { despite_acceptance: true })
    await expect(desk.propose(at.world, wrong, ana)).rejects.toThrow(/never said that it accepted/)
    await expect(perform(at.world, wrong)).rejects.toThrow(/never said that it accepted/)
    expect([await statusOf(payout), await statusOf(never)]).toEqual(['processing', 'processing'])
  })
})
