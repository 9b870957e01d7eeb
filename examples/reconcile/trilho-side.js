import { ApiError } from '@trilho/sdk'

/** @import { Deposit, OnchainTransfer, PixPayout, StatementLine, Trade, Trilho } from '@trilho/sdk' */
/** @import { Mark } from './book.js' */

/**
 * An order as Trilho has it, and the statement lines that it must have caused.
 * @typedef {object} Order
 * @property {string} id
 * @property {'payout' | 'transfer' | 'trade' | 'deposit'} kind
 * @property {Record<string, unknown>} fields
 * @property {boolean} open
 * @property {{ type: string, asset: string, amount: bigint }[]} moves
 */

/**
 * One customer, read at a moment at which nothing moved.
 * @typedef {object} Customer
 * @property {string} id
 * @property {{ asset: string, available: string, in_transit: string }[]} balances
 * @property {StatementLine[]} lines those after the checkpoint, oldest first
 * @property {Order[]} orders
 * @property {Mark | undefined} mark
 */

/** How often a customer whose money moves is read again. */
const READS = 5
const page = { limit: 100 }

/** @param {PixPayout} payout @returns {Order} */
function payoutOrder(payout) {
  const gross = BigInt(payout.amount) + BigInt(payout.fee)
  return orderOf('payout', payout, sent('payout', 'BRL', gross, payout.status))
}

/** @param {OnchainTransfer} transfer @returns {Order} */
function transferOrder(transfer) {
  const { asset, amount_gross, status } = transfer
  return orderOf('transfer', transfer, sent('transfer', asset, BigInt(amount_gross), status))
}

/** @param {Trade} trade @returns {Order} */
function tradeOrder(trade) {
  const { from_asset, to_asset, from_amount, to_amount, status } = trade
  // A failed trade moves nothing.
  if (status === 'failed') return orderOf('trade', trade, [])
  return orderOf('trade', trade, [
    { type: 'trade', asset: from_asset, amount: -BigInt(from_amount) },
    { type: 'trade', asset: to_asset, amount: BigInt(to_amount) },
  ])
}

/** @param {Deposit} deposit @returns {Order} */
const depositOrder = (deposit) =>
  orderOf(
    'deposit',
    deposit,
    // One that waits for confirmations, or was dropped, has no statement line.
    deposit.status === 'completed'
      ? [{ type: 'deposit', asset: deposit.asset, amount: BigInt(deposit.amount) }]
      : [],
  )

/**
 * An order that leaves is debited with its fee when it is accepted. If it fails, the same amount comes back in a line of its own:
 * its cause has the type `reversal`, and the id of the order.
 * @param {string} type
 * @param {string} asset
 * @param {bigint} gross
 * @param {string} status
 */
function sent(type, asset, gross, status) {
  const back = status === 'failed' ? [{ type: 'reversal', asset, amount: gross }] : []
  return [{ type, asset, amount: -gross }, ...back]
}

/**
 * @param {Order['kind']} kind
 * @param {{ id: string, status: string }} object
 * @param {Order['moves']} moves
 * @returns {Order}
 */
function orderOf(kind, object, moves) {
  const open = object.status === 'pending' || object.status === 'processing'
  return { id: object.id, kind, fields: { ...object, kind }, open, moves }
}

export class TrilhoSide {
  /** @type {Map<string, Order>} */
  #orders = new Map()
  /** The ids of the orders of each customer. @type {Map<unknown, Set<string>>} */
  #idsOf = new Map()

  /** @param {Trilho} trilho */
  constructor(trilho) {
    this.trilho = trilho
  }

  /**
   * Reads the orders of all customers that were created at `created_after` or later: a hundred per request.
   * @param {string | undefined} created_after
   */
  async load(created_after) {
    const query = { ...page, ...(created_after ? { created_after } : {}) }
    for await (const one of this.trilho.pix.payouts.list(query)) this.#keep(payoutOrder(one))
    for await (const one of this.trilho.onchain.transfers.list(query)) this.#keep(transferOrder(one))
    for await (const one of this.trilho.trades.list(query)) this.#keep(tradeOrder(one))
    for await (const one of this.trilho.deposits.list(query)) this.#keep(depositOrder(one))
  }

  /**
   * Money may move while this reads. The balances are read before and after; while they differ, it reads again.
   * @param {string} id
   * @param {Mark | undefined} mark
   * @returns {Promise<Customer | undefined>} undefined if the money never stood still
   */
  async customer(id, mark) {
    for (let read = 1; read <= READS; read++) {
      const { data: before } = await this.trilho.customers.balances(id)
      const lines = []
      for (const { asset } of before) lines.push(...(await this.#linesAfter(id, asset, mark)))
      const orders = await this.#ordersOf(id, lines, mark)
      const { data: balances } = await this.trilho.customers.balances(id)
      if (JSON.stringify(before) === JSON.stringify(balances)) return { id, balances, lines, orders, mark }
    }
    return undefined
  }

  /**
   * An order of your book that is not among those that were read, by its id, idempotency key or quote.
   * @param {Record<string, string>} entry
   */
  async find({ kind, id, customer_id, idempotency_key, quote_id }) {
    const query = { customer_id: String(customer_id) }
    if (id) return this.#get(id).catch(unlessMissing)
    if (kind === 'payout' && idempotency_key)
      for await (const one of this.trilho.pix.payouts.list({ ...query, idempotency_key }))
        return payoutOrder(one)
    if (kind === 'transfer' && idempotency_key)
      for await (const one of this.trilho.onchain.transfers.list({ ...query, idempotency_key }))
        return transferOrder(one)
    if (kind === 'trade' && quote_id)
      for await (const one of this.trilho.trades.list({ ...query, quote_id })) return tradeOrder(one)
    return undefined
  }

  /** @param {Order} order */
  #keep(order) {
    this.#orders.set(order.id, order)
    const { customer_id } = order.fields
    this.#idsOf.set(customer_id, (this.#idsOf.get(customer_id) ?? new Set()).add(order.id))
    return order
  }

  /**
   * Newest first, until the line of the checkpoint: `seq` counts the lines of an asset without a gap.
   * @param {string} id
   * @param {string} asset
   * @param {Mark | undefined} mark
   */
  async #linesAfter(id, asset, mark) {
    /** @type {StatementLine[]} */
    const lines = []
    for await (const line of this.trilho.customers.statement(id, {
      ...page,
      asset: /** @type {'BRL'} */ (asset),
    })) {
      if (line.seq <= (mark?.last[asset]?.seq ?? 0)) break
      lines.push(line)
    }
    return lines.reverse()
  }

  /**
   * The orders of a customer. Those that are open, and those that only a statement line names, are read one by one.
   * @param {string} id
   * @param {readonly StatementLine[]} lines
   * @param {Mark | undefined} mark
   */
  async #ordersOf(id, lines, mark) {
    const open = this.#known(id).filter((order) => order.open)
    const causes = lines.map(({ cause }) => cause.id).filter((cause) => !this.#orders.has(cause))
    for (const one of new Set([...open.map((order) => order.id), ...causes, ...(mark?.open ?? [])]))
      await this.#get(one)
    return this.#known(id)
  }

  /** @param {string} customer_id */
  #known(customer_id) {
    return [...(this.#idsOf.get(customer_id) ?? [])].flatMap((id) => this.#orders.get(id) ?? [])
  }

  /** @param {string} id */
  async #get(id) {
    if (id.startsWith('po_')) return this.#keep(payoutOrder(await this.trilho.pix.payouts.get(id)))
    if (id.startsWith('tr_')) return this.#keep(transferOrder(await this.trilho.onchain.transfers.get(id)))
    if (id.startsWith('td_')) return this.#keep(tradeOrder(await this.trilho.trades.get(id)))
    if (id.startsWith('dep_')) return this.#keep(depositOrder(await this.trilho.deposits.get(id)))
    return undefined
  }
}

/**
 * An id that Trilho does not know, or that is no id at all.
 * @param {unknown} error
 */
function unlessMissing(error) {
  if (error instanceof ApiError && error.status === 404) return undefined
  throw error
}
