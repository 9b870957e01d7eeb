import type { ReactNode } from 'react'
import { useText } from '../text/text.tsx'
import { FIRST_PAGE, OLDEST, useQueryString } from '../ui/filters.tsx'
import { Views } from './views.tsx'
import './lists.css'

type Props = {
  readonly views: Parameters<typeof Views>[0]
  /** What the filters match in all. */
  readonly totals: ReactNode
}

/** The line between the filters and the rows: saved views at the left, totals at the right. */
export function ListBar({ views, totals }: Props) {
  return (
    <div className="list-bar">
      <Views {...views} />
      <OrderButton />
      {totals}
    </div>
  )
}

/** Turns the order around on a phone, where a table has no headings. */
function OrderButton() {
  const { order } = useText().lists
  const { query, set } = useQueryString()
  const oldest = query.order === OLDEST
  return (
    <span className="only-phone">
      <button
        type="button"
        className="chip"
        title={oldest ? order.oldest : order.newest}
        onClick={() => set({ order: oldest ? undefined : OLDEST, ...FIRST_PAGE })}
      >
        {oldest ? `${order.now.oldest} ↑` : `${order.now.newest} ↓`}
      </button>
    </span>
  )
}
