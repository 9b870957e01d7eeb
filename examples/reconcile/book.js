import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/**
 * Your own book: one JSON object per line, with what you stored of each order. `kind` says what it is; the other fields have the
 * names that they have in the API. A field that you did not store is not compared.
 * @typedef {Record<string, string> & { kind: keyof typeof compared, customer_id: string }} Entry
 */

/** The fields that are compared, by kind of entry. */
export const compared = {
  payout: ['customer_id', 'amount', 'fee', 'status'],
  transfer: ['customer_id', 'asset', 'amount_net', 'fee', 'status'],
  trade: ['customer_id', 'from_asset', 'from_amount', 'to_asset', 'to_amount', 'status'],
  deposit: ['customer_id', 'asset', 'amount'],
  // What the operator booked: a debit, a reversed credit, fees paid to you. The amount is that of the statement line, with its sign.
  adjustment: ['customer_id', 'asset', 'amount'],
}

/**
 * @param {string} path
 * @returns {Entry[]}
 */
export function readBook(path) {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return []
      try {
        const entry = JSON.parse(line)
        if (!Object.hasOwn(compared, entry.kind)) throw new Error(`the kind ${entry.kind} is not known`)
        // No call reads a correction, so its time says whether a checkpoint covers it.
        if (entry.kind === 'adjustment' && !entry.created_at) throw new Error('there is no created_at')
        if (!namesOf(entry)[0]) throw new Error('there is no id, idempotency_key or quote_id')
        // Amounts are text in JSON responses, and integers in Python.
        for (const field of compared[/** @type {Entry} */ (entry).kind]) {
          if (typeof entry[field] !== 'number') continue
          if (!Number.isSafeInteger(entry[field])) throw new Error(`${field}: write this number as text`)
          entry[field] = String(entry[field])
        }
        return [entry]
      } catch (error) {
        throw new Error(`${path}, line ${index + 1}: ${/** @type {Error} */ (error).message}`)
      }
    })
}

/**
 * How an entry and an order find each other: by id, or by the name that you gave the order before it had an id.
 * @param {Record<string, unknown>} order
 * @returns {string[]}
 */
export function namesOf({ id, kind, customer_id, idempotency_key, quote_id }) {
  return [
    ...(id ? [String(id)] : []),
    ...(idempotency_key ? [`${kind} ${customer_id} ${idempotency_key}`] : []),
    ...(kind === 'trade' && quote_id ? [String(quote_id)] : []),
  ]
}

/**
 * Up to where the books were compared and agreed: for each customer the last line of each asset, the time of the newest line, and
 * the orders that were open.
 * @typedef {{ at: string, last: Record<string, { seq: number, balance_after: string }>, open: string[] }} Mark
 * @typedef {Record<string, Mark>} Checkpoint
 */

/**
 * @param {string | undefined} path
 * @returns {Checkpoint}
 */
export function readCheckpoint(path) {
  try {
    return path ? JSON.parse(readFileSync(path, 'utf8')) : {}
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return {}
    throw error
  }
}

/**
 * @param {string} path
 * @param {Checkpoint} checkpoint
 */
export function saveCheckpoint(path, checkpoint) {
  writeFileSync(`${path}.new`, `${JSON.stringify(checkpoint)}\n`)
  renameSync(`${path}.new`, path)
}
