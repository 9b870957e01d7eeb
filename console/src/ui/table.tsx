import type { UseQueryResult } from '@tanstack/react-query'
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { ApiError } from '../api/errors.ts'
import { errorText } from '../text/error-text.ts'
import { useText } from '../text/text.tsx'
import { Button } from './button.tsx'
import { CopiedNote, useCopy } from './copy.tsx'
import { Failure } from './failure.tsx'
import { FIRST_PAGE, OLDEST, useQueryString } from './filters.tsx'
import { Notice } from './notice.tsx'
import { Rich } from './rich.tsx'
import { cameBackFrom } from './trail.ts'

export type Column<Row> = {
  readonly key: string
  readonly head: ReactNode
  readonly cell: (row: Row) => ReactNode
  /** Aligns right, for amounts and durations. */
  readonly right?: boolean
  /**
   * Its place when a row is folded into two lines, as on a phone: m1 and a1 above, m2 and a2 below; other columns are hidden. A
   * `named` column gets its own line with its heading, because its figure alone would be unclear.
   */
  readonly fold?: 'm1' | 'm2' | 'a1' | 'a2' | 'named'
  /** With a place in the fold: the heading stands before the value there too, because its figure alone would be unclear. */
  readonly labelled?: boolean
  /**
   * Columns without a place in the fold are left out where the table is too narrow: the last one first, and those that are
   * `kept` at the very last, as are columns of buttons, which have no heading.
   */
  readonly kept?: boolean
  readonly className?: string
  /** The list is sorted by this column: its heading turns the order around. */
  readonly sorts?: boolean
}

type Props<Row> = {
  /** The accessible name of the table. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[] | undefined
  readonly keyOf: (row: Row) => string
  /** The query behind the rows, for loading and error states. Without a query the rows are shown as given. */
  readonly query?: Pick<UseQueryResult, 'isPending' | 'isError' | 'error' | 'refetch' | 'isPlaceholderData'>
  readonly empty?: ReactNode
  /** The key of the open row. */
  readonly open?: string | undefined
  /** A row in `tfoot` with the sums of the page. */
  readonly foot?: ReactNode
  /** Enables the keys J, K, Enter and C; for at most one list per page. */
  readonly keys?: boolean
  /** The text that the key C copies; the row key when left out. */
  readonly idOf?: (row: Row) => string
  readonly look?: 'bleed' | 'plain'
  readonly snug?: boolean
  /** On page one: new rows slide in while the person is at the top, otherwise they wait behind a button. */
  readonly slide?: boolean
}

const BONES = 8

/** A list. The first link of a row opens it, by a click anywhere on the row or by Enter. */
export function Table<Row>(props: Props<Row>) {
  const { columns, keyOf, query, empty, foot, look = 'bleed', snug = false, slide = false } = props
  const { ui } = useText()
  const table = useRef<HTMLTableElement>(null)
  const { rows, waiting, show } = useCalmRows(props.rows, keyOf, slide)
  const fresh = useFresh(rows, keyOf, slide)
  useFit(table, columns, rows)
  const { copied, copy } = useCopy()
  useListKeys(table, { ...props, rows }, copy)
  useRowOfBefore(table, props.keys === true && rows !== undefined)

  if (query?.isError && rows === undefined)
    return (
      <div className="t-note">
        {isOfAddress(query.error) ? (
          <WrongAddress error={query.error} />
        ) : (
          <Failure error={query.error} onAgain={() => void query.refetch()} reading />
        )}
      </div>
    )
  if (rows !== undefined && rows.length === 0) return empty ?? null

  const loading = rows === undefined
  const names = ['t', look === 'bleed' ? 'bleed' : '', snug ? 'snug' : '', loading ? 'bones' : '']
  return (
    <>
      {query?.isError && (
        <div className="t-note">
          <Notice
            action={
              <Button small onClick={() => void query.refetch()}>
                {ui.try_again}
              </Button>
            }
          >
            {ui.rows_stale}
          </Notice>
        </div>
      )}
      {waiting > 0 && (
        <div className="fresh">
          <Button small onClick={show}>
            {ui.new_rows(waiting)}
          </Button>
        </div>
      )}
      {copied !== false && (
        <div className="t-copied">
          <CopiedNote copied={copied} />
        </div>
      )}
      <div className="t-place">
        <table
          ref={table}
          className={join(...names)}
          aria-label={props.label}
          aria-busy={loading || query?.isPlaceholderData || undefined}
          onMouseOver={tellWhole}
          onFocus={tellWhole}
        >
          <thead>
            <tr>
              {columns.map((column) => {
                const name = column.right ? 'r' : undefined
                return column.sorts ? (
                  <SortHead key={column.key} className={name}>
                    {column.head}
                  </SortHead>
                ) : (
                  <th key={column.key} scope="col" className={name}>
                    {column.head}
                  </th>
                )
              })}
            </tr>
          </thead>
          <tbody className={query?.isPlaceholderData ? 'stale' : undefined}>
            {loading ? (
              <Bones columns={columns} />
            ) : (
              rows.map((row) => (
                <TableRow
                  key={keyOf(row)}
                  row={row}
                  columns={columns}
                  on={props.open !== undefined && keyOf(row) === props.open}
                  fresh={fresh.has(keyOf(row))}
                />
              ))
            )}
          </tbody>
          {foot !== undefined && !loading && <tfoot>{foot}</tfoot>}
        </table>
      </div>
    </>
  )
}

/** A text that is cut to one line gets a tooltip with all of it, as long as it is cut. */
function tellWhole({ target }: { readonly target: EventTarget }) {
  const one = (target as HTMLElement).closest<HTMLElement>('a.plain, td')
  if (one === null || (one.title !== '' && one.dataset.cut === undefined)) return
  const is_cut = one.scrollWidth > one.clientWidth && getComputedStyle(one).textOverflow === 'ellipsis'
  one.toggleAttribute('data-cut', is_cut)
  if (is_cut) one.title = one.innerText
  else one.removeAttribute('title')
}

type SortHeadProps = { readonly className: string | undefined; readonly children: ReactNode }

/** A heading that turns the order of the list around; the order is in the query string. */
function SortHead({ className, children }: SortHeadProps) {
  const { lists } = useText()
  const { query, set } = useQueryString()
  const oldest = query.order === OLDEST
  return (
    <th scope="col" className={className} aria-sort={oldest ? 'ascending' : 'descending'}>
      <button
        type="button"
        className="sorts"
        title={oldest ? lists.order.oldest : lists.order.newest}
        onClick={() => set({ order: oldest ? undefined : OLDEST, ...FIRST_PAGE })}
      >
        {children}{' '}
        <span className="sort" aria-hidden="true">
          {oldest ? '↑' : '↓'}
        </span>
      </button>
    </th>
  )
}

/** Which columns are left out, and whether rows are folded into two lines. */
type Fit = { readonly gone: ReadonlySet<string>; readonly fold: boolean }

const whole: Fit = { gone: new Set(), fold: false }
const folded: Fit = { gone: new Set(), fold: true }

/** The width below which every list is folded. */
const PHONE = '(max-width: 720px)'

/**
 * Leaves out the columns that do not fit the place of the table; a table that still does not fit is folded. The table is measured
 * again when its place, its contents, the window or the fonts change. The fit depends only on contents and room, never on the fit
 * before, so it cannot alternate.
 */
function useFit<Row>(
  table: { readonly current: HTMLTableElement | null },
  columns: readonly Column<Row>[],
  rows: readonly Row[] | undefined,
): void {
  const latest = useRef(columns)
  latest.current = columns
  const fit = useRef(whole)
  const shape = columns.map(({ key }) => key).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows and columns have other widths
  useLayoutEffect(() => {
    const own = table.current
    const place = own?.parentElement
    if (!own || !place) return
    const roomOf = steadyRoom(place)
    const look = () => {
      // An observer may still report once after the table has left the page.
      if (!own.isConnected) return
      fit.current = fitOf(own, latest.current, roomOf())
      applyFit(own, latest.current, fit.current)
    }
    look()
    // Many cells may change at once. A frame later, because a fit changes heights that the observer would report again.
    let frame = 0
    const lookSoon = () => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(look)
    }
    const resizes = new ResizeObserver(lookSoon)
    resizes.observe(place)
    resizes.observe(own)
    // Ages, states and later texts change inside cells, without other rows.
    const changes = new MutationObserver(lookSoon)
    changes.observe(own, { subtree: true, childList: true, characterData: true })
    window.addEventListener('resize', look)
    document.fonts.addEventListener('loadingdone', look)
    return () => {
      cancelAnimationFrame(frame)
      resizes.disconnect()
      changes.disconnect()
      window.removeEventListener('resize', look)
      document.fonts.removeEventListener('loadingdone', look)
    }
  }, [table, rows, shape])
  // React may have written the classes of the table and its cells anew.
  useLayoutEffect(() => {
    if (table.current) applyFit(table.current, latest.current, fit.current)
  })
}

/** The widest scroll bar that a browser shows. */
const SCROLL_BAR_PX = 24

/**
 * The width of the table's place. In a window of one width, room that grows by no more than a scroll bar is not used: otherwise a
 * fit that removes the scroll bar would bring back the fit that needs it.
 */
function steadyRoom(place: HTMLElement): () => number {
  let window_width = 0
  let room = 0
  return () => {
    const { width } = place.getBoundingClientRect()
    const is_scroll_bar = window.innerWidth === window_width && width > room && width - room <= SCROLL_BAR_PX
    if (!is_scroll_bar) room = width
    window_width = window.innerWidth
    return room
  }
}

/** Tries which columns fit, the whole table first. Each trial measures the table itself, with its foot and the padding of its edges. */
function fitOf<Row>(table: HTMLTableElement, columns: readonly Column<Row>[], room: number): Fit {
  if (window.matchMedia(PHONE).matches) return folded
  const droppable = columns.filter(({ fold }) => fold === undefined)
  const isKept = ({ kept, head }: Column<Row>) => kept ?? head === ''
  const order = [...droppable.filter(isKept), ...droppable.filter((column) => !isKept(column))].reverse()
  table.classList.add('measure')
  try {
    for (let dropped = 0; dropped <= order.length; dropped++) {
      const fit = { gone: new Set(order.slice(0, dropped).map(({ key }) => key)), fold: false }
      applyFit(table, columns, fit)
      if (table.getBoundingClientRect().width <= room) return fit
    }
    return folded
  } finally {
    table.classList.remove('measure')
  }
}

/** Marks the columns that are left out, and the first and the last that are left, which get the padding of the edges. */
function applyFit<Row>(table: HTMLTableElement, columns: readonly Column<Row>[], { gone, fold }: Fit) {
  table.classList.toggle('fold', fold)
  const left = columns.filter(({ key }) => !gone.has(key))
  const marks = columns.map((column) => ({
    gone: gone.has(column.key),
    'edge-start': gone.size > 0 && column === left[0],
    'edge-end': gone.size > 0 && column === left.at(-1),
  }))
  for (const part of [table.tHead, ...table.tBodies])
    for (const row of part?.rows ?? [])
      for (const [i, cell] of [...row.cells].entries())
        for (const [name, is_set] of Object.entries(marks[i] ?? {})) cell.classList.toggle(name, is_set)
  for (const row of table.tFoot?.rows ?? []) spanKept(row, columns, gone)
}

/** The cells of the foot span columns, some of which may be left out. */
function spanKept<Row>(row: HTMLTableRowElement, columns: readonly Column<Row>[], gone: Fit['gone']) {
  let at = 0
  for (const cell of row.cells) {
    const span = Number((cell.dataset.span ??= String(cell.colSpan)))
    const left = columns.slice(at, at + span).filter(({ key }) => !gone.has(key)).length
    cell.hidden = left === 0
    cell.colSpan = Math.max(1, left)
    at += span
  }
}

/** A 400 means a malformed URL: all parameters of a list come from the URL. */
const isOfAddress = (error: unknown): error is ApiError => error instanceof ApiError && error.status === 400

/** The names of query parameters of the page for those of the service, where they differ. */
const inAddress: Readonly<Record<string, readonly string[]>> = {
  created_after: ['created'],
  created_before: ['created'],
  from_asset: ['pair'],
  to_asset: ['pair'],
}

/** A filter or cursor that the service refuses, as in a truncated link: names it and offers to remove it. */
function WrongAddress({ error }: { readonly error: ApiError }) {
  const { ui } = useText()
  const { query, set } = useQueryString()
  const { param } = error
  const place = param === undefined || param === 'cursor'
  const name = place ? '' : (inAddress[param]?.find((one) => query[one] !== undefined) ?? param)
  const clear = () =>
    set(place ? { after: undefined } : Object.fromEntries(Object.keys(query).map((one) => [one, undefined])))
  return (
    <Notice
      kind="bad"
      action={
        <Button small onClick={clear}>
          {place ? ui.failed.to_newest : ui.failed.clear_address}
        </Button>
      }
    >
      <Rich>{place ? errorText(ui, error) : ui.failed.of_address(name)}</Rich>
    </Notice>
  )
}

const join = (...names: readonly string[]): string | undefined =>
  names.filter((name) => name !== '').join(' ') || undefined

const classOf = <Row,>(column: Column<Row>) =>
  join(column.right ? 'r' : '', column.fold ?? '', column.className ?? '')

type RowProps<Row> = {
  readonly row: Row
  readonly columns: readonly Column<Row>[]
  readonly on: boolean
  readonly fresh: boolean
}

function TableRow<Row>({ row, columns, on, fresh }: RowProps<Row>) {
  return (
    <tr className={join(on ? 'on' : '', fresh ? 'new' : '')} onClick={openByRow} tabIndex={-1}>
      {columns.map((column) => (
        <td
          key={column.key}
          className={classOf(column)}
          data-head={column.fold === 'named' || column.labelled ? column.head : undefined}
        >
          {wrapLong(column.cell(row))}
        </td>
      ))}
    </tr>
  )
}

/** A word that is longer than most columns, such as an e-mail address. */
const LONG_WORD = /\S{25}/

const wrapLong = (content: ReactNode) =>
  typeof content === 'string' && LONG_WORD.test(content) ? <span className="long">{content}</span> : content

/** A click on a row follows its link, unless the click was on another control. */
function openByRow(event: MouseEvent<HTMLTableRowElement>) {
  const target = event.target as HTMLElement
  if (target.closest('a, button, input, select, label, [popover]') !== null) return
  if (window.getSelection()?.toString() !== '') return
  const link = event.currentTarget.querySelector<HTMLAnchorElement>('a[href]')
  if (event.metaKey || event.ctrlKey) window.open(link?.href, '_blank', 'noopener')
  else link?.click()
}

function Bones<Row>({ columns }: Pick<RowProps<Row>, 'columns'>) {
  const { ui } = useText()
  return Array.from({ length: BONES }, (_, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: bars have no identity
    <tr key={i}>
      {columns.map((column, at) => (
        <td key={column.key} className={classOf(column)}>
          <span className="bone" />
          {i === 0 && at === 0 && <span className="vh">{ui.loading}</span>}
        </td>
      ))}
    </tr>
  ))
}

/** Below this scroll position new rows wait until the person asks for them, so that rows do not move while being read. */
const TOP_PX = 120

function useCalmRows<Row>(rows: readonly Row[] | undefined, keyOf: (row: Row) => string, slide: boolean) {
  const shown = useRef(rows)
  const [, draw] = useState(0)
  const known = new Set(shown.current?.map(keyOf))
  const news = rows?.filter((row) => !known.has(keyOf(row))).length ?? 0
  // Without a common row this is another page, not new rows.
  const same_page = rows?.some((row) => known.has(keyOf(row))) ?? false
  const holds = slide && same_page && news > 0 && window.scrollY > TOP_PX
  useEffect(() => {
    if (!holds) shown.current = rows
  })
  const show = () => {
    shown.current = rows
    window.scrollTo({ top: 0 })
    draw((times) => times + 1)
  }
  return { rows: holds ? shown.current : rows, waiting: holds ? news : 0, show }
}

const none: ReadonlySet<string> = new Set()

/** Keys of rows that the previous read did not have. */
function useFresh<Row>(
  rows: readonly Row[] | undefined,
  keyOf: (row: Row) => string,
  slide: boolean,
): ReadonlySet<string> {
  const seen = useRef<ReadonlySet<string> | undefined>(undefined)
  const keys = rows?.map(keyOf)
  const before = seen.current
  useEffect(() => {
    if (keys !== undefined) seen.current = new Set(keys)
  })
  if (!slide || before === undefined || keys?.some((key) => before.has(key)) !== true) return none
  return new Set(keys.filter((key) => !before.has(key)))
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.closest('input, textarea, select, [contenteditable], dialog, [popover]') !== null

/** J and K move between rows, Enter opens, C copies the id. The focus moves too, so that screen readers follow. */
function useListKeys<Row>(
  table: { readonly current: HTMLTableElement | null },
  { keys = false, rows, keyOf, idOf }: Props<Row>,
  copy: (id: string) => void,
) {
  const last_copy = useRef(copy)
  last_copy.current = copy
  useEffect(() => {
    if (!keys) return
    const onKey = (event: globalThis.KeyboardEvent | KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      const lines = [...(table.current?.querySelectorAll<HTMLTableRowElement>('tbody > tr') ?? [])]
      const at = lines.findIndex((line) => line.contains(document.activeElement))
      const step = { j: 1, k: -1 }[event.key]
      if (step !== undefined) return focusRow(lines[Math.max(0, Math.min(lines.length - 1, at + step))])
      const row = rows?.[at]
      if (event.key === 'c' && row !== undefined) {
        const id = (idOf ?? keyOf)(row)
        // Clicks the copy button of the id, so that "Copied" is shown beside it.
        const button = lines[at]?.querySelector<HTMLElement>(`.copy[data-copy="${CSS.escape(id)}"]`)
        if (button) button.click()
        else last_copy.current(id)
      }
      if (event.key === 'Enter' && document.activeElement === lines[at])
        lines[at]?.querySelector<HTMLElement>('a[href]')?.click()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [keys, table, rows, keyOf, idOf])
}

/** Restores the focus to the row that the person opened before coming back to the list. */
function useRowOfBefore(table: { readonly current: HTMLTableElement | null }, drawn: boolean) {
  const done = useRef(false)
  useEffect(() => {
    if (!drawn || done.current) return
    done.current = true
    const from = cameBackFrom()
    if (from === undefined) return
    // Runs after the frame, which moves the focus to the top of a new page.
    const soon = setTimeout(() => {
      const links = [...(table.current?.querySelectorAll<HTMLAnchorElement>('tbody a[href]') ?? [])]
      const line = links.find(({ pathname }) => pathname === from)?.closest('tr')
      if (line) focusRow(line)
    })
    return () => clearTimeout(soon)
  }, [table, drawn])
}

function focusRow(line: HTMLTableRowElement | undefined) {
  const target = line?.querySelector<HTMLElement>('a[href]') ?? line
  target?.focus()
  line?.scrollIntoView({ block: 'nearest' })
}
