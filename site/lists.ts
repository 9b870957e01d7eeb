import { html } from '../src/doors/reference/html.ts'
import { PLACEHOLDER } from '../src/doors/reference/placeholders.ts'
import { markdownAddress, type Page } from './page.ts'

/** llms.txt: one line per page. */
export function llmsText(pages: readonly Page[], about: string): string {
  const line = (page: Page) =>
    `- [${page.title}](${PLACEHOLDER}${markdownAddress(page)}): ${page.description.replaceAll(/\s+/g, ' ')}`
  return [
    '# Trilho',
    `> ${about}`,
    'Amounts are strings that hold a whole number of the smallest unit. The key chooses the environment: `svc_test_sk_…` is the sandbox, `svc_live_sk_…` is production. Calls that move money take an `idempotency_key` of the caller’s own.',
    `The whole API as one file: ${PLACEHOLDER}/openapi.json`,
    '## Pages',
    pages.map(line).join('\n'),
    '',
  ].join('\n\n')
}

/** A version of the changelog: `## 1.2.3 - 2026-11-15`, or `## 1.2.3 - 2026-11-15 (unreleased)` while it is in work. */
type Release = {
  readonly version: string
  readonly date: string
  readonly state: string
  readonly text: string
}

function releasesIn(changelog: string): Release[] {
  return changelog
    .split(/^## /m)
    .slice(1)
    .flatMap((part) => {
      const found = /^\[?([\w.-]+)\]?\s+[-–—]\s+(\d{4}-\d{2}-\d{2})( \(unreleased\))?\s*\n([\s\S]*)$/.exec(
        part,
      )
      if (!found) return []
      const [, version, date, state = '', text] = found
      return [{ version: version!, date: date!, state, text: text!.trim() }]
    })
}

/** The changelog as Atom: every version, the newest first. */
export function changelogFeed(changelog: string): string {
  const releases = releasesIn(changelog)
  const updated = (date: string) => `${date}T00:00:00Z`
  const address = `${PLACEHOLDER}/docs/changelog`
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>Trilho changelog</title>
<id>${address}</id>
<link href="${address}"/>
<link rel="self" href="${address}.xml"/>
<author><name>Trilho</name></author>
<updated>${updated(releases[0]?.date ?? '1970-01-01')}</updated>
${releases.map(
  ({
    version,
    date,
    state,
    text,
  }) => html`<entry><title>${version}${state}</title><id>${address}#${version}</id><link href="${address}"/><updated>${updated(date)}</updated><content type="text">${text}</content></entry>
`,
)}</feed>
`.html
}
