import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { perform } from '../../src/control/operator/actions.ts'
import { editPartner } from '../../src/parties/partners/partners.ts'
import type { Api } from '../support/api.ts'
import { asAdmin } from '../support/database.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { start } from './program.ts'

/**
 * A partner with a fee whose orders end in every way, its own book of them, and the program that compares the two. Each test goes
 * on from where the one before left the books.
 */
type Entry = Record<string, string>

let service: TestService
let api: Api
let partner_id: string
let key: string
let ana: string
let bruno: string
let folder: string
let book: Entry[]

beforeAll(async () => {
  service = await startTestService({ SANDBOX_BROADCAST_MS: '20', SANDBOX_CONFIRM_MS: '40' })
  ;({ api, partner_id, key } = await service.partner())
  await editPartner(service.shared, partner_id, { pix_fee: 35 })
  // A key reads the partner's terms anew within a second.
  await until(async () => (await api.get('/v1/account')).json.fees.pix.fee === '35', 15_000)
  folder = mkdtempSync(join(tmpdir(), 'trilho-reconcile-'))
  ana = await customer('Ana Souza')
  bruno = await customer('Bruno Lima')
  await actAll()
  book = await bookOf()
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const customer = async (name: string): Promise<string> =>
  (await api.post('/v1/customers', { name, document: someCpf() })).json.id

const deposit = async (customer_id: string, asset: string, amount: string): Promise<string> =>
  (await api.post('/v1/sandbox/deposits', { customer_id, asset, amount })).json.id

let orders = 0
const pay = async (customer_id: string, pix_key: string, amount = '1050') => {
  const counterparty = { type: 'pix_key', pix_key }
  const idempotency_key = `order-${++orders}`
  const { status, json } = await api.post('/v1/pix/payouts', {
    customer_id,
    amount,
    counterparty,
    idempotency_key,
  })
  expect(status).toBe(201)
  return json
}

const send = async (amount: string) => {
  const { status, json } = await api.post('/v1/onchain/transfers', {
    customer_id: ana,
    asset: 'USDT',
    network: 'polygon',
    amount,
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: `order-${++orders}`,
  })
  expect(status).toBe(201)
  return json
}

/** Orders that complete, fail, come back, stay open and convert, and corrections of the operator. */
async function actAll(): Promise<void> {
  const { sandbox } = service.worlds
  for (const [asset, amount] of [
    ['BRL', '1000000'],
    ['USDT', '2000000000'],
  ] as const)
    await deposit(ana, asset, amount)
  await deposit(bruno, 'BRL', '50000')
  const twice = await deposit(bruno, 'BRL', '7000')
  await perform(sandbox, {
    name: 'reverse_credit',
    details: { deposit_id: twice, reason: 'typed twice', reference: 'reconcile-1' },
  })
  await perform(sandbox, {
    name: 'debit',
    details: {
      partner_id,
      customer_id: bruno,
      asset: 'BRL',
      amount: '500',
      reason: 'x',
      reference: 'reconcile-2',
    },
  })
  for (const pix_key of ['anyone@example.com', 'ac03@sandbox.test', 'unknown@sandbox.test'])
    await pay(ana, pix_key)
  await pay(bruno, 'ds04@sandbox.test', '2000')
  for (const amount of ['25000000', '25009002', '25009003']) await send(amount)
  const quoted = {
    customer_id: ana,
    from_asset: 'BRL',
    to_asset: 'USDT',
    amount: '100000',
    partner_fee_bps: 100,
  }
  const [executed] = [await api.post('/v1/quotes', quoted), await api.post('/v1/quotes', quoted)]
  await api.post(`/v1/quotes/${executed!.json.id}/execute`)
  await until(async () => {
    const { data } = (await api.get('/v1/onchain/transfers')).json
    return (
      data
        .map(({ status }: Entry) => status)
        .toSorted()
        .join() === 'confirmed,failed,processing'
    )
  }, 30_000)
}

/** The fields that a partner would have stored of each response. */
async function bookOf(): Promise<Entry[]> {
  const lists = {
    payout: '/v1/pix/payouts',
    transfer: '/v1/onchain/transfers',
    trade: '/v1/trades',
    deposit: '/v1/deposits',
  }
  const entries: Entry[] = []
  for (const [kind, path] of Object.entries(lists))
    for (const one of (await api.get(`${path}?limit=100`)).json.data) {
      const { id, counterparty, failure, fees, ...stored } = one
      // Of an order with an idempotency key the book need not know the id.
      entries.push({ kind, ...(stored.idempotency_key ? {} : { id }), ...stored })
    }
  for (const customer_id of [ana, bruno])
    for (const { cause, asset, amount, created_at } of (
      await api.get(`/v1/customers/${customer_id}/statement?limit=100`)
    ).json.data)
      if (cause.id.startsWith('adj_'))
        entries.push({ kind: 'adjustment', id: cause.id, customer_id, asset, amount, created_at })
  return entries
}

const reconcile = async (entries: readonly Entry[], ...args: string[]) => {
  const path = join(folder, 'book.jsonl')
  writeFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  const program = start('reconcile/reconcile.js', {
    args: ['--book', path, ...args],
    env: { TRILHO_URL: service.url, TRILHO_KEY: key },
    cwd: folder,
  })
  const code = await program.ended
  const [summary = '', ...differences] = program.printed().trimEnd().split('\n')
  return { code, summary, differences: differences.toSorted() }
}

const entryOf = (kind: string, match: Entry): Entry =>
  book.find(
    (one) => one.kind === kind && Object.entries(match).every(([name, value]) => one[name] === value),
  )!

/** The book with one entry changed. */
const withChange = (entry: Entry, change: Entry): Entry[] =>
  book.map((one) => (one === entry ? { ...one, ...change } : one))

test('books that agree have no difference: paid, failed, open, converted, corrected, with fees', async () => {
  expect(
    book
      .map(({ kind }) => kind)
      .toSorted()
      .join(),
  ).toBe(
    'adjustment,adjustment,deposit,deposit,deposit,deposit,payout,payout,payout,payout,trade,transfer,transfer,transfer',
  )
  expect(entryOf('payout', { status: 'failed' }).fee).toBe('35')
  // Four deposits, two corrections, four payouts, three transfers, two sides of a trade, and three lines of money that came back.
  expect(await reconcile(book)).toEqual({
    code: 0,
    summary: '2 customers, 18 statement lines, 14 entries: 0 differences',
    differences: [],
  })
})

test('amounts may be numbers, as Python writes them, if JSON holds them exactly', async () => {
  const amount = /^-?\d+$/
  const asNumbers = book.map((entry) =>
    Object.fromEntries(
      Object.entries(entry).map(([name, value]) => [name, amount.test(value) ? Number(value) : value]),
    ),
  ) as unknown as Entry[]
  expect(await reconcile(asNumbers)).toMatchObject({ code: 0, differences: [] })
  const large = await reconcile([{ ...asNumbers[0], amount: 10 ** 17 } as unknown as Entry])
  expect([large.code, large.summary, ...large.differences].join('\n')).toMatch(
    /^2\n[\s\S]*book\.jsonl, line 1: amount: write this number as text/,
  )
})

test('money that a failed payout or transfer returned is a line of its own, with the cause reversal and the id of the order', async () => {
  const { data } = (await api.get(`/v1/customers/${bruno}/statement`)).json
  const [payout] = (await api.get(`/v1/pix/payouts?customer_id=${bruno}`)).json.data
  const lines = data.map(({ amount, cause }: any) => [amount, cause.type, cause.id])
  expect(lines.slice(0, 2)).toEqual([
    ['2035', 'reversal', payout.id],
    ['-2035', 'payout', payout.id],
  ])
  expect(lines.filter(([, type]: string[]) => type === 'adjustment' || type === 'reversal')).toHaveLength(3)
})

test('each injected difference is named, and nothing else', async () => {
  const completed = entryOf('payout', { status: 'completed' })
  const failed = entryOf('payout', { status: 'failed', customer_id: bruno })
  const trade = entryOf('trade', {})
  const transfer = entryOf('transfer', { status: 'confirmed' })
  const adjusted = entryOf('adjustment', { amount: '-500' })
  const idOf = async (path: string, { idempotency_key }: Entry) =>
    (await api.get(`${path}?idempotency_key=${idempotency_key}`)).json.data[0].id
  const payoutId = await idOf('/v1/pix/payouts', failed)
  const transferId = await idOf('/v1/onchain/transfers', transfer)

  const cases: [Entry[], string][] = [
    [
      withChange(failed, { status: 'completed' }),
      `payout ${payoutId} (${failed.idempotency_key}): status is completed in your book, failed at Trilho`,
    ],
    [
      withChange(failed, { amount: '2001' }),
      `payout ${payoutId} (${failed.idempotency_key}): amount is 2001 in your book, 2000 at Trilho`,
    ],
    [
      withChange(transfer, { fee: '0' }),
      `transfer ${transferId} (${transfer.idempotency_key}): fee is 0 in your book, 1000000 at Trilho`,
    ],
    [
      withChange(trade, { to_amount: '1' }),
      `trade ${trade.id} (${trade.quote_id}): to_amount is 1 in your book, ${trade.to_amount} at Trilho`,
    ],
    [
      book.filter((one) => one !== failed),
      `payout ${payoutId} (${failed.idempotency_key}): at Trilho, not in your book`,
    ],
    [book.filter((one) => one !== adjusted), `adjustment ${adjusted.id}: at Trilho, not in your book`],
    [
      [...book, { ...completed, idempotency_key: 'never-sent' }],
      'payout (never-sent): in your book, not at Trilho',
    ],
    [[...book, completed], `payout (${completed.idempotency_key}): twice in your book`],
  ]
  for (const [entries, difference] of cases) {
    const { code, summary, differences } = await reconcile(entries)
    expect(differences).toEqual([difference])
    expect([code, summary.endsWith(': 1 differences')]).toEqual([1, true])
  }
  const all = await reconcile([
    ...withChange(failed, { status: 'completed' }).filter((one) => one !== adjusted),
    { kind: 'deposit', id: 'dep_01kc3v4x9zq8rj5m2t7w6y0ahb', customer_id: ana, asset: 'BRL', amount: '1' },
  ])
  expect(all.differences).toEqual(
    [
      cases[0]![1],
      cases[5]![1],
      'deposit dep_01kc3v4x9zq8rj5m2t7w6y0ahb: in your book, not at Trilho',
    ].toSorted(),
  )
})

test('the next run goes on from the checkpoint, and a difference keeps it where it is', async () => {
  const checkpoint = ['--checkpoint', join(folder, 'checkpoint.json')]
  const kept = () => readFileSync(checkpoint[1]!, 'utf8')
  expect((await reconcile(book, ...checkpoint)).code).toBe(0)
  const first = kept()
  // Nothing is new.
  expect((await reconcile(book, ...checkpoint)).summary).toMatch(
    /^2 customers, 0 statement lines, .* 0 differences$/,
  )

  // What was open comes to its end, and one more order is made.
  const open = entryOf('payout', { status: 'processing' })
  const [{ id }] = (await api.get(`/v1/pix/payouts?idempotency_key=${open.idempotency_key}`)).json.data
  await api.post(`/v1/sandbox/pix/payouts/${id}/fail`)
  await pay(bruno, 'anyone@example.com')
  const missed = await reconcile(book, ...checkpoint)
  const [{ id: made }] = (await api.get(`/v1/pix/payouts?customer_id=${bruno}`)).json.data
  expect(missed.differences).toEqual(
    [
      `payout ${made} (order-${orders}): at Trilho, not in your book`,
      `payout ${id} (${open.idempotency_key}): status is processing in your book, failed at Trilho`,
    ].toSorted(),
  )
  expect(kept()).toBe(first)

  book = await bookOf()
  const caughtUp = await reconcile(book, ...checkpoint)
  // The money that came back, and the debit of the new order.
  expect(caughtUp.summary).toMatch(/^2 customers, 2 statement lines, .* 0 differences$/)
  expect(caughtUp.code).toBe(0)
  expect(kept()).not.toBe(first)
  expect((await reconcile(book)).code).toBe(0)
})

test('a balance that does not follow from its lines is named', async () => {
  const { url } = service.database
  await asAdmin(url, [
    `UPDATE sandbox.balances SET balance = balance + 1 WHERE customer_id = '${bruno}' AND asset = 'BRL'`,
  ])
  const wrong = await reconcile(book)
  expect(wrong.code).toBe(1)
  expect(wrong.differences).toEqual([
    expect.stringMatching(new RegExp(`^${bruno}: \\d+ BRL available, the statement ends at \\d+$`)),
  ])
  await asAdmin(url, [
    `UPDATE sandbox.balances SET balance = balance - 1 WHERE customer_id = '${bruno}' AND asset = 'BRL'`,
  ])
  expect((await reconcile(book)).code).toBe(0)
})

test('a comparison that cannot be made is neither a success nor a difference', async () => {
  const usage = start('reconcile/reconcile.js', { env: {}, cwd: folder })
  expect(await usage.ended).toBe(2)
  expect(usage.printed()).toMatch(/^Usage: /)
  const refused = start('reconcile/reconcile.js', {
    args: ['--book', join(folder, 'book.jsonl')],
    env: { TRILHO_URL: service.url, TRILHO_KEY: `svc_test_sk_${'a'.repeat(43)}` },
    cwd: folder,
  })
  expect(await refused.ended).toBe(2)
  expect(refused.printed()).toMatch(/^invalid_api_key: /)
  const unread = await reconcile([{ kind: 'gift', id: 'x' }])
  expect(unread.code).toBe(2)
  expect([unread.summary, ...unread.differences].join('\n')).toContain(
    'book.jsonl, line 1: the kind gift is not known',
  )
})
