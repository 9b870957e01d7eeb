import assert from 'node:assert/strict'
import { marked, type Token, type Tokens } from 'marked'
import { breakable, type Html, html, noHtml } from '../../src/doors/reference/html.ts'
import { languageOf } from '../code/colour.ts'
import { type Sample, tabs, titleOf } from '../code/sample.ts'
import type { Heading, Language, Section } from '../page.ts'
import { openSlugs } from './slug.ts'

/** The target of a link: an address, or the path of a file that exists only in the repository. */
export type Target = { readonly href: string } | { readonly repository: string }

export type Rendered = {
  readonly title: string
  readonly description: string
  readonly head: Html
  readonly main: Html
  readonly headings: readonly Heading[]
  readonly sections: readonly Section[]
}

/** Renders a Markdown page. Raw HTML is refused. */
export function render(
  markdown: string,
  resolve: (href: string) => Target,
  language: Language = 'en',
): Rendered {
  const [first, ...rest] = marked.lexer(markdown).filter(isShown)
  assert(first?.type === 'heading' && first.depth === 1, 'a page begins with its title: # Title')
  const title = plain(first.tokens ?? [])
  const lede = rest[0]?.type === 'paragraph' ? (rest[0] as Tokens.Paragraph) : undefined
  const outline = outlineOf(rest)
  const writer = openWriter({ resolve, ids: outline.ids, language })
  return {
    title,
    description: lede ? firstSentence(plain(lede.tokens)) : title,
    headings: outline.headings,
    sections: sectionsOf(rest, outline.ids),
    head: html`<h1>${writer.inline(first.tokens ?? [])}</h1>`,
    main: rows(
      lede ? rest.slice(1) : rest,
      writer,
      lede && html`<p class="lede">${writer.inline(lede.tokens)}</p>`,
    ),
  }
}

/** Drops HTML comments, which are notes for editors of the file. */
const isShown = ({ type, raw }: Token) =>
  type !== 'space' && !(type === 'html' && /^<!--(?:(?!-->)[\s\S])*-->\s*$/.test(raw))

function outlineOf(tokens: readonly Token[]): { ids: Map<Token, string>; headings: Heading[] } {
  const slug = openSlugs()
  const ids = new Map<Token, string>()
  const headings: Heading[] = []
  for (const token of tokens) {
    if (token.type !== 'heading') continue
    const text = plain(token.tokens ?? [])
    const id = slug(text)
    ids.set(token, id)
    if (token.depth === 2 || token.depth === 3) headings.push({ id, text, level: token.depth })
  }
  return { ids, headings }
}

/** The searchable sections of a page. Code is included, after the text of its section. */
function sectionsOf(tokens: readonly Token[], ids: ReadonlyMap<Token, string>): Section[] {
  const sections: { id?: string; heading?: string; text: string; code: string }[] = [{ text: '', code: '' }]
  for (const token of tokens) {
    const id = ids.get(token)
    if (id !== undefined && token.type === 'heading')
      sections.push({ id, heading: plain(token.tokens ?? []), text: '', code: '' })
    else sections.at(-1)![token.type === 'code' ? 'code' : 'text'] += ` ${plain([token])}`
  }
  return sections
    .map(({ text, code, ...rest }) => ({ ...rest, text: `${text} ${code}`.trim() }))
    .filter(({ heading, text }) => heading !== undefined || text !== '')
}

/** A layout row: the text that introduces a code block, the code beside it, and the text after it. */
type Row = { readonly intro: Html[]; readonly code: Html[]; readonly rest: Html[]; readonly opens: boolean }

function rows(tokens: readonly Token[], writer: Writer, lede: Html | undefined): Html {
  const blocks = groupFences(tokens)
  const all: Row[] = [{ intro: lede ? [lede] : [], code: [], rest: [], opens: false }]
  for (const [place, block] of blocks.entries()) {
    const row = all.at(-1)!
    if (Array.isArray(block)) row.code.push(writer.fences(block))
    else if (isSection(block) || leadsToCode(blocks, place))
      all.push({ intro: [writer.block(block)], code: [], rest: [], opens: isSection(block) })
    else (row.code.length > 0 ? row.rest : row.intro).push(writer.block(block))
  }
  return html`${all.filter(({ intro, code }) => intro.length + code.length > 0).map(rowOf)}`
}

const isSection = (token: Token) => token.type === 'heading' && token.depth === 2

/** Whether a block directly precedes code, including a heading directly above that block. */
function leadsToCode(blocks: readonly (Token | Tokens.Code[])[], place: number): boolean {
  const [before, block, next, after] = [place - 1, place, place + 1, place + 2].map((i) => blocks[i])
  if (isHeading(block)) return Array.isArray(next) || (!isHeading(next) && Array.isArray(after))
  return Array.isArray(next) && !isHeading(before)
}

const isHeading = (block: Token | Tokens.Code[] | undefined) =>
  block !== undefined && !Array.isArray(block) && block.type === 'heading'

function rowOf({ intro, code, rest, opens }: Row): Html {
  return html`<div class="row${opens ? ' opens' : ''}${code.length === 0 ? ' alone' : ''}">
<div class="text">${intro}</div>${
    code.length > 0 &&
    html`
<div class="beside">${code}</div>`
  }${
    rest.length > 0 &&
    html`
<div class="text rest">${rest}</div>`
  }
</div>
`
}

/** Groups consecutive code fences without text between them. */
function groupFences(tokens: readonly Token[]): (Token | Tokens.Code[])[] {
  const grouped: (Token | Tokens.Code[])[] = []
  for (const token of tokens) {
    if (token.type === 'space') continue
    const last = grouped.at(-1)
    if (token.type !== 'code') grouped.push(token)
    else if (Array.isArray(last)) last.push(token as Tokens.Code)
    else grouped.push([token as Tokens.Code])
  }
  return grouped
}

type Writer = ReturnType<typeof openWriter>

type WriterOptions = {
  readonly resolve: (href: string) => Target
  readonly ids: ReadonlyMap<Token, string>
  readonly language: Language
}

function openWriter({ resolve, ids, language }: WriterOptions) {
  return { inline, block, fences }

  function block(token: Token): Html {
    switch (token.type) {
      case 'heading':
        return headingOf(token as Tokens.Heading)
      case 'paragraph':
        return html`<p>${inline(token.tokens ?? [])}</p>\n`
      case 'text':
        return inline(token.tokens ?? [token])
      case 'code':
        return fences([token as Tokens.Code])
      case 'blockquote':
        return html`<blockquote>${(token.tokens ?? []).map(block)}</blockquote>\n`
      case 'list':
        return listOf(token as Tokens.List)
      case 'table':
        return tableOf(token as Tokens.Table)
      case 'hr':
        return html`<hr>\n`
      case 'space':
        return noHtml
      case 'checkbox':
        return html`${(token as Tokens.Checkbox).checked ? '☑ ' : '☐ '}`
      default:
        throw new Error(`a page cannot have this: ${token.raw.trim().slice(0, 80)}`)
    }
  }

  function headingOf(token: Tokens.Heading): Html {
    const id = ids.get(token)!
    const text = html`<a class="anchor" href="#${id}">${inline(token.tokens)}</a>`
    if (token.depth === 2) return html`<h2 id="${id}">${text}</h2>\n`
    if (token.depth === 3) return html`<h3 id="${id}">${text}</h3>\n`
    assert(token.depth === 4, `one title to a page, and no heading below ####: ${token.raw.trim()}`)
    return html`<h4 id="${id}">${text}</h4>\n`
  }

  function listOf({ ordered, start, items }: Tokens.List): Html {
    const inside = items.map((item) => html`<li>${itemOf(item)}</li>\n`)
    if (!ordered) return html`<ul>${inside}</ul>\n`
    return html`<ol${start !== '' && start !== 1 && html` start="${start}"`}>${inside}</ol>\n`
  }

  function itemOf({ tokens }: Tokens.ListItem): Html {
    return html`${groupFences(tokens).map((one) => (Array.isArray(one) ? fences(one) : block(one)))}`
  }

  function tableOf({ header, rows: body, align }: Tokens.Table): Html {
    const aligned = (column: number) => align[column] === 'right' && html` class="right"`
    return html`<div class="table" tabindex="0" role="group" aria-label="${header.map(({ tokens }) => plain(tokens)).join(', ')}"><table>
<thead><tr>${header.map(({ tokens }, i) => html`<th scope="col"${aligned(i)}>${cell(tokens)}</th>`)}</tr></thead>
<tbody>${body.map((cells) => html`<tr>${cells.map(({ tokens }, i) => html`<td${aligned(i)}>${cell(tokens)}</td>`)}</tr>\n`)}</tbody>
</table></div>\n`
  }

  function cell(tokens: readonly Token[]): Html {
    return html`${tokens.map((token) => nameInCell(token) ?? span(token))}`
  }

  function inline(tokens: readonly Token[]): Html {
    return html`${tokens.map(span)}`
  }

  function span(token: Token): Html {
    switch (token.type) {
      case 'text':
      case 'escape':
        return 'tokens' in token && token.tokens ? inline(token.tokens) : html`${unescaped(token.text)}`
      case 'strong':
        return html`<strong>${inline(token.tokens ?? [])}</strong>`
      case 'em':
        return html`<em>${inline(token.tokens ?? [])}</em>`
      case 'del':
        return html`<del>${inline(token.tokens ?? [])}</del>`
      case 'codespan':
        return html`<code>${unescaped(token.text)}</code>`
      case 'br':
        return html`<br>`
      case 'link':
        return linkOf(token as Tokens.Link)
      default:
        throw new Error(`a page cannot have this: ${token.raw.trim().slice(0, 80)}`)
    }
  }

  function linkOf({ href, tokens }: Tokens.Link): Html {
    const target = resolve(href)
    if ('href' in target) return html`<a href="${target.href}">${inline(tokens)}</a>`
    return html`<span class="repository" title="${target.repository}">${inline(tokens)}</span>`
  }

  function fences(codes: readonly Tokens.Code[]): Html {
    return html`${inTabs(codes.map((code) => sampleOf(code, language))).map(tabs)}`
  }
}

/** Lets code in a table cell break at its separators, so that the table fits on a phone. */
const nameInCell = (token: Token): Html | undefined =>
  token.type === 'codespan' ? html`<code>${breakable(unescaped(token.text))}</code>` : undefined

const tabbed = ['sh', 'ts', 'py', 'go', 'java', 'php']

/** Consecutive samples in different languages share one tab group; output is shown below its sample. */
function inTabs(samples: readonly Sample[]): Sample[][] {
  const groups: Sample[][] = []
  for (const sample of samples) {
    const last = groups.at(-1)
    const language = languageOf(sample.language)
    const joins =
      last?.every((other) => tabbed.includes(languageOf(other.language))) &&
      tabbed.includes(language) &&
      last.every((other) => languageOf(other.language) !== language)
    if (joins) last!.push(sample)
    else groups.push([sample])
  }
  return groups
}

const outputTitle: Readonly<Record<Language, string>> = { en: 'Output', pt: 'Saída' }

function sampleOf({ lang = '', text }: Tokens.Code, spoken: Language): Sample {
  const [language = '', ...marks] = lang.split(' ')
  const title = marks.includes('output') ? outputTitle[spoken] : titleOf(language, text)
  return { language: language || 'text', title, code: language === 'json' ? setOut(text) : text }
}

/** Formats a one-line JSON response over several lines. */
function setOut(json: string): string {
  if (json.trim().includes('\n') || json.length < LINE_CHARS) return json
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}

const LINE_CHARS = 72

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
}

/** The lexer returns some texts HTML-escaped. */
const unescaped = (text: string) => text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (one) => entities[one]!)

/** The text without Markdown formatting. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token): string => {
      if (token.type === 'table') {
        const { header, rows: body } = token as Tokens.Table
        return [header, ...body].map((row) => row.map(({ tokens: cell }) => plain(cell)).join(' ')).join(' ')
      }
      if (token.type === 'list')
        return (token as Tokens.List).items.map((item) => plain(item.tokens)).join(' ')
      if ('tokens' in token && token.tokens && token.type !== 'codespan')
        return plain(token.tokens) + (token.type === 'paragraph' ? ' ' : '')
      return 'text' in token ? unescaped(token.text as string) : ' '
    })
    .join('')
}

const firstSentence = (text: string) =>
  /^[\s\S]*?[.!?:](?=\s|$)/.exec(text.replaceAll(/\s+/g, ' ').trim())?.[0].replace(/:$/, '.') ?? text
