import {
  createContext,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  use,
  useId,
} from 'react'
import { Glyph } from './status.tsx'

type FieldContext = { readonly id: string; readonly describedBy: string | undefined; readonly wrong: boolean }

const Labelled = createContext<FieldContext>({ id: '', describedBy: undefined, wrong: false })

type FieldProps = {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly error?: ReactNode
  /** Shown right of the label: a link or a count. */
  readonly aside?: ReactNode
  readonly children: ReactNode
}

/** A label above the control, error and hint below. The control takes its accessible name and description from context. */
export function Field({ label, hint, error, aside, children }: FieldProps) {
  const id = useId()
  const wrong = error !== undefined && error !== null && error !== false
  const describedBy =
    [wrong ? `${id}e` : '', hint === undefined ? '' : `${id}h`].filter(Boolean).join(' ') || undefined
  const name = (
    <label className="lab" htmlFor={id}>
      {label}
    </label>
  )
  return (
    <div className="field">
      {name}
      <Labelled value={{ id, describedBy, wrong }}>{children}</Labelled>
      {/* Drawn beside the label, but after the control in tab order. */}
      {aside !== undefined && <span className="aside small">{aside}</span>}
      {wrong && <FieldError id={`${id}e`}>{error}</FieldError>}
      {hint !== undefined && (
        <span className="hint" id={`${id}h`}>
          {hint}
        </span>
      )}
    </div>
  )
}

function FieldError({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  return (
    <span className="err" id={id} role="alert">
      <Glyph shape="failed" />
      <span>{children}</span>
    </span>
  )
}

function useLabelled(className: string) {
  const { id, describedBy, wrong } = use(Labelled)
  return {
    ...(id === '' ? {} : { id }),
    'aria-describedby': describedBy,
    'aria-invalid': wrong || undefined,
    className: wrong ? `${className} wrong` : className,
  }
}

type Value = { readonly value: string; readonly onValue: (value: string) => void; readonly mono?: boolean }

type InputProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange' | 'className'> & Value

export function Input({ value, onValue, mono = false, ...rest }: InputProps) {
  const labelled = useLabelled(mono ? 'input mono' : 'input')
  return <input {...labelled} {...rest} value={value} onChange={(event) => onValue(event.target.value)} />
}

type TextAreaProps = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'value' | 'onChange' | 'className'> &
  Value

export function TextArea({ value, onValue, mono = false, ...rest }: TextAreaProps) {
  const labelled = useLabelled(mono ? 'input mono' : 'input')
  return (
    <textarea
      rows={3}
      {...labelled}
      {...rest}
      value={value}
      onChange={(event) => onValue(event.target.value)}
    />
  )
}

type SelectProps = Omit<SelectHTMLAttributes<HTMLSelectElement>, 'value' | 'onChange' | 'className'> &
  Value & { readonly options: readonly (readonly [value: string, label: string])[] }

export function Select({ value, onValue, mono = false, options, ...rest }: SelectProps) {
  const labelled = useLabelled(mono ? 'input mono' : 'input')
  return (
    <select {...labelled} {...rest} value={value} onChange={(event) => onValue(event.target.value)}>
      {options.map(([one, label]) => (
        <option key={one} value={one}>
          {label}
        </option>
      ))}
    </select>
  )
}

type CheckProps = {
  readonly checked: boolean
  readonly onChecked: (checked: boolean) => void
  readonly label: ReactNode
  readonly hint?: ReactNode
  /** A monospaced label, for scopes and event types. */
  readonly mono?: boolean
  readonly disabled?: boolean
}

export function Checkbox({ checked, onChecked, label, hint, mono = false, disabled = false }: CheckProps) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChecked(event.target.checked)}
      />
      <Choice label={label} hint={hint} mono={mono} />
    </label>
  )
}

type ChoiceProps = {
  readonly label: ReactNode
  readonly hint: ReactNode
  readonly mono?: boolean
  readonly heavy?: boolean
}

function Choice({ label, hint, mono = false, heavy = false }: ChoiceProps) {
  return (
    <span>
      <span className={mono ? 'mono' : heavy ? 'med' : undefined}>{label}</span>
      {hint !== undefined && (
        <>
          <br />
          <span className="quiet small">{hint}</span>
        </>
      )}
    </span>
  )
}

type GroupProps = {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly error?: ReactNode
  readonly children: ReactNode
}

/** Several checkboxes or radio buttons with one label. */
export function FieldGroup({ label, hint, error, children }: GroupProps) {
  const id = useId()
  const wrong = error !== undefined && error !== null && error !== false
  return (
    <fieldset className="field" aria-describedby={wrong ? id : undefined}>
      <legend className="lab">{label}</legend>
      {children}
      {wrong && <FieldError id={id}>{error}</FieldError>}
      {hint !== undefined && <span className="hint">{hint}</span>}
    </fieldset>
  )
}

type RadioProps = {
  readonly label: ReactNode
  readonly value: string
  readonly onValue: (value: string) => void
  readonly options: readonly {
    readonly value: string
    readonly label: ReactNode
    readonly hint?: ReactNode
  }[]
  readonly error?: ReactNode
}

export function Radios({ label, value, onValue, options, error }: RadioProps) {
  const name = useId()
  return (
    <FieldGroup label={label} error={error}>
      {options.map((option) => (
        <label key={option.value} className="check radio">
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onValue(option.value)}
          />
          <Choice label={option.label} hint={option.hint} heavy />
        </label>
      ))}
    </FieldGroup>
  )
}

/** Focuses the first invalid field after a refusal. Call it once the errors are rendered. */
export function focusFirstMistake(form: HTMLElement | null): void {
  form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
}
