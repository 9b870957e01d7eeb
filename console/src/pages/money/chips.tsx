import { useState } from 'react'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { amountText, parseAmount } from '../../format/amount.ts'
import { amountError } from '../../text/amount-error.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Chip, FilterSegments, TextChip, useFilters } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Glyph, type Shape } from '../../ui/status.tsx'

/*
 * The filters above the lists of payouts and transfers. A chip is a button that shows the value of its filter, and opens a form to
 * set it. The values are query parameters of the page (ui/filters.tsx).
 */

/** A minimum and a maximum amount of one asset. */
export function AmountChip({ asset }: { readonly asset: string }) {
  const { money } = useText()
  const { language } = useLanguage()
  const { values, setAll } = useFilters(['amount_min', 'amount_max'])
  // The URL may hold any text; the service's error explains a malformed one.
  const text = (units: string) => (/^-?\d+$/.test(units) ? amountText(units, asset, { language }) : units)
  const bounds = [
    values.amount_min === undefined ? [] : [money.from(text(values.amount_min))],
    values.amount_max === undefined ? [] : [money.under(text(values.amount_max))],
  ].flat()
  return (
    <Chip
      label={money.amount}
      value={bounds.length === 0 ? undefined : bounds.join(', ')}
      onClear={() => setAll({ amount_min: undefined, amount_max: undefined })}
    >
      {(close) => (
        <AskAmount
          asset={asset}
          onAmounts={(min, max) => {
            close()
            setAll({ amount_min: min, amount_max: max })
          }}
        />
      )}
    </Chip>
  )
}

type AskAmountProps = {
  readonly asset: string
  readonly onAmounts: (min: string | undefined, max: string | undefined) => void
}

function AskAmount({ asset, onAmounts }: AskAmountProps) {
  const { money, ui } = useText()
  const { language } = useLanguage()
  const [least, setLeast] = useState('')
  const [most, setMost] = useState('')
  const read = (typed: string) => parseAmount(typed, asset, language)
  const errorOf = (typed: string) =>
    typed === '' ? undefined : amountError(ui, { typed, asset, language, example: '1500' })
  const low = errorOf(least)
  const crossed = least !== '' && most !== '' && BigInt(read(least) ?? 0) > BigInt(read(most) ?? 0)
  const high = errorOf(most) ?? (low === undefined && crossed ? money.amount_order : undefined)
  const wrong = low !== undefined || high !== undefined
  return (
    <form
      className="pop"
      onSubmit={(event) => {
        event.preventDefault()
        if (!wrong && least + most !== '') onAmounts(read(least), read(most))
      }}
    >
      <Field label={money.at_least} error={low}>
        <Input value={least} onValue={setLeast} inputMode="decimal" autoComplete="off" />
      </Field>
      <Field label={money.at_most} error={high}>
        <Input value={most} onValue={setMost} inputMode="decimal" autoComplete="off" />
      </Field>
      <Button kind="primary" type="submit" disabled={wrong || least + most === ''}>
        {ui.apply}
      </Button>
    </form>
  )
}

const CUSTOMER_FILTER = 'customer_id'

/** Filters by a customer, found by name or id. */
export function CustomerChip() {
  const { money } = useText()
  const environment = useEnvironment()
  const { values, set } = useFilters([CUSTOMER_FILTER])
  const id = values[CUSTOMER_FILTER]
  const chosen = useCall(
    'console.customers.get',
    { params: { environment, customer_id: id ?? '' } },
    { when: id !== undefined },
  )
  return (
    <Chip
      label={money.customer}
      value={id === undefined ? undefined : <bdi>{chosen.data?.customer.name ?? id}</bdi>}
      onClear={() => set(CUSTOMER_FILTER, undefined)}
    >
      {(close) => (
        <AskCustomer
          onCustomer={(customer_id) => {
            close()
            set(CUSTOMER_FILTER, customer_id)
          }}
        />
      )}
    </Chip>
  )
}

const FOUND_MAX = '8'

function AskCustomer({ onCustomer }: { readonly onCustomer: (id: string) => void }) {
  const { money } = useText()
  const environment = useEnvironment()
  const [typed, setTyped] = useState('')
  const name = typed.trim()
  const byId = name.startsWith('cus_')
  const found = useCall(
    'console.customers.list',
    { params: { environment }, query: { name, limit: FOUND_MAX } },
    { when: name.length > 1 && !byId, keep: true },
  )
  const rows = name.length > 1 && !byId ? (found.data?.data ?? []) : []
  return (
    <form
      className="pop"
      onSubmit={(event) => {
        event.preventDefault()
        const id = byId ? name : rows[0]?.customer.id
        if (id !== undefined) onCustomer(id)
      }}
    >
      <Field
        label={money.customer}
        hint={
          found.isSuccess && rows.length === 0 && name.length > 1 && !byId
            ? money.customer_none
            : money.customer_hint
        }
      >
        <Input value={typed} onValue={setTyped} autoComplete="off" />
      </Field>
      {rows.length > 0 && (
        <div className="picks">
          {rows.map(({ customer }) => (
            <Button key={customer.id} small wide onClick={() => onCustomer(customer.id)}>
              <bdi>{customer.name}</bdi> <span className="faint">{customer.document}</span>
            </Button>
          ))}
        </div>
      )}
    </form>
  )
}

type PickChipProps = {
  readonly label: string
  /** The query parameter. */
  readonly of: string
  readonly options: readonly string[]
  readonly show?: (value: string) => string
}

/** A filter with a few fixed values. */
export function PickChip({ label, of, options, show = (value) => value }: PickChipProps) {
  const { values, set } = useFilters([of])
  const value = values[of]
  return (
    <Chip
      label={label}
      value={value === undefined ? undefined : show(value)}
      onClear={() => set(of, undefined)}
    >
      {(close) => (
        <div className="pop picks">
          {options.map((option) => (
            <Button
              key={option}
              small
              wide
              onClick={() => {
                close()
                set(of, option)
              }}
            >
              {show(option)}
            </Button>
          ))}
        </div>
      )}
    </Chip>
  )
}

/** Filters by the API key of the request. */
export function KeyChip() {
  const { money } = useText()
  return (
    <TextChip
      label={money.key_filter}
      of="api_key_id"
      hint={money.key_hint}
      show={(id) => <Id id={id} bare />}
    />
  )
}

type StateSegmentsProps = {
  readonly open: { readonly count: number; readonly no_answer: number } | undefined
  readonly words: Readonly<Record<string, string>>
  /** The status of a successful order. */
  readonly done: 'completed' | 'confirmed'
  readonly all: string
}

/**
 * The filter by status: all, in progress, done, failed. Orders without an answer from the rail get a segment of their own while
 * there are any, or while the filter shows them.
 */
export function StateSegments({ open, words, done, all }: StateSegmentsProps) {
  const { money } = useText()
  const { values } = useFilters(['status'])
  const shows_no_answer = (open?.no_answer ?? 0) > 0 || values.status === 'no_answer'
  const option = (value: string, shape: Shape, word: string | undefined, count = 0) => ({
    value,
    label: (
      <>
        <Glyph shape={shape} />
        {word} {count > 0 && <span className="faint">{count}</span>}
      </>
    ),
  })
  return (
    <FilterSegments
      label={money.status}
      of="status"
      options={[
        { value: '', label: all },
        option('open', 'going', money.on_the_way, open?.count),
        ...(shows_no_answer ? [option('no_answer', 'unknown', words.no_answer, open?.no_answer)] : []),
        option(done, 'done', words[done]),
        option('failed', 'failed', words.failed),
      ]}
    />
  )
}
