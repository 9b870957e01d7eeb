import type { Reply } from '../../api/client.ts'
import { countText } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Id } from '../../ui/id.tsx'
import { Table } from '../../ui/table.tsx'
import { gasText } from './rail-custody.tsx'
import { railName } from './rail-names.ts'

type Rail = Reply<'console.operator.rails.get'>['rails'][number]
type Custody = NonNullable<Rail['custody']>
type Swept = Pick<Rail, 'rail' | 'asset' | 'limits'> &
  Pick<Custody, 'gas_coin'> & { readonly sweeps: NonNullable<Custody['sweeps']> }

/** The networks on which each customer has a deposit address, whose tokens a sweep moves to the wallet. */
export const withSweeps = (rails: readonly Rail[]): readonly Swept[] =>
  rails.flatMap(({ rail, asset, limits, custody }) =>
    custody?.sweeps ? [{ rail, asset, limits, gas_coin: custody.gas_coin, sweeps: custody.sweeps }] : [],
  )

/** The USDT at deposit addresses, the sweeps that are under way to the wallet, and the account that pays their gas. */
export function RailSweeps({ rails: rows }: { readonly rails: readonly Swept[] }) {
  const { operator } = useText()
  const { rails } = operator
  const { language } = useLanguage()
  return (
    <Table<Swept>
      label={rails.sweeps}
      rows={rows}
      keyOf={({ rail }) => rail}
      look="plain"
      columns={[
        { key: 'rail', head: rails.rail, fold: 'm1', className: 'med', cell: ({ rail }) => railName(rail) },
        {
          key: 'unswept',
          head: rails.unswept,
          right: true,
          fold: 'a1',
          cell: ({ asset, sweeps }) => <Amount units={sweeps.unswept} asset={asset} />,
        },
        {
          key: 'addresses',
          head: rails.addresses,
          right: true,
          fold: 'named',
          cell: ({ sweeps }) => countText(sweeps.addresses, language),
        },
        {
          key: 'under_way',
          head: rails.under_way,
          right: true,
          fold: 'named',
          cell: ({ asset, sweeps }) => <Amount units={sweeps.under_way_amount} asset={asset} />,
        },
        {
          key: 'sweep_from',
          head: rails.limit.sweep_from,
          right: true,
          fold: 'named',
          cell: ({ asset, limits }) =>
            limits.sweep_from === null ? (
              <span className="quiet">{rails.no_sweep}</span>
            ) : (
              <Amount units={limits.sweep_from} asset={asset} />
            ),
        },
        {
          key: 'gas_account',
          head: rails.gas_account,
          fold: 'named',
          cell: ({ sweeps }) => <Id id={sweeps.gas_account} as="address" />,
        },
        {
          key: 'gas_account_has',
          head: rails.gas_account_has,
          right: true,
          fold: 'named',
          cell: ({ gas_coin, sweeps }) => gasText(sweeps.gas_amount, gas_coin, language),
        },
      ]}
    />
  )
}
