import type { AnyoneOfPartner, PartnerActor } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { isId } from '../../core/ids.ts'
import type { Asset } from '../../core/money.ts'
import { findOwned } from '../../core/owned.ts'
import { type Newest, type NewestFilter, selectNewest } from '../../db/newest.ts'
import { type Command, writeTo } from '../../ledger/command.ts'
import { activeCustomer } from '../../parties/customers/customers.ts'
import { customerRows } from '../../parties/customers/store.ts'
import { onBehalfOf } from '../../parties/keys/keys.ts'
import type { FedPrices } from '../../rails/prices/feed.ts'
import type { World } from '../../world.ts'
import {
  type AmountType,
  convert,
  feeRates,
  lockedPrice,
  type Pair,
  pairOf,
  rateOf,
  type Side,
  worthInBrl,
} from './arithmetic.ts'
import { freshPrice, lastPrice } from './prices.ts'
import { conversionRow, insertQuotes, type Quote, quoteById, quoteList } from './store.ts'

/** How long a quote can be executed, by the database's clock (interface §8). */
const VALID_MS = 30_000

type QuoteOrder = {
  readonly customer_id: string
  readonly from_asset: Asset
  readonly to_asset: Asset
  readonly pair: Pair
  readonly side: Side
  readonly amount: bigint
  readonly amount_asset: Asset
  readonly amount_type: AmountType
  readonly partner_fee_bps: number
  readonly metadata: Readonly<Record<string, string>>
  readonly request_id?: string
}

export const findQuote = (world: World, { partner_id }: AnyoneOfPartner, id: string): Promise<Quote> =>
  findOwned('quote', { id, partner_id }, () => quoteById(world.db, id))

/** A request for a quote, before `pair` and `side` are derived from its assets. */
export type QuoteRequest = Omit<QuoteOrder, 'pair' | 'side'>

export async function createQuote(world: World, actor: PartnerActor, request: QuoteRequest): Promise<Quote> {
  const order = checkRequest(world, request)
  return world.commit(lockQuote(world, actor, order, await world.prices.latest()))
}

function checkRequest({ quoting }: World, request: QuoteRequest): QuoteOrder {
  const { from_asset, to_asset, amount_asset, partner_fee_bps, customer_id } = request
  const { pair, side } = pairOf(from_asset, to_asset) ?? refuse('unsupported_pair', { param: 'to_asset' })
  if (amount_asset !== from_asset && amount_asset !== to_asset)
    refuse('invalid_request', {
      param: 'amount_asset',
      message: `amount_asset must be ${from_asset} or ${to_asset}, one of the two that are converted.`,
    })
  const { partner_fee_max_bps } = quoting
  if (partner_fee_bps > partner_fee_max_bps)
    refuse('invalid_request', {
      param: 'partner_fee_bps',
      message: `partner_fee_bps must be at most ${partner_fee_max_bps}.`,
    })
  if (!isId('customer', customer_id)) refuse('customer_not_found', { param: 'customer_id' })
  return { ...request, pair, side }
}

export const listQuotes = (world: World, filter: NewestFilter, now: Date): Promise<Newest<Quote>> =>
  selectNewest<Quote>(world.db, quoteList(now), { ...filter, after: sinceWhen(filter, now) })

/** For the status `pending` only the quotes of the last VALID_MS are read: older quotes have expired or were executed. */
export function sinceWhen(
  { filters, after }: Pick<NewestFilter, 'filters' | 'after'>,
  now: Date,
): Date | undefined {
  const oldest = new Date(now.getTime() - VALID_MS)
  return filters.status === 'pending' && !(after && after > oldest) ? oldest : after
}

/**
 * Fixes the price and the amounts of a quote. A quote moves and reserves no money. It is a ledger command so that the API key,
 * the customer and the age of the price are checked in the transaction that stores the quote, by the database's clock.
 */
export function lockQuote(
  world: World,
  actor: PartnerActor,
  order: QuoteOrder,
  fed: FedPrices,
): Command<Quote> {
  const { partner_id, terms } = actor
  const { customer_id, from_asset, to_asset, pair, side, amount, amount_asset, amount_type } = order
  const { spread_bps, price_max_age_ms } = world.quoting
  const id = world.newId('quote')
  return onBehalfOf(actor, {
    partner_id,
    locks: {
      reads: [{ source: customerRows, id: customer_id }, ...world.set_prices.reads(partner_id)],
    },
    decide(held) {
      activeCustomer(held, { partner_id, id: customer_id })
      const prices = { ...fed, ...world.set_prices.held(held, partner_id) }
      const price = freshPrice(pair, prices, held.now, price_max_age_ms)
      const market_price = lockedPrice(price, side, spread_bps)
      if (market_price === 0n) refuse('price_unavailable', { retry_after_seconds: 5 })
      const rates = feeRates({ partner_fee_bps: order.partner_fee_bps, ...terms })
      const conversion = convert({
        amount,
        amount_of: amount_asset === from_asset ? 'from' : 'to',
        amount_type,
        rate: rateOf({ from: from_asset, to: to_asset, side, market_price }),
        ...rates,
      })
      const { from_amount, to_amount, partner_fee, service_fee } = conversion
      const converted = from_amount - partner_fee - service_fee
      // For the treasury's valuation only. A quote without BRL needs the price of USDT, which may be old.
      const worth_brl = worthInBrl(
        { from: from_asset, to: to_asset, converted, to_amount },
        pair === 'BTC/USDT' ? lastPrice('USDT/BRL', prices) : price,
      )
      const quote: Quote = {
        id,
        partner_id,
        customer_id,
        api_key_id: actor.key_id,
        from_asset,
        to_asset,
        side,
        market_price,
        price_source: price.source,
        ...conversion,
        ...rates,
        worth_brl,
        created_at: held.now,
        expires_at: new Date(held.now.getTime() + VALID_MS),
        trade_id: null,
        request_id: order.request_id ?? null,
        metadata: order.metadata,
      }
      return { writes: [writeTo(insertQuotes, conversionRow(quote))], result: quote }
    },
  })
}
