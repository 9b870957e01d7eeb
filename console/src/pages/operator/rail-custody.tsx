import type { Reply } from '../../api/client.ts'
import { amountText, type Language } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Id } from '../../ui/id.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { railName } from './rail-names.ts'

type Rail = Reply<'console.operator.rails.get'>['rails'][number]
type Held = Rail & { readonly custody: NonNullable<Rail['custody']> }

/** The rails with a wallet on a real chain. */
export const withCustody = (rails: readonly Rail[]): readonly Held[] =>
  rails.filter((rail): rail is Held => rail.custody !== null)

/** What the wallets hold, how the books compare, and whether the nodes answer. */
export function RailCustody({ rails: rows }: { readonly rails: readonly Held[] }) {
  const { operator } = useText()
  const { rails } = operator
  const { language } = useLanguage()
  return (
    <Table<Held>
      label={rails.custody}
      rows={rows}
      keyOf={({ rail }) => rail}
      look="plain"
      columns={[
        { key: 'rail', head: rails.rail, fold: 'm1', className: 'med', cell: ({ rail }) => railName(rail) },
        {
          key: 'wallet',
          head: rails.wallet,
          fold: 'named',
          cell: ({ custody: { held } }) =>
            held === null ? (
              <span className="quiet">{rails.not_asked}</span>
            ) : (
              <Id id={held.wallet} as="address" />
            ),
        },
        {
          key: 'held',
          head: rails.held,
          right: true,
          fold: 'a1',
          cell: ({ asset, custody: { held } }) => held && <Amount units={held.amount} asset={asset} />,
        },
        {
          key: 'gas',
          head: rails.gas,
          right: true,
          fold: 'named',
          cell: ({ custody: { held, gas_coin } }) =>
            held && gas_coin !== '' && gasText(held.gas_amount, gas_coin, language),
        },
        {
          key: 'difference',
          head: rails.difference,
          right: true,
          fold: 'named',
          cell: (rail) => <Difference rail={rail} />,
        },
        {
          key: 'reconciled',
          head: rails.reconciled,
          fold: 'named',
          cell: ({ custody: { reconciled } }) => reconciled && <Time at={reconciled.at} />,
        },
        {
          key: 'endpoints',
          head: rails.endpoints,
          fold: 'named',
          cell: ({ custody: { endpoints } }) => <Endpoints endpoints={endpoints} />,
        },
      ]}
    />
  )
}

function Difference({ rail: { asset, custody } }: { readonly rail: Held }) {
  const { operator } = useText()
  const { reconciled } = custody
  if (reconciled === null) return <span className="quiet">{operator.rails.not_reconciled}</span>
  return (
    <span className={reconciled.difference === '0' ? '' : 'warn med'}>
      <Amount units={reconciled.difference} asset={asset} change />
    </span>
  )
}

function Endpoints({ endpoints }: Pick<Held['custody'], 'endpoints'>) {
  const { operator } = useText()
  const healthy = endpoints.filter((one) => one.healthy).length
  const failures = endpoints.flatMap(({ endpoint, last_failure }) =>
    last_failure === null ? [] : [`${endpoint}: ${last_failure}`],
  )
  const state = healthy === endpoints.length ? 'done' : healthy === 0 ? 'failed' : 'attention'
  return (
    <span title={failures.join('\n')}>
      <Status state={state}>{operator.rails.healthy(healthy, endpoints.length)}</Status>
    </span>
  )
}

const GAS_DECIMALS = 18
const SHOWN_DECIMALS = 6

/** Six decimals are enough to see how long the coin lasts. */
export function gasText(wei: string, coin: string, language: Language): string {
  // TRX has the six decimals that are shown.
  const cut = coin === 'TRX' ? 0 : GAS_DECIMALS - SHOWN_DECIMALS
  const shown = BigInt(wei) / 10n ** BigInt(cut)
  return amountText(shown, 'USDT', { language }).replace('USDT', coin)
}
