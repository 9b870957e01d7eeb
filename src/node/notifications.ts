import type { Logger } from 'pino'
import type { Sealer } from '../core/seal.ts'
import type { ShouldContinue } from '../db/chore.ts'
import type { Db, Pool } from '../db/pool.ts'
import { openCollector } from '../notifications/collect.ts'
import { composeMails } from '../notifications/compose.ts'
import { openMailSender } from '../notifications/sender.ts'
import { openMailer } from '../notifications/smtp.ts'
import { openShared } from '../parties/partners/partners.ts'
import type { Worlds } from '../world.ts'
import type { Closing } from './closing.ts'
import type { Config } from './config.ts'
import type { Metrics } from './metrics.ts'
import { runsWorkers } from './role.ts'

/** Collects notifications on one node at a time, and sends mails where SMTP_URL is set. */
export type Notifications = {
  readonly every_ms: number
  work(db: Db, shouldContinue: ShouldContinue): Promise<void>
}

type NotificationParts = {
  readonly config: Pick<Config, 'mail' | 'public_url' | 'role'>
  readonly shared: Pool
  readonly worlds: Worlds
  readonly sealer: Sealer
  readonly metrics: Pick<Metrics, 'mailed'>
  readonly log: Logger
  readonly closing: Closing
}

const EVERY_MS = 15_000

/** Several times within the time for which a first notification waits. */
const everyMs = (first_ms: number) => Math.max(100, Math.min(EVERY_MS, first_ms / 4))

export function openNotifications(parts: NotificationParts): Notifications {
  const { config, shared: db, worlds } = parts
  const { first_ms, every_ms } = config.mail
  const shared = openShared(db)
  // In the sandbox a partner can bring exceptions about at will, so operators find those in the console only.
  const collect = openCollector({ shared, worlds, exceptions_in: [worlds.production] })
  const sender = openSender(parts)
  return {
    every_ms: everyMs(first_ms),
    async work(held, shouldContinue) {
      await collect(held, shouldContinue)
      if (!sender || !shouldContinue()) return
      const made = await composeMails(held, { shared, pace: { first_ms, every_ms } }, shouldContinue)
      if (made > 0) sender.wake()
    },
  }
}

function openSender({ config, shared: db, sealer, metrics, log, closing }: NotificationParts) {
  const { mail, public_url, role } = config
  const { server, from, tls } = mail
  if (!server || !from || !public_url || !runsWorkers(role)) return undefined
  const sender = openMailSender({
    db,
    mailer: openMailer({ server, from, tls }),
    sealer,
    public_url,
    domain: from.address.split('@')[1]!,
    log,
    onOutcome: metrics.mailed,
  })
  closing.add({ mail: sender.stop })
  return sender
}
