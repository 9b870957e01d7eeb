import { afterEach, expect, test } from 'vitest'
import { desk } from '../../../test/support/operators.ts'
import { type Bench, openBench, silent } from '../../../test/support/rail-bench.ts'
import { claimOf } from '../../ledger/once.ts'
import type { ChainRail, Later, LaterReason } from '../../rails/chain/rail.ts'
import { simulatedTransaction } from '../../rails/chain/simulated.ts'
import { exceptionsAbout } from '../../records/exceptions/store.ts'
import type { StepRecorder } from '../../records/steps/recorder.ts'
import { transferSteps } from './steps.ts'
import { createTransfer, TRANSFER_OPERATION } from './transfers.ts'

/** Why nothing is signed for a transfer, and who gets to know it. */
let bench: Bench
afterEach(async () => {
  // The clock of the worker was ahead.
  await bench.admin(
    'ALTER TABLE exceptions DISABLE TRIGGER USER',
    'UPDATE exceptions SET opened_at = now() WHERE opened_at > now()',
    'ALTER TABLE exceptions ENABLE TRIGGER USER',
  )
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

const later = (why: LaterReason): Later => ({ kind: 'later', at: new Date(Date.now() + 60_000), why })
const ELEVEN_MINUTES = 660_000

async function openStage(chain: Partial<ChainRail<'sandbox'>>) {
  bench = await openBench({
    chain: {
      replace_after_ms: 0,
      screen: async () => ({ kind: 'payable' }),
      broadcast: async () => ({ kind: 'accepted' }),
      look: async () => ({ kind: 'waiting' }),
      ...chain,
    },
  })
  const { world } = bench
  const { id } = await bench.transfer(await bench.customer({ USDT: 50_000_000n }))
  const noted: (string | null)[] = []
  const steps: StepRecorder = {
    begin: () => (answer) => void noted.push(answer.said),
    stop: async () => {},
  }
  return {
    world,
    id,
    noted,
    async carry(ahead_ms = 0) {
      const clock = { ...world.clock, now: () => Date.now() + ahead_ms }
      await transferSteps({ ...world, clock }, silent, steps).carry(await bench.transferNow(id))
    },
    exceptions: async () =>
      (await exceptionsAbout(world.db, id)).map(({ kind, details }) => ({ kind, why: details.why })),
  }
}

test.each<[string, Partial<ChainRail<'sandbox'>>, LaterReason]>([
  ['that the rail screens', { screen: async () => later('wallet_too_empty') }, 'wallet_too_empty'],
  ['that is to be signed', { attempt: async () => later('fee_above_cap') }, 'fee_above_cap'],
  ['whose wallet has no nonce to give', { reserved_most: 0 }, 'nonces_in_use'],
])(
  'a transfer %s shows why it waits, at once as a step, after ten minutes as an exception',
  async (_, chain, why) => {
    const stage = await openStage(chain)
    await stage.carry()
    expect([stage.noted, await stage.exceptions()]).toEqual([[`later ${why}`], []])
    await stage.carry(ELEVEN_MINUTES)
    await stage.carry(ELEVEN_MINUTES)
    expect(await stage.exceptions()).toEqual([{ kind: 'stuck', why }])
  },
)

test('what waits by plan is neither a step nor an exception', async () => {
  const stage = await openStage({ screen: async () => later('scheduled') })
  await stage.carry(ELEVEN_MINUTES)
  expect([stage.noted, await stage.exceptions()]).toEqual([[], []])
})

test('a cancel that cannot be signed for ten minutes is an exception', async () => {
  const stage = await openStage({
    attempt: async (order, _, __, purpose) =>
      purpose === 'pay'
        ? { kind: 'signed', transaction: simulatedTransaction(order) }
        : later('fee_above_cap'),
  })
  await stage.carry()
  const details = { transfer_id: stage.id, reason: 'wrong address' }
  const proposal = await desk.propose(stage.world, { name: 'cancel_transfer', details }, 'ana@x.example')
  await desk.approve(stage.world, proposal.id, 'bea@x.example')
  await stage.carry()
  expect(await stage.exceptions()).toEqual([])
  await stage.carry(ELEVEN_MINUTES)
  expect(await stage.exceptions()).toEqual([{ kind: 'stuck', why: 'fee_above_cap' }])
})

test('an order above all that the signer ever signs is refused, and not accepted to wait for ever', async () => {
  bench = await openBench({ chain: { order_most: 10_000_000n } })
  const { world, actor } = bench
  const customer_id = await bench.customer({ USDT: 50_000_000n })
  const create = (amount_net: bigint) => {
    const idempotency_key = `a${amount_net}`
    const order = {
      ...({
        customer_id,
        asset: 'USDT',
        network: 'tron',
        amount_net,
        idempotency_key,
        metadata: {},
      } as const),
      destination_address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    }
    const claim = claimOf(actor.key_id, TRANSFER_OPERATION, { idempotency_key })
    const bodyOf = ({ code }: { code: string }) => JSON.stringify({ error: { code } })
    return createTransfer(world, actor, { order, claim, bodyOf })
  }
  expect(await create(10_000_001n)).toMatchObject({
    response: { status: 422, body: expect.stringContaining('amount_too_large') },
  })
  expect(await create(10_000_000n)).toMatchObject({ response: { status: 201 } })
})
