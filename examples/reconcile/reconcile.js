import { parseArgs } from 'node:util'
import { ApiError, Trilho } from '@trilho/sdk'
import { readBook, readCheckpoint, saveCheckpoint } from './book.js'
import { checkBook, checkStatement, markOf } from './compare.js'
import { TrilhoSide } from './trilho-side.js'

/**
 * Compares your book with Trilho's and prints every difference. Exit code 0: there is none. 1: there are some. 2: the comparison
 * could not be made. It only reads: use a key with the scope `read`.
 */
const { values: given } = parseArgs({
  options: { book: { type: 'string' }, checkpoint: { type: 'string' } },
})
if (!given.book) {
  console.error('Usage: node reconcile.js --book book.jsonl [--checkpoint checkpoint.json]')
  process.exit(2)
}

try {
  const differences = await reconcile(given.book, given.checkpoint)
  for (const difference of differences) console.log(difference)
  process.exitCode = differences.length === 0 ? 0 : 1
} catch (error) {
  const refused = error instanceof ApiError
  console.error(refused ? `${error.code}: ${error.message} (${error.requestId})` : error)
  process.exitCode = 2
}

/**
 * @param {string} book
 * @param {string | undefined} checkpoint
 */
async function reconcile(book, checkpoint) {
  const entries = readBook(book)
  const marks = readCheckpoint(checkpoint)
  const trilho = new Trilho({ userAgent: 'reconcile-example' })
  const side = new TrilhoSide(trilho)
  const customers = []
  /** @type {string[]} */
  const moving = []
  const known = await trilho.customers.list({ limit: 100 }).toArray({ limit: Infinity })
  // Orders that this list leaves out, and that have new statement lines, are read one by one.
  await side.load(
    Object.values(marks)
      .map(({ at }) => at)
      .toSorted()
      .at(-1),
  )
  for (const { id } of known) {
    const customer = await side.customer(id, marks[id])
    if (customer) customers.push(customer)
    else moving.push(`${id}: its money kept moving, so it was not compared; run this again`)
  }
  const own = entries.filter(({ customer_id }) => !moving.some((one) => one.startsWith(customer_id)))
  const differences = [
    ...moving,
    ...customers.flatMap(checkStatement),
    ...(await checkBook(own, customers, (entry) => side.find(entry))),
  ]
  const lines = customers.reduce((count, one) => count + one.lines.length, 0)
  console.log(
    `${customers.length} customers, ${lines} statement lines, ${own.length} entries: ${differences.length} differences`,
  )
  // A difference must be found again by the next run, so only books that agree move the checkpoint.
  if (checkpoint && differences.length === 0)
    saveCheckpoint(checkpoint, Object.fromEntries(customers.map((one) => [one.id, markOf(one)])))
  return differences
}
