import { refuse } from '../../../core/errors.ts'
import { type Db, transaction } from '../../../db/pool.ts'
import { isMailbox } from '../../../notifications/address.ts'
import { askToConfirm, mayConfirm, needsConfirmation } from '../../../notifications/compose.ts'
import { isConfirmation } from '../../../notifications/confirmation.ts'
import { isMailedByDefault, kindsOf, pageOf } from '../../../notifications/kinds.ts'
import { mailState, recentConfirmations } from '../../../notifications/mail-store.ts'
import {
  confirmedAddress,
  countUnread,
  markRead,
  type Notification,
  saveConfirmed,
  saveSetting,
  selectNotifications,
  selectSettings,
} from '../../../notifications/store.ts'
import { holdSelf } from '../../../parties/team/factor.ts'
import { personRoleOf } from '../../../parties/team/people.ts'
import type { User } from '../../../parties/team/store.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { notedTeam } from '../people/own-session.ts'
import {
  askForConfirmation,
  changeMailSetting,
  confirmAddress,
  countNotifications,
  getMailSettings,
  listNotifications,
  readNotifications,
} from './contract.ts'

const MOST = 100

export const notificationRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(listNotifications, async ({ actor }) => {
    const { db } = parts.office.shares.shared(actor)
    const { rows, unread } = await selectNotifications(db, actor.user_id, MOST)
    return { data: rows.map(renderNotification), unread }
  }),

  answer(countNotifications, async ({ actor }) => ({
    unread: await countUnread(parts.office.shares.shared(actor).db, actor.user_id),
  })),

  answer(readNotifications, async ({ actor, body }) => {
    const { db } = parts.office.shares.shared(actor)
    await markRead(db, actor.user_id, body.seen)
    return { unread: await countUnread(db, actor.user_id) }
  }),

  answer(getMailSettings, ({ actor, signed }) =>
    renderSettings(parts.office.shares.shared(actor).db, signed.user),
  ),

  answer(changeMailSetting, async ({ signed, body, ...visit }) => {
    const { user } = signed
    const role = personRoleOf(user)
    if (!kindsOf(role).includes(body.kind))
      refuse('invalid_request', { param: 'kind', message: 'Your role is not told of this.' })
    const team = await notedTeam(parts, { ...visit, signed })
    await transaction(team.db, async (tx) => {
      await holdSelf(tx, team, user)
      const chosen = (await selectSettings(tx, user.id)).find(({ kind }) => kind === body.kind)
      const before = { kind: body.kind, mail: chosen?.mail ?? isMailedByDefault(body.kind, role) }
      if (before.mail === body.mail) return
      await saveSetting(tx, user.id, body)
      await team.note(tx, 'change_notifications', { user }, { before, after: body })
    })
    return renderSettings(team.db, user)
  }),

  answer(askForConfirmation, async ({ signed, ...visit }) => {
    const { user } = signed
    const team = await notedTeam(parts, { ...visit, signed })
    await transaction(team.db, async (tx) => {
      await holdSelf(tx, team, user)
      const { works, state } = await renderSettings(tx, user)
      if (!works || state === 'confirmed' || state === 'not_mailable')
        refuse('not_possible', { message: whyNot(works) })
      if (!(await mayConfirm(tx, user, { by_person: true })) || !(await askToConfirm(tx, team, user)))
        refuse('not_possible', {
          message:
            'Such a mail is on its way, or several were sent today. Look into your mailbox, also under spam.',
        })
    })
    return renderSettings(team.db, user)
  }),

  answer(confirmAddress, async ({ signed, body, ...visit }) => {
    const { user } = signed
    const { id: user_id, email } = user
    const team = await notedTeam(parts, { ...visit, signed })
    const now = parts.office.worlds.production.clock.now()
    if (!isConfirmation(parts.sealer, body.token, { user_id, email }, now))
      refuse('link_not_valid', {
        message: 'This link belongs to another person or address, or it is older than seven days.',
      })
    await transaction(team.db, async (tx) => {
      await holdSelf(tx, team, user)
      if ((await confirmedAddress(tx, user_id)) === email) return
      await saveConfirmed(tx, user_id, email)
      await team.note(tx, 'confirm_address', { user })
    })
    return renderSettings(team.db, user)
  }),
]

const whyNot = (works: boolean) =>
  works
    ? 'Your address needs no confirmation.'
    : 'The service sends no mail: notifications are shown here only.'

const renderNotification = (one: Notification) => ({
  id: one.id,
  kind: one.kind,
  place: one.place,
  topic: one.topic,
  count: one.count,
  samples: [...one.samples],
  last_at: one.last_at.toISOString(),
  read: one.read_at !== null,
  path: pageOf(one),
})

async function renderSettings(db: Db, user: User) {
  const { id, email, partner_id } = user
  const role = personRoleOf(user)
  const [chosen, confirmed, { configured }, asked] = [
    await selectSettings(db, id),
    (await confirmedAddress(db, id)) === email,
    await mailState(db),
    await recentConfirmations(db, { user_id: id, partner_id }),
  ]
  const state = !isMailbox(email)
    ? ('not_mailable' as const)
    : !needsConfirmation({ partner_id, confirmed })
      ? ('confirmed' as const)
      : asked.to_person > 0
        ? ('asked' as const)
        : ('unconfirmed' as const)
  return {
    email,
    works: configured,
    state,
    kinds: kindsOf(role).map((kind) => ({
      kind,
      mail: chosen.find((one) => one.kind === kind)?.mail ?? isMailedByDefault(kind, role),
    })),
  }
}
