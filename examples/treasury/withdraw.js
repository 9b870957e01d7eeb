import { parseArgs } from 'node:util'
import { ApiError, decimal, Trilho, units } from '@trilho/sdk'
import { lock } from './lock.js'
import { Notes } from './notes.js'

/**
 * Converts BRL into USDT, sends the USDT to an address, and waits for the confirmation on chain. Started again with the same
 * --run it continues: there is one conversion and one transfer, however often it is interrupted.
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
if (!run || !customer_id || !amount || !to)
  stop('Usage: node withdraw.js --run NAME --amount 1000.00 --to 0x… [--customer cus_…]')
const other = lock(`treasury-${run}.lock`)
if (other) stop(`Process ${other} is at the run '${run}'. Start this again when that has ended.`)

const trilho = new Trilho({ userAgent: 'treasury-example' })
const notes = new Notes(`treasury-${run}.json`)
const asked = `${amount} BRL of ${customer_id} to ${to}`
if (notes.known.asked && notes.known.asked !== asked)
  stop(`The run '${run}' is about ${notes.known.asked}. For anything else choose another --run.`)
const network = 'polygon'
const idempotency_key = `${run}-withdrawal`

try {
  const sent = (await find()) ?? (await withdraw(await convert(units(amount, 'BRL'))))
  console.log(`on its way: ${sent.id}`)
  const { tx_hash } = await confirmed(sent.id)
  console.log(`confirmed: ${tx_hash}`)
} catch (error) {
  const refused = error instanceof ApiError
  console.error(refused ? `${error.code}: ${error.message} (${error.requestId})` : error)
  process.exitCode = 1
}

/**
 * The transfer of this run, if it was already sent. An idempotency key is valid for 24 hours, but the list is permanent: look
 * before converting.
 */
async function find() {
  const { data } = await trilho.onchain.transfers.list({ idempotency_key })
  const foreign = data.find((sent) => !isNoted(sent))
  if (foreign) {
    const what = `${foreign.id}, ${decimal(foreign.amount_net, 'USDT')} USDT of ${foreign.customer_id}`
    stop(
      `A run '${run}' that is not in these notes sent ${what} to ${foreign.destination_address}. ` +
        'Start it where its notes are, or choose another --run.',
    )
  }
  return data[0]
}

/** @param {import('@trilho/sdk').OnchainTransfer} sent */
function isNoted(sent) {
  const sameAddress = sent.destination_address.toLowerCase() === to?.toLowerCase()
  return sameAddress && sent.customer_id === customer_id && sent.amount_net === notes.known.amount
}

/** @param {bigint} from */
async function convert(from) {
  while (!notes.known.received) {
    // The quote id is stored before execution: executing the same quote again is safe, because a quote makes one trade. Another
    // quote would convert twice.
    if (!notes.known.quote_id) notes.save({ asked, quote_id: await quote(from) })
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
  const received = BigInt(notes.known.received)
  console.log(`converted: ${amount} BRL are ${decimal(received, 'USDT')} USDT`)
  return received
}

/** Asks for a quote, after a dry run has shown that its USDT can be sent. @param {bigint} from */
async function quote(from) {
  const { id, to_amount } = await trilho.quotes.create({
    customer_id,
    from_asset: 'BRL',
    to_asset: 'USDT',
    amount: from,
  })
  try {
    await trilho.onchain.transfers.dryRun(transfer(await withoutFee(BigInt(to_amount))))
  } catch (error) {
    // The USDT balance is missing because the conversion has not happened yet. Any other refusal, such as a wrong address, must
    // stop the run before USDT is bought.
    if (!(error instanceof ApiError && error.is('insufficient_balance'))) throw error
  }
  return id
}

/** @param {bigint} received */
async function withdraw(received) {
  // The fee may change, and the same key with another amount is refused: so the amount is stored once.
  if (!notes.known.amount) notes.save({ amount: await withoutFee(received) })
  return trilho.onchain.transfers.create(transfer(/** @type {string} */ (notes.known.amount)))
}

/**
 * @param {string} net what arrives
 * @returns {import('@trilho/sdk').OnchainTransfersCreateParams}
 */
function transfer(net) {
  const destination_address = /** @type {string} */ (to)
  return { customer_id, asset: 'USDT', network, amount: net, destination_address, idempotency_key }
}

/** @param {bigint} gross */
async function withoutFee(gross) {
  const { data } = await trilho.onchain.fees.list()
  const fee = data.find((one) => one.network === network && one.asset === 'USDT')?.fee
  if (!fee) stop(`There is no fee for USDT on ${network}.`)
  if (gross <= BigInt(fee))
    stop(
      `${amount} BRL are ${decimal(gross, 'USDT')} USDT, and the network's fee is ${decimal(fee, 'USDT')} USDT.`,
    )
  return String(gross - BigInt(fee))
}

/** @param {string} transfer_id */
async function confirmed(transfer_id) {
  // From the start of the log, because the confirmation may have come while this program was down.
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

/**
 * @param {string} message
 * @returns {never}
 */
function stop(message) {
  console.error(message)
  process.exit(2)
}
