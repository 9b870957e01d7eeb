import type { Movement } from '../api/types.ts'
import { sumUnits } from '../format/amount.ts'
import { useSession } from '../session.tsx'
import { useText } from '../text/text.tsx'
import { Amount } from '../ui/amount.tsx'
import { Section } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import { useView } from '../view.tsx'
import './object.css'

type Customer = { readonly id: string; readonly name: string }
type Entry = Movement['entries'][number]

/** The ledger movements of one cause; each movement sums to zero in every asset. */
export function Ledger(props: { readonly movements: readonly Movement[]; readonly customer: Customer }) {
  const { object } = useText()
  const { movements, customer } = props
  if (movements.length === 0) return null
  const assets = new Set(movements.flatMap(({ entries }) => entries.map(({ asset }) => asset)))
  const only = assets.size === 1 ? [...assets][0] : undefined
  return (
    <Section title={object.ledger} about={object.ledger_about}>
      <table className="t flat ledger" aria-label={object.ledger}>
        <thead>
          <tr>
            <th scope="col">{object.account}</th>
            <th scope="col" className="no-phone">
              {object.of}
            </th>
            <th scope="col" className="r">
              {only === undefined ? object.amount : `${object.amount}, ${only}`}
              <small className="after">{object.balance_after}</small>
            </th>
            <th scope="col" className="r no-phone">
              {object.balance_after}
            </th>
          </tr>
        </thead>
        {movements.map((movement) => (
          <MovementRows
            key={movement.name}
            movement={movement}
            customer={customer}
            mixed={only === undefined}
          />
        ))}
      </table>
    </Section>
  )
}

type RowsProps = { readonly movement: Movement; readonly customer: Customer; readonly mixed: boolean }

function MovementRows({ movement, customer, mixed }: RowsProps) {
  const { object } = useText()
  const names = useView() ? { ...object.accounts, partner_fees: object.partner_fees } : object.accounts
  const as = mixed ? 'column' : 'bare'
  const assets = [...new Set(movement.entries.map(({ asset }) => asset))]
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={4} className="moment">
          <b>{object.movement[movement.name] ?? movement.name}</b>{' '}
          <Time at={movement.created_at} as="clock" />
        </th>
      </tr>
      {movement.entries.map((entry, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a movement never change
        <tr key={i}>
          <td className="nowrap">
            {accountName(entry, names)}
            <small className="after owner">
              <Owner entry={entry} customer={customer} />
            </small>
          </td>
          <td className="quiet no-phone owner">
            <Owner entry={entry} customer={customer} />
          </td>
          <td className="r">
            <Amount units={entry.amount} asset={entry.asset} as={as} change />
            {entry.balance_after !== null && (
              <small className="after">
                <Amount units={entry.balance_after} asset={entry.asset} as={as} />
              </small>
            )}
          </td>
          <td className="r quiet no-phone">
            {entry.balance_after !== null && (
              <Amount units={entry.balance_after} asset={entry.asset} as={as} />
            )}
          </td>
        </tr>
      ))}
      {assets.map((asset, i) => (
        <tr key={asset} className="sum">
          <td />
          <td className="no-phone" />
          <td className="r">
            {i === 0 && <span className="faint">{object.sum}</span>}
            <Amount units={sumOf(movement, asset)} asset={asset} as={as} total />
          </td>
          <td className="no-phone" />
        </tr>
      ))}
    </tbody>
  )
}

const sumOf = ({ entries }: Movement, asset: string): string =>
  sumUnits(entries.filter((entry) => entry.asset === asset).map(({ amount }) => amount))

/** The name of an account: `in_transit:pix` is in transit on the Pix rail. */
function accountName({ account }: Entry, names: Readonly<Record<string, string>>): string {
  const [kind = account, rail] = account.split(':')
  const name = names[kind] ?? kind
  return rail === undefined ? name : `${name} · ${rail}`
}

function Owner({ entry, customer }: { readonly entry: Entry; readonly customer: Customer }) {
  const { object } = useText()
  const { partner } = useSession()
  const view = useView()
  if (entry.owner === customer.id) return <bdi>{customer.name}</bdi>
  if (entry.owner !== '') return view?.name ?? partner?.name ?? object.you
  return entry.account.startsWith('external') ? object.outside : object.house
}
