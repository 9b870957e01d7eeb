import { type MailText, mailTextOf } from './digest-text.ts'
import {
  type NotificationLine,
  type NotificationPlace,
  notificationKinds,
  pageOf,
  REQUESTS,
  SAMPLES_MAX,
  type Sample,
} from './kinds.ts'

export type MailContent = { readonly subject: string; readonly text: string; readonly html: string }

type Reader = { readonly language: string | null; readonly public_url: string }

/** The mail with all notifications of a person: the account first, then production, then the sandbox. */
export function renderDigest(
  found: readonly NotificationLine[],
  { language, public_url }: Reader,
): MailContent {
  const words = mailTextOf(language)
  const lines = inOrder(merged(found))
  const parts = places.flatMap((place) => {
    const own = lines.filter((line) => line.place === place)
    return own.length === 0 ? [] : [{ title: words.places[place], lines: own }]
  })
  const link = (line: NotificationLine) => `${public_url}/console${pageOf(line)}`
  const settings = `${public_url}/console/me`
  const text = [
    words.greeting,
    ...parts.map(({ title, lines: own }) =>
      [title, ...own.map((line) => `- ${saidOf(line, words)}\n  ${link(line)}`)].join('\n\n'),
    ),
    `${words.footer}\n${settings}`,
  ].join('\n\n')
  const html = page(language, [
    `<p>${escaped(words.greeting)}</p>`,
    ...parts.map(
      ({ title, lines: own }) =>
        `<h2>${escaped(title)}</h2><ul>${own
          .map((line) => `<li>${anchor(link(line), saidOf(line, words))}</li>`)
          .join('')}</ul>`,
    ),
    `<p>${escaped(words.footer)} ${anchor(settings, settings)}</p>`,
  ])
  const count = lines.reduce((sum, line) => sum + line.count, 0)
  return { subject: words.subject(count), text: `${text}\n`, html }
}

/** Asks whether the address belongs to the person. It says nothing about the account. */
export function renderConfirmation(token: string, { language, public_url }: Reader): MailContent {
  const words = mailTextOf(language)
  const [ask, otherwise] = words.confirm
  const link = `${public_url}/console/me?confirm=${token}`
  return {
    subject: words.confirm_subject,
    text: `${ask}\n\n${link}\n\n${otherwise}\n`,
    html: page(language, [
      `<p>${escaped(ask!)}</p>`,
      `<p>${anchor(link, link)}</p>`,
      `<p>${escaped(otherwise!)}</p>`,
    ]),
  }
}

export function renderTest(language: string | null): MailContent {
  const { test_subject, test } = mailTextOf(language)
  return { subject: test_subject, text: `${test}\n`, html: page(language, [`<p>${escaped(test)}</p>`]) }
}

const places: readonly NotificationPlace[] = ['', 'production', 'sandbox']

/** Merges lines of the same kind, place and topic: after a line was read in the console, further facts begin another line. */
function merged(found: readonly NotificationLine[]): NotificationLine[] {
  const lines = new Map<string, NotificationLine>()
  for (const line of found) {
    const key = `${line.kind} ${line.place} ${line.topic}`
    const before = lines.get(key)
    lines.set(
      key,
      before
        ? {
            ...before,
            count: before.count + line.count,
            samples: [...before.samples, ...line.samples].slice(0, SAMPLES_MAX),
            last_at: line.last_at > before.last_at ? line.last_at : before.last_at,
          }
        : line,
    )
  }
  return [...lines.values()]
}

const inOrder = (lines: readonly NotificationLine[]): NotificationLine[] =>
  lines.toSorted(
    (one, other) =>
      notificationKinds.indexOf(one.kind) - notificationKinds.indexOf(other.kind) ||
      (one.topic < other.topic ? -1 : 1),
  )

function saidOf(line: NotificationLine, words: MailText): string {
  const { kind, topic, count, samples, last_at } = line
  const is_money = kind === 'limit_near' && topic !== REQUESTS
  const forms = is_money ? words.money_limit : words.kinds[kind]
  const said = (count === 1 ? forms.one : forms.other).replace('#', String(count))
  const about = is_money ? (words.topics[topic] ?? topic) : kind === 'exception_opened' ? topic : ''
  const listed = samples.map((sample) => shownSample(line, sample, words)).join(', ')
  const rest = count > samples.length ? ` ${words.more(count - samples.length)}` : ''
  const details = [about, `${listed}${rest}`, words.last(timeOf(last_at, words))].filter(
    (part) => part !== '',
  )
  return `${said} (${details.join('; ')})`
}

/** For a sign-in the address, or the word for a terminal; otherwise the id, and the note if there is one. */
function shownSample({ kind }: NotificationLine, { id, note }: Sample, words: MailText): string {
  if (kind === 'sign_in') return note ?? words.terminal
  return note === undefined ? id : `${id} …${note}`
}

function timeOf(at: Date, words: MailText): string {
  const [day, clock] = at.toISOString().split('T') as [string, string]
  const [year, month, date] = day.split('-') as [string, string, string]
  return words.time([year, month, date, clock.slice(0, 5)])
}

const page = (language: string | null, parts: readonly string[]) =>
  `<!doctype html><html lang="${language ?? 'en'}"><body style="font-family:sans-serif">${parts.join('')}</body></html>`

const anchor = (link: string, text: string) => `<a href="${escaped(link)}">${escaped(text)}</a>`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (character) => entities[character]!)
