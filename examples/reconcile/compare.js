import { compared, namesOf } from './book.js'

/** @import { Entry, Mark } from './book.js' */
/** @import { Customer, Order } from './trilho-side.js' */

/**
 * Compares what Trilho says about one customer with itself: lines, balances and orders must agree to the last unit.
 * @param {Customer} customer
 * @returns {string[]} the differences
 */
export function checkStatement({ id, balances, lines, orders, mark }) {
  return [
    ...balances.flatMap(({ asset, available }) => checkChain(id, asset, BigInt(available))),
    ...balances.flatMap(({ asset, in_transit }) => checkTransit(asset, BigInt(in_transit))),
    ...checkCauses(),
  ]

  /** @param {Order} order */
  function isNew(order) {
    return isAfter(order, mark)
  }

  /**
   * `seq` has no gap, each `balance_after` follows from the line before, and the last one is the balance.
   * @param {string} customer
   * @param {string} asset
   * @param {bigint} available
   */
  function checkChain(customer, asset, available) {
    const found = []
    let { seq, balance_after } = mark?.last[asset] ?? { seq: 0, balance_after: '0' }
    for (const line of lines.filter((one) => one.asset === asset)) {
      if (line.seq !== seq + 1) found.push(`${line.id}: follows line ${seq}, so lines are missing`)
      const expected = BigInt(balance_after) + BigInt(line.amount)
      if (BigInt(line.balance_after) !== expected)
        found.push(`${line.id}: balance_after is ${line.balance_after}, the lines come to ${expected}`)
      ;({ seq, balance_after } = line)
    }
    if (BigInt(balance_after) !== available)
      found.push(`${customer}: ${available} ${asset} available, the statement ends at ${balance_after}`)
    return found
  }

  /**
   * What is in transit is the sum of the open orders.
   * @param {string} asset
   * @param {bigint} in_transit
   */
  function checkTransit(asset, in_transit) {
    const open = orders.filter((order) => order.open && order.moves[0]?.asset === asset)
    const sum = open.reduce((total, { moves }) => total - (moves[0]?.amount ?? 0n), 0n)
    return sum === in_transit
      ? []
      : [`${id}: ${in_transit} ${asset} in transit, the open orders come to ${sum}`]
  }

  /** Every line has its order, and every order its lines, with the same amount. */
  function checkCauses() {
    const expected = new Map(
      orders.flatMap((order) =>
        order.moves.map((move) => [`${move.type} ${order.id} ${move.asset}`, { ...move, order }]),
      ),
    )
    const found = []
    for (const { id: line, cause, asset, amount } of lines) {
      if (isOperators(cause.id)) continue
      const name = `${cause.type} ${cause.id} ${asset}`
      const move = expected.get(name)
      expected.delete(name)
      if (!move) found.push(`${line}: ${cause.id} does not explain ${amount} ${asset} (${cause.type})`)
      else if (move.amount !== BigInt(amount))
        found.push(`${line}: ${amount} ${asset}, by ${cause.id} it should be ${move.amount}`)
    }
    for (const { order, type, amount, asset } of expected.values()) {
      if (type === 'reversal') {
        if (isNew(order) || mark?.open.includes(order.id))
          found.push(`${order.id}: failed, and ${amount} ${asset} did not come back`)
      } else if (isNew(order)) found.push(`${order.id}: ${amount} ${asset} is not in the statement`)
    }
    return found
  }
}

/**
 * Debits, reversed credits and fees paid to you are booked by the operator. Your book has them as adjustments.
 * @param {string} cause_id
 */
const isOperators = (cause_id) => cause_id.startsWith('adj_') || cause_id.startsWith('fp_')

/**
 * Whether an order was created after the checkpoint.
 * @param {Order} order
 * @param {Mark | undefined} mark
 */
const isAfter = ({ fields }, mark) => mark === undefined || String(fields.created_at) > mark.at

/**
 * Compares your book with the orders and the operator's lines.
 * @param {readonly Entry[]} entries
 * @param {readonly Customer[]} customers
 * @param {(entry: Entry) => Promise<Order | undefined>} find
 * @returns {Promise<string[]>}
 */
export async function checkBook(entries, customers, find) {
  const marks = new Map(customers.map(({ id, mark }) => [id, mark]))
  /** @type {Record<string, unknown>[]} */
  const theirs = customers.flatMap(({ id, orders, lines, mark }) => [
    ...orders.filter((order) => isDue(order, lines, mark)).map(({ fields }) => fields),
    ...lines
      .filter(({ cause }) => isOperators(cause.id))
      .map(({ cause, asset, amount }) => ({
        kind: 'adjustment',
        id: cause.id,
        customer_id: id,
        asset,
        amount,
      })),
  ])
  // Several orders may have one idempotency key: it is free again after a day, and each API key has its own.
  /** @type {Map<string, Record<string, unknown>[]>} */
  const byName = new Map()
  for (const order of theirs)
    for (const name of namesOf(order)) byName.set(name, [...(byName.get(name) ?? []), order])
  const left = new Set(theirs)
  const found = []
  for (const entry of entries) {
    const named = namesOf(entry).flatMap((name) => byName.get(name) ?? [])
    let order = named.find((one) => left.delete(one))
    if (!order && named.length > 0) {
      found.push(`${labelOf(entry)}: twice in your book`)
      continue
    }
    // An entry from before the checkpoint was compared then.
    if (!order && entry.created_at && entry.created_at <= (marks.get(entry.customer_id)?.at ?? '')) continue
    order ??= (await find(entry))?.fields
    if (!order) found.push(`${labelOf(entry)}: in your book, not at Trilho`)
    else found.push(...differencesIn(entry, order))
  }
  for (const order of left) found.push(`${labelOf(order)}: at Trilho, not in your book`)
  return found
}

/**
 * Whether an order is compared with the book in this run: it is new, it has new lines, or it was open at the checkpoint.
 * @param {Order} order
 * @param {Customer['lines']} lines
 * @param {Mark | undefined} mark
 */
const isDue = (order, lines, mark) =>
  isAfter(order, mark) || mark?.open.includes(order.id) || lines.some(({ cause }) => cause.id === order.id)

/**
 * @param {Entry} entry
 * @param {Record<string, unknown>} order
 */
function differencesIn(entry, order) {
  return compared[entry.kind]
    .filter((field) => entry[field] !== undefined && entry[field] !== order[field])
    .map(
      (field) =>
        `${labelOf({ ...entry, ...order })}: ${field} is ${entry[field]} in your book, ${order[field]} at Trilho`,
    )
}

/** @param {Record<string, unknown>} order */
function labelOf({ kind, id, idempotency_key, quote_id }) {
  const own = idempotency_key ?? quote_id
  return [kind, id, own && `(${own})`].filter(Boolean).join(' ')
}

/**
 * What the next run needs to go on from here.
 * @param {Customer} customer
 * @returns {Mark}
 */
export function markOf({ lines, orders, mark }) {
  const last = { ...mark?.last }
  let at = mark?.at ?? ''
  for (const { asset, seq, balance_after, created_at } of lines) {
    last[asset] = { seq, balance_after }
    if (created_at > at) at = created_at
  }
  return { at, last, open: orders.filter(({ open }) => open).map(({ id }) => id) }
}
