import { useState } from 'react'
import { amountText, parseAmount, typedAmount } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Details } from '../../ui/details.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { ActDialog, type Acted } from './acted.tsx'
import './operator.css'

const limitNames = [
  'payout_order',
  'payout_day',
  'payout_night',
  'transfer_order_usdt',
  'transfer_day_usdt',
  'transfer_order_btc',
  'transfer_day_btc',
] as const

type LimitName = (typeof limitNames)[number]
type MoneyLimitValues = Readonly<Record<LimitName, string | null>>

const assetOf = (name: LimitName) => (name.endsWith('_usdt') ? 'USDT' : name.endsWith('_btc') ? 'BTC' : 'BRL')

type ShownProps = {
  readonly limits: MoneyLimitValues
  readonly used?: Readonly<Partial<Record<LimitName, string | null>>>
}

/** The limits on outgoing money. */
export function MoneyLimits({ limits, used = {} }: ShownProps) {
  const { operator } = useText()
  const { partner } = operator
  return (
    <div className="wide-names">
      <Details
        rows={limitNames.map((name) => [
          partner.limit[name],
          <Limit key={name} name={name} limit={limits[name]} used={used[name] ?? null} />,
        ])}
      />
    </div>
  )
}

type LimitProps = { readonly name: LimitName; readonly limit: string | null; readonly used: string | null }

function Limit({ name, limit, used }: LimitProps) {
  const { operator } = useText()
  const { partner } = operator
  const { language } = useLanguage()
  const shownAmount = (units: string) => amountText(units, assetOf(name), { language })
  return (
    <>
      {limit === null ? <span className="quiet">{partner.no_limit}</span> : shownAmount(limit)}
      {used !== null && <span className="quiet small"> {partner.used(shownAmount(used))}</span>}
    </>
  )
}

type EditProps = {
  readonly name: string
  readonly hint: string
  readonly limits: MoneyLimitValues
  readonly onSave: (change: Partial<Record<LimitName, string | null>>) => Promise<Acted>
  readonly onActed: (acted: Acted) => void
  readonly onClose: () => void
}

/** Sends only the changed limits. */
export function EditLimits({ name, hint, limits, onSave, onActed, onClose }: EditProps) {
  const { operator } = useText()
  const { partner, booking } = operator
  const { language } = useLanguage()
  const begin = Object.fromEntries(
    limitNames.map((one) => {
      const limit = limits[one]
      return [one, limit === null ? '' : typedAmount(limit, assetOf(one), language)]
    }),
  ) as Record<LimitName, string>
  const [typed, setTyped] = useState(begin)
  const changed = limitNames.filter((one) => typed[one].trim() !== begin[one])
  const read = (one: LimitName) =>
    typed[one].trim() === '' ? null : parseAmount(typed[one].trim(), assetOf(one), language)
  const wrong = changed.filter((one) => read(one) === undefined)
  return (
    <ActDialog
      title={partner.limit_title(name)}
      verb={partner.save_limits}
      busy={partner.saving}
      blocked={changed.length === 0 || wrong.length > 0}
      why={hint}
      onAct={() => onSave(Object.fromEntries(changed.map((one) => [one, read(one) ?? null])))}
      onActed={onActed}
      onClose={onClose}
    >
      {limitNames.map((one) => (
        <Field
          key={one}
          label={partner.limit[one]}
          aside={assetOf(one)}
          error={wrong.includes(one) ? booking.amount_wrong : undefined}
        >
          <Input
            value={typed[one]}
            onValue={(value) => setTyped({ ...typed, [one]: value })}
            inputMode="decimal"
            autoComplete="off"
          />
        </Field>
      ))}
    </ActDialog>
  )
}
