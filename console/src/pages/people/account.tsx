import type { ReactNode } from 'react'
import type { Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { countText, percentText } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Details } from '../../ui/details.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { PageHead, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import './people.css'

type Account = Reply<'console.account.get'>

/** The partner's terms, read-only: the operator changes them. */
export function AccountPage() {
  const { people } = useText()
  const account = useCall('console.account.get', {})
  return (
    <>
      <PageHead title={people.account.title} about={people.account.about} bare />
      {account.isError && <Failure error={account.error} onAgain={() => void account.refetch()} reading />}
      {account.data && (
        <>
          <div className="cols two terms">
            <Terms account={account.data} />
            <Requests account={account.data} />
          </div>
          <MoneyLimits limits={account.data.money_limits} />
        </>
      )}
    </>
  )
}

function Terms({ account }: { readonly account: Account }) {
  const { people, ui } = useText()
  const { language } = useLanguage()
  const { pix_fee, service_fee_bps, partner_fee_share_pct, third_party_payouts } = account
  return (
    <Section title={people.account.terms}>
      <Details
        rows={[
          [people.account.partner, account.name],
          [people.account.id, <Id key="id" id={account.id} />],
          [people.account.tier, ui.tiers[account.tier] ?? account.tier],
          [people.account.since, <Time key="since" at={account.created_at} as="day" />],
          [people.account.pix_fee, <Amount key="fee" units={pix_fee} asset="BRL" as="full" />],
          [people.account.service_fee, percentText(service_fee_bps, language)],
          [people.account.share, percentText(partner_fee_share_pct * 100, language)],
          [
            people.account.third_party,
            third_party_payouts ? people.account.arranged : people.account.not_arranged,
          ],
        ]}
      />
    </Section>
  )
}

const windows = ['per_minute', 'per_day', 'lookup_per_minute'] as const

/** The request limits in force, marking those set for this partner alone. */
function Requests({ account }: { readonly account: Account }) {
  const { people } = useText()
  const { language } = useLanguage()
  const { limits, endpoint_limits, own_limits } = account
  const limitText = (name: (typeof own_limits)[number], limit: number | null) => (
    <>
      {limit !== null && countText(limit, language)}{' '}
      {own_limits.includes(name) && <span className="quiet small">{people.account.own_limit}</span>}
    </>
  )
  return (
    <Section title={people.account.requests}>
      <div className="wide-names">
        <Details
          rows={[
            ...windows.map((name): [string, ReactNode] => [
              people.account[name],
              limitText(name, limits[name]),
            ]),
            ...endpoint_limits.map(({ endpoint, per_minute }): [string, ReactNode] => [
              people.account.to_endpoint(endpoint),
              limitText('endpoint_per_minute', per_minute),
            ]),
          ]}
        />
      </div>
    </Section>
  )
}

type LimitName = keyof Account['money_limits']['production']
const assets: Readonly<Record<LimitName, 'BRL' | 'USDT' | 'BTC'>> = {
  payout_order: 'BRL',
  payout_day: 'BRL',
  payout_night: 'BRL',
  transfer_order_usdt: 'USDT',
  transfer_day_usdt: 'USDT',
  transfer_order_btc: 'BTC',
  transfer_day_btc: 'BTC',
}

function MoneyLimits({ limits }: { readonly limits: Account['money_limits'] }) {
  const { people } = useText()
  const cell = (environment: 'production' | 'sandbox') => (name: LimitName) => {
    const units = limits[environment][name]
    if (units === null) return <span className="faint">{people.account.no_limit}</span>
    return <Amount units={units} asset={assets[name]} as="full" />
  }
  return (
    <Section title={people.account.money}>
      <Table<LimitName>
        label={people.account.money}
        look="plain"
        rows={Object.keys(assets) as LimitName[]}
        keyOf={(name) => name}
        columns={[
          {
            key: 'limit',
            head: people.account.limit,
            fold: 'm1',
            cell: (name) => people.account.money_limits[name],
          },
          {
            key: 'production',
            head: people.account.production,
            right: true,
            fold: 'named',
            cell: cell('production'),
          },
          {
            key: 'sandbox',
            head: people.account.sandbox,
            right: true,
            fold: 'named',
            cell: cell('sandbox'),
          },
        ]}
      />
    </Section>
  )
}
