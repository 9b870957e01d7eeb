import { formatPrice } from '../../../core/price.ts'
import { statusOf } from '../../../money/quotes/contract.ts'
import type { Quote, Trade } from '../../../money/quotes/store.ts'
import { type Column, decimalOf, metadataCell } from '../csv.ts'

/** CSV columns of quotes and trades. */
type Named = { readonly customer: { readonly id: string; readonly name: string } }

const terms: readonly Column<(Quote | Trade) & Named>[] = [
  { name: 'customer_id', cell: ({ customer_id }) => customer_id },
  { name: 'customer_name', cell: ({ customer }) => customer.name },
  { name: 'from_asset', cell: ({ from_asset }) => from_asset },
  { name: 'from_amount', cell: ({ from_amount }) => ({ number: from_amount.toString() }) },
  { name: 'from_amount_decimal', cell: ({ from_asset, from_amount }) => decimalOf(from_asset, from_amount) },
  { name: 'to_asset', cell: ({ to_asset }) => to_asset },
  { name: 'to_amount', cell: ({ to_amount }) => ({ number: to_amount.toString() }) },
  { name: 'to_amount_decimal', cell: ({ to_asset, to_amount }) => decimalOf(to_asset, to_amount) },
  { name: 'side', cell: ({ side }) => side },
  { name: 'market_price', cell: ({ market_price }) => ({ number: formatPrice(market_price) }) },
  { name: 'partner_fee', cell: ({ partner_fee }) => ({ number: partner_fee.toString() }) },
  { name: 'partner_fee_decimal', cell: ({ from_asset, partner_fee }) => decimalOf(from_asset, partner_fee) },
  { name: 'partner_bps', cell: ({ partner_bps }) => ({ number: `${partner_bps}` }) },
  { name: 'service_fee', cell: ({ service_fee }) => ({ number: service_fee.toString() }) },
  { name: 'service_fee_decimal', cell: ({ from_asset, service_fee }) => decimalOf(from_asset, service_fee) },
  { name: 'service_bps', cell: ({ service_bps }) => ({ number: `${service_bps}` }) },
  { name: 'metadata', cell: ({ metadata }) => metadataCell(metadata) },
]

export const quoteColumns = (now: number): readonly Column<Quote & Named>[] => [
  { name: 'id', cell: ({ id }) => id },
  { name: 'created_at', cell: ({ created_at }) => created_at.toISOString() },
  { name: 'expires_at', cell: ({ expires_at }) => expires_at.toISOString() },
  { name: 'status', cell: (quote) => statusOf(quote, now) },
  { name: 'trade_id', cell: ({ trade_id }) => trade_id },
  ...terms,
]

export const tradeColumns: readonly Column<Trade & Named>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'created_at', cell: ({ created_at }) => created_at.toISOString() },
  { name: 'status', cell: ({ status }) => status },
  { name: 'failure_code', cell: ({ failure_code }) => failure_code },
  { name: 'quote_id', cell: ({ quote_id }) => quote_id },
  ...terms,
]
