import { parseArgs } from 'node:util'
import { ApiError, decimal, Trilho, units } from '@trilho/sdk'
import { Notes } from './notes.js'

/**
 * Converts BRL into USDT, sends them to an address, and waits until the chain has confirmed it. Started again with the same
 * --run it goes on where it was: there is one conversion and one transfer, however often it is interrupted.
 */
const { values: given } = parseArgs({
  options: {
    run: { type: 'string' },
    customer: { type: 'string', default: process.env.CUSTOMER ?? '' },
    amount: { type: 'string' },
    to: { type: 'string' },
  },
})
const { run, customer: customer_id, amount, to } = given
if (!run || !customer_id || !amount || !to) {
  console.error('Usage: node withdraw.js --run NAME --amount 1000.00 --to 0x… [--customer cus_…]')
  process.exit(2)
}

const trilho = new Trilho({ userAgent: 'treasury-example' })
const notes = new Notes(`treasury-${run}.json`)
const asked = `${amount} BRL of ${customer_id} to ${to}`
if (notes.known.asked && notes.known.asked !== asked) {
  console.error(`The run '${run}' is about ${notes.known.asked}. For anything else choose another --run.`)
  process.exit(2)
}
const network = 'polygon'

try {
  notes.save({ asked })
  const received = await convert(units(amount, 'BRL'))
  console.log(`converted: ${amount} BRL are ${decimal(received, 'USDT')} USDT`)
  const sent = await withdraw(received)
  console.log(`on its way: ${sent.id}`)
  const { tx_hash } = await confirmed(sent.id)
  console.log(`confirmed: ${tx_hash}`)
} catch (error) {
  const refused = error instanceof ApiError
  console.error(refused ? `${error.code}: ${error.message} (${error.requestId})` : error)
  process.exitCode = 1
}

/** @param {bigint} from */
async function convert(from) {
  while (!notes.known.received) {
    // Noted before it is executed: a quote makes one trade, so to execute the same one again is safe. Another one is not.
    if (!notes.known.quote_id) notes.save({ quote_id: await quote(from) })
    try {
      const trade = await trilho.quotes.execute(/** @type {string} */ (notes.known.quote_id))
      if (trade.status === 'failed') throw new Error(`the conversion failed: ${trade.failure?.message}`)
      notes.save({ received: trade.to_amount })
    } catch (error) {
      if (!(error instanceof ApiError && error.is('quote_expired'))) throw error
      console.log('the quote expired: asking for another')
      notes.save({ quote_id: undefined })
    }
  }
  return BigInt(notes.known.received)
}

/** @param {bigint} from */
async function quote(from) {
  const { id } = await trilho.quotes.create({
    customer_id,
    from_asset: 'BRL',
    to_asset: 'USDT',
    amount: from,
  })
  return id
}

/** @param {bigint} received */
async function withdraw(received) {
  // The fee may change, and the same key with another amount is refused: what was decided once stays.
  if (!notes.known.amount) notes.save({ amount: String(received - (await networkFee())) })
  const idempotency_key = `${run}-withdrawal`
  // A key works for 24 hours. After a longer pause this finds what was sent.
  const { data } = await trilho.onchain.transfers.list({ idempotency_key })
  if (data[0]) return data[0]
  return trilho.onchain.transfers.create({
    customer_id,
    asset: 'USDT',
    network,
    amount: /** @type {string} */ (notes.known.amount),
    destination_address: /** @type {string} */ (to),
    idempotency_key,
  })
}

async function networkFee() {
  const { data } = await trilho.onchain.fees.list()
  const fee = data.find((one) => one.network === network && one.asset === 'USDT')
  if (!fee) throw new Error(`there is no fee for USDT on ${network}`)
  return BigInt(fee.fee)
}

/** @param {string} transfer_id */
async function confirmed(transfer_id) {
  // From the start of the log, for it may have been confirmed while nobody looked.
  for await (const event of trilho.events.stream({
    after: 'start',
    object_id: transfer_id,
    types: ['onchain.transfer.confirmed', 'onchain.transfer.failed'],
  })) {
    if (event.type === 'onchain.transfer.confirmed') return event.data.object
    throw new Error(`the transfer failed, and the money is back: ${event.data.object.failure?.message}`)
  }
  throw new Error('the stream of events ended')
}
