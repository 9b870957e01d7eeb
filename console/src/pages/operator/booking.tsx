import { useState } from 'react'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { amountText, parseAmount } from '../../format/amount.ts'
import { isolated } from '../../format/id.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { ActDialog, type Acted } from './acted.tsx'

const assets = ['BRL', 'USDT', 'BTC'] as const
type AssetName = (typeof assets)[number]
const stale = ['console.operator.']

type Done = { readonly onActed: (acted: Acted) => void; readonly onClose: () => void }

/** The fields of a credit or debit: amount, reason and reference. */
function useBooking() {
  const { operator } = useText()
  const { booking } = operator
  const { language } = useLanguage()
  const [asset, setAsset] = useState<AssetName>('BRL')
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [reference, setReference] = useState('')
  const amount = parseAmount(typed.trim(), asset, language)
  const good = amount !== undefined && amount !== '0'
  const fields = (
    <>
      <Field label={booking.asset}>
        <Select
          value={asset}
          onValue={(value) => setAsset(value as AssetName)}
          options={assets.map((one) => [one, one])}
        />
      </Field>
      <Field
        label={booking.amount}
        aside={asset}
        error={typed.trim() !== '' && !good ? booking.amount_wrong : undefined}
      >
        <Input value={typed} onValue={setTyped} inputMode="decimal" autoComplete="off" />
      </Field>
      <Why {...{ reason, setReason, reference, setReference }} />
    </>
  )
  return {
    fields,
    amount_text: good ? amountText(amount, asset, { language }) : '',
    blocked: !good || reason.trim() === '' || reference.trim() === '',
    body: { asset, amount: amount ?? '', reason: reason.trim(), reference: reference.trim() },
  }
}

type WhyProps = {
  readonly reason: string
  readonly setReason: (text: string) => void
  readonly reference: string
  readonly setReference: (text: string) => void
}

function Why({ reason, setReason, reference, setReference }: WhyProps) {
  const { operator } = useText()
  const { booking } = operator
  return (
    <>
      <Field label={booking.reason}>
        <Input value={reason} onValue={setReason} maxLength={200} autoComplete="off" />
      </Field>
      <Field label={booking.reference} hint={booking.reference_hint}>
        <Input value={reference} onValue={setReference} maxLength={255} mono autoComplete="off" />
      </Field>
    </>
  )
}

/** Says in words what the act does, and whether another operator has to approve it. */
function useWords(): (action: string, values: { amount: string; who: string; to?: string }) => string {
  const { operator } = useText()
  const environment = useEnvironment()
  const { acted, proposals } = operator
  return (action, { amount, who, to = '' }) => {
    const values = { amount, who: isolated(who), to, paid: false, inward: false, role: '', end_to_end_id: '' }
    const sentence = proposals.sentence[action]?.(values) ?? ''
    return environment === 'production' ? acted.you_propose(sentence) : acted.you_do(sentence)
  }
}

function useByTwo(): string {
  const { operator } = useText()
  const environment = useEnvironment()
  return environment === 'production' ? operator.booking.two : operator.booking.at_once
}

type BookProps = Done & {
  readonly kind: 'credit' | 'debit'
  readonly customer: { readonly id: string; readonly name: string }
}

export function Book({ kind, customer, onActed, onClose }: BookProps) {
  const { operator } = useText()
  const { booking } = operator
  const environment = useEnvironment()
  const book = useAct('console.operator.customers.book', { stale })
  const { fields, blocked, body, amount_text } = useBooking()
  const words = useWords()
  return (
    <ActDialog
      title={booking.title[kind](customer.name)}
      words={words(kind, { amount: amount_text, who: customer.name })}
      verb={environment === 'production' ? booking.propose[kind] : booking.do[kind]}
      busy={booking.working}
      blocked={blocked}
      why={useByTwo()}
      onAct={() =>
        book.mutateAsync({ params: { environment, customer_id: customer.id }, body: { kind, ...body } })
      }
      onActed={onActed}
      onClose={onClose}
    >
      {fields}
    </ActDialog>
  )
}

const DEPOSIT_ID = /^dep_[0-9a-z]{26}$/

type ReverseProps = Done & {
  readonly partner_id: string
  readonly customer: { readonly id: string; readonly name: string }
}

/** The deposit is read before the operator confirms: the words name its amount, and it must be one of this customer. */
export function Reverse({ partner_id, customer, onActed, onClose }: ReverseProps) {
  const { operator } = useText()
  const { booking } = operator
  const { language } = useLanguage()
  const environment = useEnvironment()
  const words = useWords()
  const reverse = useAct('console.operator.deposits.reverse', { stale })
  const [deposit, setDeposit] = useState('')
  const [reason, setReason] = useState('')
  const [reference, setReference] = useState('')
  const deposit_id = deposit.trim()
  const is_id = DEPOSIT_ID.test(deposit_id)
  const read = useCall(
    'console.operator.view.deposits.get',
    { params: { environment, partner_id, deposit_id } },
    { when: is_id },
  )
  const found = is_id && read.data?.customer.id === customer.id ? read.data.deposit : undefined
  const is_unknown = deposit_id !== '' && found === undefined && !(is_id && read.isPending)
  return (
    <ActDialog
      title={booking.reverse_title}
      words={words('reverse_credit', {
        amount: found === undefined ? '' : amountText(found.amount, found.asset, { language }),
        who: customer.name,
      })}
      verb={booking.reverse_verb}
      busy={booking.working}
      blocked={found === undefined || [reason, reference].some((text) => text.trim() === '')}
      why={useByTwo()}
      onAct={() =>
        reverse.mutateAsync({
          params: { environment, deposit_id },
          body: { reason: reason.trim(), reference: reference.trim() },
        })
      }
      onActed={onActed}
      onClose={onClose}
    >
      <Field label={booking.deposit} error={is_unknown ? booking.reverse_unknown(customer.name) : undefined}>
        <Input value={deposit} onValue={setDeposit} mono autoComplete="off" spellCheck={false} />
      </Field>
      <Why {...{ reason, setReason, reference, setReference }} />
    </ActDialog>
  )
}

type PayProps = Done & { readonly partner: { readonly id: string; readonly name: string } }

export function PayFees({ partner, onActed, onClose }: PayProps) {
  const { operator, ui } = useText()
  const { booking } = operator
  const environment = useEnvironment()
  const pay = useAct('console.operator.partners.pay_fees', { stale })
  const { fields, blocked, body, amount_text } = useBooking()
  const words = useWords()
  const [customer, setCustomer] = useState('')
  const to = customer.trim()
  return (
    <ActDialog
      title={booking.pay_title(partner.name)}
      words={words('pay_fees', { amount: amount_text, who: partner.name, to })}
      verb={booking.pay_verb[environment]}
      busy={booking.working}
      blocked={blocked}
      why={useByTwo()}
      onAct={() =>
        pay.mutateAsync({
          params: { environment, partner_id: partner.id },
          body: { ...body, ...(to === '' ? {} : { customer_id: to }) },
        })
      }
      onActed={onActed}
      onClose={onClose}
    >
      {fields}
      <Field label={booking.to} aside={ui.optional} hint={booking.to_hint}>
        <Input value={customer} onValue={setCustomer} mono autoComplete="off" spellCheck={false} />
      </Field>
    </ActDialog>
  )
}
