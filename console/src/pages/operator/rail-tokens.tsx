import type { Reply } from '../../api/client.ts'
import { countText } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Id } from '../../ui/id.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { railName } from './rail-names.ts'

type Rail = Reply<'console.operator.rails.get'>['rails'][number]
type Tokens = NonNullable<NonNullable<Rail['custody']>['unknown_tokens']>
type Arrival = Tokens['newest'][number] & Pick<Rail, 'rail'> & Pick<Tokens, 'count'>

/** The newest transfers of other tokens to deposit addresses, rail by rail. */
export const withTokens = (rails: readonly Rail[]): readonly Arrival[] =>
  rails.flatMap(({ rail, custody }) => {
    const tokens = custody?.unknown_tokens
    return tokens ? tokens.newest.map((one) => ({ ...one, rail, count: tokens.count })) : []
  })

const DIGITS_SHOWN = 24

/** Its decimals are not known. An amount may have 78 digits. */
const amountText = (amount: string): string =>
  amount.length > DIGITS_SHOWN ? `≥ 10^${amount.length - 1}` : amount

/** Only addresses and hashes: the name of a token is a stranger's text. */
export function RailTokens({ rails: rows }: { readonly rails: readonly Arrival[] }) {
  const { operator } = useText()
  const { rails } = operator
  const { language } = useLanguage()
  return (
    <Table<Arrival>
      label={rails.unknown_tokens}
      rows={rows}
      keyOf={({ rail, tx_hash, log_index }) => `${rail} ${tx_hash} ${log_index}`}
      look="plain"
      columns={[
        { key: 'rail', head: rails.rail, fold: 'm1', className: 'med', cell: ({ rail }) => railName(rail) },
        {
          key: 'token_seen',
          head: rails.token_seen,
          fold: 'a1',
          cell: ({ seen_at }) => <Time at={seen_at} />,
        },
        {
          key: 'token_contract',
          head: rails.token_contract,
          fold: 'named',
          cell: ({ contract }) => <Id id={contract} as="address" />,
        },
        {
          key: 'token_address',
          head: rails.token_address,
          fold: 'named',
          cell: ({ address }) => <Id id={address} as="address" />,
        },
        {
          key: 'token_amount',
          head: rails.token_amount,
          right: true,
          fold: 'named',
          cell: ({ amount }) => <span title={amount}>{amountText(amount)}</span>,
        },
        {
          key: 'token_transaction',
          head: rails.token_transaction,
          fold: 'named',
          cell: ({ tx_hash }) => <Id id={tx_hash} as="address" />,
        },
        {
          key: 'token_count',
          head: rails.token_count,
          right: true,
          fold: 'named',
          cell: ({ count }) => countText(count, language),
        },
      ]}
    />
  )
}
