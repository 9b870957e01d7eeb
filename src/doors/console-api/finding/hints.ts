import { setTimeout as sleep } from 'node:timers/promises'
import { proposalsMark } from '../../../control/operator/store.ts'
import { type IdKind, idPrefixes } from '../../../core/ids.ts'
import { openBell } from '../../../core/loop.ts'
import type { LogPoller } from '../../../db/log-poller.ts'
import type { Db } from '../../../db/pool.ts'
import { lastPosition, selectEvents } from '../../../records/events/log-store.ts'
import { exceptionsMark } from '../../../records/exceptions/store.ts'
import type { World } from '../../../world.ts'

/** Says which object has changed, not how: the page reads it again. `all`: too many changes to list. */
export type Hint = { readonly kind: string; readonly id?: string }

const ALL: Hint = { kind: 'all' }

type Tell = (hint: Hint) => void

/** Calls `begun` once it knows the present state: every change after that is reported. */
type Cry = (tell: Tell, until: AbortSignal, begun: () => void) => Promise<void>

/** Listeners of the same name share one crier, which stops when the last one leaves. */
type Criers = { listen(name: string, cry: Cry): Inbox }

export type Inbox = {
  /** Resolves when every later change will be reported. */
  readonly begun: Promise<void>
  /** The hints since the last call; empty after `wait_ms` without one, or if the listener has left. */
  take(wait_ms: number, gone: AbortSignal): Promise<readonly Hint[]>
  leave(): void
}

type Crier = {
  readonly inboxes: Set<Tell>
  readonly stopping: AbortController
  readonly begun: Promise<void>
  begin(): void
}

function openCrier(): Crier {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  return { inboxes: new Set(), stopping: new AbortController(), begun, begin }
}

export function openCriers(): Criers {
  const criers = new Map<string, Crier>()

  return {
    listen(name, cry) {
      const known = criers.get(name)
      const crier = known ?? openCrier()
      const inbox = openInbox()
      crier.inboxes.add(inbox.add)
      if (!known) {
        criers.set(name, crier)
        const tell: Tell = (hint) => {
          for (const add of crier.inboxes) add(hint)
        }
        void cry(tell, crier.stopping.signal, crier.begin)
      }
      return {
        begun: crier.begun,
        take: inbox.take,
        leave() {
          crier.inboxes.delete(inbox.add)
          if (crier.inboxes.size > 0 || criers.get(name) !== crier) return
          criers.delete(name)
          crier.stopping.abort()
        },
      }
    },
  }
}

/** Beyond this many unread hints a slow reader gets a single `all`. */
const WAITING_MAX = 64

function openInbox() {
  const waiting = new Map<string, Hint>()
  const bell = openBell()
  return {
    add(hint: Hint): void {
      if (waiting.has(ALL.kind)) return
      const crowded = hint.kind === ALL.kind || waiting.size >= WAITING_MAX
      if (crowded) waiting.clear()
      const told = crowded ? ALL : hint
      waiting.set(`${told.kind}${told.id === undefined ? '' : ` ${told.id}`}`, told)
      bell.ring()
    },
    async take(wait_ms: number, gone: AbortSignal): Promise<readonly Hint[]> {
      gone.addEventListener('abort', bell.ring)
      if (waiting.size === 0 && !gone.aborted) await bell.wait(wait_ms)
      gone.removeEventListener('abort', bell.ring)
      const hints = [...waiting.values()]
      waiting.clear()
      bell.hush()
      return hints
    },
  }
}

const READ_MAX = 100
/** Changes within this time are sent together. */
const GATHER_MS = 100
const LOOK_MS = 15_000
/** Delay after a failed query. */
const RETRY_MS = 1000

const rest = (ms: number, until: AbortSignal) => sleep(ms, undefined, { signal: until }).catch(() => {})

type Crying = { readonly tell: Tell; readonly until: AbortSignal; readonly begun: () => void }

/** Reports every event of a partner after the last position at the start. A failing database only delays the hints. */
export async function cryEvents(
  { reads: db }: World,
  poller: LogPoller,
  { partner_id, tell, until, begun }: Crying & { readonly partner_id: string },
): Promise<void> {
  let after: bigint | undefined
  const look = async () => {
    after ??= await lastPosition(db, partner_id)
    begun()
    after = await tellBehind(db, { partner_id, after }, tell)
  }
  while (!until.aborted) {
    try {
      const watch = await poller.watch(partner_id)
      try {
        await look()
        while (await watch.news(performance.now() + LOOK_MS, until)) {
          await rest(GATHER_MS, until)
          await look()
        }
      } finally {
        watch.end()
      }
    } catch {
      await rest(RETRY_MS, until)
    }
    await rest(GATHER_MS, until)
  }
}

/** Returns the position up to which events were reported. */
async function tellBehind(
  db: Db,
  { partner_id, after }: { partner_id: string; after: bigint },
  tell: Tell,
): Promise<bigint> {
  const filter = { partner_id, type: undefined, object_id: undefined, from: { after }, limit: READ_MAX + 1 }
  const { rows } = await selectEvents(db, filter)
  if (rows.length > READ_MAX) {
    const last = await lastPosition(db, partner_id)
    tell(ALL)
    return last
  }
  for (const { object_id } of rows) tell({ kind: kindOf(object_id), id: object_id })
  return rows.at(-1)?.position ?? after
}

const kinds = new Map<string, string>(
  (Object.entries(idPrefixes) as [IdKind, string][]).map(([kind, prefix]) => [prefix, kind]),
)
const kindOf = (id: string): string => kinds.get(id.slice(0, id.indexOf('_'))) ?? 'event'

const MARK_MS = 5000

/** Reports changes of exceptions and proposals. They have no wake-up, so one loop polls for all listeners. */
export async function cryDesk(world: World, shared: Db, { tell, until, begun }: Crying): Promise<void> {
  const { reads: db } = world
  let before: Record<string, string> | undefined
  while (!until.aborted) {
    try {
      const now: Record<string, string> = {
        exceptions: await exceptionsMark(db),
        proposals: `${await proposalsMark(db)} ${await proposalsMark(shared)}`,
      }
      for (const kind of Object.keys(now)) if (before && before[kind] !== now[kind]) tell({ kind })
      before = now
      begun()
    } catch {
      // The next round tries again.
    }
    await rest(MARK_MS, until)
  }
}
