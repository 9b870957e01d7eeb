import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { parseAmount, typedAmount } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Checkbox, Field, Input, Select } from '../../ui/field.tsx'
import { ActDialog, type Acted } from './acted.tsx'

type Partner = Reply<'console.operator.partners.get'>['partner']

const tiers = ['standard', 'growth', 'enterprise'] as const
const figures = ['per_minute', 'per_day', 'endpoint_per_minute', 'lookup_per_minute'] as const

type Props = {
  readonly partner: Partner
  readonly onActed: (acted: Acted) => void
  readonly onClose: () => void
}

/** Sends only the changed terms. */
export function EditTerms({ partner, onActed, onClose }: Props) {
  const { operator, ui } = useText()
  const words = operator.partner
  const { language } = useLanguage()
  const environment = useEnvironment()
  const change = useAct('console.operator.partners.change', { stale: ['console.operator.'] })
  const [tier, setTier] = useState(partner.tier)
  const [fee, setFee] = useState(typedAmount(`${partner.pix_fee}`, 'BRL', language))
  const [bps, setBps] = useState(`${partner.service_fee_bps}`)
  const [share, setShare] = useState(`${partner.partner_fee_share_pct}`)
  const [third, setThird] = useState(partner.third_party_payouts)
  const [own, setOwn] = useState(figures.map((name) => `${partner[name] ?? ''}`))

  const units = parseAmount(fee.trim(), 'BRL', language)
  const wanted: Record<string, unknown> = {
    tier,
    pix_fee: units === undefined ? undefined : Number(units),
    service_fee_bps: figureOf(bps, 1_000),
    partner_fee_share_pct: figureOf(share, 100),
    third_party_payouts: third,
    ...Object.fromEntries(
      figures.map((name, i) => [name, own[i]?.trim() === '' ? null : figureOf(own[i] ?? '', 100_000_000)]),
    ),
  }
  const changed = Object.entries(wanted).filter(([name, value]) => value !== partner[name as keyof Partner])
  const wrong = changed.some(([, value]) => value === undefined)
  return (
    <ActDialog
      title={words.change_title(partner.name)}
      verb={words.save}
      busy={words.saving}
      blocked={wrong || changed.length === 0}
      onAct={() =>
        change.mutateAsync({
          params: { environment, partner_id: partner.id },
          body: Object.fromEntries(changed) as never,
        })
      }
      onActed={onActed}
      onClose={onClose}
    >
      <Field label={operator.partners.tier}>
        <Select
          value={tier}
          onValue={(value) => setTier(value as Partner['tier'])}
          options={tiers.map((one) => [one, ui.tiers[one] ?? one])}
        />
      </Field>
      <Field label={words.fee} aside="BRL">
        <Input value={fee} onValue={setFee} inputMode="decimal" />
      </Field>
      <Field label={words.bps}>
        <Input value={bps} onValue={setBps} inputMode="numeric" />
      </Field>
      <Field label={words.share}>
        <Input value={share} onValue={setShare} inputMode="numeric" />
      </Field>
      <Checkbox checked={third} onChecked={setThird} label={words.third_party} />
      {figures.map((name, i) => (
        <Field key={name} label={words[name]} hint={words.none_of_its_own}>
          <Input
            value={own[i] ?? ''}
            onValue={(value) => setOwn(own.map((one, at) => (at === i ? value : one)))}
            inputMode="numeric"
          />
        </Field>
      ))}
    </ActDialog>
  )
}

function figureOf(typed: string, most: number): number | undefined {
  const figure = /^[0-9]{1,9}$/.test(typed.trim()) ? Number(typed) : Number.NaN
  return figure <= most ? figure : undefined
}
