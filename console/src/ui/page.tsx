import { type MouseEvent, type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { useText } from '../text/text.tsx'
import { Icon } from './icons.tsx'
import { backTo } from './trail.ts'

let page_title = ''
const watchers = new Set<() => void>()
const subscribe = (watch: () => void) => {
  watchers.add(watch)
  return () => watchers.delete(watch)
}

/** The title of the current page, for the top bar on a phone. */
export const usePageTitle = (): string => useSyncExternalStore(subscribe, () => page_title)

/** Sets the title of the browser tab and of the top bar on a phone. */
export function useTitle(title: string): void {
  const { shell } = useText()
  const whole = shell.titleOf(title)
  useEffect(() => {
    document.title = whole
    page_title = title
    for (const watch of watchers) watch()
  }, [title, whole])
}

type HeadProps = {
  readonly title: ReactNode
  /** A plain-text title for the tab, if `title` is not a string. */
  readonly tab?: string
  /** A quiet text beside the title. */
  readonly about?: ReactNode
  /** A line below the title: a status and a time. */
  readonly under?: ReactNode
  /** Buttons, right. */
  readonly actions?: ReactNode
  /** Hides on a phone what the top bar already shows. */
  readonly bare?: boolean
}

export function PageHead({ title, tab, about, under, actions, bare = false }: HeadProps) {
  useTitle(tab ?? (typeof title === 'string' ? title : ''))
  const name = <h1>{title}</h1>
  return (
    <div className={bare ? 'head bare' : 'head'}>
      {under === undefined ? (
        name
      ) : (
        <div className="under">
          {name}
          <div className="row gap-3 wrap">{under}</div>
        </div>
      )}
      {about !== undefined && <span className="quiet small no-phone">{about}</span>}
      {actions !== undefined && <div className="push row wrap">{actions}</div>}
    </div>
  )
}

/** Breadcrumbs: links first, the current page last. */
export function Crumbs({ children }: { readonly children: readonly ReactNode[] }) {
  const { ui } = useText()
  return (
    <nav className="crumb" aria-label={ui.path} onClickCapture={goBack}>
      {children.map((crumb, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the path of a page does not reorder
        <span key={i} className="row">
          {i > 0 && <Icon name="right" size={14} />}
          {crumb}
        </span>
      ))}
    </nav>
  )
}

/** A breadcrumb to the page that the person came from goes back in the history, so that filters and row are restored. */
function goBack(event: MouseEvent) {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as HTMLElement).closest('a')
  if (link !== null && backTo(link.pathname)) event.preventDefault()
}

type SectionProps = {
  readonly title?: ReactNode
  readonly about?: ReactNode
  readonly actions?: ReactNode
  readonly tight?: boolean
  readonly children: ReactNode
}

export function Section({ title, about, actions, tight = false, children }: SectionProps) {
  return (
    <section className={tight ? 'sec tight' : 'sec'}>
      {title !== undefined && (
        <div className="h">
          <h2>{title}</h2>
          {about !== undefined && <span className="quiet small">{about}</span>}
          {actions !== undefined && <span className="push row">{actions}</span>}
        </div>
      )}
      {children}
    </section>
  )
}

type EmptyProps = {
  /** What the list will contain. */
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
  /** Whether the empty list is the only content of the page. */
  readonly page?: boolean
}

/** An empty list: what it will contain, the call that creates the first object, and a button if the console can do it. */
export function Empty({ title, children, action, page = false }: EmptyProps) {
  return (
    <div className="empty">
      {page ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
      {action}
    </div>
  )
}

/** The mark at the end of a complete list. */
export const EndMark = () => <div className="endrail" aria-hidden="true" />
