import type { Db } from '../../db/pool.ts'
import type { UnreadEntry } from '../../rails/pix/rail.ts'
import type { World } from '../../world.ts'
import { closeOpenException, exceptionsAbout, recordException } from '../exceptions/store.ts'

/**
 * Entries of a Pix provider's lists that cannot be read. Each is an exception of its own, opened once for each list: by its end-to-end id,
 * or by a digest of the entry. A reader stores it before its position in the list moves, so no entry is passed over unseen.
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

/** The name under which the entry is reported. */
export const nameOfUnread = ({ end_to_end_id, digest }: UnreadEntry): string => end_to_end_id ?? digest

export async function reportUnread(
  db: Db,
  clock: World['clock'],
  entry: UnreadEntry,
  { list, from, to }: ListWindow,
): Promise<void> {
  const object_id = nameOfUnread(entry)
  const told = (await exceptionsAbout(db, object_id)).filter(({ kind }) => kind === KIND)
  if (told.some(({ details }) => details.list === list)) return
  if (told.some(({ closed_at }) => closed_at === null)) {
    if (list !== 'received') return
    // Only the window of an exception of `received` is read again by the finder, which credits the payment.
    const reason = 'The list of received payments has the same entry: another exception names it.'
    await closeOpenException(db, { kind: KIND, object_id, reason })
  }
  const { send_id, digest, problem } = entry
  await recordException(db, clock, {
    ...{ kind: KIND, rail: RAIL, object_id, partner_id: null },
    details: {
      problem: `An entry of the provider's list cannot be read: ${problem}.`,
      check: CHECK,
      ...{ call: 'list', list, from: from.toISOString(), to: to.toISOString(), digest },
      ...(send_id === undefined ? {} : { send_id }),
    },
  })
}

const WINDOWS_MOST = 100

/** The windows of a list with entries that could not be read, and that nobody has closed. */
export async function unreadWindows(
  db: Db,
  list: ListWindow['list'],
): Promise<readonly Pick<ListWindow, 'from' | 'to'>[]> {
  const { rows } = await db.query<{ from: Date; to: Date }>({
    name: 'windows of unread entries',
    text: `SELECT DISTINCT (details ->> 'from')::timestamptz AS "from", (details ->> 'to')::timestamptz AS "to" FROM exceptions
      WHERE kind = '${KIND}' AND rail = '${RAIL}' AND closed_at IS NULL AND details ->> 'list' = $1 ORDER BY 1, 2 LIMIT ${WINDOWS_MOST}`,
    values: [list],
  })
  return rows
}

/** The window was read whole: the entries that are not among the unread ones any more were booked. */
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
