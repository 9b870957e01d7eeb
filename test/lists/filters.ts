import { idOf } from './fill.ts'

/** For every filter of every list: values of nearly all rows, of few that are old, and of none. */
export type Values = Readonly<Record<string, readonly string[]>>

const filled_at = Date.parse('2026-01-01T00:00:00.000Z')
const time = (n: number) => new Date(filled_at + n * 1000).toISOString()

const rangesOf = (rows: number): Values => ({
  created_after: [time(rows / 2), time(rows - 10)],
  created_before: [time(50), time(rows / 2)],
})
const pairs = { from_asset: ['BRL', 'BTC'], to_asset: ['USDT', 'BTC'] }

/** By the names of the partners' lists. */
export function apiValues(rows: number): Readonly<Record<string, Values>> {
  const ranges = rangesOf(rows)
  const customer_id = [idOf('cus', 0), idOf('cus', 1), idOf('cus', rows + 1), idOf('cus', 4 * rows), 'none']
  const idempotency_key = ['often', 'key-7', 'none']
  return {
    'pix.payouts.list': {
      ...ranges,
      customer_id,
      status: ['completed', 'failed', 'processing', 'pending'],
      idempotency_key,
      end_to_end_id: ['E9', `E${rows + 5}`, 'none'],
    },
    'onchain.transfers.list': {
      ...ranges,
      customer_id,
      status: ['confirmed', 'failed', 'processing', 'pending'],
      asset: ['USDT', 'BTC'],
      network: ['polygon', 'tron', 'bitcoin'],
      idempotency_key,
      tx_hash: ['hash-9', `hash-${rows + 5}`, 'none'],
    },
    'quotes.list': { ...ranges, customer_id, status: ['executed', 'expired', 'pending'], ...pairs },
    'trades.list': {
      ...ranges,
      customer_id,
      status: ['completed', 'failed'],
      ...pairs,
      quote_id: [idOf('qt', 9), idOf('qt', rows + 5), 'none'],
    },
    'customers.list': {
      ...ranges,
      status: ['active', 'blocked'],
      document: ['529.982.247-25', '11144477735'],
      external_id: ['u7', `u${rows + 5}`, 'none'],
    },
    'customers.statement': { ...ranges, asset: ['BRL', 'BTC'] },
    'deposits.list': {
      ...ranges,
      customer_id,
      asset: ['BRL', 'BTC'],
      status: ['completed', 'pending', 'dropped'],
    },
    'pix.charges.list': {
      ...ranges,
      customer_id,
      status: ['open', 'paid', 'failed', 'pending', 'expired'],
      idempotency_key,
    },
    'account.fee_payouts': ranges,
    'events.list': {
      ...ranges,
      type: ['pix.payout.completed', 'api_key.revoked', 'trade.failed'],
      object_id: [idOf('po', 9), idOf('po', rows + 5)],
    },
    'requests.list': {
      ...ranges,
      status: ['201', '422', '500'],
      key_id: [idOf('key', 1), idOf('key', 9)],
    },
    'webhook_endpoints.list': ranges,
    'webhook_endpoints.deliveries': {
      ...ranges,
      status: ['delivered', 'pending', 'exhausted', 'canceled'],
    },
  }
}

/** By the names of the console's lists. */
export function consoleValues(rows: number): Readonly<Record<string, Values>> {
  const api = apiValues(rows)
  const orders = {
    amount_min: ['1', '999999999999'],
    amount_max: ['1'],
    api_key_id: ['key_none'],
    failure_code: ['none'],
  }
  const { quote_id: _, ...trades } = api['trades.list']!
  const order = ['oldest']
  return {
    'console.payouts.list': {
      order,
      ...api['pix.payouts.list'],
      ...orders,
      status: ['completed', 'failed', 'processing', 'pending', 'open', 'no_answer'],
    },
    'console.transfers.list': {
      order,
      ...api['onchain.transfers.list'],
      ...orders,
      status: ['confirmed', 'failed', 'processing', 'pending', 'open', 'no_answer'],
    },
    'console.customers.list': { ...api['customers.list'], order, name: ['nobody is called so'] },
    'console.customers.statement': api['customers.statement']!,
    'console.charges.list': {
      order,
      ...api['pix.charges.list'],
      amount_min: ['1', '999999999999'],
      amount_max: ['1'],
    },
    'console.quotes.list': { ...api['quotes.list'], order },
    'console.trades.list': { ...trades, order },
    'console.keys.list': {},
    'console.webhooks.list': {},
    'console.deliveries.list': {
      order,
      ...api['webhook_endpoints.deliveries'],
      event_id: [idOf('evt', 9), 'none'],
      type: ['pix.payout.completed', 'trade.failed', 'api_key.revoked'],
    },
    'console.events.list': { ...api['events.list'], order },
    'console.requests.list': {
      order,
      ...api['requests.list'],
      route: ['/v1/account', '/v1/none'],
      error_code: ['invalid_request', 'internal_error'],
      refused: ['true'],
    },
    'console.acts.list': { ...rangesOf(rows), order },
    'console.operator.customers.list': { status: ['active', 'blocked'] },
    'console.operator.exceptions.list': { closed: ['true'] },
    'console.operator.acts.list': {
      place: ['sandbox'],
      action: ['sign_in', 'freeze', 'none'],
      actor: ['ana@example.com', 'old@example.com', 'none'],
      object: [idOf('po', 9), idOf('prp', 9), 'none'],
    },
  }
}
