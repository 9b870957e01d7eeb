import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useText } from '../text/text.tsx'
import { Button } from './button.tsx'
import { Field, Input } from './field.tsx'
import type { IconName } from './icon-shapes.ts'
import { Icon } from './icons.tsx'
import { Popover } from './menu.tsx'
import { Segments } from './segments.tsx'

export type Query = Readonly<Record<string, string | undefined>>

/** Filters, cursor and open row are in the query string, so that a link restores the page. */
export function useQueryString() {
  const query = useSearch({ strict: false }) as Query
  const navigate = useNavigate()
  const set = (changes: Query, { replace = false } = {}) =>
    void navigate({
      to: '.',
      search: ((old: Query) => compact({ ...old, ...changes })) as never,
      replace,
    })
  return { query, set }
}

const compact = (query: Query): Query =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined && value !== ''))

/** The value of the query parameter `order` for a list that begins with its oldest row. */
export const OLDEST = 'oldest'

/** A change of filters returns to the first page. */
export const FIRST_PAGE = { before: undefined, after: undefined, cursor: undefined } as const

export function useFilters<K extends string>(keys: readonly K[]) {
  const { query, set } = useQueryString()
  const values = Object.fromEntries(keys.map((key) => [key, query[key]])) as Readonly<
    Record<K, string | undefined>
  >
  return {
    values,
    any: keys.some((key) => values[key] !== undefined),
    set: (key: K, value: string | undefined) => set({ [key]: value, ...FIRST_PAGE }),
    setAll: (changes: Partial<Record<K, string | undefined>>) => set({ ...changes, ...FIRST_PAGE }),
    clear: () => set({ ...Object.fromEntries(keys.map((key) => [key, undefined])), ...FIRST_PAGE }),
  }
}

type SegmentProps = {
  readonly label: string
  readonly of: string
  readonly options: readonly { readonly value: string; readonly label: ReactNode }[]
  readonly small?: boolean
}

/** Segments bound to a query parameter; the empty value means "All". */
export function FilterSegments({ label, of, options, small = false }: SegmentProps) {
  const { values, set } = useFilters([of])
  return (
    <Segments
      label={label}
      value={values[of] ?? ''}
      onValue={(value) => set(of, value === '' ? undefined : value)}
      options={options}
      small={small}
    />
  )
}

type ChipProps = {
  readonly label: string
  readonly icon?: IconName
  /** The value as text: "today", "over R$ 15.00". Undefined when the filter is off. */
  readonly value?: ReactNode
  readonly onClear: () => void
  /** The form in the popover. */
  readonly children: (close: () => void) => ReactNode
}

/** A filter button. Off: dashed, with a plus. On: the value, and a cross that clears it. */
export function Chip({ label, icon, value, onClear, children }: ChipProps) {
  const { ui } = useText()
  if (value !== undefined)
    return (
      <button type="button" className="chip on" onClick={onClear} title={ui.clear}>
        {icon !== undefined && <Icon name={icon} />}
        {label} <b>{value}</b>
        <Icon name="close" />
      </button>
    )
  return (
    <Popover
      className="chip"
      label={
        <>
          <Icon name={icon ?? 'plus'} />
          {label}
        </>
      }
    >
      {children}
    </Popover>
  )
}

type TextChipProps = {
  readonly label: string
  readonly of: string
  readonly icon?: IconName
  readonly hint?: string
  readonly show?: (value: string) => ReactNode
  /** Converts the typed text to the query value; undefined refuses it. */
  readonly read?: (typed: string) => string | undefined
  readonly placeholder?: string
}

/** A filter with a text field. */
export function TextChip({ label, of, icon, hint, show, read, placeholder }: TextChipProps) {
  const { values, set } = useFilters([of])
  const value = values[of]
  return (
    <Chip
      label={label}
      {...(icon === undefined ? {} : { icon })}
      value={value === undefined ? undefined : (show?.(value) ?? value)}
      onClear={() => set(of, undefined)}
    >
      {(close) => (
        <AskText
          label={label}
          hint={hint}
          placeholder={placeholder}
          onText={(typed) => {
            const next = read === undefined ? typed : read(typed)
            if (next === undefined || next === '') return false
            close()
            set(of, next)
            return true
          }}
        />
      )}
    </Chip>
  )
}

type AskProps = {
  readonly label: string
  readonly hint: string | undefined
  readonly placeholder: string | undefined
  readonly onText: (typed: string) => boolean
}

function AskText({ label, hint, placeholder, onText }: AskProps) {
  const { ui } = useText()
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState(false)
  return (
    <form
      className="pop"
      onSubmit={(event) => {
        event.preventDefault()
        setWrong(!onText(typed.trim()))
      }}
    >
      <Field label={label} hint={hint} error={wrong ? (hint ?? label) : undefined}>
        <Input value={typed} onValue={setTyped} placeholder={placeholder} autoComplete="off" />
      </Field>
      <Button kind="primary" type="submit">
        {ui.apply}
      </Button>
    </form>
  )
}

/** A row of filters; the key F focuses it, "Clear" removes all values. */
export function Filters({
  keys,
  children,
}: {
  readonly keys: readonly string[]
  readonly children: ReactNode
}) {
  const { ui } = useText()
  const { any, clear } = useFilters(keys)
  return (
    <search className="sec tight filters scroll-x no-line" data-filters aria-label={ui.filters}>
      {children}
      {any && (
        <button type="button" className="link small no-phone" onClick={clear}>
          {ui.clear}
        </button>
      )}
    </search>
  )
}
