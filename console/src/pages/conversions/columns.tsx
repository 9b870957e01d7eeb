import type { ReactNode } from 'react'
import type { Quote, Trade } from '../../api/types.ts'
import type { Texts } from '../../text/en/en.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { useFilters } from '../../ui/filters.tsx'
import { Empty } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ToPlayground } from '../playground/to-playground.tsx'
import { priceText } from './price.ts'

type SideOptions<Row> = {
  readonly words: Texts['conversions']
  readonly sidesOf: (row: Row) => Quote | Trade
  /** The customer, as a link to the page of the row. */
  readonly link: (row: Row) => ReactNode
}

/** The columns that quotes and trades share: time, customer, both amounts and the price. */
export const sideColumns = <Row,>({ words, sidesOf, link }: SideOptions<Row>): readonly Column<Row>[] => [
  {
    key: 'created',
    head: words.created,
    sorts: true,
    className: 'quiet nowrap',
    cell: (row) => <Time at={sidesOf(row).created_at} />,
  },
  { key: 'customer', head: words.customer, fold: 'm1', cell: link },
  {
    key: 'pays',
    head: words.pays,
    right: true,
    fold: 'a1',
    labelled: true,
    cell: (row) => <Amount units={sidesOf(row).from_amount} asset={sidesOf(row).from_asset} as="column" />,
  },
  {
    key: 'receives',
    head: words.receives,
    right: true,
    fold: 'm2',
    labelled: true,
    cell: (row) => <Amount units={sidesOf(row).to_amount} asset={sidesOf(row).to_asset} as="column" />,
  },
  {
    key: 'price',
    head: words.price,
    right: true,
    className: 'quiet',
    cell: (row) => <PriceOf price={sidesOf(row).market_price} />,
  },
]

function PriceOf({ price }: { readonly price: string }) {
  const { language } = useLanguage()
  return priceText(price, language)
}

const auth = '-H "Authorization: Bearer $TRILHO_KEY"'
const body = '{"customer_id":"cus_…","from_asset":"BRL","to_asset":"USDT","amount":"10000"}'

/** Example calls for the empty lists. */
const calls = {
  quotes: `curl ${location.origin}/v1/quotes \\\n  ${auth} \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`,
  trades: `curl -X POST ${location.origin}/v1/quotes/qt_…/execute \\\n  ${auth}`,
}

type EmptyProps = { readonly list: 'quotes' | 'trades'; readonly filtered: boolean }

export function ListEmpty({ list, filtered }: EmptyProps) {
  const { conversions, ui } = useText()
  const { clear } = useFilters(['status', 'pair', 'customer_id', 'created'])
  if (filtered)
    return <Empty title={conversions.nothing_found} action={<Button onClick={clear}>{ui.clear}</Button>} />
  return (
    <Empty title={conversions[`no_${list}`]} action={<ToPlayground />}>
      <p className="quiet">{conversions[`${list}_will`]}</p>
      <Code as="shell" title="curl">
        {calls[list]}
      </Code>
    </Empty>
  )
}
