import { type Html, html } from '../../src/doors/reference/html.ts'
import { colour, languageOf } from './colour.ts'

/** A code block with its language and title. */
export type Sample = { readonly language: string; readonly title: string; readonly code: string }

const titles: Readonly<Record<string, string>> = {
  sh: 'Shell',
  ts: 'TypeScript',
  py: 'Python',
  go: 'Go',
  java: 'Java',
  php: 'PHP',
  json: 'JSON',
  http: 'HTTP',
  sql: 'SQL',
  yaml: 'YAML',
  text: 'Text',
}

export function titleOf(language: string, code: string): string {
  if (languageOf(language) === 'sh' && /(^|\n)\s*curl\s/.test(code)) return 'curl'
  return titles[languageOf(language)] ?? 'Text'
}

/** The code scrolls, so it must be reachable by keyboard. */
export function figure({ language, title, code }: Sample): Html {
  return html`<figure class="sample" data-language="${languageOf(language)}">
<figcaption>${title}</figcaption>
<pre tabindex="0" role="group" aria-label="${title}"><code>${colour(code, language)}</code></pre>
</figure>
`
}

/** One sample in several languages, stacked until the script turns them into tabs. */
export function tabs(samples: readonly Sample[]): Html {
  if (samples.length === 1) return figure(samples[0]!)
  return html`<div class="tabs">${samples.map(figure)}</div>
`
}

export const jsonSample = (title: string, value: unknown): Html =>
  figure({ language: 'json', title, code: JSON.stringify(value, null, 2) })
