import { StepLine } from '../../charts/step-line.tsx'
import { amountText, isLong } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Coin } from '../../ui/asset.tsx'
import type { Overview } from './overview.tsx'

export const Balances = ({ of: { balances } }: { readonly of: Overview }) => (
  <div className="cols c3">
    {balances.map((balance) => (
      <Balance key={balance.asset} balance={balance} />
    ))}
  </div>
)

function Balance({ balance }: { readonly balance: Overview['balances'][number] }) {
  const words = useText().overview.balances
  const { asset, held, available, in_transit, customers, days } = balance
  return (
    <section className="bal" aria-label={asset}>
      <div className="top">
        <Coin asset={asset} big />
        <span>
          <b className="strong">{asset}</b> <span className="quiet">{words.held_for(customers)}</span>
        </span>
      </div>
      <div className={isLong(held) ? 'v long' : 'v'}>
        <Amount units={held} asset={asset} />
      </div>
      <div className="low">
        <dl className={isLong(held) ? 'split long' : 'split'}>
          <dt>{words.available}</dt>
          <dd>
            <Amount units={available} asset={asset} as="bare" />
          </dd>
          <dt>{words.in_transit}</dt>
          <dd>
            <Amount units={in_transit} asset={asset} as="bare" />
          </dd>
        </dl>
        <Line asset={asset} days={days} />
      </div>
    </section>
  )
}

function Line({ asset, days }: Pick<Overview['balances'][number], 'asset' | 'days'>) {
  const words = useText().overview.balances
  const { language } = useLanguage()
  const values = days.map(({ held }) => (held === null ? null : BigInt(held)))
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return null
  const text = (value: bigint) => amountText(value, asset, { language })
  return (
    <StepLine
      values={values}
      look={asset.toLowerCase() as 'brl' | 'usdt' | 'btc'}
      label={words.line(text(known[0]!), text(known.at(-1)!))}
    />
  )
}
