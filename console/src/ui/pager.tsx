import type { ReactNode } from 'react'
import { useText } from '../text/text.tsx'
import { Button } from './button.tsx'
import { useQueryString } from './filters.tsx'

type Props = {
  /** Cursors as the answer gives them; none, and the button is off. */
  readonly newer?: string | null | undefined
  readonly older?: string | null | undefined
  readonly onNewer?: () => void
  readonly onOlder?: () => void
  /** Right: what the list does by itself. */
  readonly children?: ReactNode
  /** The keys of the list beside the buttons. */
  readonly keys?: boolean
}

/** Newer and Older by cursor: `before` and `after` in the query. */
export function Pager({ newer, older, onNewer, onOlder, children, keys = false }: Props) {
  const { ui } = useText()
  const { set } = useQueryString()
  const toNewer = onNewer ?? (() => set({ before: newer ?? undefined, after: undefined }))
  const toOlder = onOlder ?? (() => set({ after: older ?? undefined, before: undefined }))
  return (
    <div className="pager">
      <Button small onClick={toNewer} disabled={newer === null || newer === undefined}>
        {ui.newer}
      </Button>
      <Button small onClick={toOlder} disabled={older === null || older === undefined}>
        {ui.older}
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
