import { systemClock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { runningEmbedded } from '../../db/embedded/running.ts'
import { renderTest } from '../../notifications/digest.ts'
import { mailState, noteTest } from '../../notifications/mail-store.ts'
import { MailFailure, openMailer } from '../../notifications/smtp.ts'
import { argument, type Input, type Output, type Reach, table } from '../command.ts'
import { withDatabase } from '../with-database.ts'

export async function mailStatus(_: Input, { shared }: Reach): Promise<Output> {
  const { sent_at, failed_at, ...state } = await mailState(shared.db)
  const json = {
    ...state,
    sent_at: sent_at?.toISOString() ?? null,
    failed_at: failed_at?.toISOString() ?? null,
  }
  const rows = [
    ['set up', state.configured ? 'yes' : 'no node with SMTP_URL is at work'],
    ['last sent', json.sent_at ?? 'never'],
    ['last failed', json.failed_at ?? 'never'],
    ['reason', state.error ?? ''],
    ['waiting', state.waiting],
    ['given up, 7 days', state.given_up],
  ].map(([what, value]) => ({ mail: what, state: value }))
  return { json, text: table(rows) }
}

/** Sends a test mail directly to the SMTP server, past the queue, and shows what the server says. */
export async function mailTest(input: Input): Promise<Output> {
  const to = argument(input, 0, 'ADDRESS')
  const { server, from, tls } = input.config.mail
  if (!server || !from)
    throw new Error('SMTP_URL and MAIL_FROM are not set, so there is no mail. See docs/operate/mail.md')
  const clock = systemClock()
  const message_id = `${newId('mail', clock.now())}@${from.address.split('@')[1]}`
  try {
    const mail = { to, message_id, date: new Date(clock.now()), ...renderTest(null) }
    await openMailer({ server, from, tls }).send(mail)
    await noteWhereReached(input, null)
    return {
      json: { ok: true, message_id },
      text: `${server.host} took the test mail for ${to}. Look into the mailbox, also under spam.\n`,
    }
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error
    await noteWhereReached(input, error.message)
    return {
      json: { ok: false, error: error.message },
      text: `${server.host}:${server.port} did not take the test mail. ${error.message}\n`,
      exit_code: 1,
    }
  }
}

/** Notes the result for `trilho golive`, if the database can be reached. The test does not fail without a database. */
async function noteWhereReached({ config, io }: Input, error: string | null): Promise<void> {
  try {
    if (!config.database_url && (await runningEmbedded(config.data_dir)) === undefined) return
    await withDatabase(config, ({ shared }) => noteTest(shared.db, error))
  } catch (failure) {
    io.stderr.write(`The result could not be noted for trilho golive: ${(failure as Error).message}\n`)
  }
}
