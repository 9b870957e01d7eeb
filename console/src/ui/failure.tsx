import { Link, useLocation } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { ApiError, isUncertain, PersonChanged, Unreachable } from '../api/errors.ts'
import { notAnId } from '../format/id.ts'
import { minuteTime } from '../format/time.ts'
import { errorText } from '../text/error-text.ts'
import { useLanguage, useText } from '../text/text.tsx'
import { Button } from './button.tsx'
import { Id } from './id.tsx'
import { Notice } from './notice.tsx'

type Props = {
  readonly error: unknown
  readonly onAgain?: (() => void) | undefined
  /** True for a read, which cannot have changed anything. */
  readonly reading?: boolean
}

/** An error, what it means and what to do (console §9). */
export function Failure({ error, onAgain, reading = false }: Props) {
  const { ui } = useText()
  const left = useSecondsLeft(error instanceof ApiError ? error.retry_after : undefined)
  const again = onAgain !== undefined && !isFinal(error) && (
    <Button small onClick={onAgain} disabled={left > 0}>
      {ui.try_again}
    </Button>
  )
  const absent = reading && error instanceof ApiError && error.status === 404
  return (
    <Notice kind="bad" action={again || undefined}>
      {absent ? <Absent error={error} /> : <Said error={error} />}
      {left > 0 && <> {ui.failed.too_many(left)}</>}
      <Meaning error={error} reading={reading} />
      {error instanceof ApiError && error.code === 'factor_needed' && (
        <div>
          <Link to="/me">{ui.proof.enrol}</Link>
        </div>
      )}
      {error instanceof ApiError && error.request_id !== undefined && (
        <div className="quiet small">
          {ui.failed.request} <Id id={error.request_id} as="full" />
        </div>
      )}
    </Notice>
  )
}

/** A retry would get the same response. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 403 || error.status === 404)

/** The object does not exist here. If its id is malformed, no other environment can have it. */
function Absent({ error }: { readonly error: unknown }) {
  const { ui } = useText()
  const path = useLocation({ select: ({ pathname }) => pathname })
  const mistyped = notAnId(path)
  if (mistyped !== undefined) {
    const { text, of, prefix } = mistyped
    return ui.failed.no_id(text.length > 40 ? `${text.slice(0, 40)}…` : text, ui.failed.id_of[of], prefix)
  }
  return (
    <>
      <Said error={error} />
      <Elsewhere path={path} />
    </>
  )
}

/** Offers the other environment: a shared link may belong to it. */
function Elsewhere({ path }: { readonly path: string }) {
  const { ui } = useText()
  const [, before, here, thing] = /^(\/operator|)\/(production|sandbox)\/(.+\/.+)$/.exec(path) ?? []
  if (thing === undefined) return null
  const other = here === 'sandbox' ? 'production' : 'sandbox'
  return (
    <div>
      <Link to={`${before}/${other}/${thing}`}>{ui.failed.look_in[other]}</Link>
    </div>
  )
}

function Said({ error }: { readonly error: unknown }): ReactNode {
  const { ui } = useText()
  const { language } = useLanguage()
  if (error instanceof ApiError) {
    const { until } = error.details
    if (error.code === 'not_permitted')
      return typeof until === 'string'
        ? ui.failed.shut(minuteTime(until, { language }))
        : ui.failed.not_permitted
    return errorText(ui, error)
  }
  if (error instanceof Unreachable) return ui.failed.offline
  if (error instanceof PersonChanged) return ui.failed.somebody_else
  return ui.failed.title
}

function Meaning({ error, reading }: { readonly error: unknown; readonly reading: boolean }): ReactNode {
  const { ui } = useText()
  // These errors need no word on whether anything changed: the first copy of the form took effect, and a failed sign-in changes
  // nothing.
  const beside =
    error instanceof ApiError && ['already_done', 'wrong_credentials', 'code_needed'].includes(error.code)
  if (reading || beside) return null
  // This code comes before anything is written, although its status is a 503.
  const is_refused = error instanceof ApiError && error.code === 'rail_unavailable'
  const is_unknown = isUncertain(error) && !is_refused
  return <div className="small">{is_unknown ? ui.failed.unknown : ui.failed.nothing_changed}</div>
}

/** The remaining seconds, counting down. */
export function useSecondsLeft(seconds: number | undefined): number {
  const [left, setLeft] = useState(seconds ?? 0)
  useEffect(() => {
    setLeft(seconds ?? 0)
    if (seconds === undefined) return
    const timer = setInterval(() => setLeft((now) => Math.max(0, now - 1)), 1_000)
    return () => clearInterval(timer)
  }, [seconds])
  return left
}
