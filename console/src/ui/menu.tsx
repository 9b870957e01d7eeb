import { type ReactNode, useId, useRef } from 'react'
import { useText } from '../text/text.tsx'
import type { IconName } from './icon-shapes.ts'
import { Icon } from './icons.tsx'

export type MenuItem =
  | {
      readonly label: ReactNode
      readonly icon?: IconName
      readonly onPick: () => void
      readonly danger?: boolean
      readonly disabled?: boolean
      /** Marks the selected item of a choice. */
      readonly chosen?: boolean
    }
  | 'line'

type Props = {
  /** The content of the button; three dots when left out. */
  readonly label?: ReactNode
  /** The accessible name, if the label is only an icon. */
  readonly name?: string
  readonly className?: string
  readonly items: readonly MenuItem[]
}

/** A list of actions in a native popover, which closes on Esc or a click elsewhere. */
export function Menu({ label, name, className = 'btn', items }: Props) {
  const { ui } = useText()
  return (
    <Popover
      label={label ?? <Icon name="dots" />}
      name={label === undefined ? (name ?? ui.more) : name}
      className={className}
      role="menu"
    >
      {(close) =>
        items.map((item, i) =>
          item === 'line' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: a menu does not reorder
            <hr key={i} />
          ) : (
            // biome-ignore lint/a11y/useAriaPropsSupportedByRole: checked belongs to the role of a choice, which it then has
            <button
              // biome-ignore lint/suspicious/noArrayIndexKey: a menu does not reorder
              key={i}
              type="button"
              role={item.chosen === undefined ? 'menuitem' : 'menuitemradio'}
              aria-checked={item.chosen}
              className={item.danger ? 'danger' : undefined}
              disabled={item.disabled}
              onClick={() => {
                close()
                item.onPick()
              }}
            >
              {item.icon !== undefined && <Icon name={item.icon} />}
              {item.label}
            </button>
          ),
        )
      }
    </Popover>
  )
}

type PopoverProps = {
  readonly label: ReactNode
  readonly name?: string | undefined
  readonly className?: string
  readonly role?: 'menu' | 'dialog'
  readonly children: (close: () => void) => ReactNode
}

/** A button with a popover below it. */
export function Popover({ label, name, className = 'btn', role = 'dialog', children }: PopoverProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const floating = useRef<HTMLDivElement>(null)

  const place = () => {
    if (button.current !== null && floating.current !== null) putBelow(button.current, floating.current)
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={name}
        aria-haspopup={role}
        popoverTarget={id}
      >
        {label}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its role is menu or dialog */}
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: its role is menu or dialog */}
      <div
        ref={floating}
        id={id}
        popover="auto"
        className="menu"
        role={role}
        aria-label={name}
        onToggle={(event) => {
          if (event.newState !== 'open') return
          place()
          floating.current?.querySelector<HTMLElement>('button:not(:disabled), a, input, select')?.focus()
        }}
        onKeyDown={(event) => moveWithin(event.key, event.currentTarget) && event.preventDefault()}
      >
        {children(() => floating.current?.hidePopover())}
      </div>
    </>
  )
}

/** Places the popover below the button, or above it if there is no room; never off the page. */
function putBelow(button: HTMLElement, floating: HTMLElement) {
  const at = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = floating
  const left = Math.max(8, Math.min(at.left, window.innerWidth - width - 8))
  const below = at.bottom + 4
  const top = below + height > window.innerHeight - 8 ? Math.max(8, at.top - height - 4) : below
  floating.style.left = `${left}px`
  floating.style.top = `${top}px`
}

function moveWithin(key: string, floating: HTMLElement): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key]
  if (step === undefined || floating.role !== 'menu') return false
  const items = [...floating.querySelectorAll<HTMLElement>('button:not(:disabled), a')]
  const now = items.indexOf(document.activeElement as HTMLElement)
  items.at((now + step) % items.length)?.focus()
  return true
}
