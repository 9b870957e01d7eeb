import type { Db } from '../../db/pool.ts'
import type { UnreadEntry } from '../../rails/pix/rail.ts'
import type { World } from '../../world.ts'
import { closeOpenException, exceptionsAbout, recordException } from '../exceptions/store.ts'

/**
 * Entries of a Pix provider's lists that cannot be read. Each is an exception of its own, opened once for each list: by its end-to-end id,
 * by the id that this service sent, or by a digest of the entry. A changed field of the provider may make every entry unreadable: above
 * NAMED_MOST open exceptions of a list, the further entries share one for each hour or day. A reader stores both before its position in the
 * list moves, so no entry is passed over unseen.
 */
type ListWindow = {
  /** `received` is read again by the finder for as long as the exception is open. The other lists are read again anyway. */
  readonly list: 'received' | 'returned' | 'sent'
  readonly from: Date
  readonly to: Date
}

const KIND = 'invalid_answer'
const RAIL = 'pix'
const CHECK =
  'Nothing was booked because of this entry. Compare it with the account’s statement, and have the provider or the adapter of the rail corrected. The service reads the list again and books the payment itself: do not credit it by hand.'
/** Open exceptions of a list that name one entry each. */
const NAMED_MOST = 50
/** The windows of shared exceptions. They do not depend on when a run reads, so that further runs open no further exceptions. */
const SHARED_MS = { received: 3_600_000, returned: 86_400_000, sent: 86_400_000 } as const

type UnreadReport = {
  add(entry: UnreadEntry): Promise<void>
  /** Stores the shared exceptions. Returns the names under which the entries are reported. */
  end(): Promise<ReadonlySet<string>>
}

/** For the entries of one part of a list. */
export function openUnreadReport(db: Db, clock: World['clock'], window: ListWindow): UnreadReport {
  const names = new Set<string>()
  const unnamed: UnreadEntry[] = []
  return {
    async add(entry) {
      const is_named = await nameEntry(db, clock, entry, window, unnamed.length === 0)
      if (is_named) names.add(nameOf(entry))
      else unnamed.push(entry)
    },
    async end() {
      const [first] = unnamed
      if (!first) return names
      for (const shared of sharedWindows(window)) {
        await recordUnread(db, clock, shared.name, shared, {
          problem: `At least ${unnamed.length} more entries of the provider's list cannot be read, one of them: ${first.problem}.`,
          count: unnamed.length,
        })
        names.add(shared.name)
      }
      return names
    },
  }
}

const nameOf = ({ end_to_end_id, send_id, digest }: UnreadEntry): string => end_to_end_id ?? send_id ?? digest

/** False: the list has too many open exceptions for another one. */
async function nameEntry(
  db: Db,
  clock: World['clock'],
  entry: UnreadEntry,
  window: ListWindow,
  may_have_room: boolean,
): Promise<boolean> {
  const { list } = window
  const object_id = nameOf(entry)
  const told = (await exceptionsAbout(db, object_id)).filter(({ kind }) => kind === KIND)
  if (told.some(({ details }) => details.list === list)) return true
  const is_open = told.some(({ closed_at }) => closed_at === null)
  if (is_open && list !== 'received') return true
  if (!may_have_room || (await countNamed(db, list)) >= NAMED_MOST) return false
  // Only the window of an exception of `received` is read again by the finder, which credits the payment.
  const reason = 'The list of received payments has the same entry: another exception names it.'
  if (is_open) await closeOpenException(db, { kind: KIND, object_id, reason })
  const { send_id, digest, problem } = entry
  await recordUnread(db, clock, object_id, window, {
    problem: `An entry of the provider's list cannot be read: ${problem}.`,
    digest,
    ...(send_id === undefined ? {} : { send_id }),
  })
  return true
}

function recordUnread(
  db: Db,
  clock: World['clock'],
  object_id: string,
  { list, from, to }: ListWindow,
  { problem, ...more }: Readonly<Record<string, unknown>>,
): Promise<void> {
  const window = { call: 'list', list, from: from.toISOString(), to: to.toISOString() }
  return recordException(db, clock, {
    ...{ kind: KIND, rail: RAIL, object_id, partner_id: null },
    details: { problem, check: CHECK, ...window, ...more },
  })
}

/** The hours or days in which the window lies: the time of an entry that cannot be read is not known. */
function* sharedWindows({ list, from, to }: ListWindow): Generator<ListWindow & { readonly name: string }> {
  const ms = SHARED_MS[list]
  for (let at = Math.floor(from.getTime() / ms) * ms; at < to.getTime(); at += ms) {
    const begin = new Date(at)
    yield { name: `${list} ${begin.toISOString()}`, list, from: begin, to: new Date(at + ms) }
  }
}

async function countNamed(db: Db, list: ListWindow['list']): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count unread entries',
    text: `SELECT count(*)::integer AS count FROM (SELECT FROM exceptions WHERE kind = '${KIND}' AND rail = '${RAIL}' AND closed_at IS NULL
      AND details ->> 'list' = $1 AND details ->> 'count' IS NULL LIMIT ${NAMED_MOST}) AS named`,
    values: [list],
  })
  return rows[0]!.count
}

const WINDOWS_MOST = 100

/** The windows of a list that have an open exception about unread entries. A window that has not ended yet is left out. */
export async function unreadWindows(
  db: Db,
  list: ListWindow['list'],
): Promise<readonly Pick<ListWindow, 'from' | 'to'>[]> {
  const { rows } = await db.query<{ from: Date; to: Date }>({
    name: 'windows of unread entries',
    text: `SELECT DISTINCT (details ->> 'from')::timestamptz AS "from", (details ->> 'to')::timestamptz AS "to" FROM exceptions
      WHERE kind = '${KIND}' AND rail = '${RAIL}' AND closed_at IS NULL AND details ->> 'list' = $1
        AND (details ->> 'to')::timestamptz <= clock_timestamp() ORDER BY 1, 2 LIMIT ${WINDOWS_MOST}`,
    values: [list],
  })
  return rows
}

/** Closes the exceptions of a window that was read whole, except those of `unread`: all other entries of it were booked. */
export async function closeRead(
  db: Db,
  { list, from, to }: ListWindow,
  unread: ReadonlySet<string>,
): Promise<void> {
  await db.query({
    name: 'close exceptions of entries that were read',
    text: `UPDATE exceptions SET closed_at = clock_timestamp(), closed_by = 'service', closed_reason = 'The entry was read.'
      WHERE kind = '${KIND}' AND rail = '${RAIL}' AND closed_at IS NULL AND details ->> 'list' = $1
        AND (details ->> 'from')::timestamptz = $2 AND (details ->> 'to')::timestamptz = $3 AND NOT object_id = ANY($4::text[])`,
    values: [list, from, to, [...unread]],
  })
}
