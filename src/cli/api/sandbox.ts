import { argument, type Input, type Output, option, requiredOption, usage } from '../command.ts'
import { amountOption, assetNamed } from './amount.ts'
import { assertIdOf } from './checks.ts'
import { openApiClient } from './client.ts'
import { shown } from './show.ts'

export async function sandboxDeposit(input: Input): Promise<Output> {
  const asset = assetNamed(option(input, 'asset') ?? 'BRL', 'asset')
  const order = { customer_id: requiredOption(input, 'customer'), asset, amount: amountOption(input, asset) }
  const { trilho } = await openApiClient(input)
  return shown(await trilho.sandbox.deposits.create(order))
}

export async function sandboxReceive(input: Input): Promise<Output> {
  const network = requiredOption(input, 'network')
  // The API validates the network; its error lists the valid ones.
  const amount = amountOption(input, network === 'bitcoin' ? 'BTC' : 'USDT')
  const { trilho } = await openApiClient(input)
  const order = { customer_id: requiredOption(input, 'customer'), network: network as never, amount }
  return shown(await trilho.sandbox.deposits.receive(order))
}

export async function sandboxPay(input: Input): Promise<Output> {
  const charge_id = assertIdOf('charge', argument(input, 0, 'CHARGE'))
  const amount = option(input, 'amount') === undefined ? {} : { amount: amountOption(input, 'BRL') }
  const { trilho } = await openApiClient(input)
  return shown({ ...(await trilho.sandbox.payments.create({ charge_id, ...amount })), decimals: 2 })
}

export async function sandboxComplete(input: Input): Promise<Output> {
  const id = assertIdOf('payout', argument(input, 0, 'PAYOUT'))
  return shown(await (await openApiClient(input)).trilho.sandbox.payouts.complete(id))
}

/** The id of a payment in the Pix network. */
const END_TO_END_ID = /^E[0-9A-Za-z]{31}$/

export async function sandboxReturn(input: Input): Promise<Output> {
  const id = argument(input, 0, 'PAYOUT or PAYMENT')
  const amount = option(input, 'amount') === undefined ? {} : { amount: amountOption(input, 'BRL') }
  const { trilho } = await openApiClient(input)
  if (id.startsWith('po_')) return shown(await trilho.sandbox.payouts.sendBack(id, amount))
  if (END_TO_END_ID.test(id)) return shown(await trilho.sandbox.payments.sendBack(id, amount))
  return usage(
    'A payout’s id starts with po_. A received payment is named by the end_to_end_id of its deposit: E and 31 letters and digits.',
  )
}

export async function sandboxConfirm(input: Input): Promise<Output> {
  const id = assertIdOf('transfer', argument(input, 0, 'TRANSFER'))
  return shown(await (await openApiClient(input)).trilho.sandbox.transfers.confirm(id))
}

export async function sandboxFail(input: Input): Promise<Output> {
  const id = argument(input, 0, 'PAYOUT or TRANSFER')
  const { trilho } = await openApiClient(input)
  if (id.startsWith('po_')) return shown(await trilho.sandbox.payouts.fail(id))
  if (id.startsWith('tr_')) return shown(await trilho.sandbox.transfers.fail(id))
  return usage('A payout’s id starts with po_, a transfer’s with tr_.')
}

export async function sandboxExpire(input: Input): Promise<Output> {
  const id = argument(input, 0, 'QUOTE or CHARGE')
  const { trilho } = await openApiClient(input)
  if (id.startsWith('qt_')) return shown(await trilho.sandbox.quotes.expire(id))
  if (id.startsWith('chg_')) return shown(await trilho.sandbox.charges.expire(id))
  return usage('A quote’s id starts with qt_, a charge’s with chg_.')
}
