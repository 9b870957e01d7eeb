import { operatorRoles, partnerRoles } from '../core/actor.ts'
import type { Environment } from '../core/environment.ts'
import type { PersonRole } from '../parties/team/people.ts'

/** What people are told, the kinds about their own safety first: a digest lists them in this order. */
export const notificationKinds = [
  'sign_in',
  'key_created',
  'key_expiring',
  'webhook_disabled',
  'webhook_failing',
  'limit_near',
  'exception_opened',
  'proposal_waiting',
] as const

export type NotificationKind = (typeof notificationKinds)[number]

/** The environment that a notification is about; empty when it is about a person. */
export type NotificationPlace = Environment | ''

/** One object of a notification. Both parts are made by the service: no text that a person typed goes into a mail. */
export type Sample = {
  readonly id: string
  /** The last four characters of a key, a network address, or a day. */
  readonly note?: string
}

export const SAMPLES_MAX = 5

/** One line: what happened, and how often. */
export type NotificationLine = {
  readonly kind: NotificationKind
  readonly place: NotificationPlace
  /** The kind of an exception, or the name of a limit; otherwise empty. */
  readonly topic: string
  readonly count: number
  readonly samples: readonly Sample[]
  readonly last_at: Date
}

/** The roles that are told of each kind. */
const receivers: Readonly<Record<NotificationKind, readonly PersonRole[]>> = {
  sign_in: [...partnerRoles, ...operatorRoles],
  key_created: ['owner', 'developer'],
  key_expiring: ['owner', 'developer'],
  webhook_disabled: ['owner', 'developer'],
  webhook_failing: ['owner', 'developer'],
  limit_near: ['owner', 'developer', 'finance'],
  exception_opened: operatorRoles,
  proposal_waiting: ['admin', 'resolver'],
}

export const isTold = (kind: NotificationKind, role: PersonRole): boolean => receivers[kind].includes(role)

export const kindsOf = (role: PersonRole): NotificationKind[] =>
  notificationKinds.filter((kind) => isTold(kind, role))

/** Readers among the operators cannot act on an exception, so they get no mail about it unless they ask for it. */
export const isMailedByDefault = (kind: NotificationKind, role: PersonRole): boolean =>
  isTold(kind, role) && !(kind === 'exception_opened' && role === 'reader')

/** The topic of a key that has used most of its requests of the day. Other topics of `limit_near` are names of money limits. */
export const REQUESTS = 'requests'

/** The page of the console behind a line, as a path: of the object if there is one, otherwise of the list. */
export function pageOf({ kind, place, topic, count, samples }: NotificationLine): string {
  const one = count === 1 && samples.length === 1 ? `/${samples[0]!.id}` : ''
  switch (kind) {
    case 'sign_in':
      return '/me'
    case 'key_created':
    case 'key_expiring':
      return `/${place}/developers/keys${one}`
    case 'webhook_disabled':
    case 'webhook_failing':
      return `/${place}/developers/webhooks${one}`
    case 'limit_near':
      return topic === REQUESTS ? `/${place}/developers/keys${one}` : `/${place}/customers${one}`
    case 'exception_opened':
      return `/operator/${place}/desk`
    case 'proposal_waiting':
      return `/operator/${place || 'production'}/proposals`
  }
}
