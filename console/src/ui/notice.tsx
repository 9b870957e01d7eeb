import type { ReactNode } from 'react'
import { Icon } from './icons.tsx'
import { Glyph } from './status.tsx'

type Props = {
  readonly kind?: 'warn' | 'bad' | 'calm'
  readonly children: ReactNode
  /** A button or link at the end of the notice. */
  readonly action?: ReactNode
}

/** A notice in the flow of the page: a text that must be read is never a toast. */
export function Notice({ kind = 'warn', children, action }: Props) {
  return (
    <div className={kind === 'warn' ? 'note' : `note ${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
      {kind === 'calm' ? <Icon name="lock" /> : <Glyph shape={kind === 'bad' ? 'failed' : 'attention'} />}
      <div>{children}</div>
      {action !== undefined && <div>{action}</div>}
    </div>
  )
}
