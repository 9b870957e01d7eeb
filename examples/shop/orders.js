import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * @typedef {object} Order
 * @property {string} id
 * @property {string} seller the seller's customer_id at Trilho
 * @property {string} pix_key where the seller wants the money
 * @property {string} amount in centavos
 * @property {'open' | 'paid' | 'failed' | 'refused'} status
 * @property {number} attempt the last part of the key: a refusal uses a key up
 * @property {string} idempotency_key of the payout, stored before anything is sent
 * @property {number} tries how often this shop asked about it
 * @property {string} try_at when it asks again
 * @property {string} [payout_id]
 * @property {string | undefined} [reason] why it was not paid
 */

/** Orders in a file, one line per change; your shop would use a database. Every saved order has reached the disk. */
export class Orders {
  /** @type {Map<string, Order>} */
  #orders = new Map()
  #file
  /** Length of the file up to its last complete line. */
  #size

  /** @param {string} path */
  constructor(path) {
    this.#file = openSync(path, 'a+')
    const text = readFileSync(this.#file)
    // A crash may have cut the last line short. `save` had not returned, so that change never counted.
    this.#size = text.lastIndexOf('\n') + 1
    ftruncateSync(this.#file, this.#size)
    const lines = text.subarray(0, this.#size).toString().split('\n').slice(0, -1)
    for (const [index, line] of lines.entries()) {
      const order = read(line)
      // Ignoring the line could pay the order again.
      if (!order)
        throw new Error(`${path}: line ${index + 1} is not an order. Mend that line, then start again.`)
      this.#orders.set(order.id, order)
    }
    syncFolder(dirname(path))
  }

  /** @param {string} id */
  get(id) {
    return this.#orders.get(id)
  }

  /** @param {string} key */
  withKey(key) {
    return [...this.#orders.values()].find(({ idempotency_key }) => idempotency_key === key)
  }

  /** Orders whose payout has no final state yet, as far as this shop knows. */
  open() {
    return [...this.#orders.values()].filter(({ status }) => status === 'open')
  }

  /** Stores the whole order, or throws and stores nothing. @param {Order} order */
  save(order) {
    const line = Buffer.from(`${JSON.stringify(order)}\n`)
    try {
      // On a full disk a write may be short, and only the next one fails.
      for (let done = 0; done < line.length; ) done += writeSync(this.#file, line, done)
      fsyncSync(this.#file)
    } catch (error) {
      ftruncateSync(this.#file, this.#size)
      throw error
    }
    this.#size += line.length
    this.#orders.set(order.id, order)
    return order
  }
}

/** @param {string} line @returns {Order | undefined} */
function read(line) {
  try {
    const order = JSON.parse(line)
    return typeof order?.idempotency_key === 'string' ? order : undefined
  } catch {
    return undefined
  }
}

/** A new file survives a power cut only after its folder is synced too. @param {string} path */
function syncFolder(path) {
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}
