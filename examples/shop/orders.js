import { fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'

/**
 * @typedef {object} Order
 * @property {string} id
 * @property {string} seller the seller's customer_id at Trilho
 * @property {string} pix_key where the seller wants the money
 * @property {string} amount in centavos
 * @property {string} idempotency_key of the payout, stored before anything is sent
 * @property {'open' | 'paid' | 'failed' | 'refused'} status
 * @property {string} [payout_id]
 * @property {string | undefined} [reason] why it was not paid
 */

/** Orders in a file, one line per change; your shop has a database for this. What is in here has reached the disk. */
export class Orders {
  /** @type {Map<string, Order>} */
  #orders = new Map()
  #file

  /** @param {string} path */
  constructor(path) {
    this.#file = openSync(path, 'a+')
    const text = readFileSync(this.#file)
    // A crash may have cut the last line short: nobody was told of it, so it never happened.
    const whole = text.subarray(0, text.lastIndexOf('\n') + 1)
    ftruncateSync(this.#file, whole.length)
    for (const line of whole.toString().split('\n').filter(Boolean)) {
      const order = JSON.parse(line)
      this.#orders.set(order.id, order)
    }
  }

  /** @param {string} id */
  get(id) {
    return this.#orders.get(id)
  }

  /** @param {string} key */
  withKey(key) {
    return [...this.#orders.values()].find(({ idempotency_key }) => idempotency_key === key)
  }

  /** Those whose payout has not come to its end, as far as this shop knows. */
  open() {
    return [...this.#orders.values()].filter(({ status }) => status === 'open')
  }

  /** @param {Order} order */
  save(order) {
    writeSync(this.#file, `${JSON.stringify(order)}\n`)
    fsyncSync(this.#file)
    this.#orders.set(order.id, order)
    return order
  }
}
