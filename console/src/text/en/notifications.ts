import { plural } from '../plural.ts'

const n = plural('en')

type Count = (count: number) => string

/** Texts of notifications: the list, and which of them go out by e-mail. */
export const notifications = {
  title: 'Notifications',
  bell: (unread: number) =>
    unread === 0
      ? 'Notifications'
      : n(unread, { one: 'Notifications, # unread', other: 'Notifications, # unread' }),
  empty: 'No notifications yet',
  empty_about:
    'New sign-ins, new keys, failing webhooks and limits that are nearly used up appear here, for 90 days.',
  unread: 'New',
  open: 'Open',
  settings: 'Choose what you receive by e-mail',
  kinds: {
    sign_in: (count) =>
      n(count, {
        one: 'Somebody signed in to your account from a new place.',
        other: 'Somebody signed in to your account from new places, # times.',
      }),
    key_created: (count) =>
      n(count, { one: 'An API key was created or rotated.', other: '# API keys were created or rotated.' }),
    key_expiring: (count) => n(count, { one: 'An API key expires soon.', other: '# API keys expire soon.' }),
    webhook_disabled: (count) =>
      n(count, {
        one: 'A webhook endpoint was disabled and receives no events.',
        other: 'Webhook endpoints were disabled, # times. They receive no events.',
      }),
    webhook_failing: (count) =>
      n(count, { one: 'A webhook endpoint fails.', other: 'Webhook endpoints failed # times.' }),
    limit_near: (count) =>
      n(count, {
        one: 'An API key has used 80 % of its requests of the day.',
        other: '# API keys have used 80 % of their requests of the day.',
      }),
    exception_opened: (count) =>
      n(count, { one: 'An exception was opened.', other: '# exceptions were opened.' }),
    proposal_waiting: (count) =>
      n(count, {
        one: 'A proposal is waiting for a second person.',
        other: '# proposals are waiting for a second person.',
      }),
  } as Record<string, Count>,
  money_limit: ((count) =>
    n(count, {
      one: 'A customer has used 80 % of a money limit.',
      other: '# customers have used 80 % of a money limit.',
    })) as Count,
  topics: {
    payout_day: 'Pix payouts of a day',
    payout_night: 'Pix payouts of a night',
    transfer_day_usdt: 'USDT transfers of a day',
    transfer_day_btc: 'BTC transfers of a day',
  } as Record<string, string>,
  terminal: 'a terminal',
  more: (count: number) => n(count, { one: 'and # more', other: 'and # more' }),
  mail: {
    title: 'Notifications by e-mail',
    about:
      'All of them are in the console. By e-mail you get those that you choose here, as one mail at most every few minutes.',
    choose: 'Send me an e-mail about',
    none: 'E-mail is not set up on this service: notifications are shown in the console only. Your choice takes effect once e-mail is set up.',
    confirmed: (email: string) => `They go to **${email}**.`,
    unconfirmed: (email: string) =>
      `Confirm that **${email}** is yours. Until then you get no notifications by e-mail.`,
    asked: (email: string) =>
      `We sent a link to **${email}**. Open it to confirm the address; until then you get no notifications by e-mail.`,
    not_mailable: (email: string) =>
      `**${email}** is not an address that mail can be sent to. Ask an owner to invite you with another one.`,
    ask: 'Send a link',
    ask_again: 'Send the link again',
    asking: 'Sending…',
    confirm: 'Confirm this address',
    confirm_about: (email: string) => `You opened the link from the mail to **${email}**.`,
    confirming: 'Confirming…',
    kinds: {
      sign_in: ['Sign-in from a new place', 'Somebody who knows your password signs in. Leave this on.'],
      key_created: ['API key created or rotated', 'In production and in the sandbox.'],
      key_expiring: ['API key expires soon', 'Seven days before.'],
      webhook_disabled: ['Webhook endpoint disabled', 'After five days of failures, or an answer of 410.'],
      webhook_failing: ['Webhook endpoint fails', 'For longer than a minute.'],
      limit_near: [
        'Limit nearly used up',
        '80 % of a key’s requests of the day, or of a money limit of a customer.',
      ],
      exception_opened: ['Exception opened', 'In production.'],
      proposal_waiting: ['Proposal waiting for a second person', 'Except your own.'],
    } as Record<string, readonly [label: string, hint: string]>,
  },
}
