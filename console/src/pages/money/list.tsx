import { type ReactNode, useRef, useState } from 'react'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { useFilters, useQueryString } from '../../ui/filters.tsx'
import { Empty, EndMark } from '../../ui/page.tsx'
import { Pager } from '../../ui/pager.tsx'
import { ToPlayground } from '../playground/to-playground.tsx'

/**
 * The place in a list. The cursor of the shown page is in the URL. A cursor leads only to older rows, so `trail` remembers the
 * cursors of the pages before it, for the way back; after a reload that way leads to the first page.
 */
export function useCursor() {
  const { query, set } = useQueryString()
  const trail = useRef<readonly string[]>([''])
  const after = query.after ?? ''
  const at = trail.current.indexOf(after)
  const first = after === ''
  return {
    cursor: first ? undefined : after,
    first,
    top: () => {
      if (!first) set({ after: undefined })
      window.scrollTo({ top: 0 })
    },
    newer: () => set({ after: at > 0 ? trail.current[at - 1] : undefined }),
    older: (next: string) => {
      trail.current = [...(at < 0 ? ['', after] : trail.current.slice(0, at + 1)), next]
      set({ after: next })
    },
  }
}

export type Page<Row = unknown> = {
  readonly data: readonly Row[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

type ListPagerProps = {
  readonly page: Page | undefined
  readonly cursor: ReturnType<typeof useCursor>
  readonly keys?: boolean
  readonly children?: ReactNode
}

export function ListPager({ page, cursor, keys = true, children }: ListPagerProps) {
  const older = page?.next_cursor ?? null
  return (
    <>
      {page !== undefined && !page.has_more && page.data.length > 0 && <EndMark />}
      <Pager
        newer={cursor.first ? null : 'newer'}
        older={older}
        onNewer={cursor.newer}
        onOlder={() => older !== null && cursor.older(older)}
        keys={keys}
      >
        {children}
      </Pager>
    </>
  )
}

/** The time at which the person went from page one to a later page: rows that were created after it are new. */
export function useLeftTop(first: boolean): string {
  const [left, setLeft] = useState({ first, at: new Date().toISOString() })
  if (left.first !== first) setLeft({ first, at: new Date().toISOString() })
  return left.at
}

/** A button on later pages that says how many new rows page one has. On page one `Table` shows such a button itself. */
export function NewRows({ waiting, onShow }: { readonly waiting: number; readonly onShow: () => void }) {
  const { money, ui } = useText()
  if (waiting === 0) return null
  return (
    <div className="fresh" role="status">
      <Button small onClick={onShow}>
        {ui.new_rows(waiting)}, {money.waits}
      </Button>
    </div>
  )
}

/** The rows of a page to add up: those that did not fail, or all if every one failed and was returned. */
export function summedOnPage<Row>(rows: readonly Row[], hasFailed: (row: Row) => boolean) {
  const moved = rows.filter((row) => !hasFailed(row))
  if (moved.length === 0 && rows.length > 0) return { summed: rows, note: 'all_returned' as const }
  return { summed: moved, note: moved.length < rows.length ? ('without_failed' as const) : undefined }
}

type NothingProps = {
  readonly filters: readonly string[]
  readonly page: Page | undefined
  readonly title: string
  readonly text: string
  /** An example call that creates the first object. */
  readonly call?: string
  readonly action?: ReactNode
}

/** Shown for an empty list: no row matches the filters, or no object exists yet and how to create one. */
export function Nothing({ filters, page, title, text, call, action }: NothingProps) {
  const { money } = useText()
  const { any, clear } = useFilters(filters)
  if (!any)
    return (
      <Empty title={title} action={action ?? <ToPlayground />}>
        <p>{text}</p>
        {call !== undefined && (
          <Code title="curl" as="shell">
            {call}
          </Code>
        )}
      </Empty>
    )
  return (
    <Empty title={money.nothing_found} action={<Button onClick={clear}>{money.clear_filters}</Button>}>
      <p>{page?.has_more ? money.no_more_here : money.nothing_found_text}</p>
    </Empty>
  )
}

/** A curl command for the service that serves this page. */
export const curl = (path: string, body: Readonly<Record<string, unknown>>): string =>
  [
    `curl ${window.location.origin}${path} \\`,
    '  -H "Authorization: Bearer $TRILHO_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify(body, null, 2)}'`,
  ].join('\n')
