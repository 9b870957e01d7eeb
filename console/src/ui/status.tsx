import type { ReactNode } from 'react'

/** A state, shown by shape first, then by colour and word. */
export type Shape = 'done' | 'going' | 'waiting' | 'failed' | 'unknown' | 'attention' | 'ended' | 'off'

const ring = <circle cx="7" cy="7" r="5.4" fill="none" stroke="currentColor" strokeWidth="1.5" />
const diamond = <path d="M7 .2 13.8 7 7 13.8.2 7z" fill="currentColor" />
const cut = { className: 'cut', fill: 'none', strokeLinecap: 'round', strokeLinejoin: 'round' } as const

const drawings: Readonly<Record<Shape, ReactNode>> = {
  done: (
    <>
      <circle cx="7" cy="7" r="6.2" fill="currentColor" />
      <path {...cut} d="m4.2 7.2 2 2 3.7-4.2" strokeWidth="1.6" />
    </>
  ),
  going: (
    <>
      {ring}
      <path d="M7 1.6a5.4 5.4 0 0 1 0 10.8z" fill="currentColor" />
    </>
  ),
  waiting: (
    <circle
      cx="7"
      cy="7"
      r="5.4"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeDasharray="2.3 1.95"
    />
  ),
  failed: (
    <>
      <rect x=".9" y=".9" width="12.2" height="12.2" rx="2.4" fill="currentColor" />
      <path {...cut} d="m4.5 4.5 5 5m0-5-5 5" strokeWidth="1.6" />
    </>
  ),
  unknown: (
    <>
      {diamond}
      <path {...cut} d="M5.5 5.5a1.55 1.55 0 1 1 2.3 1.35c-.6.35-.8.65-.8 1.2M7 10.1v.05" strokeWidth="1.4" />
    </>
  ),
  attention: (
    <>
      {diamond}
      <path {...cut} d="M7 3.9v3.7M7 9.9v.05" strokeWidth="1.6" />
    </>
  ),
  ended: (
    <>
      {ring}
      <path d="M4 7h6" stroke="currentColor" strokeWidth="1.5" />
    </>
  ),
  off: (
    <>
      {ring}
      <path d="m3.2 10.8 7.6-7.6" stroke="currentColor" strokeWidth="1.5" />
    </>
  ),
}

export function Glyph({
  shape,
  size = 14,
  className,
}: {
  readonly shape: Shape
  readonly size?: number
  readonly className?: string
}) {
  return (
    <svg className={className} viewBox="0 0 14 14" width={size} height={size} aria-hidden="true">
      {drawings[shape]}
    </svg>
  )
}

/** The shape of each state of the API. */
export const shapeOf: Readonly<Record<string, Shape>> = {
  completed: 'done',
  confirmed: 'done',
  paid: 'done',
  executed: 'done',
  delivered: 'done',
  succeeded: 'done',
  active: 'done',
  enabled: 'done',
  approved: 'done',
  accepted: 'done',
  processing: 'going',
  broadcast: 'going',
  delivering: 'going',
  open: 'going',
  rotated: 'going',
  pending: 'waiting',
  waiting: 'waiting',
  proposed: 'waiting',
  invited: 'waiting',
  failed: 'failed',
  exhausted: 'failed',
  rejected: 'failed',
  refused: 'failed',
  unknown: 'unknown',
  no_answer: 'unknown',
  attention: 'attention',
  expired: 'ended',
  withdrawn: 'ended',
  dropped: 'ended',
  used: 'ended',
  revoked: 'off',
  blocked: 'off',
  disabled: 'off',
  closed: 'off',
}

const colour: Readonly<Record<Shape, string>> = {
  done: 'done',
  going: 'going',
  waiting: 'waiting',
  failed: 'failed',
  unknown: 'unknown',
  attention: 'unknown',
  ended: 'ended',
  off: 'off',
}

type Props = {
  /** A state of the API, or a shape by its name. */
  readonly state: string
  /** The translated word for the state, agreeing with its noun. */
  readonly children: ReactNode
  readonly large?: boolean
  readonly title?: string
}

export function Status({ state, children, large = false, title }: Props) {
  const shape = shapeOf[state] ?? (state in drawings ? (state as Shape) : 'waiting')
  return (
    <span className={`st ${colour[shape]}${large ? ' lg' : ''}`} title={title}>
      <Glyph shape={shape} size={large ? 16 : 14} />
      {children}
    </span>
  )
}
