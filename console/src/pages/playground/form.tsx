import { type FormEvent, useRef, useState } from 'react'
import { amountText } from '../../format/amount.ts'
import { isolated } from '../../format/id.ts'
import { amountError } from '../../text/amount-error.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, focusFirstMistake, Input, Select } from '../../ui/field.tsx'
import { Segments } from '../../ui/segments.tsx'
import { DepositDialog } from '../money/deposit.tsx'
import { addressOn, assetOf, bodyOf, type Draft, type DraftAsset, networks, newKey } from './orders.ts'
import type { Known } from './playground.tsx'

type Props = {
  readonly known: Known
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
  readonly sending: boolean
  readonly onSend: () => unknown
}

type PartProps = { readonly draft: Draft; readonly set: (change: Partial<Draft>) => void }

export function OrderForm({ known, draft, onDraft, sending, onSend }: Props) {
  const { playground } = useText()
  const { language } = useLanguage()
  const form = useRef<HTMLFormElement>(null)
  const [tried, setTried] = useState(false)
  const set = (change: Partial<Draft>) => onDraft({ ...draft, ...change })
  const { kind } = draft
  const wrong = bodyOf(draft, language) === undefined

  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (wrong) return void setTimeout(() => focusFirstMistake(form.current))
    void onSend()
  }

  return (
    <form ref={form} className="stack-4" onSubmit={submit} noValidate>
      <Segments
        label={playground.what}
        value={kind}
        onValue={(next) => set({ kind: next })}
        options={[
          { value: 'payout', label: playground.payout },
          { value: 'charge', label: playground.charge },
          { value: 'transfer', label: playground.transfer },
          { value: 'quote', label: playground.quote },
        ]}
      />
      <Customer known={known} draft={draft} set={set} />
      {kind === 'quote' && <Sides draft={draft} set={set} />}
      {kind === 'transfer' && <Network draft={draft} set={set} />}
      <AmountField draft={draft} set={set} wrong={tried && wrong} />
      {kind === 'payout' && <PixKey draft={draft} set={set} />}
      {kind === 'transfer' && <Ending draft={draft} set={set} />}
      {kind !== 'quote' && <Once draft={draft} set={set} />}
      <div>
        <Button kind="primary" type="submit" busy={sending && playground.sending}>
          {playground.send[kind]}
        </Button>
      </div>
      <p className="quiet small">{playground.under_key}</p>
    </form>
  )
}

function Customer({ known, draft, set }: PartProps & { readonly known: Known }) {
  const { playground } = useText()
  const { language } = useLanguage()
  const asset = assetOf(draft)
  const chosen = known.customers.find(({ id }) => id === draft.customer_id)
  const balance = chosen?.balances.find((one) => one.asset === asset)
  const hint = balance && playground.has(amountText(balance.available, asset, { language }))
  const [giving, setGiving] = useState(false)
  const give = balance?.available === '0' && (
    <button type="button" className="link small" onClick={() => setGiving(true)}>
      {playground.give}
    </button>
  )
  return (
    <>
      <Field label={playground.customer} aside={give || undefined} {...(hint === undefined ? {} : { hint })}>
        <Select
          value={draft.customer_id}
          onValue={(customer_id) => set({ customer_id })}
          options={known.customers.map(({ id, name, document }) => [id, `${isolated(name)}  ${document}`])}
        />
      </Field>
      {giving && (
        <DepositDialog customer_id={draft.customer_id} asset={asset} onClose={() => setGiving(false)} />
      )}
    </>
  )
}

function AmountField({ draft, set, wrong }: PartProps & { readonly wrong: boolean }) {
  const { playground, ui } = useText()
  const { language } = useLanguage()
  const asset = assetOf(draft)
  const typed = draft.amounts[draft.kind]
  return (
    <Field
      label={`${playground.amount}, ${asset}`}
      error={wrong && amountError(ui, { typed, asset, language, example: '1050' })}
    >
      <Input
        value={typed}
        onValue={(typed) => set({ amounts: { ...draft.amounts, [draft.kind]: typed } })}
        inputMode="decimal"
        autoComplete="off"
      />
    </Field>
  )
}

function PixKey({ draft, set }: PartProps) {
  const { playground } = useText()
  const choices = Object.entries(playground.keys).map(([key, does]) => [key, `${key}, ${does}`] as const)
  return (
    <>
      <Field label={playground.recipient} hint={playground.keys[draft.pix_key]}>
        <Select
          value={draft.pix_key}
          onValue={(pix_key) => set({ pix_key })}
          options={[...choices, ['', playground.own_key]]}
        />
      </Field>
      {draft.pix_key === '' && (
        <Field label={playground.own_key} hint={playground.own_key_hint}>
          <Input value={draft.own_key} onValue={(own_key) => set({ own_key })} mono autoComplete="off" />
        </Field>
      )}
    </>
  )
}

function Network({ draft, set }: PartProps) {
  const { playground } = useText()
  const options = Object.entries(networks).map(
    ([network, asset]) => [network, `${network}, ${asset}`] as const,
  )
  return (
    <>
      <Field label={playground.network}>
        <Select
          value={draft.network}
          onValue={(network) => set({ network, address: addressOn(network) })}
          options={options}
        />
      </Field>
      <Field label={playground.address}>
        <Input value={draft.address} onValue={(address) => set({ address })} mono autoComplete="off" />
      </Field>
    </>
  )
}

function Ending({ draft, set }: PartProps) {
  const { playground } = useText()
  return (
    <Field label={playground.happens}>
      <Select
        value={draft.ending}
        onValue={(ending) => set({ ending })}
        options={Object.entries(playground.endings).toSorted(([one], [other]) => (one < other ? -1 : 1))}
      />
    </Field>
  )
}

const assets: readonly DraftAsset[] = ['BRL', 'USDT', 'BTC']

function Sides({ draft, set }: PartProps) {
  const { playground } = useText()
  const options = (but?: DraftAsset) => assets.filter((one) => one !== but).map((one) => [one, one] as const)
  const pays = (from: DraftAsset) => set({ from, to: from === draft.to ? draft.from : draft.to })
  return (
    <div className="pairs">
      <Field label={playground.pays}>
        <Select value={draft.from} onValue={(from) => pays(from as DraftAsset)} options={options()} />
      </Field>
      <Field label={playground.receives}>
        <Select
          value={draft.to}
          onValue={(to) => set({ to: to as DraftAsset })}
          options={options(draft.from)}
        />
      </Field>
    </div>
  )
}

function Once({ draft, set }: PartProps) {
  const { playground } = useText()
  return (
    <Field
      label={playground.idempotency_key}
      hint={playground.idempotency_hint}
      aside={
        <button type="button" className="link small" onClick={() => set({ idempotency_key: newKey() })}>
          {playground.new_key}
        </button>
      }
    >
      <Input
        value={draft.idempotency_key}
        onValue={(idempotency_key) => set({ idempotency_key })}
        mono
        autoComplete="off"
        spellCheck={false}
      />
    </Field>
  )
}
