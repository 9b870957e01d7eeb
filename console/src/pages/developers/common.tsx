import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { ageText, listTime, minuteTime } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { useQueryString } from '../../ui/filters.tsx'
import { EndMark } from '../../ui/page.tsx'
import { Pager } from '../../ui/pager.tsx'
import { useNow } from '../../ui/time.tsx'

/** Kinds of objects that events are about: a hint of any of them makes a list of events stale. */
export const eventObjectKinds = [
  'customer',
  'deposit',
  'charge',
  'payout',
  'transfer',
  'trade',
  'fee_payout',
  'key',
  'webhook_endpoint',
] as const

/** Polls while something is in progress that no hint announces. */
export function usePolling(query: { readonly refetch: () => unknown }, when: boolean, every_ms = 1_000) {
  const refetch = useRef(query.refetch)
  refetch.current = query.refetch
  useEffect(() => {
    if (!when) return
    const timer = setInterval(() => void refetch.current(), every_ms)
    return () => clearInterval(timer)
  }, [when, every_ms])
}

type PagerProps = {
  readonly page:
    | { readonly data: readonly unknown[]; readonly has_more: boolean; readonly next_cursor: string | null }
    | undefined
  readonly keys?: boolean
  /** Draws the end mark when the list is complete. */
  readonly end?: boolean
}

/** A cursor leads only to older rows; the way to newer ones is the browser history. */
export function CursorPager({ page, keys = false, end = false }: PagerProps) {
  const router = useRouter()
  const { query, set } = useQueryString()
  if (page === undefined) return null
  const older = page.has_more ? page.next_cursor : null
  const back = () => (router.history.canGoBack() ? router.history.back() : set({ after: undefined }))
  return (
    <>
      {end && older === null && page.data.length > 0 && <EndMark />}
      {(older !== null || query.after !== undefined) && (
        <Pager newer={query.after === undefined ? null : 'back'} older={older} onNewer={back} keys={keys} />
      )}
    </>
  )
}

const SOON_MS = 60_000
const AGE_MS = 48 * 3_600_000

/** `now`, `14 min ago`, then the day. */
export function useAgo(): (iso: string) => string {
  const { ui, developers } = useText()
  const { language } = useLanguage()
  const now = useNow(10_000)
  return (iso) => {
    const age = now.getTime() - new Date(iso).getTime()
    if (age < SOON_MS) return developers.keys.now
    return age < AGE_MS ? ui.ago(ageText(age)) : listTime(iso, { language })
  }
}

/** `18:00` today, `14 Nov 17:02` on another day. */
export function useMoment(): (iso: string) => string {
  const { language } = useLanguage()
  return (iso) =>
    new Date(iso).toDateString() === new Date().toDateString()
      ? minuteTime(iso, { language })
      : listTime(iso, { language })
}

/** A URL as people read it: `hooks.lumen.example/trilho`. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//i, '').replace(/\/$/, '')

/** Where the pages of an object are, by the prefix of its id. */
const pageOf: Readonly<Record<string, string>> = {
  po: 'payouts',
  tr: 'transfers',
  cus: 'customers',
  qt: 'quotes',
  td: 'trades',
  dep: 'deposits',
  chg: 'charges',
  key: 'developers/keys',
  whe: 'developers/webhooks',
  evt: 'developers/events',
}

/** The path below the environment, or below the partner for an operator, who has no page of a key. */
export function pageOfObject(id: string, by_operator = false): string | undefined {
  const prefix = id.slice(0, id.indexOf('_'))
  const page = by_operator && prefix === 'key' ? undefined : pageOf[prefix]
  return page === undefined ? undefined : `${page}/${id}`
}
