import { Type as T } from 'typebox'
import { Fields, Id, Timestamp } from '../../../http/schema.ts'
import { notificationKinds } from '../../../notifications/kinds.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'

/** What a person is told, in the console and by mail. Every call is about the person who is signed in. */
const Kind = T.Enum([...notificationKinds], { examples: ['webhook_failing'] })

const NotificationObject = T.Object({
  id: Id('notification'),
  kind: Kind,
  place: T.Enum(['', 'production', 'sandbox'], { description: 'Empty when it is about the person' }),
  topic: T.String({ description: 'The kind of an exception, or the name of a limit' }),
  count: T.Integer({ minimum: 1 }),
  samples: T.Array(T.Object({ id: T.String(), note: T.Optional(T.String()) }), {
    description: 'The first objects: their ids, with the last four of a key or an address',
  }),
  last_at: Timestamp,
  read: T.Boolean(),
  path: T.String({ description: 'The page behind it, below /console' }),
})

export const listNotifications = consoleEndpoint({
  name: 'console.me.notifications.list',
  route: 'GET /console/api/me/notifications',
  summary: 'What one was told lately, newest first',
  permit: 'self',
  reply: {
    status: 200,
    schema: T.Object({ data: T.Array(NotificationObject), unread: T.Integer() }),
  },
})

export const countNotifications = consoleEndpoint({
  name: 'console.me.notifications.count',
  route: 'GET /console/api/me/notifications/unread',
  summary: 'How many notifications are unread, up to a hundred',
  permit: 'self',
  reply: { status: 200, schema: T.Object({ unread: T.Integer() }) },
})

export const readNotifications = consoleEndpoint({
  name: 'console.me.notifications.read',
  route: 'POST /console/api/me/notifications/read',
  summary: 'Mark notifications as read; one that has grown since stays unread',
  permit: 'self',
  body: Fields({
    seen: T.Array(Fields({ id: Id('notification'), count: T.Integer({ minimum: 1 }) }), { maxItems: 100 }),
  }),
  reply: { status: 200, schema: T.Object({ unread: T.Integer() }) },
})

const MailSettings = T.Object({
  email: T.String(),
  works: T.Boolean({ description: 'The service sends mail: without it notifications are shown here only' }),
  state: T.Enum(['confirmed', 'unconfirmed', 'asked', 'not_mailable'], {
    description: 'asked: a mail with a link was sent in the last seven days',
  }),
  kinds: T.Array(T.Object({ kind: Kind, mail: T.Boolean() })),
})

export const getMailSettings = consoleEndpoint({
  name: 'console.me.notifications.settings',
  route: 'GET /console/api/me/notification-settings',
  summary: 'Which kinds of notification one gets by mail',
  permit: 'self',
  reply: { status: 200, schema: MailSettings },
})

export const changeMailSetting = consoleEndpoint({
  name: 'console.me.notifications.change',
  route: 'PATCH /console/api/me/notification-settings',
  summary: 'Get a kind of notification by mail, or not; what happened before is still mailed',
  permit: 'self',
  body: Fields({ kind: Kind, mail: T.Boolean() }),
  reply: { status: 200, schema: MailSettings },
})

export const askForConfirmation = consoleEndpoint({
  name: 'console.me.notifications.ask',
  route: 'POST /console/api/me/mail',
  summary: 'Have a mail sent that confirms one’s address',
  permit: 'self',
  reply: { status: 200, schema: MailSettings },
  errors: ['not_possible'],
})

export const confirmAddress = consoleEndpoint({
  name: 'console.me.notifications.confirm',
  route: 'POST /console/api/me/mail/confirm',
  summary: 'Confirm one’s address with the link of that mail',
  permit: 'self',
  body: Fields({
    token: T.String({
      minLength: 1,
      maxLength: 1000,
      description: 'Of the link',
      examples: ['no such link'],
    }),
  }),
  reply: { status: 200, schema: MailSettings },
  errors: ['link_not_valid'],
})

export const notificationEndpoints: readonly ConsoleEndpoint[] = [
  listNotifications,
  countNotifications,
  readNotifications,
  getMailSettings,
  changeMailSetting,
  askForConfirmation,
  confirmAddress,
]
