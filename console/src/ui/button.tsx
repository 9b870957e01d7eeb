import { type ButtonHTMLAttributes, createContext, type ReactNode, use, useEffect, useId } from 'react'
import type { IconName } from './icon-shapes.ts'
import { Icon } from './icons.tsx'

type Kind = 'plain' | 'primary' | 'danger'

type Props = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className' | 'disabled'> & {
  /** Use one primary button per region, and `danger` only in a confirmation. */
  readonly kind?: Kind | 'normal'
  readonly icon?: IconName
  readonly small?: boolean
  readonly wide?: boolean
  /** The label while the action runs, such as "Creating…"; the width does not change. */
  readonly busy?: string | false
  /** A string disables the button and is shown beside it as the reason. */
  readonly disabled?: string | boolean
  readonly filled?: boolean
}

/** Lets a dialog disable its other buttons while one of them works. */
export type Work = { readonly busy: boolean; readonly begin: () => () => void }
export const EnclosingWork = createContext<Work>({ busy: false, begin: () => () => {} })

const classes = (kind: Kind | 'normal', small: boolean, wide: boolean, filled: boolean) =>
  ['btn', kind === 'normal' ? '' : kind, small ? 'sm' : '', wide ? 'wide' : '', filled ? 'filled' : '']
    .filter((name) => name !== '')
    .join(' ')

export function Button({
  kind = 'normal',
  icon,
  small = false,
  wide = false,
  busy = false,
  disabled = false,
  filled = false,
  type = 'button',
  children,
  ...rest
}: Props) {
  const why = useId()
  const { busy: around, begin } = use(EnclosingWork)
  const working = busy !== false
  useEffect(() => (working ? begin() : undefined), [working, begin])
  const reason = typeof disabled === 'string' ? disabled : undefined
  return (
    <>
      <button
        {...rest}
        type={type}
        className={classes(kind, small, wide, filled)}
        disabled={disabled !== false || working || around}
        aria-busy={working || undefined}
        aria-describedby={reason === undefined ? rest['aria-describedby'] : why}
      >
        {busy === false ? (
          <Face icon={icon}>{children}</Face>
        ) : (
          <Busy icon={icon} word={busy} under={children} />
        )}
      </button>
      {reason !== undefined && (
        <span id={why} className="btn-why">
          {reason}
        </span>
      )}
    </>
  )
}

function Face({ icon, children }: { readonly icon: IconName | undefined; readonly children: ReactNode }) {
  return (
    <>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </>
  )
}

function Busy(props: {
  readonly icon: IconName | undefined
  readonly word: string
  readonly under: ReactNode
}) {
  return (
    <span className="swap">
      <span className="under" aria-hidden="true">
        <Face icon={props.icon}>{props.under}</Face>
      </span>
      <span role="status">{props.word}</span>
    </span>
  )
}
