import {
  consoleErrorCodes,
  type ErrorCode,
  type ErrorType,
  errorCodes,
  errors,
} from '../../src/core/errors.ts'
import { breakable, type Html, html, paragraphs, prose } from '../../src/doors/reference/html.ts'
import type { OpenApi } from '../../src/doors/reference/openapi.ts'
import { PLACEHOLDER } from '../../src/doors/reference/placeholders.ts'
import { errorExample } from '../../src/doors/reference/responses.ts'
import { commonErrors } from '../../src/http/endpoint.ts'
import { figure, jsonSample } from '../code/sample.ts'
import type { Rendered } from '../markdown/render.ts'
import type { Language, Page } from '../page.ts'
import { entriesOf } from '../reference/document.ts'
import { openFields } from '../reference/fields.ts'
import { fence } from '../reference/markdown.ts'
import { callList } from '../reference/pages.ts'
import { curl } from '../reference/samples.ts'
import { causes, withoutCause } from './causes.ts'
import { texts as en } from './en.ts'
import { texts as pt } from './pt.ts'
import type { Cause } from './text.ts'
import { type Words, words } from './words.ts'

const catalogues = { en, pt }

const codes: readonly ErrorCode[] = [...errorCodes, ...consoleErrorCodes]
const consoleCodes: readonly ErrorCode[] = consoleErrorCodes

/** The group in which the index lists a code. */
const groupOf = (code: ErrorCode, said: Words): readonly [id: string, title: string] =>
  consoleCodes.includes(code)
    ? [CONSOLE, said.console[0]]
    : [errors[code].type, said.types[errors[code].type][0]]

const CONSOLE = 'console-only'

const rootOf = (language: Language) => (language === 'en' ? '/docs/errors' : '/docs/pt/errors')
const other = (language: Language): Language => (language === 'en' ? 'pt' : 'en')

/** A page per error code and an index. `intro` is the written introduction in this language. */
export function errorPages(language: Language, openapi: OpenApi, intro: Rendered | undefined): Page[] {
  return [indexPage(language, intro), ...codes.map((code) => codePage(code, language, openapi))]
}

function indexPage(language: Language, intro: Rendered | undefined): Page {
  const said = words[language]
  const types = Object.keys(said.types) as ErrorType[]
  const link = (code: ErrorCode) =>
    `- [${code}](${rootOf(language)}/${code}.md): ${messageOf(code, language)}`
  return {
    address: rootOf(language),
    twin: rootOf(other(language)),
    language,
    title: intro?.title ?? said.errors,
    description: intro?.description ?? said.index_about.replaceAll('`', ''),
    headings: [
      ...(intro?.headings ?? []),
      ...types.map((type) => ({ id: type, text: said.types[type][0], level: 2 as const })),
      { id: CONSOLE, text: said.console[0], level: 2 },
    ],
    sections: intro?.sections ?? [{ text: said.index_about }],
    head: intro?.head ?? html`<h1>${said.errors}</h1>`,
    main: html`${intro?.main ?? html`<div class="row alone"><div class="text"><p class="lede">${prose(said.index_about)}</p></div></div>`}
${types.map((type) => typeGroup(type, language))}${consoleGroup(language)}`,
    markdown: [
      `# ${said.errors}`,
      said.index_about,
      ...errorCodes.map(link),
      `\n## ${said.console[0]}\n\n${said.console[1]}\n`,
      ...consoleErrorCodes.map(link),
    ].join('\n'),
  }
}

/** The message of a code. The API's messages are English, so a Portuguese page uses the first sentence of its own text. */
function messageOf(code: ErrorCode, language: Language): string {
  return language === 'en' ? errors[code].message : firstSentence(catalogues[language][code].what)
}

const firstSentence = (text: string) => /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text

function typeGroup(type: ErrorType, language: Language): Html {
  const [title, about] = words[language].types[type]
  const ofType = errorCodes.filter((code) => errors[code].type === type)
  return group({ id: type, title, about: html`<code>${type}</code>. ${about}` }, ofType, language)
}

function consoleGroup(language: Language): Html {
  const [title, about] = words[language].console
  return group({ id: CONSOLE, title, about: html`${about}` }, consoleErrorCodes, language)
}

function group(
  { id, title, about }: { readonly id: string; readonly title: string; readonly about: Html },
  listed: readonly ErrorCode[],
  language: Language,
): Html {
  return html`<section class="codes"><h2 id="${id}"><a class="anchor" href="#${id}">${title}</a></h2>
<p>${about}</p>
<ul>${listed.map(
    (code) =>
      html`<li><a href="${rootOf(language)}/${code}"><span class="status">${errors[code].status}</span> <code>${breakable(code)}</code></a> <span>${prose(messageOf(code, language))}</span></li>
`,
  )}</ul></section>
`
}

function codePage(code: ErrorCode, language: Language, openapi: OpenApi): Page {
  const said = words[language]
  const { status, type, message } = errors[code]
  const text = catalogues[language][code]
  const told = (['what', 'money', 'todo', 'retry'] as const).map((part) => ({
    id: part,
    text: said[part],
    about: text[part],
  }))
  const example = errorExample(code, PLACEHOLDER)
  const { first, command } = causeOf(code, language)
  const [group_id, group_title] = groupOf(code, said)
  return {
    address: `${rootOf(language)}/${code}`,
    twin: `${rootOf(other(language))}/${code}`,
    under: rootOf(language),
    language,
    title: code,
    description: messageOf(code, language).replaceAll('`', ''),
    headings: told.map(({ id, text: heading }) => ({ id, text: heading, level: 2 as const })),
    sections: [{ text: [code, message, ...told.map(({ about }) => about)].join(' ') }],
    also: `${said.error} ${status}`,
    takes_key: true,
    head: html`<p class="crumbs"><a href="${rootOf(language)}">${said.errors}</a> / <a href="${rootOf(language)}#${group_id}">${group_title}</a></p>
<h1><code>${breakable(code)}</code></h1>`,
    main: html`<div class="row"><div class="text">
<p class="lede">${prose(message)}</p>
<dl class="facts">
<div><dt>${said.status}</dt><dd><code>${status}</code></dd></div>
<div><dt>${said.type}</dt><dd><code>${type}</code></dd></div>
</dl>
<div class="told">${told.map(({ id, text: heading, about }) => html`<h2 id="${id}">${heading}</h2>${paragraphs(about)}\n`)}${detailsOf(code, said, openapi)}
${whereItHappens(code, said, openapi)}</div>
</div>
<div class="beside">
${jsonSample(`${said.example} ${status}`, example)}
<div class="cause"><h2 id="cause">${said.cause}</h2>
${first !== undefined && html`<p>${prose(first)}</p>`}
${command !== undefined && figure({ language: 'sh', title: 'curl', code: command })}</div>
</div></div>`,
    markdown: [
      `# ${code}`,
      message,
      `${said.status}: ${status}. ${said.type}: \`${type}\`.`,
      ...told.flatMap(({ text: heading, about }) => [`## ${heading}`, about]),
      fence('json', JSON.stringify(example, null, 2)),
      `## ${said.cause}`,
      ...(first === undefined ? [] : [first]),
      ...(command === undefined ? [] : [fence('sh', command)]),
    ].join('\n\n'),
  }
}

/** The request that causes the error, or the reason why there is none. */
function causeOf(
  code: ErrorCode,
  language: Language,
): { readonly first?: string | undefined; readonly command?: string } {
  const cause: Cause | undefined = causes[code]
  if (!cause) return { first: withoutCause[code as keyof typeof withoutCause][language] }
  const { method, path, body, headers, first } = cause
  return {
    first: first?.[language],
    command: curl({ method, path, ...(body === undefined ? {} : { body }) }, headers),
  }
}

function detailsOf(code: ErrorCode, said: Words, { components }: OpenApi): Html | false {
  const [name, schema] = Object.entries(components.schemas).find(([, { 'x-code': of }]) => of === code) ?? []
  if (!schema) return false
  const { schema: list } = openFields((other) => `#object-${other}`)
  return html`<h2 id="object-${name}">${said.details}</h2>${list(schema, 'response')}`
}

function whereItHappens(code: ErrorCode, said: Words, openapi: OpenApi): Html {
  const heading = html`<h2 id="where">${said.where}</h2>`
  if (commonErrors.includes(code)) return html`${heading}<p>${prose(said.anywhere)}</p>`
  const entries = entriesOf(openapi).filter((entry) => entry['x-errors'].includes(code))
  if (consoleCodes.includes(code)) return html`${heading}<p>${said.console_only}</p>`
  if (entries.length === 0) return html`${heading}<p>${said.no_call}</p>`
  return html`${heading}${callList(entries)}`
}
