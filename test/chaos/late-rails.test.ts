import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type MoneyAction, perform } from '../../src/control/operator/actions.ts'
import { transferSteps } from '../../src/money/onchain/steps.ts'
import { isFinalTransfer, type Transfer, transferColumns } from '../../src/money/onchain/store.ts'
import { payoutSteps } from '../../src/money/pix/steps.ts'
import { isFinalPayout, type Payout, payoutColumns } from '../../src/money/pix/store.ts'
import {
  type Attempt,
  type Broadcast,
  type ChainRail,
  chainsOf,
  type Seen,
} from '../../src/rails/chain/rail.ts'
import { simulatedTransaction } from '../../src/rails/chain/simulated.ts'
import type { PixOutcome, PixRail, PixStatus } from '../../src/rails/pix/rail.ts'
import { endToEndId, simulatedTerms } from '../../src/rails/pix/simulated.ts'
import { openExceptions } from '../../src/records/exceptions/store.ts'
import type { World } from '../../src/world.ts'
import { minedAs, signedAs } from '../support/chain.ts'
import { desk } from '../support/operators.ts'
import { noteFact } from '../support/proof.ts'
import { type Bench, openBench, silent } from '../support/rail-bench.ts'
import { size } from '../support/size.ts'
import { takeOne } from '../support/take.ts'

const { approve, propose } = desk

/**
 * Rails that answer when the one who asked has lost its turn, and operators who act at every moment of a worker's step.
 * Whatever the order: money is never both paid and returned, and what the rail tells otherwise than it was booked is a
 * row that somebody must look at.
 */
const LEASE_MS = 450
const RAIL_TIMEOUT_MS = 150
/** Where it is not the lease that is tried out, a busy machine must not end it. */
const LONG_MS = 60_000
/** In the small size every fifth moment; the answers of odd ones are lost. */
const STEP = size(1, 5)
const BALANCE = 10n ** 12n
const TIMEOUT_MS = 300_000

let bench: Bench
let customer: string
let worlds: { slow: World<'sandbox'>; swift: World<'sandbox'>; desk: World<'sandbox'> }

/** What the rails of each node do; every test says it anew. */
const rails = { slow: {} as Rails, swift: {} as Rails }
type Rails = { pix: PixRail<'sandbox'>; chain: ChainRail<'sandbox'> }

const handed = (name: 'slow' | 'swift'): Rails => ({
  pix: {
    environment: 'sandbox',
    ...simulatedTerms,
    ready: async () => {},
    holder: async (_, asking) => ({ kind: 'held', holder: asking! }),
    send: (...args) => rails[name].pix.send(...args),
    status: (...args) => rails[name].pix.status(...args),
  },
  chain: {
    environment: 'sandbox',
    network: 'tron',
    is_configured: true,
    check: async () => {},
    endpoints: () => [],
    has_wallet: false,
    reserved_most: Number.POSITIVE_INFINITY,
    replace_after_ms: Number.POSITIVE_INFINITY,
    feeInputs: async () => ({ gas_price_wei: 1n, eth_price: 1n, sat_per_vbyte: 1n }),
    wallet: async () => ({
      wallet: 'simulated',
      final: 0n,
      final_height: 0n,
      mined: 0n,
      pool: 0n,
      claimed: 0n,
    }),
    holdings: () => Promise.reject(new Error('nothing is held')),
    screen: (...args) => rails[name].chain.screen(...args),
    attempt: (...args) => rails[name].chain.attempt(...args),
    broadcast: (...args) => rails[name].chain.broadcast(...args),
    look: (...args) => rails[name].chain.look(...args),
  },
})

beforeAll(async () => {
  bench = await openBench({ lease_ms: LEASE_MS, rail_timeout_ms: RAIL_TIMEOUT_MS, ...handed('swift') })
  customer = await bench.customer({ BRL: BALANCE, USDT: BALANCE })
  worlds = { slow: bench.openNode(handed('slow')), swift: bench.world, desk: bench.openNode() }
})
afterEach(async () => expect(await bench.findings()).toEqual([]))
afterAll(() => bench.stop())

/** Open proposals end, and let go of what they hold. */
async function withdrawAll(): Promise<void> {
  const end = `ended = 'withdrawn', ended_by = proposed_by, ended_at = clock_timestamp()`
  await bench.admin(`UPDATE proposals SET ${end} WHERE ended IS NULL`)
  await bench.admin('DELETE FROM holds')
}

const pixThat = (more: Partial<PixRail<'sandbox'>>) => ({ pix: { ...handed('swift').pix, ...more } })
const chainThat = (more: Partial<ChainRail<'sandbox'>>) => ({ chain: { ...handed('swift').chain, ...more } })

/** A node that stood still does not notice that its time is over: the deadline of its calls is taken away. */
const unaware = (world: World<'sandbox'>): World<'sandbox'> => {
  const { pix, chain } = handed('slow')
  return { ...world, pix, chains: chainsOf((network) => ({ ...chain, network })) }
}

async function due<Row>(table: 'payouts' | 'transfers', id: string, lease_ms = LONG_MS): Promise<Row> {
  await bench.admin(`UPDATE ${table} SET next_attempt_at = now() - interval '1 ms' WHERE id = '${id}'`)
  const columns = table === 'payouts' ? payoutColumns : transferColumns
  return (await takeOne<Row>({ ...bench.world, lease_ms }, table, columns))!
}

/** Accepted an hour ago: whatever was sent then would be visible by now. */
async function oldPayout(): Promise<Payout> {
  const payout = await bench.payout(customer)
  await bench.past(payout)
  return bench.payoutNow(payout.id)
}

const rowsAbout = async (id: string) =>
  (await openExceptions(bench.world.db, 1000)).filter(({ object_id }) => object_id === id)

const endIdOf = (send_id: string) => endToEndId({ send_id, sent_at: new Date('2026-11-15T12:00:00Z') })
const REFUSED = { kind: 'refused', rail_code: 'AC03' } as const
const pixSays = (kind: Exclude<PixStatus['kind'], 'later'>, send_id: string): PixStatus => {
  if (kind === 'settled') return { kind, end_to_end_id: endIdOf(send_id) }
  return kind === 'refused' ? REFUSED : { kind }
}

const facts = { late: 0, moments: 0, rows: 0 }
afterAll(() =>
  noteFact(
    `rails that answer after the lease in ${facts.late} ways, and an operator who resolves at each of ${facts.moments} points of a worker's step: nothing both paid and returned, ${facts.rows} contradictions, each recorded as an exception, audit clean`,
  ),
)

describe('a Pix answer that comes when another node has brought the payout to its end', () => {
  const cases = (['send', 'status'] as const).flatMap((call) =>
    (['settled', 'refused', 'unknown', 'absent'] as const).flatMap((late) =>
      (['settled', 'refused'] as const).flatMap((end) =>
        call === 'send' && late === 'absent' ? [] : [{ call, late, end }],
      ),
    ),
  )

  test.each(cases)('$call says $late, the other node heard $end', async ({ call, late, end }) => {
    const payout = await oldPayout()
    const taken = await due<Payout>('payouts', payout.id)
    const sent: number[] = []
    rails.slow = pixThat({
      async send(order) {
        sent.push(order.attempt)
        if (call === 'send') await finish()
        return pixSays(call === 'send' ? late : 'settled', order.send_id) as PixOutcome
      },
      async status(order) {
        if (call === 'send') return { kind: 'absent' }
        await finish()
        return pixSays(late, order.send_id)
      },
    }) as Rails
    rails.swift = pixThat({ status: async ({ send_id }) => pixSays(end, send_id) }) as Rails
    const finish = async () =>
      payoutSteps(worlds.swift, silent, () => {}).queryThenSend(await due<Payout>('payouts', payout.id))

    await payoutSteps(unaware(worlds.slow), silent, () => {}).queryThenSend(taken)

    const after = await bench.payoutNow(payout.id)
    expect(after.status).toBe(end === 'settled' ? 'completed' : 'failed')
    // Whoever heard «absent» too late sends nothing.
    expect(sent).toHaveLength(call === 'send' ? 1 : 0)
    const told = { settled: 'late_success', refused: 'contradiction' } as const
    // The refusal of a repeated send says nothing of the earlier one, so it contradicts no end.
    const is_doubted = call === 'send' && late === 'refused'
    const says_end = (late === 'settled' || late === 'refused') && !is_doubted
    const expected = says_end && late !== end ? [told[late]] : []
    const rows = await rowsAbout(payout.id)
    expect(rows.map(({ kind }) => kind)).toEqual(expected)
    facts.late++
    facts.rows += rows.length
  })

  test('an answer after its own deadline is not looked at: nothing to contradict', async () => {
    const payout = await oldPayout()
    const taken = await due<Payout>('payouts', payout.id)
    rails.slow = pixThat({
      async status() {
        await sleep(RAIL_TIMEOUT_MS + 100)
        return REFUSED
      },
    }) as Rails
    rails.swift = pixThat({ status: async ({ send_id }) => pixSays('settled', send_id) }) as Rails
    await payoutSteps(worlds.slow, silent, () => {}).queryThenSend(taken)
    expect((await bench.payoutNow(payout.id)).status).toBe('processing')
    await payoutSteps(worlds.swift, silent, () => {}).queryThenSend(await due<Payout>('payouts', payout.id))
    expect((await bench.payoutNow(payout.id)).status).toBe('completed')
    expect(await rowsAbout(payout.id)).toEqual([])
  })
})

const transactionOf = (id: string) => simulatedTransaction({ id, network: 'tron' })
const PAYABLE = { kind: 'payable' } as const

describe('an answer of a chain that comes when another node has brought the transfer further', () => {
  type Late = { call: 'screen' | 'attempt' | 'broadcast' | 'look'; late: string; end: 'confirmed' | 'failed' }
  const cases: Late[] = (['confirmed', 'failed'] as const).flatMap((end) => [
    ...['payable', 'refused'].map((late) => ({ call: 'screen' as const, late, end })),
    { call: 'attempt' as const, late: 'signed', end },
    ...['accepted', 'unknown'].map((late) => ({ call: 'broadcast' as const, late, end })),
    ...['confirmed', 'failed', 'waiting', 'absent'].map((late) => ({ call: 'look' as const, late, end })),
  ])
  const ends = { confirmed: 'paid', failed: 'none' } as const

  test.each(cases)('$call says $late, the other node heard $end', async ({ call, late, end }) => {
    const { id } = await bench.transfer(customer)
    const out: string[] = []
    const chain = chainThat({
      screen: async () => PAYABLE,
      attempt: async (order) => signedAs(order),
      async broadcast(order) {
        out.push(order.id)
        return { kind: 'accepted' }
      },
      look: async (_, __, made) => minedAs(made, ends[end]),
    })
    rails.swift = chain as Rails
    const carry = async () => transferSteps(worlds.swift, silent).carry(await due<Transfer>('transfers', id))
    const finish = async () => {
      while (!isFinalTransfer(await bench.transferNow(id))) await carry()
    }
    // As far as it must be for the late call to be the next one.
    if (call === 'broadcast') {
      const lost = chainThat({
        ...chain.chain,
        broadcast: async () => ({ kind: 'unknown' }),
        look: async () => ({ kind: 'absent' }),
      })
      rails.swift = lost as Rails
      await carry()
      rails.swift = chain as Rails
    }
    if (call === 'look') await carry()
    const lateAnswer = async (_: unknown, __: unknown, made: readonly Attempt[]) => {
      await finish()
      if (late === 'refused') return { kind: late, rail_code: late }
      if (late === 'confirmed' || late === 'failed') return minedAs(made, ends[late])
      if (late !== 'signed') return { kind: late }
      return { kind: late, transaction: { ...transactionOf(id), tx_hash: 'f'.repeat(64) } }
    }
    rails.slow = { chain: { ...chain.chain, [call]: lateAnswer } } as unknown as Rails
    await transferSteps(unaware(worlds.slow), silent).carry(await due<Transfer>('transfers', id))

    const after = await bench.transferNow(id)
    expect(after).toMatchObject({ status: end, tx_hash: transactionOf(id).tx_hash })
    const contradicts =
      (call === 'screen' && late === 'refused') ||
      (call === 'look' && ['confirmed', 'failed'].includes(late) && late !== end)
    const kind = late === 'confirmed' ? 'late_success' : 'contradiction'
    const rows = await rowsAbout(id)
    expect(rows.map((row) => row.kind)).toEqual(contradicts ? [kind] : [])
    facts.late++
    facts.rows += rows.length
  })
})

/** Counts the moments that a step comes by, and lets somebody in at one of them. */
function openMoments(at: number, act: () => Promise<void>) {
  let passed = 0
  let acting = Promise.resolve()
  const pass = async () => {
    if (++passed !== at) return
    acting = act()
    await acting
  }
  const around = async <T>(call: () => Promise<T>): Promise<T> => {
    await pass()
    const result = await call()
    await pass()
    return result
  }
  return {
    around,
    reached: () => passed >= at,
    /** The act may last longer than the step, which gives up a rail's call at its deadline. */
    acted: () => acting,
    /** Every commit of a world is two moments: just before and just after. */
    watched: (world: World<'sandbox'>): World<'sandbox'> => ({
      ...world,
      commit: (command) => around(() => world.commit(command)),
    }),
  }
}

const attempt = (act: () => Promise<unknown>): Promise<boolean> => act().then(Boolean, () => false)

/** What an operator does, and what is left to be done when the worker is through. */
type Manner = (action: MoneyAction) => { now(): Promise<void>; afterwards(): Promise<void> }

const manners: Readonly<Record<string, Manner>> = {
  'at once': (action) => ({
    now: async () => void (await attempt(() => perform(worlds.desk, action))),
    afterwards: async () => {},
  }),
  'when the lease is over': (action) => ({
    async now() {
      await sleep(LEASE_MS + 50)
      await attempt(() => perform(worlds.desk, action))
    },
    afterwards: async () => {},
  }),
  'in two persons': (action) => {
    let proposed: string | undefined
    return {
      async now() {
        await attempt(async () => {
          proposed = (await propose(worlds.desk, action, 'a@example.com')).id
        })
      },
      async afterwards() {
        await sleep(LEASE_MS + 50)
        await attempt(async () => proposed && approve(worlds.desk, proposed, 'b@example.com'))
      },
    }
  },
}

describe.each(Object.keys(manners))('an operator who gives the money back %s', (manner) => {
  const endless = 100
  const lease_ms = manner === 'at once' ? LONG_MS : LEASE_MS

  test.each(['for the first time', 'again'])(
    'at any moment of sending a payout %s',
    async (time) => {
      for (let at = 1; at < endless; at += STEP) {
        const since = performance.now()
        const payout = time === 'again' ? await oldPayout() : await bench.payout(customer)
        /** The network: it has what it was handed, whatever became of the answer. */
        const paid = new Set<string>()
        const action: MoneyAction = {
          name: 'resolve_payout',
          details: { payout_id: payout.id, outcome: 'failed', evidence: 'the network does not have it' },
        }
        const operator = manners[manner]!(action)
        // An honest one: what is there is not said to be missing.
        const moments = openMoments(at, async () => {
          if (!paid.has(payout.send_id)) await operator.now()
        })
        const status = async (send_id: string): Promise<PixStatus> =>
          paid.has(send_id) ? pixSays('settled', send_id) : { kind: 'absent' }
        const pix: Partial<PixRail<'sandbox'>> = {
          status: (order) => moments.around(() => status(order.send_id)),
          send: (order, signal) =>
            moments.around(async () => {
              if (signal?.aborted) return { kind: 'unknown' }
              paid.add(order.send_id)
              // Half of the answers are lost on the way back.
              return at % 2 ? { kind: 'unknown' } : (pixSays('settled', order.send_id) as PixOutcome)
            }),
        }
        rails.slow = pixThat(pix) as Rails
        rails.swift = pixThat({ ...pix, status: (order) => status(order.send_id) }) as Rails
        const { queryThenSend: lookAfter, send } = payoutSteps(moments.watched(worlds.slow), silent, () => {})
        if (time === 'again') {
          const taken = await due<Payout>('payouts', payout.id, lease_ms)
          await attempt(() => lookAfter(taken))
        } else await attempt(() => moments.around(() => send(payout, since + LEASE_MS)))
        await moments.acted()
        await operator.afterwards()

        // What is still open is looked after, until it has its end.
        const steps = payoutSteps(worlds.swift, silent, () => {})
        for (let turns = 0; turns < 5 && !isFinalPayout(await bench.payoutNow(payout.id)); turns++) {
          await withdrawAll()
          await bench.admin(`UPDATE sends SET sent_at = now() - interval '1 hour'`)
          await bench.past(payout)
          const taken: Payout | undefined = await due<Payout>('payouts', payout.id)
          // Whoever was slow may have brought it to its end just now.
          if (taken) await steps.queryThenSend(taken)
        }
        const after = await bench.payoutNow(payout.id)
        expect([after.status, paid.has(payout.send_id)], `${manner}, moment ${at}`).toEqual(
          paid.has(payout.send_id) ? ['completed', true] : ['failed', false],
        )
        // The same as with a transfer, below: paid between the proposal and the approval.
        const kinds = (await rowsAbout(payout.id)).map(({ kind }) => kind)
        const may_be = manner === 'in two persons' && after.status === 'completed' ? ['superseded'] : []
        expect(kinds.filter((kind) => !may_be.includes(kind))).toEqual([])
        if (!moments.reached()) break
        facts.moments++
      }
    },
    TIMEOUT_MS,
  )

  test(
    'at any moment of signing, broadcasting and following a transfer',
    async () => {
      for (let at = 1; at < endless; at += STEP) {
        const { id } = await bench.transfer(customer)
        const mempool = new Set<string>()
        const action: MoneyAction = {
          name: 'resolve_transfer',
          details: { transfer_id: id, outcome: 'failed', evidence: 'the explorer does not know it' },
        }
        const operator = manners[manner]!(action)
        const moments = openMoments(at, operator.now)
        let looks = 0
        const look = async (made: readonly Attempt[]): Promise<Seen> => {
          if (!made.some(({ tx_hash }) => mempool.has(tx_hash))) return { kind: 'absent' }
          return looks++ < 1 ? { kind: 'waiting' } : minedAs(made)
        }
        const broadcast = async (tx_hash: string, answer: Broadcast): Promise<Broadcast> => {
          mempool.add(tx_hash)
          return answer
        }
        const chain: Partial<ChainRail<'sandbox'>> = {
          screen: () => moments.around(async () => PAYABLE),
          attempt: (order) => moments.around(async () => signedAs(order)),
          broadcast: (_, { tx_hash }) =>
            moments.around(() => broadcast(tx_hash, { kind: at % 2 ? 'unknown' : 'accepted' })),
          look: (_, __, made) => moments.around(() => look(made)),
        }
        rails.slow = chainThat(chain) as Rails
        rails.swift = chainThat({
          screen: async () => PAYABLE,
          attempt: async (order) => signedAs(order),
          broadcast: (_, { tx_hash }) => broadcast(tx_hash, { kind: 'accepted' }),
          look: (_, __, made) => look(made),
        }) as Rails
        const { carry } = transferSteps(moments.watched(worlds.slow), silent)
        for (let turns = 0; turns < 3 && !isFinalTransfer(await bench.transferNow(id)); turns++) {
          const taken: Transfer | undefined = await due<Transfer>('transfers', id, lease_ms)
          if (taken) await carry(taken)
        }
        await moments.acted()
        await operator.afterwards()

        const steps = transferSteps(worlds.swift, silent)
        for (let turns = 0; turns < 5 && !isFinalTransfer(await bench.transferNow(id)); turns++) {
          await withdrawAll()
          const taken: Transfer | undefined = await due<Transfer>('transfers', id)
          // Whoever was slow may have brought it to its end just now.
          if (taken) await steps.carry(taken)
        }
        const after = await bench.transferNow(id)
        expect([after.status, mempool.size], `${manner}, moment ${at}`).toEqual(
          mempool.size > 0 ? ['confirmed', 1] : ['failed', 0],
        )
        // The chain may confirm it between the proposal and the approval, which the approval then tells.
        const kinds = (await rowsAbout(id)).map(({ kind }) => kind)
        const may_be = manner === 'in two persons' && after.status === 'confirmed' ? ['superseded'] : []
        expect(kinds.filter((kind) => !may_be.includes(kind))).toEqual([])
        if (!moments.reached()) break
        facts.moments++
      }
    },
    TIMEOUT_MS,
  )
})
