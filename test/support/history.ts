import { randomUUID } from 'node:crypto'
import { perform } from '../../src/control/operator/actions.ts'
import { quoteById } from '../../src/money/quotes/store.ts'
import { execute } from '../../src/money/quotes/trades.ts'
import { foldTrades } from '../../src/money/treasury/treasury.ts'
import { hashKeyValue } from '../../src/parties/keys/value.ts'
import { editPartner } from '../../src/parties/partners/partners.ts'
import type { World } from '../../src/world.ts'
import { createDatabase } from './database.ts'
import { startNode } from './node.ts'
import { inParallel, times } from './parallel.ts'
import { openDirectAccess, someCpf } from './service.ts'
import { eventually } from './wait.ts'

/**
 * An honest history of every kind of cause, made by a real server over HTTP and by an operator's hands: deposits, credits,
 * payouts and transfers that ended well, badly or not yet, refusals, trades with and without fees, fees paid out.
 */
export type History = Awaited<ReturnType<typeof openHistory>>

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const RICH = { BRL: '10000000000', USDT: '1000000000000', BTC: '100000000000' }
const PAIRS = [
  ['BRL', 'USDT', '100037'],
  ['USDT', 'BRL', '25000013'],
  ['BRL', 'BTC', '5000019'],
  ['BTC', 'BRL', '200003'],
  ['USDT', 'BTC', '99000001'],
  ['BTC', 'USDT', '310007'],
] as const

export async function openHistory(env: Record<string, string> = {}) {
  const database = await createDatabase()
  const direct = openDirectAccess(database)
  const server = await startNode(database.url, {
    SANDBOX_BROADCAST_MS: '0',
    SANDBOX_CONFIRM_MS: '0',
    PIX_WAIT_MS: '50',
    ...env,
  })
  let running = true
  const world = direct.worlds.sandbox
  const calls = callsTo(server.url)
  const desk = deskIn(world)

  /** A partner with these fees, and customers with money in every asset. */
  async function addPartner(customers: number, pix_fee: number): Promise<Partner> {
    const { partner_id, key, key_id } = await direct.partner(server.url)
    await editPartner(direct.shared, partner_id, { pix_fee })
    const ids = await inParallel(times(customers, someCpf), 8, (document) => calls.addCustomer(key, document))
    return { partner_id, key, key_id, customers: ids }
  }

  return {
    ...direct,
    ...calls,
    ...desk,
    world,
    url: server.url,
    addPartner,
    /** Something of everything. */
    async fill(partners: readonly Partner[], acts: number): Promise<void> {
      await inParallel(
        times(acts, (n) => n),
        24,
        (n) => calls.act(partners[n % partners.length]!, n),
      )
      for (const [i, partner] of partners.entries()) await fillByHand(calls, desk, partner, i)
    },
    /** Ends the server; what is open stays open. */
    async stopServer(): Promise<void> {
      if (!running) return
      running = false
      await server.stop()
      await foldTrades(world.db)
    },
    async stop(): Promise<void> {
      if (running) await server.stop()
      running = false
      await direct.stop()
    },
  }
}

type Partner = {
  readonly partner_id: string
  readonly key: string
  readonly key_id: string
  readonly customers: readonly string[]
}

/** What partners do over HTTP. */
function callsTo(url: string) {
  async function post(key: string, path: string, body: unknown): Promise<any> {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const json: any = await answer.json()
    if (answer.status >= 500) throw new Error(`${path}: ${answer.status} ${JSON.stringify(json)}`)
    return json
  }

  async function addCustomer(key: string, document: string): Promise<string> {
    const { id } = await post(key, '/v1/customers', { name: 'Ana Souza', document })
    for (const [asset, amount] of Object.entries(RICH))
      await post(key, '/v1/sandbox/deposits', { customer_id: id, asset, amount })
    return id
  }

  const payout = ({ key }: Partner, customer_id: string, to: string, amount: string) =>
    post(key, '/v1/pix/payouts', {
      customer_id,
      amount,
      counterparty: { type: 'pix_key', pix_key: to },
      description: 'rent',
      idempotency_key: randomUUID(),
      metadata: { amount },
    })

  const transfer = ({ key }: Partner, customer_id: string, asset: 'USDT' | 'BTC', amount: string) =>
    post(key, '/v1/onchain/transfers', {
      customer_id,
      asset,
      network: asset === 'BTC' ? 'bitcoin' : 'polygon',
      amount,
      destination_address: asset === 'BTC' ? BITCOIN : ADDRESS,
      idempotency_key: randomUUID(),
      metadata: { amount },
    })

  /** A deposit on a chain: credited, too small, dropped, still pending, dropped and back. */
  const arrival = ({ key }: Partner, customer_id: string, n: number) =>
    post(key, '/v1/sandbox/onchain/deposits', {
      customer_id,
      network: n % 4 === 3 ? 'bitcoin' : 'polygon',
      amount: ['5000000', '5000', '5009001', '5009003', '5009004'][n % 5],
    })

  async function quote({ key }: Partner, customer_id: string, n: number) {
    const [from_asset, to_asset, amount] = PAIRS[n % PAIRS.length]!
    const kinds = [{ amount_type: 'net' }, { partner_fee_bps: 100 }, { metadata: { amount } }]
    const more = kinds[Math.floor(n / PAIRS.length) % kinds.length]
    return post(key, '/v1/quotes', { customer_id, from_asset, to_asset, amount, ...more })
  }

  async function trade(partner: Partner, customer_id: string, n: number) {
    const { id } = await quote(partner, customer_id, n)
    return post(partner.key, `/v1/quotes/${id}/execute`, {})
  }

  /** One act of any kind, chosen by its number. */
  async function act(partner: Partner, n: number): Promise<void> {
    const customer_id = partner.customers[n % partner.customers.length]!
    const kind = n % 20
    if (kind === 7) {
      const { id } = await payout(partner, customer_id, 'ana@example.com', String(100 + (n % 900)))
      await post(partner.key, `/v1/sandbox/pix/payouts/${id}/return`, { amount: '40' })
      await post(partner.key, `/v1/sandbox/pix/payouts/${id}/return`, n % 40 === 7 ? {} : { amount: '30' })
    } else if (kind < 7) await payout(partner, customer_id, 'ana@example.com', String(100 + (n % 900)))
    else if (kind === 8) await payout(partner, customer_id, 'ac03@sandbox.test', '777')
    else if (kind === 9) await payout(partner, customer_id, 'ana@example.com', '99999999999999')
    else if (kind === 10) await transfer(partner, customer_id, n % 3 === 0 ? 'BTC' : 'USDT', '1000000')
    else if (kind === 11) await transfer(partner, customer_id, 'USDT', n % 40 === 11 ? '1009001' : '1009002')
    else if (kind < 17) await trade(partner, customer_id, n + Math.floor(n / 20))
    else if (kind === 17) await arrival(partner, customer_id, Math.floor(n / 20))
    else if (kind === 18) await chargeAt(url, post)(partner, customer_id, Math.floor(n / 20))
    else await post(partner.key, '/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '5000' })
  }

  return { post, addCustomer, payout, transfer, charge: chargeAt(url, post), quote, trade, act }
}

type Post = (key: string, path: string, body: unknown) => Promise<any>

/** A charge that is paid at once, in parts, twice, late or not at all; and one that the provider refuses. */
const chargeAt =
  (url: string, post: Post) =>
  async ({ key }: Partner, customer_id: string, n: number): Promise<void> => {
    const amount = n % 7 === 5 ? '1009001' : String(500 + n)
    const order = { customer_id, amount, description: 'rent', metadata: { amount } }
    const { id } = await post(key, '/v1/pix/charges', { ...order, idempotency_key: randomUUID() })
    await eventually(async () => {
      const answer = await fetch(`${url}/v1/pix/charges/${id}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      const { status } = (await answer.json()) as { status: string }
      if (status === 'pending') throw new Error('still pending')
    })
    const pay = (part: string) => post(key, '/v1/sandbox/pix/payments', { charge_id: id, amount: part })
    const expire = () => post(key, `/v1/sandbox/pix/charges/${id}/expire`, {})
    const cases = [
      [() => pay(amount)],
      [() => pay('100'), () => pay(amount)],
      [() => pay(amount), () => pay(amount)],
      [() => pay('100'), expire],
      [expire, () => pay(amount)],
      [],
      [],
    ]
    for (const step of cases[n % cases.length]!) await step()
  }

/** What is done beside the API, by an operator and by the treasury. */
function deskIn(world: World<'sandbox'>) {
  /** A trade that the treasury had no room for, or one that nobody has folded yet. */
  async function executeByHand(
    { partner_id, key_id, key }: Partner,
    quote_id: string,
    has_room: boolean,
  ): Promise<void> {
    const key_hash = hashKeyValue(key).toString('hex')
    const actor = { key_id, key_hash, partner_id, terms: {} } as unknown as Parameters<typeof execute>[1]
    await world.commit(execute(world, actor, (await quoteById(world.db, quote_id))!, () => has_room))
  }

  const failTrade = (partner: Partner, quote_id: string) => executeByHand(partner, quote_id, false)

  const credit = ({ partner_id }: Partner, customer_id: string, reference: string) =>
    perform(world, {
      name: 'credit',
      details: { partner_id, customer_id, asset: 'BRL', amount: '1234', reason: 'a "gift"', reference },
    })

  /** There once the trades that brought them are folded, which takes half a second on a machine that is not busy. */
  const payFees = ({ partner_id }: Partner, customer_id: string | null, reference: string) =>
    eventually(() =>
      perform(world, {
        name: 'pay_fees',
        details: { partner_id, customer_id, asset: 'BRL', amount: '7', reason: 'October', reference },
      }),
    )

  const moveCustody = (direction: 'to_rail' | 'from_rail', reference: string) =>
    perform(world, {
      name: 'move_custody',
      details: { rail: 'polygon', asset: 'USDT', direction, amount: '4321', reason: 'a "test"', reference },
    })

  /** A debit, and the reversal of a credit. */
  async function correct(
    { partner_id }: Partner,
    customer_id: string,
    deposit_id: string,
    reference: string,
  ) {
    const debit = { partner_id, customer_id, asset: 'BRL', amount: '55', reason: 'a fee' } as const
    await perform(world, { name: 'debit', details: { ...debit, reference: `${reference}-a` } })
    const details = { deposit_id, reason: 'a mistake', reference: `${reference}-b` }
    await perform(world, { name: 'reverse_credit', details })
  }

  return { executeByHand, failTrade, credit, payFees, moveCustody, correct }
}

/** What chance has no number for. */
async function fillByHand(
  calls: ReturnType<typeof callsTo>,
  desk: ReturnType<typeof deskIn>,
  partner: Partner,
  i: number,
): Promise<void> {
  const [customer_id, other_id] = partner.customers as [string, string]
  await desk.failTrade(partner, (await calls.quote(partner, customer_id, 1)).id)
  await desk.credit(partner, customer_id, `credit-${i}-a`)
  const { id: deposit_id } = await desk.credit(partner, customer_id, `credit-${i}-b`)
  await desk.correct(partner, customer_id, deposit_id, `correction-${i}`)
  await calls.trade(partner, customer_id, PAIRS.length)
  await desk.payFees(partner, customer_id, `fees-${i}-a`)
  await desk.payFees(partner, null, `fees-${i}-b`)
  await desk.moveCustody('to_rail', `move-${i}-a`)
  await desk.moveCustody('from_rail', `move-${i}-b`)
  for (let n = 0; n < 7; n++) await calls.charge(partner, customer_id, n)
  await calls.post(partner.key, '/v1/sandbox/pix/payments', { amount: '321' })
  await calls.transfer(partner, customer_id, 'USDT', '1009003')
  await calls.payout(partner, customer_id, 'slow@sandbox.test', '4321')
  await calls.payout(partner, other_id, 'slow@sandbox.test', '1234')
}
