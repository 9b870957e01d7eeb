import { afterEach, expect, test } from 'vitest'
import { signedAs } from '../../test/support/chain.ts'
import { type Bench, openBench } from '../../test/support/rail-bench.ts'
import { until } from '../../test/support/wait.ts'
import type { Network } from '../core/networks.ts'
import { openExceptions } from '../records/exceptions/store.ts'
import { withValidAnswers, withValidChainAnswers, withValidPrices } from './answers.ts'
import { simulatedChain, simulatedTransaction } from './chain/simulated.ts'
import { openJournal } from './journal.ts'
import type { PixRail } from './pix/rail.ts'
import { simulatedPix } from './pix/simulated.ts'
import type { PriceFeed } from './prices/feed.ts'

let bench: Bench | undefined
afterEach(async () => {
  await bench?.stop()
  bench = undefined
})

const clock = { now: () => Date.UTC(2026, 10, 15, 12) } as never
const pix = simulatedPix({ clock, journal: openJournal(undefined) })
const chainOn = (network: Network) =>
  simulatedChain({ network, clock, journal: openJournal(undefined), broadcast_ms: 0, confirm_ms: 0 })
const quiet = () => {}

test.each<[string, unknown]>([
  ['no name', { name: '', document: '52998224725' }],
  ['a name with a NUL', { name: `Ana${String.fromCharCode(0)}`, document: '52998224725' }],
  ['a name with a lone surrogate', { name: 'Ana \ud800', document: '52998224725' }],
  ['a document with a wrong digit', { name: 'Ana', document: '52998224724' }],
  ['a document with dots', { name: 'Ana', document: '529.982.247-25' }],
  ['null', null],
])('a DICT answer of %s counts as unavailable, and is recorded as one exception', async (_, answer) => {
  bench = await openBench({
    pix: { ...pix, holder: async () => ({ kind: 'held', holder: answer }) as never },
  })
  const { world } = bench
  for (let i = 0; i < 3; i++)
    await expect(world.pix.holder('ana@example.com', undefined)).rejects.toMatchObject({
      code: 'rail_unavailable',
    })
  await until(async () => (await openExceptions(world.db, 10)).length > 0, 20_000)
  expect(await openExceptions(world.db, 10)).toMatchObject([
    { kind: 'invalid_answer', rail: 'pix', object_id: 'pix', partner_id: null, details: { call: 'holder' } },
  ])
})

test('a document with punctuation is not repeated in the exception', async () => {
  const reported: string[] = []
  const answer = { name: 'Ana Souza', document: '529.982.247-25' }
  const rail = withValidAnswers(
    { ...pix, holder: async () => ({ kind: 'held', holder: answer }) },
    ({ problem }) => reported.push(problem),
  )
  await expect(rail.holder('ana@example.com', undefined)).rejects.toMatchObject({ code: 'rail_unavailable' })
  expect(reported).toEqual(['document is a text of 14 characters'])
})

test('a received payment counts although another bank made its id too short or too long', async () => {
  const ids = [`E${'1'.repeat(30)}`, `E${'2'.repeat(31)}`, `E${'3'.repeat(32)}`, 'E 4']
  const rail = withValidAnswers(
    {
      ...pix,
      charges: {
        ...pix.charges!,
        async *received() {
          for (const end_to_end_id of ids)
            yield { end_to_end_id, amount: 1n, paid_at: new Date(), returns: [] }
        },
      },
    },
    quiet,
  )
  const seen: unknown[] = []
  const window = { from: new Date(0), to: new Date() }
  for await (const one of rail.charges!.received(window))
    seen.push('is_unread' in one ? one.problem : one.end_to_end_id)
  expect(seen).toEqual([...ids.slice(0, 3), 'end_to_end_id is "E 4"'])
})

test('a directory of another form makes Pix unavailable; keys that cannot be looked up pass', async () => {
  const rail = (answer: unknown) => withValidAnswers({ ...pix, holder: async () => answer as never }, quiet)
  const wrong = [undefined, null, {}, { kind: 'x' }, { kind: 'unlisted', document: '529.982.247-25' }]
  for (const answer of wrong)
    await expect(rail(answer).holder('a@b.com', undefined)).rejects.toMatchObject({
      code: 'rail_unavailable',
    })
  for (const answer of [
    { kind: 'nobody' },
    { kind: 'unlisted' },
    { kind: 'unlisted', document: '52998224725' },
  ])
    expect(await rail(answer).holder('a@b.com', undefined)).toEqual(answer)
})

test('fees that are not numbers make the network unavailable', async () => {
  const reported: string[] = []
  const rail = withValidChainAnswers(
    {
      ...chainOn('ethereum'),
      feeInputs: async () => ({ gas_price_wei: -1n, eth_price: 1n, sat_per_vbyte: 1n }),
    },
    ({ message }) => reported.push(message),
  )
  await expect(rail.feeInputs()).rejects.toMatchObject({ code: 'rail_unavailable' })
  expect(reported).toEqual(['ethereum: the answer to fees is not valid: gas_price_wei is -1'])
})

test('an invalid price is unknown; the other one is known', async () => {
  const reported: string[] = []
  const at = new Date('2026-11-15T12:00:00Z')
  const good = { price: 5_40000000n, at, source: 'fixed' }
  const fed = (bad: unknown): PriceFeed =>
    withValidPrices(
      { environment: 'sandbox', latest: async () => ({ 'USDT/BRL': good, 'BTC/USDT': bad }) as never },
      ({ problem }) => reported.push(problem),
    )
  const bad = [
    { ...good, price: 0n },
    { ...good, price: 5.4 },
    { ...good, at: '2026' },
    { ...good, source: '' },
    null,
  ]
  for (const one of bad) expect(await fed(one).latest()).toEqual({ 'USDT/BRL': good })
  expect(reported).toHaveLength(bad.length)
  expect(await fed(good).latest()).toEqual({ 'USDT/BRL': good, 'BTC/USDT': good })
})

test('the answers of the simulated rails are valid, and pass unchanged', async () => {
  const to = { name: 'Ana', document: '52998224725', pix_key: 'ana@example.com' }
  const payout = {
    send_id: 'TRILHO1',
    amount: {} as never,
    to,
    description: null,
    sent_at: new Date(),
    attempt: 1,
  }
  for (const pix_key of [
    'ana@example.com',
    'ac03@sandbox.test',
    'slow@sandbox.test',
    'timeout@sandbox.test',
  ]) {
    const order = { ...payout, send_id: pix_key, to: { ...to, pix_key } }
    const rail: PixRail = withValidAnswers(pix, quiet)
    expect(await rail.status(order)).toEqual({ kind: 'absent' })
    expect(await rail.send(order)).toEqual(await pix.send(order))
    expect(await rail.status(order)).toEqual(await pix.status(order))
  }
  for (const [network, asset] of [
    ['tron', 'USDT'],
    ['polygon', 'USDT'],
    ['bitcoin', 'BTC'],
  ] as const) {
    const chain = chainOn(network)
    const rail = withValidChainAnswers(chain, quiet)
    const amount = 10_000_000n
    const order = {
      id: `tr_${network}`,
      asset,
      network,
      destination_address: 'x',
      amount,
      created_at: new Date(0),
      seal: null,
    }
    const state = await chain.wallet()
    expect(await rail.wallet()).toEqual(state)
    const wallet = { wallet: state.wallet, nonce: 0n }
    expect(await rail.screen(order)).toEqual({ kind: 'payable' })
    expect(await rail.attempt(order, wallet, [], 'pay')).toEqual(signedAs(order))
    const attempt = { ...simulatedTransaction(order), attempt: 1, created_at: new Date(0) }
    expect(await rail.broadcast(order, attempt)).toEqual({ kind: 'accepted' })
    const seen = await chain.look(order, wallet, [attempt])
    expect(seen).toMatchObject({ kind: 'mined', effect: 'paid' })
    expect(await rail.look(order, wallet, [attempt])).toEqual(seen)
    expect(await rail.feeInputs()).toEqual(await chain.feeInputs())
  }
})

test('fields that are not in the schema are left out', async () => {
  const rail = withValidAnswers(
    { ...pix, send: async () => ({ kind: 'refused', rail_code: 'AC03', more: '\u0000' }) as never },
    quiet,
  )
  expect(await rail.send({} as never)).toEqual({ kind: 'refused', rail_code: 'AC03' })
})
