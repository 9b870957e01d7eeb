import type { QueryClient } from '@tanstack/react-query'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'

/** How fresh the page is: `live` receives hints, `waiting` polls every few seconds, `offline` gets no responses. */
type Liveness =
  /** `none`: this page neither receives hints nor polls. */
  { readonly state: 'live' | 'waiting' | 'none' } | { readonly state: 'offline'; readonly since: string }

const POLL_MS = 5_000
/** Hints that arrive within this time cause one read. */
const GATHER_MS = 250
/** Between two reads of a page: beside many payments a page would otherwise use up its person's reads per minute. */
const BETWEEN_MS = 1_000

let liveness: Liveness = { state: 'none' }
let listeners = 0
const watchers = new Set<() => void>()

function setState(next: Liveness['state']) {
  if (next === liveness.state) return
  liveness = next === 'offline' ? { state: next, since: new Date().toISOString() } : { state: next }
  for (const watch of watchers) watch()
}

/** Any response, even an error, means that the service is reachable. */
export function noteReachable(answered: boolean): void {
  if (!answered) setState('offline')
  else if (liveness.state === 'offline') setState(listeners > 0 ? 'waiting' : 'none')
}

const subscribe = (watch: () => void) => {
  watchers.add(watch)
  return () => watchers.delete(watch)
}

export const useLiveness = (): Liveness => useSyncExternalStore(subscribe, () => liveness)

/** The kind `all` means that more changed than single hints can announce. */
type Hint = { readonly kind: string; readonly id?: string }

function hintOf(data: string): Hint | undefined {
  try {
    const { kind, id } = JSON.parse(data)
    return typeof kind === 'string' ? { kind, id } : undefined
  } catch {
    return undefined
  }
}

const listensTo = (meta: Record<string, unknown> | undefined): readonly string[] =>
  (meta?.live as readonly string[] | undefined) ?? []

function markStale(queries: QueryClient, kinds: ReadonlySet<string>) {
  if (kinds.has('all')) return void markAll(queries)
  const concerns = (kind: string) => kind === '*' || kinds.has(kind)
  void queries.invalidateQueries({ predicate: ({ meta }) => listensTo(meta).some(concerns) })
}

const markAll = (queries: QueryClient) =>
  queries.invalidateQueries({ predicate: ({ meta }) => listensTo(meta).length > 0 })

/** Opens the event stream while the tab is visible, and polls while the stream is down. */
function listen(queries: QueryClient, address: string): () => void {
  let source: EventSource | undefined
  let gathering: ReturnType<typeof setTimeout> | undefined
  let marked_at = Number.NEGATIVE_INFINITY
  const kinds = new Set<string>()

  const onHint = ({ data }: MessageEvent<string>) => {
    const hint = hintOf(data)
    if (hint === undefined) return
    kinds.add(hint.kind)
    const mark = () => {
      gathering = undefined
      marked_at = performance.now()
      markStale(queries, kinds)
      kinds.clear()
    }
    gathering ??= setTimeout(mark, Math.max(GATHER_MS, marked_at + BETWEEN_MS - performance.now()))
  }

  const open = () => {
    source = new EventSource(address)
    source.onopen = () => {
      setState('live')
      // Hints missed while the stream was closed are not repeated, so everything is read again.
      void markAll(queries)
    }
    source.onmessage = onHint
    // The browser reconnects by itself; polling bridges the gap.
    source.onerror = () => liveness.state === 'live' && setState('waiting')
  }
  const close = () => {
    source?.close()
    source = undefined
  }
  const reopen = () => {
    close()
    open()
  }
  const onVisibility = () => {
    if (document.hidden) return close()
    if (source === undefined) open()
  }

  const poll = setInterval(() => {
    if (document.hidden || liveness.state === 'live') return
    // The browser does not reconnect after a refusal, and a stream opened before an outage may be dead.
    if (source?.readyState !== EventSource.CONNECTING) reopen()
    void markAll(queries)
  }, POLL_MS)
  const offline = () => noteReachable(false)
  const online = () => {
    noteReachable(true)
    if (!document.hidden) reopen()
  }

  document.addEventListener('visibilitychange', onVisibility)
  window.addEventListener('offline', offline)
  window.addEventListener('online', online)
  listeners++
  if (liveness.state === 'none') setState('waiting')
  if (!document.hidden) open()
  return () => {
    listeners--
    close()
    clearInterval(poll)
    clearTimeout(gathering)
    document.removeEventListener('visibilitychange', onVisibility)
    window.removeEventListener('offline', offline)
    window.removeEventListener('online', online)
    if (liveness.state !== 'offline') setState('none')
  }
}

/** Opened once, by the layout of an environment; not at all without an address. */
export function useLive(address: string | undefined): void {
  const queries = useQueryClient()
  useEffect(() => (address === undefined ? undefined : listen(queries, address)), [queries, address])
}
