import type { ShouldContinue } from '../db/chore.ts'
import type { Db } from '../db/pool.ts'
import type { User } from '../parties/team/store.ts'
import {
  type NotificationKind,
  type NotificationLine,
  type NotificationPlace,
  SAMPLES_MAX,
  type Sample,
} from './kinds.ts'

export type Notification = NotificationLine & {
  readonly id: string
  readonly first_at: Date
  readonly created_at: Date
  readonly read_at: Date | null
}

export const notificationColumns =
  'id, kind, place, topic, count, samples, first_at, last_at, created_at, read_at'

type Growth = {
  readonly id: string
  readonly user_id: string
  readonly kind: NotificationKind
  readonly place: NotificationPlace
  readonly topic: string
  readonly count: number
  readonly samples: readonly Sample[]
  readonly first_at: Date
  readonly last_at: Date
}

/** Adds each row to the person's open line of the same kind, place and topic, or inserts it. Rows must differ in these four. */
export async function growNotifications(tx: Db, rows: readonly Growth[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query(
    `INSERT INTO notifications AS n (id, user_id, kind, place, topic, count, samples, first_at, last_at)
     SELECT new.id, new.user_id, new.kind, new.place, new.topic, new.count, new.samples::jsonb, new.first_at, new.last_at
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::timestamptz[], $9::timestamptz[])
       AS new (id, user_id, kind, place, topic, count, samples, first_at, last_at)
     ORDER BY new.user_id, new.kind, new.place, new.topic
     ON CONFLICT (user_id, kind, place, topic) WHERE mail = 'waiting' AND read_at IS NULL DO UPDATE SET
       count = n.count + excluded.count, first_at = least(n.first_at, excluded.first_at), last_at = greatest(n.last_at, excluded.last_at),
       samples = jsonb_path_query_array(n.samples || excluded.samples, '$[0 to ${SAMPLES_MAX - 1}]')`,
    [
      rows.map(({ id }) => id),
      rows.map(({ user_id }) => user_id),
      rows.map(({ kind }) => kind),
      rows.map(({ place }) => place),
      rows.map(({ topic }) => topic),
      rows.map(({ count }) => count),
      rows.map(({ samples }) => JSON.stringify(samples)),
      rows.map(({ first_at }) => first_at.toISOString()),
      rows.map(({ last_at }) => last_at.toISOString()),
    ],
  )
}

export type Receiver = Pick<User, 'id' | 'partner_id' | 'role' | 'operator_role' | 'partner_role'>

/** These users, the users of these partners, and the operators if `operators`; removed users are left out. */
export async function selectReceivers(
  db: Db,
  {
    partners,
    users,
    operators,
  }: { partners: readonly string[]; users: readonly string[]; operators: boolean },
): Promise<Receiver[]> {
  const { rows } = await db.query(
    `SELECT id, partner_id, role, operator_role, partner_role FROM users
     WHERE removed_at IS NULL AND (partner_id = ANY($1::text[]) OR id = ANY($2::text[]) OR (partner_id IS NULL AND $3))
     ORDER BY id`,
    [partners, users, operators],
  )
  return rows
}

/** Which of these subjects were not seen before. Marks them as seen. */
export async function markSeen(
  tx: Db,
  subjects: readonly { readonly source: string; readonly subject: string }[],
): Promise<ReadonlySet<string>> {
  if (subjects.length === 0) return new Set()
  const { rows } = await tx.query<{ source: string; subject: string }>(
    `INSERT INTO notification_sightings (source, subject)
     SELECT DISTINCT source, subject FROM unnest($1::text[], $2::text[]) AS new (source, subject) ORDER BY 1, 2
     ON CONFLICT DO NOTHING RETURNING source, subject`,
    [subjects.map(({ source }) => source), subjects.map(({ subject }) => subject)],
  )
  return new Set(rows.map(({ source, subject }) => `${source} ${subject}`))
}

/** Which of these subjects were seen before, without marking any: lets a run that finds nothing new write nothing. */
export async function selectSeen(
  db: Db,
  subjects: readonly { readonly source: string; readonly subject: string }[],
): Promise<ReadonlySet<string>> {
  if (subjects.length === 0) return new Set()
  const { rows } = await db.query<{ source: string; subject: string }>(
    `SELECT s.source, s.subject FROM unnest($1::text[], $2::text[]) AS asked (source, subject)
     JOIN notification_sightings s USING (source, subject)`,
    [subjects.map(({ source }) => source), subjects.map(({ subject }) => subject)],
  )
  return new Set(rows.map(({ source, subject }) => `${source} ${subject}`))
}

/** Undefined before the first call of `savePosition`. */
export async function positionOf(db: Db, source: string): Promise<bigint | undefined> {
  const { rows } = await db.query('SELECT position FROM notification_positions WHERE source = $1', [source])
  return rows[0]?.position
}

export async function savePosition(tx: Db, source: string, position: bigint): Promise<void> {
  await tx.query(
    `INSERT INTO notification_positions (source, position) VALUES ($1, $2)
     ON CONFLICT (source) DO UPDATE SET position = excluded.position`,
    [source, position],
  )
}

/** The newest notifications of a person, and how many are unread, counted up to a hundred. */
export async function selectNotifications(
  db: Db,
  user_id: string,
  limit: number,
): Promise<{ rows: Notification[]; unread: number }> {
  const { rows } = await db.query(
    `SELECT ${notificationColumns} FROM notifications WHERE user_id = $1 ORDER BY last_at DESC, id DESC LIMIT $2`,
    [user_id, limit],
  )
  return { rows, unread: await countUnread(db, user_id) }
}

export async function countUnread(db: Db, user_id: string): Promise<number> {
  const { rows } = await db.query(
    `SELECT count(*)::integer AS unread FROM (
       SELECT FROM notifications WHERE user_id = $1 AND read_at IS NULL LIMIT 100) AS open`,
    [user_id],
  )
  return rows[0].unread
}

/** Marks as read what the person has seen. A line whose count has grown since then stays unread. */
export async function markRead(
  db: Db,
  user_id: string,
  seen: readonly { readonly id: string; readonly count: number }[],
): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE notifications n SET read_at = clock_timestamp()
     FROM unnest($2::text[], $3::integer[]) AS seen (id, count)
     WHERE n.id = seen.id AND n.user_id = $1 AND n.count = seen.count AND n.read_at IS NULL`,
    [user_id, seen.map(({ id }) => id), seen.map(({ count }) => count)],
  )
  return rowCount ?? 0
}

export type MailSetting = {
  readonly kind: NotificationKind
  readonly mail: boolean
  readonly changed_at: Date
}

export async function selectSettings(db: Db, user_id: string): Promise<MailSetting[]> {
  const { rows } = await db.query(
    'SELECT kind, mail, changed_at FROM notification_settings WHERE user_id = $1',
    [user_id],
  )
  return rows
}

/** Saves a setting. `changed_at` changes only if the value does. */
export async function saveSetting(
  tx: Db,
  user_id: string,
  { kind, mail }: Pick<MailSetting, 'kind' | 'mail'>,
): Promise<void> {
  await tx.query(
    `INSERT INTO notification_settings AS s (user_id, kind, mail) VALUES ($1, $2, $3)
     ON CONFLICT (user_id, kind) DO UPDATE SET mail = excluded.mail, changed_at = clock_timestamp()
     WHERE s.mail <> excluded.mail`,
    [user_id, kind, mail],
  )
}

/** The address that the person confirmed, if any. */
export async function confirmedAddress(db: Db, user_id: string): Promise<string | undefined> {
  const { rows } = await db.query('SELECT email FROM mail_addresses WHERE user_id = $1', [user_id])
  return rows[0]?.email
}

export async function saveConfirmed(tx: Db, user_id: string, email: string): Promise<void> {
  await tx.query(
    `INSERT INTO mail_addresses (user_id, email) VALUES ($1, $2)
     ON CONFLICT (user_id) DO UPDATE SET email = excluded.email, confirmed_at = clock_timestamp()`,
    [user_id, email],
  )
}

const STEP = 1000

/** 90 days: longer than any source looks back. */
const FORGOTTEN = [
  `DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE last_at < clock_timestamp() - interval '90 days' LIMIT $1)`,
  `DELETE FROM mails WHERE id IN (SELECT id FROM mails WHERE created_at < clock_timestamp() - interval '90 days' AND status <> 'waiting' LIMIT $1)`,
  `DELETE FROM notification_sightings WHERE (source, subject) IN (
     SELECT source, subject FROM notification_sightings WHERE seen_at < clock_timestamp() - interval '90 days' LIMIT $1)`,
]

/** Removes notifications, mails and sightings after 90 days. */
export async function forgetNotifications(
  db: Db,
  shouldContinue: ShouldContinue = () => true,
): Promise<void> {
  for (const statement of FORGOTTEN)
    for (let gone = STEP; gone === STEP && shouldContinue(); )
      gone = (await db.query(statement, [STEP])).rowCount ?? 0
}
