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

/** What the page calls itself: the bar of the phone says it. */
export const usePageTitle = (): string => useSyncExternalStore(subscribe, () => page_title)

/** Names the page: the tab and the bar of the phone. */
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
  /** For the tab, where the title is more than text. */
  readonly tab?: string
  /** Beside the title, quiet. */
  readonly about?: ReactNode
  /** Below the title: a status and when. */
  readonly under?: ReactNode
  /** Buttons, right. */
  readonly actions?: ReactNode
  /** Only what the phone bar does not say already. */
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

/** Where the page stands: links first, itself last. */
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

/** Who came from there goes back there, filters and row as they were, rather than to its beginning. */
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
  /** What will appear here. */
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
  /** Where it is the whole page. */
  readonly page?: boolean
}

/** Nothing yet: what will appear, the call that makes it, a button where the console can. */
export function Empty({ title, children, action, page = false }: EmptyProps) {
  return (
    <div className="empty">
      {page ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
      {action}
    </div>
  )
}

/** Two rails: the list is complete. */
export const EndRail = () => <div className="endrail" aria-hidden="true" />
