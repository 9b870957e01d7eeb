import { ApiError } from '@trilho/sdk'

/** @import { PixPayout, Trilho } from '@trilho/sdk' */
/** @import { Order, Orders } from './orders.js' */

const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 3_600_000
/** About half a day, with these waits. */
const MOST_TRIES = 24

/** Refusals that may succeed later. */
const passing = ['insufficient_balance', 'limit_exceeded']
/** Error types that mean the order itself is wrong. Other errors are temporary, or are yours to fix. */
const refusals = ['invalid_request_error', 'conflict_error', 'business_error']

/** Pays sellers. Every step can be interrupted at any point and is then repeated. */
export class Payments {
  /** Ids of orders being settled, so that no order is settled twice at the same time. @type {Set<string>} */
  #underWay = new Set()
  #catchingUp = false

  /**
   * @param {Trilho} trilho
   * @param {Orders} orders
   * @param {string} shop prefix of every idempotency key, so that shops of the same partner do not share keys
   */
  constructor(trilho, orders, shop) {
    this.trilho = trilho
    this.orders = orders
    this.shop = shop
  }

  /**
   * Stores an order with the idempotency key of its payout before anything is sent, so that a restart finds the order again.
   * @param {Pick<Order, 'id' | 'seller' | 'pix_key' | 'amount'>} order
   */
  place(order) {
    const try_at = new Date().toISOString()
    return this.orders.save({ ...order, status: 'open', ...this.attempt(order.id, 1), tries: 0, try_at })
  }

  /**
   * @param {string} id
   * @param {number} attempt
   */
  attempt(id, attempt) {
    return { attempt, idempotency_key: `${this.shop}-order-${id}-${attempt}` }
  }

  /** Settles every order that is due; after a restart, all open orders. */
  async catchUp(now = Date.now()) {
    if (this.#catchingUp) return
    this.#catchingUp = true
    for (const { id, try_at } of this.orders.open()) if (Date.parse(try_at) <= now) await this.settle(id)
    this.#catchingUp = false
  }

  /**
   * Moves an order as far as possible now. Never throws: one order must not block the others.
   * @param {string} id
   */
  async settle(id) {
    const order = this.orders.get(id)
    if (order?.status !== 'open' || this.#underWay.has(id)) return
    this.#underWay.add(id)
    try {
      // Exponential backoff: requests are limited per day, and a stuck order must not use them up.
      const wait = Math.min(FIRST_WAIT_MS * 2 ** order.tries, LONGEST_WAIT_MS)
      const try_at = new Date(Date.now() + wait).toISOString()
      await this.payOrFind(this.orders.save({ ...order, tries: order.tries + 1, try_at }))
    } catch (error) {
      console.error(`order ${id} stays open:`, error)
    } finally {
      this.#underWay.delete(id)
    }
  }

  /**
   * An idempotency key is valid for 24 hours, but the list of payouts is permanent: look there before paying, because this
   * program may have been down for longer.
   * @param {Order} order
   */
  async payOrFind(order) {
    try {
      this.learn((await this.find(order)) ?? (await this.pay(order)))
    } catch (error) {
      this.refuse(order, error)
    }
  }

  /** @param {Order} order */
  async find(order) {
    const { seller: customer_id, idempotency_key, payout_id } = order
    if (payout_id) return this.trilho.pix.payouts.get(payout_id)
    const { data } = await this.trilho.pix.payouts.list({ customer_id, idempotency_key })
    return data.find((payout) => isFor(order, payout))
  }

  /**
   * Sends the payout of an order. Repeating it makes no second payout, because the key belongs to the order.
   * @param {Order} order
   */
  pay(order) {
    return this.trilho.pix.payouts.create({
      customer_id: order.seller,
      amount: order.amount,
      counterparty: { type: 'pix_key', pix_key: order.pix_key },
      description: `Order ${order.id}`,
      idempotency_key: order.idempotency_key,
    })
  }

  /**
   * Stores a refusal. After any other error the payout may have been made, so the order is retried under the same key.
   * @param {Order} order
   * @param {unknown} error
   */
  refuse(order, error) {
    // A webhook may have settled the order in the meantime.
    if (this.orders.get(order.id)?.status !== 'open') return
    const isRefusal = error instanceof ApiError && error.outcome === 'none'
    if (!isRefusal || !(refusals.includes(error.type) || error.is('customer_not_found'))) throw error
    if (!passing.includes(error.code) || order.tries >= MOST_TRIES) {
      this.orders.save({ ...order, status: 'refused', reason: error.code })
      return
    }
    // A refused key stays refused for 24 hours, whatever the balance. So the next try uses a new key.
    this.orders.save({ ...order, ...this.attempt(order.id, order.attempt + 1) })
    throw error
  }

  /**
   * Updates an order from a payout, whether it came in a response, a webhook or a list. It may come twice, and late.
   * @param {PixPayout} payout
   */
  learn(payout) {
    const order = this.orders.withKey(payout.idempotency_key)
    if (order?.status !== 'open' || !isFor(order, payout)) return
    const known = { ...order, payout_id: payout.id }
    if (payout.status === 'completed') this.orders.save({ ...known, status: 'paid' })
    else if (payout.status === 'failed')
      this.orders.save({ ...known, status: 'failed', reason: payout.failure?.code })
    else if (order.payout_id === undefined) this.orders.save(known)
  }
}

/**
 * Webhooks and lists cover all payouts of the partner, and another API key may have used the same idempotency key.
 * @param {Order} order
 * @param {PixPayout} payout
 */
function isFor(order, payout) {
  const { seller, amount, payout_id = payout.id } = order
  return payout.customer_id === seller && payout.amount === amount && payout.id === payout_id
}
