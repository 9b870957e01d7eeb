import type { ReactNode } from 'react'

type Option<V extends string> = { readonly value: V; readonly label: ReactNode }

type Props<V extends string> = {
  readonly label: string
  readonly value: V
  readonly onValue: (value: V) => void
  readonly options: readonly Option<V>[]
  readonly small?: boolean
}

/** A few choices side by side, one selected. */
export function Segments<V extends string>({ label, value, onValue, options, small = false }: Props<V>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a row in every browser
    <div className={small ? 'seg sm' : 'seg'} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onValue(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  )
}
