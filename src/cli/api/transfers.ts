import { decimal } from '#sdk'
import { type Input, listed, type Output, requiredOption, usage } from '../command.ts'
import { amountOption, assetNamed } from './amount.ts'
import { openApiClient } from './client.ts'
import { metadataOf } from './metadata.ts'
import { assertMeant, idempotencyKey } from './order.ts'
import { amountCell, shown } from './show.ts'

export async function transfersCreate(input: Input): Promise<Output> {
  const asset = assetNamed(requiredOption(input, 'asset'), 'asset')
  if (asset === 'BRL') usage('--asset must be USDT or BTC; BRL is paid by Pix: trilho payouts create.')
  const amount = amountOption(input, asset)
  const to = requiredOption(input, 'to')
  const client = await openApiClient(input)
  await assertMeant(input, client, `Send ${decimal(amount, asset)} ${asset} to ${to}`)
  const order = {
    customer_id: requiredOption(input, 'customer'),
    asset,
    // The API validates the network; its error lists the valid ones.
    network: requiredOption(input, 'network') as never,
    amount,
    destination_address: to,
    idempotency_key: idempotencyKey(input),
    ...metadataOf(input),
  }
  return shown(await client.trilho.onchain.transfers.create(order))
}

export async function transfersFees(input: Input): Promise<Output> {
  const { trilho } = await openApiClient(input)
  const fees = await trilho.onchain.fees.list()
  const rows = fees.data.map(({ network, asset, fee, decimals }) => ({
    network,
    fee: amountCell(fee, decimals, asset),
  }))
  return listed(fees, rows)
}
