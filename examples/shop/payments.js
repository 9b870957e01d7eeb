import { ApiError } from '@trilho/sdk'

/** @import { PixPayout, Trilho } from '@trilho/sdk' */
/** @import { Order, Orders } from './orders.js' */

/** Pays sellers. Every step may be cut short at any point, and is simply done again. */
export class Payments {
  /**
   * @param {Trilho} trilho
   * @param {Orders} orders
   */
  constructor(trilho, orders) {
    this.trilho = trilho
    this.orders = orders
  }

  /**
   * Sends the payout of an order. However often this runs there is one payout, for the key is the order's own.
   * @param {Order} order
   */
  async pay(order) {
    try {
      const payout = await this.trilho.pix.payouts.create({
        customer_id: order.seller,
        amount: order.amount,
        counterparty: { type: 'pix_key', pix_key: order.pix_key },
        description: `Order ${order.id}`,
        idempotency_key: order.idempotency_key,
      })
      this.learn(payout)
    } catch (error) {
      // The seller has to do something. All else passes, or is for you to fix: the order stays open and is tried again.
      const theirs = ['invalid_pix_key', 'pix_key_not_found', 'counterparty_not_allowed']
      if (!(error instanceof ApiError) || !theirs.includes(error.code)) throw error
      this.orders.save({ ...order, status: 'refused', reason: error.code })
    }
  }

  /** After a restart, and now and then: finds out what became of every open order, and sends what was never sent. */
  async catchUp() {
    for (const order of this.orders.open()) {
      try {
        await this.payOrFind(order)
      } catch (error) {
        // One that cannot be paid now must not keep the others from it.
        console.error(`order ${order.id} stays open:`, error)
      }
    }
  }

  /**
   * A key works for 24 hours, the list of payouts for ever: whoever comes back after a week must look before paying.
   * @param {Order} order
   */
  async payOrFind(order) {
    const { data } = await this.trilho.pix.payouts.list({ idempotency_key: order.idempotency_key })
    if (data[0]) this.learn(data[0])
    else await this.pay(order)
  }

  /**
   * What a payout says of itself, wherever it was seen: in a response, in a webhook, in a list. It may come twice, and late.
   * @param {PixPayout} payout
   */
  learn(payout) {
    const order = this.orders.withKey(payout.idempotency_key)
    if (order?.status !== 'open') return
    const known = { ...order, payout_id: payout.id }
    if (payout.status === 'completed') this.orders.save({ ...known, status: 'paid' })
    else if (payout.status === 'failed')
      this.orders.save({ ...known, status: 'failed', reason: payout.failure?.code })
    else if (order.payout_id === undefined) this.orders.save(known)
  }
}
