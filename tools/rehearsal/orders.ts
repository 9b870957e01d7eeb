import { randomBytes } from 'node:crypto'
import type { Asset } from '../../src/core/money.ts'
import { networks } from '../../src/core/networks.ts'
import { tronAddressOfKey } from '../../src/rails/chain/tron/address.ts'
import { openTestWallet } from '../../test/chains/bitcoin-wallet.ts'
import type { SendBody } from '../../test/pix/efi-stub.ts'
import { mustEqual } from './narrator.ts'
import { PIX_FEE, SERVICE_FEE_BPS } from './operators.ts'
import type { depositNetworks, transferNetworks } from './outside.ts'
import type { Customer, Stage } from './stage.ts'

/** Orders of a partner, and how they end outside: what is in the book was seen at the bank or on a chain. */
type Place = (typeof transferNetworks)[number]

export type PayoutOrder = {
  readonly customer: Customer
  readonly pix_key: string
  readonly amount: bigint
  readonly body: object
}

export type TransferOrder = {
  readonly customer: Customer
  readonly network: Place
  readonly amount: bigint
  readonly destination: string
  readonly body: object
}

export const PAYOUTS = '/v1/pix/payouts'
export const TRANSFERS = '/v1/onchain/transfers'
export const PARTNER_FEE_BPS = 100

let numbered = 0
const nextKey = (what: string) => `${what}-${++numbered}`

/** An order to a Pix key that no other order has, so that the bank's payments can be told apart. */
export function payoutOrder(customer: Customer, amount: bigint): PayoutOrder {
  const idempotency_key = nextKey('payout')
  const pix_key = `${idempotency_key}@example.com`
  const counterparty = { type: 'pix_key', pix_key }
  const body = { customer_id: customer.id, amount: `${amount}`, counterparty, idempotency_key }
  return { customer, pix_key, amount, body }
}

function someAddress(network: Place): string {
  if (network === 'bitcoin') return openTestWallet().address
  return network === 'tron' ? tronAddressOfKey(randomBytes(32)) : `0x${randomBytes(20).toString('hex')}`
}

async function heldBy({ bitcoin, tron, chainOf }: Stage, network: Place, address: string): Promise<bigint> {
  if (network === 'bitcoin') return bitcoin.heldAt([address])
  return network === 'tron' ? tron.stub.balanceOf(address) : chainOf(network).token.balanceOf(address)
}

/** What one transfer of a round is worth. */
export const transferAmount = (network: Place): bigint => (network === 'bitcoin' ? 150_000n : 5_000_000n)

/** An order to an address that no other order has. */
export function transferOrder(customer: Customer, network: Place, amount: bigint): TransferOrder {
  const idempotency_key = nextKey('transfer')
  const destination = someAddress(network)
  const { asset } = networks[network]
  const body = {
    ...{ customer_id: customer.id, asset, network, amount: `${amount}` },
    ...{ destination_address: destination, idempotency_key },
  }
  return { customer, network, amount, destination, body }
}

const paymentsTo = ({ efi }: Stage, { pix_key }: PayoutOrder) =>
  [...efi.bank.sent.values()].filter(({ order }) =>
    JSON.stringify((order as SendBody).favorecido).includes(`"${pix_key}"`),
  )

/** Waits for the end of a payout, which the bank must have paid exactly once. Returns the bank's payment. */
export async function awaitPaid(stage: Stage, order: PayoutOrder, id: string) {
  await stage.waitFor(`payout ${id} is completed`, async () => {
    const { status } = await stage.partner.get(`${PAYOUTS}/${id}`)
    if (status === 'failed') throw new Error(`payout ${id} failed`)
    return status === 'completed'
  })
  const { fee, end_to_end_id } = await stage.partner.get(`${PAYOUTS}/${id}`)
  const payments = paymentsTo(stage, order)
  mustEqual(
    `payments of the bank for payout ${id}`,
    payments.map((payment) => [payment.end_to_end_id, payment.amount, payment.end]),
    [[end_to_end_id, order.amount, 'settled']],
  )
  mustEqual(`the fee of payout ${id}`, fee, `${PIX_FEE}`)
  const customer_id = order.customer.id
  stage.book.note({ customer_id, asset: 'BRL', column: 'paid out', amount: order.amount, rail: 'pix' })
  stage.book.note({ customer_id, asset: 'BRL', column: 'fees', amount: BigInt(fee) })
  stage.counts.payouts++
  return payments[0]!
}

/** Waits for the end of a transfer, which must have reached its destination exactly once. */
export async function awaitConfirmed(stage: Stage, order: TransferOrder, id: string): Promise<void> {
  const { network, amount, destination } = order
  await stage.waitFor(`transfer ${id} on ${network} is confirmed`, async () => {
    const { status } = await stage.partner.get(`${TRANSFERS}/${id}`)
    if (status === 'failed') throw new Error(`transfer ${id} failed`)
    return status === 'confirmed'
  })
  const { fee } = await stage.partner.get(`${TRANSFERS}/${id}`)
  mustEqual(`what ${destination} has on ${network}`, await heldBy(stage, network, destination), amount)
  const { asset } = networks[network]
  const customer_id = order.customer.id
  stage.book.note({ customer_id, asset, column: 'paid out', amount, rail: network })
  stage.book.note({ customer_id, asset, column: 'fees', amount: BigInt(fee) })
  stage.counts.transfers++
}

export async function payOut(stage: Stage, customer: Customer, amount: bigint) {
  const order = payoutOrder(customer, amount)
  const { id } = await stage.partner.order(PAYOUTS, order.body)
  return { id: id as string, payment: await awaitPaid(stage, order, id) }
}

export async function transfer(stage: Stage, customer: Customer, network: Place, amount: bigint) {
  const order = transferOrder(customer, network, amount)
  const { id } = await stage.partner.order(TRANSFERS, order.body)
  await awaitConfirmed(stage, order, id)
}

type Conversion = { readonly from_asset: Asset; readonly to_asset: Asset; readonly amount: bigint }

/** A quote and its execution. The amount is a multiple of 10,000, so that the fees are whole without rounding. */
export async function convert(stage: Stage, customer: Customer, { amount, ...assets }: Conversion) {
  const { partner, book } = stage
  const customer_id = customer.id
  const quote = await partner.post('/v1/quotes', {
    ...{ customer_id, ...assets, amount: `${amount}`, partner_fee_bps: PARTNER_FEE_BPS },
  })
  const trade = await partner.order(`/v1/quotes/${quote.id}/execute`)
  const fees = {
    partner: (amount * BigInt(PARTNER_FEE_BPS)) / 10_000n,
    service: (amount * BigInt(SERVICE_FEE_BPS)) / 10_000n,
  }
  mustEqual(
    `trade ${trade.id}`,
    [trade.status, trade.from_amount, trade.fees.partner, trade.fees.service],
    ['completed', `${amount}`, `${fees.partner}`, `${fees.service}`],
  )
  book.note({ customer_id, asset: assets.from_asset, column: 'sold', amount })
  book.note({ customer_id, asset: assets.to_asset, column: 'bought', amount: BigInt(trade.to_amount) })
  book.noteTradeFees(assets.from_asset, fees)
  stage.counts.conversions++
  return trade
}

export async function openCharge(
  stage: Stage,
  customer: Customer,
  amount: bigint,
): Promise<{ id: string; txid: string }> {
  const idempotency_key = nextKey('charge')
  const { id, txid } = await stage.partner.order('/v1/pix/charges', {
    ...{ customer_id: customer.id, amount: `${amount}`, idempotency_key },
  })
  await stage.waitFor(
    `charge ${id} is open`,
    async () => (await stage.partner.get(`/v1/pix/charges/${id}`)).status === 'open',
  )
  stage.counts.charges++
  return { id, txid }
}

/** A stranger pays a charge at the bank, and the bank posts its notice. */
export async function payCharge(
  stage: Stage,
  customer: Customer,
  { txid, amount }: { txid: string; amount: bigint },
) {
  const payment = stage.efi.bank.pay({ txid, amount })
  stage.book.note({ customer_id: customer.id, asset: 'BRL', column: 'paid in', amount, rail: 'pix' })
  stage.counts.pix_payments++
  await stage.notifyReceived(payment)
  return payment
}

/** A stranger pays to the customer's address. Returns the transaction. */
export async function payIn(
  stage: Stage,
  customer: Customer,
  network: (typeof depositNetworks)[number],
  amount: bigint,
): Promise<string> {
  const address = customer.addresses.get(network)!
  const { asset } = networks[network]
  stage.book.note({ customer_id: customer.id, asset, column: 'paid in', amount, rail: network })
  stage.counts.deposits++
  return network === 'bitcoin'
    ? stage.bitcoin.pay(address, amount)
    : (await stage.chainOf(network).pay(address, amount)).tx_hash
}

/** The deposits of a customer that a transaction made. */
export async function depositsOf({ partner }: Stage, customer: Customer, tx_hash: string) {
  const { data } = await partner.get(`/v1/deposits?customer_id=${customer.id}&limit=100`)
  return data.filter((deposit: { tx_hash?: string }) => deposit.tx_hash === tx_hash) as {
    id: string
    status: string
    amount: string
  }[]
}

export const awaitDeposit = (stage: Stage, customer: Customer, tx_hash: string, status: string) =>
  stage.waitFor(`the deposit of ${tx_hash} is ${status}`, async () => {
    const found = await depositsOf(stage, customer, tx_hash)
    return found.length === 1 && found[0]!.status === status
  })
