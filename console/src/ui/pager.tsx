import type { ReactNode } from 'react'
import { useText } from '../text/text.tsx'
import { Button } from './button.tsx'
import { OLDEST, useQueryString } from './filters.tsx'

type Props = {
  /** Cursors from the response; a button without a cursor is disabled. */
  readonly newer?: string | null | undefined
  readonly older?: string | null | undefined
  readonly onNewer?: () => void
  readonly onOlder?: () => void
  /** Content at the right of the buttons. */
  readonly children?: ReactNode
  /** Shows the keyboard shortcuts of the list beside the buttons. */
  readonly keys?: boolean
}

/** Buttons for newer and older rows, by `before` and `after` in the query string. A list that begins with its oldest row swaps their names. */
export function Pager({ newer, older, onNewer, onOlder, children, keys = false }: Props) {
  const { ui } = useText()
  const { query, set } = useQueryString()
  const [back, on] = query.order === OLDEST ? [ui.older, ui.newer] : [ui.newer, ui.older]
  const toNewer = onNewer ?? (() => set({ before: newer ?? undefined, after: undefined }))
  const toOlder = onOlder ?? (() => set({ after: older ?? undefined, before: undefined }))
  return (
    <div className="pager">
      <Button small onClick={toNewer} disabled={newer === null || newer === undefined}>
        {back}
      </Button>
      <Button small onClick={toOlder} disabled={older === null || older === undefined}>
        {on}
      </Button>
      {keys && (
        <span className="no-phone">
          <kbd className="kbd">J</kbd> <kbd className="kbd">K</kbd> {ui.keys_of_table.move},{' '}
          <kbd className="kbd">Enter</kbd> {ui.keys_of_table.open}, <kbd className="kbd">C</kbd>{' '}
          {ui.keys_of_table.copy}
        </span>
      )}
      {children !== undefined && <span className="push">{children}</span>}
    </div>
  )
}
