import type { Logger } from 'pino'
import { crashPoint } from '../core/crash-point.ts'
import { openLoop } from '../core/loop.ts'
import type { Sealer } from '../core/seal.ts'
import type { Pool } from '../db/pool.ts'
import { confirmationToken } from './confirmation.ts'
import { type MailContent, renderConfirmation, renderDigest } from './digest.ts'
import type { NotificationLine } from './kinds.ts'
import {
  endMail,
  noteFailed,
  noteLook,
  noteSent,
  notificationsOf,
  postponeMail,
  type TakenMail,
  takeMail,
} from './mail-store.ts'
import { type Mailer, MailFailure, SMTP_DEADLINE_MS } from './smtp.ts'

/**
 * Sends the mails that wait, one after the other, at least once each: a mail is taken with a lease and marked after the server
 * has accepted it. If the node dies in between, another attempt sends the same mail under the same Message-ID. No connection to
 * the database is held while the server is spoken to.
 */
export type MailSender = {
  wake(): void
  stop(): Promise<void>
}

export type MailOutcome = 'sent' | 'failed' | 'given_up'

type SenderParts = {
  readonly db: Pool
  readonly mailer: Mailer
  readonly sealer: Sealer
  readonly public_url: string
  /** The part of the Message-ID after the @. */
  readonly domain: string
  readonly log: Logger
  readonly onOutcome: (outcome: MailOutcome) => void
  /** Delays after the first failed attempt, the second, and so on. A mail that fails after the last delay is given up. */
  readonly retry_ms?: readonly number[]
  readonly poll_ms?: number
}

const POLL_MS = 15_000
const MINUTE = 60_000
/** About 27 hours in all. */
const RETRY_MS = [1, 5, 15, 60, 120, 240, 480, 720].map((minutes) => minutes * MINUTE)
const LEASE_MS = 2 * SMTP_DEADLINE_MS
/** How long a stop waits for a mail under way, before it cuts the connection. */
const STOP_MS = 5000

export function openMailSender(parts: SenderParts): MailSender {
  const { db, log, poll_ms = POLL_MS } = parts
  const stopping = new AbortController()
  let stopped = false

  async function work(): Promise<void> {
    await noteLook(db)
    while (!stopped) {
      const mail = await takeMail(db, LEASE_MS)
      // After a failure of the server the other mails wait for the next round.
      if (!mail || !(await deliver(mail, parts, stopping.signal))) return
    }
  }

  const loop = openLoop(work, {
    poll_ms,
    onError: (error) => log.warn({ err: error }, 'mail: cannot read or store mails; trying again'),
  })
  return {
    wake: loop.wake,
    async stop() {
      stopped = true
      const cut = setTimeout(() => stopping.abort(), STOP_MS).unref()
      await loop.stop()
      clearTimeout(cut)
    },
  }
}

/** False if the mail failed for a reason that may affect other mails too: the server is down, or refuses the sender. */
async function deliver(mail: TakenMail, parts: SenderParts, signal: AbortSignal): Promise<boolean> {
  const { db, mailer, log, onOutcome, domain } = parts
  if (mail.removed) {
    await endMail(db, mail, 'canceled', null)
    return true
  }
  const lines = mail.kind === 'digest' ? await notificationsOf(db, mail.id) : []
  try {
    const content = contentOf(mail, lines, parts)
    await mailer.send(
      { to: mail.email, message_id: `${mail.id}@${domain}`, date: mail.created_at, ...content },
      signal,
    )
  } catch (error) {
    const failure =
      error instanceof MailFailure
        ? error
        : new MailFailure(`${(error as Error).name}: rendering the mail failed`, { about_mail: true })
    return fail(mail, failure, parts)
  }
  crashPoint('after_mail')
  await endMail(db, mail, 'sent', null)
  await noteSent(db)
  onOutcome('sent')
  log.debug({ mail_id: mail.id, attempts: mail.attempts }, 'mail: sent')
  return true
}

async function fail(
  mail: TakenMail,
  { message, permanent, about_mail }: MailFailure,
  { db, log, onOutcome, retry_ms = RETRY_MS }: SenderParts,
): Promise<boolean> {
  const line = { mail_id: mail.id, user_id: mail.user_id, attempts: mail.attempts, reason: message }
  const delay_ms = permanent ? undefined : retry_ms[mail.attempts - 1]
  if (delay_ms === undefined) {
    await endMail(db, mail, 'given_up', message)
    log.error(line, 'mail: given up; the person finds the notifications in the console')
  } else {
    await postponeMail(db, mail, delay_ms, message)
    log.warn({ ...line, next_ms: delay_ms }, 'mail: not sent; trying again later')
  }
  await noteFailed(db, message)
  onOutcome(delay_ms === undefined ? 'given_up' : 'failed')
  return about_mail
}

function contentOf(
  { kind, user_id, email, language, created_at }: TakenMail,
  lines: readonly NotificationLine[],
  { sealer, public_url }: SenderParts,
): MailContent {
  const reader = { language, public_url }
  if (kind === 'digest') return renderDigest(lines, reader)
  return renderConfirmation(confirmationToken(sealer, { user_id, email }, created_at.getTime()), reader)
}
