import { randomUUID } from 'node:crypto'
import { hashKeyValue } from '../../src/keys/value.ts'
import { readConfig } from '../../src/node/config.ts'
import { startService } from '../../src/node/serve.ts'
import { perform } from '../../src/operator/actions.ts'
import { editPartner } from '../../src/partners/partners.ts'
import { quoteById } from '../../src/quotes/store.ts'
import { execute } from '../../src/quotes/trades.ts'
import { foldTrades } from '../../src/treasury/treasury.ts'
import { crowd, times } from './crowd.ts'
import { createDatabase } from './database.ts'
import { openHands, someCpf, testEnv } from './service.ts'

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
  const hands = openHands(database)
  const server = await startService({
    config: readConfig(
      testEnv(database.url, {
        SANDBOX_BROADCAST_MS: '0',
        SANDBOX_CONFIRM_MS: '0',
        PIX_WAIT_MS: '50',
        ...env,
      }),
    ),
    print: () => {},
    onFatal: (error) => {
      throw error
    },
  })
  let running = true
  const world = hands.worlds.sandbox

  async function post(key: string, path: string, body: unknown): Promise<any> {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const json: any = await answer.json()
    if (answer.status >= 500) throw new Error(`${path}: ${answer.status} ${JSON.stringify(json)}`)
    return json
  }

  /** A partner with these fees, and customers with money in every asset. */
  async function addPartner(customers: number, pix_fee: number) {
    const { partner_id, key, key_id } = await hands.partner(server.url)
    await editPartner(hands.shared, partner_id, { pix_fee })
    const ids = await crowd(times(customers, someCpf), 8, async (document) => {
      const { id } = await post(key, '/v1/customers', { name: 'Ana Souza', document })
      for (const [asset, amount] of Object.entries(RICH))
        await post(key, '/v1/sandbox/deposits', { customer_id: id, asset, amount })
      return id as string
    })
    return { partner_id, key, key_id, customers: ids }
  }
  type Partner = Awaited<ReturnType<typeof addPartner>>

  const payout = ({ key }: Partner, customer_id: string, to: string, amount: string) =>
    post(key, '/v1/pix/payouts', {
      customer_id,
      amount,
      counterparty: { type: 'pix_key', pix_key: to },
      description: 'rent',
      idempotency_key: randomUUID(),
    })

  const transfer = ({ key }: Partner, customer_id: string, asset: 'USDT' | 'BTC', amount: string) =>
    post(key, '/v1/onchain/transfers', {
      customer_id,
      asset,
      network: asset === 'BTC' ? 'bitcoin' : 'polygon',
      amount,
      destination_address: asset === 'BTC' ? BITCOIN : ADDRESS,
      idempotency_key: randomUUID(),
    })

  async function quote({ key }: Partner, customer_id: string, n: number) {
    const [from_asset, to_asset, amount] = PAIRS[n % PAIRS.length]!
    const kinds = [{ amount_type: 'net' }, { partner_fee_bps: 100 }, {}]
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
    if (kind < 8) await payout(partner, customer_id, 'ana@example.com', String(100 + (n % 900)))
    else if (kind === 8) await payout(partner, customer_id, 'ac03@sandbox.test', '777')
    else if (kind === 9) await payout(partner, customer_id, 'ana@example.com', '99999999999999')
    else if (kind === 10) await transfer(partner, customer_id, n % 3 === 0 ? 'BTC' : 'USDT', '1000000')
    else if (kind === 11) await transfer(partner, customer_id, 'USDT', n % 40 === 11 ? '1009001' : '1009002')
    else if (kind < 17) await trade(partner, customer_id, n + Math.floor(n / 20))
    else await post(partner.key, '/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '5000' })
  }

  /** A trade that the treasury had no room for. */
  async function failedTrade(partner: Partner, customer_id: string): Promise<void> {
    const { id } = await quote(partner, customer_id, 1)
    const { partner_id, key_id } = partner
    const key_hash = hashKeyValue(partner.key).toString('hex')
    const actor = { key_id, key_hash, partner_id, terms: {} } as unknown as Parameters<typeof execute>[1]
    await world.commit(execute(world, actor, (await quoteById(world.db, id))!, () => false))
  }

  const credit = ({ partner_id }: Partner, customer_id: string, reference: string) =>
    perform(world, {
      name: 'credit',
      details: { partner_id, customer_id, asset: 'BRL', amount: '1234', reason: 'a "gift"', reference },
    })

  const payFees = ({ partner_id }: Partner, customer_id: string | null, reference: string) =>
    perform(world, {
      name: 'pay_fees',
      details: { partner_id, customer_id, asset: 'BRL', amount: '7', reason: 'October', reference },
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

  return {
    ...hands,
    world,
    url: server.url,
    post,
    addPartner,
    act,
    payout,
    transfer,
    trade,
    credit,
    payFees,
    /** Something of everything. */
    async fill(partners: readonly Partner[], acts: number): Promise<void> {
      await crowd(
        times(acts, (n) => n),
        24,
        (n) => act(partners[n % partners.length]!, n),
      )
      for (const [i, partner] of partners.entries()) {
        const customer_id = partner.customers[0]!
        await failedTrade(partner, customer_id)
        await credit(partner, customer_id, `credit-${i}-a`)
        const { id: deposit_id } = await credit(partner, customer_id, `credit-${i}-b`)
        await correct(partner, customer_id, deposit_id, `correction-${i}`)
        await trade(partner, customer_id, PAIRS.length)
        await payFees(partner, customer_id, `fees-${i}-a`)
        await payFees(partner, null, `fees-${i}-b`)
        await transfer(partner, customer_id, 'USDT', '1009003')
        await payout(partner, customer_id, 'slow@sandbox.test', '4321')
        await payout(partner, partner.customers[1]!, 'slow@sandbox.test', '1234')
      }
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
      await hands.stop()
    },
  }
}
