import { type ShouldContinue, takeStep } from '../db/chore.ts'
import type { Db } from '../db/pool.ts'
import type { Shared } from '../parties/partners/partners.ts'
import { personRoleOf } from '../parties/team/people.ts'
import type { User } from '../parties/team/store.ts'
import { isMailedByDefault } from './kinds.ts'
import {
  confirmationsTo,
  insertMail,
  lockWaiting,
  noteConfirmationTo,
  peopleToMail,
  recentConfirmations,
  recentMails,
  selectAddressee,
  settleNotifications,
} from './mail-store.ts'
import { type MailSetting, type Notification, selectSettings } from './store.ts'

/**
 * How often a person gets mail. The first notification waits `first_ms` for others to join it; then there is a mail at most every
 * `every_ms`. From the seventh mail of a day on there is one every two hours: an attacker who causes many events can neither fill
 * a mailbox nor keep the person from getting mail.
 */
export type MailPace = { readonly first_ms: number; readonly every_ms: number }

const MANY_PER_DAY = 6
const MANY_EVERY_MS = 2 * 3_600_000
/** The pause after a mail that was given up. */
const GIVEN_UP_EVERY_MS = 24 * 3_600_000
const PEOPLE = 200

type ComposerParts = { readonly shared: Pick<Shared, 'newId'>; readonly pace: MailPace }

/** Makes the mails that are due, each in a transaction of its own. The notifications in a mail no longer grow. */
export async function composeMails(
  db: Db,
  parts: ComposerParts,
  shouldContinue: ShouldContinue = () => true,
): Promise<number> {
  const people = await peopleToMail(db, { ...parts.pace, limit: PEOPLE })
  let made = 0
  for (const user_id of people) {
    if (!shouldContinue()) break
    if (await takeStep(db, (tx) => composeFor(tx, user_id, parts))) made++
  }
  return made
}

async function composeFor(tx: Db, user_id: string, { shared, pace }: ComposerParts): Promise<boolean> {
  const person = await selectAddressee(tx, user_id)
  if (!person || !(await isDue(tx, user_id, pace))) return false
  const rows = await lockWaiting(tx, user_id)
  const settings = await selectSettings(tx, user_id)
  const isMailed = (row: (typeof rows)[number]) =>
    !person.removed && !row.is_old && isWanted(row, person, settings)
  const [wanted, others] = [rows.filter(isMailed), rows.filter((row) => !isMailed(row))]
  await settleNotifications(tx, idsOf(others))
  if (wanted.length === 0) return false
  if (needsConfirmation(person)) return (await mayConfirm(tx, person)) && askToConfirm(tx, shared, person)
  const mail = { id: shared.newId('mail'), user_id, kind: 'digest' } as const
  if (!(await insertMail(tx, mail))) return false
  await settleNotifications(tx, idsOf(wanted), mail.id)
  return true
}

const idsOf = (rows: readonly Notification[]) => rows.map(({ id }) => id)

type Roles = Pick<User, 'role' | 'operator_role' | 'partner_role'>

/** Whether a notification is mailed. One from before the person turned off a kind that is mailed by default still is. */
function isWanted(
  { kind, first_at }: Notification,
  person: Roles,
  settings: readonly MailSetting[],
): boolean {
  const chosen = settings.find((one) => one.kind === kind)
  const by_default = isMailedByDefault(kind, personRoleOf(person))
  if (!chosen) return by_default
  return chosen.mail || (by_default && first_at < chosen.changed_at)
}

async function isDue(tx: Db, user_id: string, { every_ms }: MailPace): Promise<boolean> {
  const { count, age_ms, last_status } = await recentMails(tx, user_id)
  if (age_ms === null) return true
  const pause_ms = Math.max(
    every_ms,
    count >= MANY_PER_DAY ? MANY_EVERY_MS : 0,
    last_status === 'given_up' ? GIVEN_UP_EVERY_MS : 0,
  )
  return age_ms >= pause_ms
}

/**
 * An operator creates operators, so their addresses are trusted. An owner of a partner can invite any address and could use the
 * link of the invitation: until such an address is confirmed, it gets no mail but the request to confirm it.
 */
export const needsConfirmation = ({
  partner_id,
  confirmed,
}: {
  readonly partner_id: string | null
  readonly confirmed: boolean
}): boolean => partner_id !== null && !confirmed

const CONFIRMATIONS_PER_PARTNER_AND_DAY = 20
const CONFIRMATIONS_PER_PERSON_AND_DAY = 3
/** A limit per address too: a user who is removed and invited again is a new user with the same address. */
const CONFIRMATIONS_PER_ADDRESS_AND_DAY = 3

/** The service sends a confirmation once in seven days; the person may request further ones, a few times a day. */
export async function mayConfirm(
  tx: Db,
  person: Pick<User, 'id' | 'partner_id' | 'email'>,
  { by_person = false }: { readonly by_person?: boolean } = {},
): Promise<boolean> {
  const sent = await recentConfirmations(tx, { user_id: person.id, partner_id: person.partner_id })
  if (sent.to_partner >= CONFIRMATIONS_PER_PARTNER_AND_DAY) return false
  if ((await confirmationsTo(tx, person.email)) >= CONFIRMATIONS_PER_ADDRESS_AND_DAY) return false
  return by_person ? sent.to_person_today < CONFIRMATIONS_PER_PERSON_AND_DAY : sent.to_person === 0
}

/** False if another mail to this person waits. */
export async function askToConfirm(
  tx: Db,
  shared: Pick<Shared, 'newId'>,
  { id: user_id, email }: Pick<User, 'id' | 'email'>,
): Promise<boolean> {
  const mail = { id: shared.newId('mail'), user_id, kind: 'confirmation' } as const
  if (!(await insertMail(tx, mail))) return false
  await noteConfirmationTo(tx, email, mail.id)
  return true
}
