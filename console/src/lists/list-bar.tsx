import type { ReactNode } from 'react'
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
      {totals}
    </div>
  )
}
