import { Link } from '@tanstack/react-router'
import type { PixCharge } from '../../api/types.ts'
import { amountText } from '../../format/amount.ts'
import { useChargeText } from '../../text/charges/use-charge-text.ts'
import { useLanguage } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Id } from '../../ui/id.tsx'
import { Section } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { usePlace } from '../../view.tsx'
import { kindsOf, type Payment, type PaymentKind } from './meaning.ts'

type Props = { readonly charge: PixCharge; readonly payments: readonly Payment[] }
type Row = { readonly payment: Payment; readonly kind: PaymentKind; readonly late: boolean }

/** The payments of a charge, each with what it is: the whole amount, a part, paid again, late. */
export function Payments({ charge, payments }: Props) {
  const { payments: words } = useChargeText()
  const columns = useColumns()
  const kinds = kindsOf(charge, payments)
  return (
    <Section title={words.title} about={words.about}>
      {payments.length === 0 ? (
        <p className="quiet">{words.none}</p>
      ) : (
        <Table
          label={words.title}
          columns={columns}
          rows={payments.map((payment, i) => ({ payment, ...kinds[i]! }))}
          keyOf={({ payment }) => payment.end_to_end_id}
          look="plain"
          foot={
            <tr>
              <td className="quiet m1" colSpan={3}>
                {words.sum}
              </td>
              <td className="r a1 med">
                <Amount units={charge.amount_received} asset="BRL" as="bare" total />
              </td>
              <td />
            </tr>
          }
        />
      )}
    </Section>
  )
}

function useColumns(): readonly Column<Row>[] {
  const { payments: words } = useChargeText()
  const { language } = useLanguage()
  const place = usePlace()
  return [
    {
      key: 'time',
      head: words.time,
      fold: 'm2',
      className: 'quiet nowrap',
      cell: ({ payment }) => <Time at={payment.paid_at} />,
    },
    {
      key: 'kind',
      head: words.kind,
      fold: 'm1',
      cell: ({ payment, kind, late }) => {
        const named = late ? words.late(words[kind]) : words[kind]
        const returned = returnedOf(payment)
        return (
          <>
            {payment.deposit === null ? (
              named
            ) : (
              <Link className="plain" to={place(`deposits/${payment.deposit.id}`)}>
                {named}
              </Link>
            )}
            {returned !== undefined && (
              <small className="quiet"> {words.returned(amountText(returned, 'BRL', { language }))}</small>
            )}
          </>
        )
      },
    },
    {
      key: 'payer',
      head: words.payer,
      className: 'quiet',
      cell: ({ payment }) => <bdi>{payment.payer_name}</bdi>,
    },
    {
      key: 'amount',
      head: words.amount,
      right: true,
      fold: 'a1',
      className: 'med',
      cell: ({ payment }) => <Amount units={payment.amount} asset="BRL" as="bare" />,
    },
    {
      key: 'id',
      head: 'End-to-end id',
      fold: 'a2',
      cell: ({ payment }) => <Id id={payment.end_to_end_id} as="address" />,
    },
  ]
}

/** What went back to the payer. A service without returns does not have the field. */
function returnedOf({ deposit }: Payment): string | undefined {
  return (deposit as { readonly amount_returned?: string } | null)?.amount_returned
}
