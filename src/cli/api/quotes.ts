import type { Price } from '#sdk'
import {
  argument,
  type Input,
  integerOption,
  listed,
  type Output,
  option,
  requiredOption,
  usage,
} from '../command.ts'
import { amountOption, assetNamed } from './amount.ts'
import { assertIdOf } from './checks.ts'
import { openApiClient } from './client.ts'
import { metadataOf } from './metadata.ts'
import { assertMeant } from './order.ts'
import { shown } from './show.ts'

export async function quotesCreate(input: Input): Promise<Output> {
  const from_asset = assetNamed(requiredOption(input, 'from'), 'from')
  const to_asset = assetNamed(requiredOption(input, 'to'), 'to')
  const amount_asset = assetNamed(option(input, 'amount-asset') ?? from_asset, 'amount-asset')
  const amount_type = option(input, 'amount-type') ?? 'gross'
  if (amount_type !== 'gross' && amount_type !== 'net') return usage('--amount-type must be gross or net.')
  const partner_fee_bps = integerOption(input, 'partner-fee-bps', 0, 10_000)
  const { trilho } = await openApiClient(input)
  return shown(
    await trilho.quotes.create({
      customer_id: requiredOption(input, 'customer'),
      from_asset,
      to_asset,
      amount: amountOption(input, amount_asset),
      amount_asset,
      amount_type,
      ...(partner_fee_bps === undefined ? {} : { partner_fee_bps }),
      ...metadataOf(input),
    }),
  )
}

export async function quotesExecute(input: Input): Promise<Output> {
  const id = assertIdOf('quote', argument(input, 0, 'QUOTE'))
  const client = await openApiClient(input)
  await assertMeant(input, client, `Execute ${id}`)
  return shown(await client.trilho.quotes.execute(id))
}

export async function pricesList(input: Input): Promise<Output> {
  const { trilho } = await openApiClient(input)
  return shownPrices(await trilho.prices.list())
}

export async function pricesSet(input: Input): Promise<Output> {
  const age_seconds = integerOption(input, 'age-seconds', 0, 86_400)
  const order = {
    // The API validates the pair; its error lists the valid ones.
    pair: argument(input, 0, 'The pair') as never,
    price: argument(input, 1, 'PRICE'),
    ...(age_seconds === undefined ? {} : { age_seconds }),
  }
  const { trilho } = await openApiClient(input)
  return shownPrices(await trilho.sandbox.prices.set(order))
}

function shownPrices(prices: { readonly data: readonly Price[] }): Output {
  const rows = prices.data.map(({ pair, price, source, observed_at, fresh }) => ({
    pair,
    price,
    source,
    observed_at,
    fresh: fresh ? 'yes' : 'no',
  }))
  return listed(prices, rows)
}
