import { setTimeout as sleep } from 'node:timers/promises'
import { proposalsMark } from '../../../control/operator/store.ts'
import { type IdKind, idPrefixes } from '../../../core/ids.ts'
import { openWakeSignal } from '../../../core/loop.ts'
import type { LogPoller } from '../../../db/log-poller.ts'
import type { Db } from '../../../db/pool.ts'
import { lastPosition, selectEvents } from '../../../records/events/log-store.ts'
import { exceptionsMark } from '../../../records/exceptions/store.ts'
import type { World } from '../../../world.ts'

/** Says which object has changed, not how: the page reads it again. `all`: too many changes to list. */
export type Hint = { readonly kind: string; readonly id?: string }

const ALL: Hint = { kind: 'all' }

type SendHint = (hint: Hint) => void

/** Calls `begun` once it knows the present state: every change after that is reported. */
type HintSource = (send: SendHint, until: AbortSignal, begun: () => void) => Promise<void>

/** Listeners of the same name share one source, which stops when the last one leaves. */
type HintHub = { subscribe(name: string, publish: HintSource): Inbox }

export type Inbox = {
  /** Resolves when every later change will be reported. */
  readonly begun: Promise<void>
  /** The hints since the last call; empty after `wait_ms` without one, or if the listener has left. */
  take(wait_ms: number, gone: AbortSignal): Promise<readonly Hint[]>
  unsubscribe(): void
}

type SharedSource = {
  readonly inboxes: Set<SendHint>
  readonly stopping: AbortController
  readonly begun: Promise<void>
  begin(): void
}

function openSharedSource(): SharedSource {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  return { inboxes: new Set(), stopping: new AbortController(), begun, begin }
}

export function openHintHub(): HintHub {
  const sources = new Map<string, SharedSource>()

  return {
    subscribe(name, publish) {
      const known = sources.get(name)
      const source = known ?? openSharedSource()
      const inbox = openInbox()
      source.inboxes.add(inbox.add)
      if (!known) {
        sources.set(name, source)
        const send: SendHint = (hint) => {
          for (const add of source.inboxes) add(hint)
        }
        void publish(send, source.stopping.signal, source.begin)
      }
      return {
        begun: source.begun,
        take: inbox.take,
        unsubscribe() {
          source.inboxes.delete(inbox.add)
          if (source.inboxes.size > 0 || sources.get(name) !== source) return
          sources.delete(name)
          source.stopping.abort()
        },
      }
    },
  }
}

/** Beyond this many unread hints a slow reader gets a single `all`. */
const WAITING_MAX = 64

function openInbox() {
  const waiting = new Map<string, Hint>()
  const wake_up = openWakeSignal()
  return {
    add(hint: Hint): void {
      if (waiting.has(ALL.kind)) return
      const crowded = hint.kind === ALL.kind || waiting.size >= WAITING_MAX
      if (crowded) waiting.clear()
      const kept = crowded ? ALL : hint
      waiting.set(`${kept.kind}${kept.id === undefined ? '' : ` ${kept.id}`}`, kept)
      wake_up.notify()
    },
    async take(wait_ms: number, gone: AbortSignal): Promise<readonly Hint[]> {
      gone.addEventListener('abort', wake_up.notify)
      if (waiting.size === 0 && !gone.aborted) await wake_up.wait(wait_ms)
      gone.removeEventListener('abort', wake_up.notify)
      const hints = [...waiting.values()]
      waiting.clear()
      wake_up.clear()
      return hints
    },
  }
}

const READ_MAX = 100
/** Changes within this time are sent together. */
const GATHER_MS = 100
const NEWS_WAIT_MS = 15_000
/** Delay after a failed query. */
const RETRY_MS = 1000

const pause = (ms: number, until: AbortSignal) => sleep(ms, undefined, { signal: until }).catch(() => {})

type HintSourceOptions = { readonly send: SendHint; readonly until: AbortSignal; readonly begun: () => void }

/** Reports every event of a partner after the last position at the start. A failing database only delays the hints. */
export async function publishEvents(
  { reads: db }: World,
  poller: LogPoller,
  { partner_id, send, until, begun }: HintSourceOptions & { readonly partner_id: string },
): Promise<void> {
  let after: bigint | undefined
  const readNew = async () => {
    after ??= await lastPosition(db, partner_id)
    begun()
    after = await publishSince(db, { partner_id, after }, send)
  }
  while (!until.aborted) {
    try {
      const watch = await poller.watch(partner_id)
      try {
        await readNew()
        while (await watch.news(performance.now() + NEWS_WAIT_MS, until)) {
          await pause(GATHER_MS, until)
          await readNew()
        }
      } finally {
        watch.end()
      }
    } catch {
      await pause(RETRY_MS, until)
    }
    await pause(GATHER_MS, until)
  }
}

/** Returns the position up to which events were reported. */
async function publishSince(
  db: Db,
  { partner_id, after }: { partner_id: string; after: bigint },
  send: SendHint,
): Promise<bigint> {
  const filter = { partner_id, type: undefined, object_id: undefined, from: { after }, limit: READ_MAX + 1 }
  const { rows } = await selectEvents(db, filter)
  if (rows.length > READ_MAX) {
    const last = await lastPosition(db, partner_id)
    send(ALL)
    return last
  }
  for (const { object_id } of rows) send({ kind: kindOf(object_id), id: object_id })
  return rows.at(-1)?.position ?? after
}

const kinds = new Map<string, string>(
  (Object.entries(idPrefixes) as [IdKind, string][]).map(([kind, prefix]) => [prefix, kind]),
)
const kindOf = (id: string): string => kinds.get(id.slice(0, id.indexOf('_'))) ?? 'event'

const MARK_MS = 5000

/** Reports changes of exceptions and proposals. They have no wake-up, so one loop polls for all listeners. */
export async function publishDesk(
  world: World,
  shared: Db,
  { send, until, begun }: HintSourceOptions,
): Promise<void> {
  const { reads: db } = world
  let before: Record<string, string> | undefined
  while (!until.aborted) {
    try {
      const now: Record<string, string> = {
        exceptions: await exceptionsMark(db),
        proposals: `${await proposalsMark(db)} ${await proposalsMark(shared)}`,
      }
      for (const kind of Object.keys(now)) if (before && before[kind] !== now[kind]) send({ kind })
      before = now
      begun()
    } catch {
      // The next round tries again.
    }
    await pause(MARK_MS, until)
  }
}
