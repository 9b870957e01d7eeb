import { createHash } from 'node:crypto'
import type { Db } from '../db/pool.ts'
import type { User } from '../parties/team/store.ts'
import { type Notification, notificationColumns } from './store.ts'

export type MailKind = 'digest' | 'confirmation'

export type TakenMail = {
  readonly id: string
  readonly user_id: string
  readonly kind: MailKind
  readonly attempts: number
  readonly created_at: Date
  readonly email: string
  readonly language: User['language']
  readonly removed: boolean
}

/**
 * People with notifications that are in no mail yet, the oldest of them older than `first_ms`. Left out: people with a mail that
 * waits or is younger than `every_ms`, and people who were asked in the last seven days to confirm their address and have not
 * done so. In random order, so that people with a longer pause do not fill the limit at every call.
 */
export async function peopleToMail(
  db: Db,
  { first_ms, every_ms, limit }: { first_ms: number; every_ms: number; limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT u.id FROM (
       SELECT user_id FROM notifications WHERE mail = 'waiting' GROUP BY user_id
       HAVING min(created_at) <= clock_timestamp() - make_interval(secs => $1::float8 / 1000)) AS n
     JOIN users u ON u.id = n.user_id
     WHERE NOT EXISTS (SELECT FROM mails m WHERE m.user_id = u.id
         AND (m.status = 'waiting' OR m.created_at > clock_timestamp() - make_interval(secs => $2::float8 / 1000)))
       AND (u.partner_id IS NULL OR EXISTS (SELECT FROM mail_addresses a WHERE a.user_id = u.id AND a.email = u.email)
         OR NOT EXISTS (SELECT FROM mails m WHERE m.user_id = u.id AND m.kind = 'confirmation'
           AND m.created_at > clock_timestamp() - interval '7 days'))
     ORDER BY random() LIMIT $3`,
    [first_ms, every_ms, limit],
  )
  return rows.map(({ id }) => id)
}

/** The person's notifications that wait for a mail, locked so that they do not grow until the transaction ends. */
export async function lockWaiting(
  tx: Db,
  user_id: string,
): Promise<(Notification & { readonly is_old: boolean })[]> {
  const { rows } = await tx.query(
    `SELECT ${notificationColumns},
       last_at < clock_timestamp() - interval '1 day' AS is_old
     FROM notifications WHERE user_id = $1 AND mail = 'waiting' ORDER BY id FOR UPDATE`,
    [user_id],
  )
  return rows
}

export async function selectAddressee(
  db: Db,
  user_id: string,
): Promise<
  | (Pick<User, 'id' | 'email' | 'partner_id' | 'role' | 'operator_role' | 'partner_role'> & {
      readonly removed: boolean
      readonly confirmed: boolean
    })
  | undefined
> {
  const { rows } = await db.query(
    `SELECT u.id, u.email, u.partner_id, u.role, u.operator_role, u.partner_role, u.removed_at IS NOT NULL AS removed,
       EXISTS (SELECT FROM mail_addresses a WHERE a.user_id = u.id AND a.email = u.email) AS confirmed
     FROM users u WHERE u.id = $1`,
    [user_id],
  )
  return rows[0]
}

/** The mails of a person in the last day, and how the newest one ended. */
export async function recentMails(
  db: Db,
  user_id: string,
): Promise<{
  readonly count: number
  readonly age_ms: number | null
  readonly last_status: string | null
}> {
  const { rows } = await db.query(
    `SELECT (SELECT count(*)::integer FROM mails WHERE user_id = $1 AND created_at > clock_timestamp() - interval '1 day') AS count,
       (extract(epoch FROM clock_timestamp() - last.created_at) * 1000)::float8 AS age_ms, last.status AS last_status
     FROM (SELECT) AS one LEFT JOIN LATERAL (
       SELECT created_at, status FROM mails WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1) AS last ON true`,
    [user_id],
  )
  return rows[0]
}

/** Confirmations to this person in the last seven days, and to all people of the partner in the last day. */
export async function recentConfirmations(
  db: Db,
  { user_id, partner_id }: { user_id: string; partner_id: string | null },
): Promise<{ readonly to_person: number; readonly to_person_today: number; readonly to_partner: number }> {
  const { rows } = await db.query(
    `SELECT
       (SELECT count(*)::integer FROM mails WHERE user_id = $1 AND kind = 'confirmation'
          AND created_at > clock_timestamp() - interval '7 days') AS to_person,
       (SELECT count(*)::integer FROM mails WHERE user_id = $1 AND kind = 'confirmation'
          AND created_at > clock_timestamp() - interval '1 day') AS to_person_today,
       (SELECT count(*)::integer FROM mails m JOIN users u ON u.id = m.user_id WHERE u.partner_id = $2
          AND m.kind = 'confirmation' AND m.created_at > clock_timestamp() - interval '1 day') AS to_partner`,
    [user_id, partner_id],
  )
  return rows[0]
}

const CONFIRMATION = 'confirmation'

/** A removed user loses its address, so the address of a confirmation is kept apart from its mail, as a hash. */
const hashOf = (email: string): string => createHash('sha256').update(email.toLowerCase()).digest('hex')

/** Confirmations sent to this address in the last day, for whichever user. */
export async function confirmationsTo(db: Db, email: string): Promise<number> {
  const { rows } = await db.query(
    `SELECT count(*)::integer AS count FROM notification_sightings
     WHERE source = $1 AND starts_with(subject, $2) AND seen_at > clock_timestamp() - interval '1 day'`,
    [CONFIRMATION, hashOf(email)],
  )
  return rows[0].count
}

export async function noteConfirmationTo(tx: Db, email: string, mail_id: string): Promise<void> {
  await tx.query('INSERT INTO notification_sightings (source, subject) VALUES ($1, $2)', [
    CONFIRMATION,
    `${hashOf(email)} ${mail_id}`,
  ])
}

/** False if a mail to this person waits already. */
export async function insertMail(
  tx: Db,
  mail: { readonly id: string; readonly user_id: string; readonly kind: MailKind },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO mails (id, user_id, kind) VALUES ($1, $2, $3)
     ON CONFLICT (user_id) WHERE status = 'waiting' DO NOTHING`,
    [mail.id, mail.user_id, mail.kind],
  )
  return rowCount === 1
}

/** Puts notifications into a mail; without `mail_id` marks them as not to be mailed. */
export async function settleNotifications(tx: Db, ids: readonly string[], mail_id?: string): Promise<void> {
  if (ids.length === 0) return
  await tx.query('UPDATE notifications SET mail = $2, mail_id = $3 WHERE id = ANY($1::text[])', [
    ids,
    mail_id === undefined ? 'none' : 'taken',
    mail_id ?? null,
  ])
}

/** Takes the mail that is due first, with a lease. */
export async function takeMail(db: Db, lease_ms: number): Promise<TakenMail | undefined> {
  const { rows } = await db.query(
    `UPDATE mails m SET attempts = attempts + 1, next_attempt_at = clock_timestamp() + make_interval(secs => $1::float8 / 1000)
     FROM users u WHERE u.id = m.user_id AND m.id = (
       SELECT id FROM mails WHERE status = 'waiting' AND next_attempt_at <= clock_timestamp()
       ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING m.id, m.user_id, m.kind, m.attempts, m.created_at, u.email, u.language, u.removed_at IS NOT NULL AS removed`,
    [lease_ms],
  )
  return rows[0]
}

export async function notificationsOf(db: Db, mail_id: string): Promise<Notification[]> {
  const { rows } = await db.query(
    `SELECT ${notificationColumns}
     FROM notifications WHERE mail_id = $1 ORDER BY id`,
    [mail_id],
  )
  return rows
}

/** Ends a mail, unless another sender has taken it since. */
export async function endMail(
  db: Db,
  { id, attempts }: Pick<TakenMail, 'id' | 'attempts'>,
  status: 'sent' | 'given_up' | 'canceled',
  error: string | null,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE mails SET status = $3, ended_at = clock_timestamp(), error = $4 WHERE id = $1 AND attempts = $2 AND status = 'waiting'`,
    [id, attempts, status, error],
  )
  return rowCount === 1
}

export async function postponeMail(
  db: Db,
  { id, attempts }: Pick<TakenMail, 'id' | 'attempts'>,
  delay_ms: number,
  error: string,
): Promise<void> {
  await db.query(
    `UPDATE mails SET next_attempt_at = clock_timestamp() + make_interval(secs => $3::float8 / 1000), error = $4
     WHERE id = $1 AND attempts = $2 AND status = 'waiting'`,
    [id, attempts, delay_ms, error],
  )
}

/** Notes that a node with SMTP_URL is at work; written once a minute. */
export async function noteLook(db: Db): Promise<void> {
  await db.query(
    `INSERT INTO mail_state AS s DEFAULT VALUES ON CONFLICT (id) DO UPDATE SET looked_at = clock_timestamp()
     WHERE s.looked_at < clock_timestamp() - interval '1 minute'`,
  )
}

export async function noteSent(db: Db): Promise<void> {
  await db.query(
    `INSERT INTO mail_state (sent_at) VALUES (clock_timestamp())
     ON CONFLICT (id) DO UPDATE SET sent_at = excluded.sent_at, looked_at = excluded.looked_at`,
  )
}

export async function noteFailed(db: Db, error: string): Promise<void> {
  await db.query(
    `INSERT INTO mail_state (failed_at, error) VALUES (clock_timestamp(), $1)
     ON CONFLICT (id) DO UPDATE SET failed_at = excluded.failed_at, error = excluded.error, looked_at = excluded.looked_at`,
    [error],
  )
}

/** Notes the result of `trilho mail test`, which no node sent: `looked_at` stays. `error`: null after a success. */
export async function noteTest(db: Db, error: string | null): Promise<void> {
  await db.query(
    error === null
      ? `INSERT INTO mail_state (looked_at, sent_at) VALUES ('-infinity', clock_timestamp())
         ON CONFLICT (id) DO UPDATE SET sent_at = excluded.sent_at`
      : `INSERT INTO mail_state (looked_at, failed_at, error) VALUES ('-infinity', clock_timestamp(), $1)
         ON CONFLICT (id) DO UPDATE SET failed_at = excluded.failed_at, error = excluded.error`,
    error === null ? [] : [error],
  )
}

export type MailState = {
  /** A node with SMTP_URL looked for mail in the last five minutes. */
  readonly configured: boolean
  readonly sent_at: Date | null
  readonly failed_at: Date | null
  /** Why the last attempt failed; kept after a success. */
  readonly error: string | null
  readonly waiting: number
  readonly oldest_waiting_seconds: number
  /** In the last seven days. */
  readonly given_up: number
}

/** For operators and the metrics; counts up to 10,000. */
export async function mailState(db: Db): Promise<MailState> {
  const { rows } = await db.query({
    name: 'mail state',
    text: `SELECT coalesce(s.looked_at > clock_timestamp() - interval '5 minutes', false) AS configured, s.sent_at, s.failed_at, s.error,
        w.waiting, w.oldest_waiting_seconds, g.given_up
      FROM (SELECT) AS one LEFT JOIN mail_state s ON s.id = 1
      CROSS JOIN (SELECT count(*)::integer AS waiting,
          coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(created_at))), 0)::float8 AS oldest_waiting_seconds
        FROM (SELECT created_at FROM mails WHERE status = 'waiting' LIMIT 10000) AS w) AS w
      CROSS JOIN (SELECT count(*)::integer AS given_up FROM (SELECT FROM mails
        WHERE status = 'given_up' AND ended_at > clock_timestamp() - interval '7 days' LIMIT 10000) AS g) AS g`,
  })
  return rows[0]
}
