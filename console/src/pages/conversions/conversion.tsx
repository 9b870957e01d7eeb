import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import type { Reply } from '../../api/client.ts'
import type { Quote, Trade } from '../../api/types.ts'
import { percentText, sumUnits } from '../../format/amount.ts'
import { isolated } from '../../format/id.ts'
import { sourceText } from '../../format/source.ts'
import type { Texts } from '../../text/en/en.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Details, metadataRows } from '../../ui/details.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Id } from '../../ui/id.tsx'
import { Crumbs, PageHead, Section } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import type { Step } from '../../ui/track.tsx'
import { usePlace, useTrail } from '../../view.tsx'
import { baseAssetOf, priceText, quoteAssetOf } from './price.ts'

/** Parts that the pages of a quote and of a trade share. */
type Terms = Quote | Trade
type Pricing = Reply<'console.quotes.get'>['pricing']

export function SidesTitle({ of, name }: { readonly of: Terms; readonly name: string }) {
  const { conversions } = useText()
  return (
    <span className="value sides">
      <Amount units={of.from_amount} asset={of.from_asset} /> <Icon name="right" />{' '}
      <Amount units={of.to_amount} asset={of.to_asset} /> <small>{conversions.for(isolated(name))}</small>
    </span>
  )
}

/** How the price was made, line by line from the amount sold to the amount bought. */
export function HowMade({ of, pricing }: { readonly of: Terms; readonly pricing: Pricing }) {
  const { conversions, ui } = useText()
  const { language } = useLanguage()
  const words = conversions.made
  const { fees, from_asset, to_asset } = of
  const converted = sumUnits([of.from_amount, `-${fees.total}`])
  const known = pricing.source && sourceText(ui.sources, pricing.source)
  return (
    <Section title={words.title} about={pricing.pair}>
      <table className="t flat made" aria-label={words.title}>
        <tbody>
          <Line name={words.leaves} asset={from_asset} units={of.from_amount} />
          <Line
            name={words.partner_fee}
            more={percentText(fees.partner_bps, language)}
            asset={from_asset}
            units={minus(fees.partner)}
          />
          <Line
            name={words.service_fee}
            more={percentText(fees.service_bps, language)}
            asset={from_asset}
            units={minus(fees.service)}
          />
          <Line name={words.converted} asset={from_asset} units={converted} total />
          <tr>
            <Named name={words.at} more={words.per(quoteAssetOf(of), baseAssetOf(of))} />
            <td className="r">
              <span className="amt">
                {priceText(of.market_price, language)}
                <span className="unit fix" />
              </span>
            </td>
          </tr>
          <Line name={words.arrives} asset={to_asset} units={of.to_amount} total />
        </tbody>
      </table>
      <p className="quiet small about">
        {known && `${words.source(known)} `}
        {pricing.spread_bps === 0 ? words.no_spread : words.spread(percentText(pricing.spread_bps, language))}{' '}
        {words.rounded}
      </p>
    </Section>
  )
}

const minus = (units: string): string => (units === '0' ? units : `-${units}`)

type LineProps = {
  readonly name: string
  readonly more?: string
  readonly asset: string
  readonly units: string
  readonly total?: boolean
}

function Line({ name, more, asset, units, total = false }: LineProps) {
  return (
    <tr>
      <Named name={name} more={more} />
      <td className="r">
        <Amount units={units} asset={asset} as="column" total={total} />
      </td>
    </tr>
  )
}

/** What a line is, and its rate or unit: beside the name, on a phone below it. */
function Named({ name, more }: { readonly name: string; readonly more: string | undefined }) {
  return (
    <>
      <th scope="row">
        {name}
        {more !== undefined && <small className="more quiet">{more}</small>}
      </th>
      <td className="quiet no-phone">{more}</td>
    </>
  )
}

type Happened = {
  readonly quote: Quote
  readonly trade: Trade | null
  readonly status: Quote['status']
}

export function conversionSteps(words: Texts['conversions'], { quote, trade, status }: Happened): Step[] {
  const { steps } = words
  const quoted: Step = {
    key: 'quoted',
    at: quote.created_at,
    title: steps.quoted,
    text: steps.quoted_text,
  }
  if (trade?.status === 'failed')
    return [
      quoted,
      { key: 'failed', at: trade.created_at, title: steps.failed, text: steps.failed_text, mark: 'failed' },
    ]
  if (trade !== null)
    return [
      quoted,
      {
        key: 'executed',
        at: trade.created_at,
        title: steps.executed,
        text: steps.executed_text,
        mark: 'done',
      },
    ]
  if (status === 'expired')
    return [quoted, { key: 'expired', at: quote.expires_at, title: steps.expired, text: steps.expired_text }]
  return [quoted, { key: 'ahead', at: quote.expires_at, ahead: true, title: steps.ahead }]
}

type DetailsProps = {
  readonly of: Terms
  readonly page: Pick<Reply<'console.trades.get'>, 'customer' | 'request'>
  /** A value, or a time. */
  readonly rows: readonly (readonly [name: string, value: ReactNode | { readonly at: string }])[]
}

export function ConversionDetails({ of, page, rows }: DetailsProps) {
  const { conversions } = useText()
  const place = usePlace()
  const { customer, request } = page
  const base = baseAssetOf(of)
  return (
    <aside>
      <Section title={conversions.details}>
        <Details
          rows={[
            [
              conversions.customer,
              <Fragment key="customer">
                <Link to={place(`customers/${customer.id}`)}>
                  <bdi>{customer.name}</bdi>
                </Link>
                <br />
                <Id id={customer.id} />
              </Fragment>,
            ],
            [conversions.side, of.side === 'buy' ? conversions.buys(base) : conversions.sells(base)],
            ...rows.map(
              ([name, value]) =>
                [name, isTime(value) ? <Time key={name} at={value.at} as="detail" /> : value] as const,
            ),
            ...metadataRows(of.metadata),
            [conversions.request_id, request.id !== null && <Id key="request" id={request.id} />],
            [
              conversions.key,
              <span key="key">
                <bdi>{request.key.name}</bdi> <span className="quiet mono">…{request.key.last_four}</span>
              </span>,
            ],
            [conversions.created, <Time key="created" at={of.created_at} as="detail" />],
          ]}
        />
      </Section>
    </aside>
  )
}

const isTime = (value: unknown): value is { readonly at: string } =>
  typeof value === 'object' && value !== null && 'at' in value && !('props' in value)

type OpeningProps = {
  readonly id: string
  readonly list: 'quotes' | 'trades'
  readonly query: Pick<UseQueryResult, 'isError' | 'error' | 'refetch'>
}

/** Shown while the object loads, or when it cannot be loaded. */
export function Opening({ id, list, query }: OpeningProps) {
  const { conversions } = useText()
  const trail = useTrail(list, conversions[list])
  return (
    <>
      <Crumbs>{[...trail, <Id key="id" id={id} as="full" />]}</Crumbs>
      <PageHead title={conversions[list === 'quotes' ? 'quote' : 'trade']} />
      <div aria-busy={!query.isError || undefined}>
        {query.isError && (
          <Section>
            <Failure error={query.error} reading onAgain={() => void query.refetch()} />
          </Section>
        )}
      </div>
    </>
  )
}
