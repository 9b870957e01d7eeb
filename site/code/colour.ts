import { type Html, html } from '../../src/doors/reference/html.ts'

/** Token kinds: comment, string, keyword, field name, shell variable. */
type Kind = 'comment' | 'string' | 'word' | 'key' | 'variable'

type Rule = readonly [kind: Kind, pattern: RegExp]

const double: Rule = ['string', /"(?:[^"\\\n]|\\.)*"/]
const single: Rule = ['string', /'(?:[^'\\\n]|\\.)*'/]
const slashes: Rule = ['comment', /\/\/[^\n]*|\/\*[\s\S]*?\*\//]
const hash: Rule = ['comment', /#[^\n]*/]
const number: Rule = ['word', /\b\d[\d_]*(?:\.\d+)?n?\b/]
const words = (list: string): Rule => ['word', new RegExp(`\\b(?:${list.replaceAll(' ', '|')})\\b`)]

/** The rules of each language, in the order in which they are tried. */
const languages: Readonly<Record<string, readonly Rule[]>> = {
  sh: [
    ['comment', /(?<=^|\s)#[^\n]*/],
    ['string', /'[^']*'|"(?:[^"\\]|\\.)*"/],
    ['variable', /\$\w+|\$\{[^}]*\}|^[A-Z_]+(?==)/m],
    ['key', /(?<=\s)--?[a-zA-Z][\w-]*/],
    [
      'word',
      /(?<=^|[|;&]\s*|&&\s*)(?:curl|npm|npx|node|export|cd|docker|git|psql|python3|go|java|php|cat|cp|sudo|systemctl)(?=\s)/m,
    ],
  ],
  json: [
    ['key', /"(?:[^"\\]|\\.)*"(?=\s*:)/],
    ['string', /"(?:[^"\\]|\\.)*"/],
    ['word', /-?\b\d[\d.eE+-]*\b|\b(?:true|false|null)\b/],
  ],
  ts: [
    slashes,
    double,
    single,
    ['string', /`(?:[^`\\]|\\.)*`/],
    words(
      'import export from const let var function return if else for of in await async new class extends throw try catch finally while do switch case break continue default type interface typeof instanceof null undefined true false',
    ),
    ['key', /\b[a-zA-Z_]\w*(?=\s*:)/],
    number,
  ],
  py: [
    hash,
    ['string', /[bf]?"""[\s\S]*?"""|[bf]?"(?:[^"\\\n]|\\.)*"|[bf]?'(?:[^'\\\n]|\\.)*'/],
    words(
      'import from as def return if elif else for in not and or is with while class raise try except finally lambda None True False pass yield assert',
    ),
    ['key', /\b[a-z_]\w*(?==[^=\s])/],
    number,
  ],
  go: [
    slashes,
    double,
    ['string', /`[^`]*`/],
    words(
      'package import func return if else for range var const type struct interface map chan go defer switch case break continue default nil true false string byte int error bool',
    ),
    number,
  ],
  java: [
    slashes,
    ['string', /"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"/],
    single,
    words(
      'package import public private protected static final void class interface record enum new return if else for while do switch case break continue default try catch finally throw throws this null true false int long byte boolean char var instanceof',
    ),
    number,
  ],
  php: [
    ['word', /<\?php|\?>/],
    slashes,
    hash,
    double,
    single,
    ['variable', /\$\w+/],
    words(
      'function return if else elseif foreach for while as new class public private static final use namespace require declare try catch finally throw null true false int string bool array fn match echo',
    ),
    number,
  ],
  http: [
    hash,
    ['word', /^(?:GET|POST|PATCH|PUT|DELETE|HEAD|HTTP\/[\d.]+)\b/m],
    ['key', /^[\w-]+(?=:\s)/m],
    double,
    ['variable', /\{\{[^}]*\}\}|^@\w+/m],
  ],
  sql: [
    ['comment', /--[^\n]*/],
    single,
    [
      'word',
      /\b(?:select|from|where|insert|into|values|update|set|delete|create|table|role|database|schema|grant|revoke|on|to|and|or|not|null|order|by|group|limit|join|as|with|owner|login|password|alter|drop|index)\b/i,
    ],
    number,
  ],
}

/** Aliases of languages in code fences. */
const names: Readonly<Record<string, string>> = {
  bash: 'sh',
  shell: 'sh',
  js: 'ts',
  javascript: 'ts',
  typescript: 'ts',
  python: 'py',
}

export const languageOf = (name: string): string => names[name] ?? name

/** The place of the reader's key in a sample, and how it is quoted there. */
const keySlot = /(\$TRILHO_KEY|process\.env\.TRILHO_KEY|os\.environ\["TRILHO_KEY"\])/
const quoteOf = (slot: string) => (slot.startsWith('$') ? '' : slot.startsWith('p') ? "'" : '"')

type Reader = { readonly kinds: readonly (Kind | 'slot')[]; readonly pattern: RegExp }

/** Combines all rules of a language into one pattern with a group per rule. */
function readerOf(language: string): Reader {
  const rules = [['slot', keySlot] as const, ...(languages[language] ?? [])]
  const source = rules.map(([, pattern]) => `(${pattern.source.replaceAll(/\((?!\?)/g, '(?:')})`).join('|')
  return {
    kinds: rules.map(([kind]) => kind),
    pattern: new RegExp(source, language === 'sql' ? 'gmi' : 'gm'),
  }
}

const readers = new Map<string, Reader>()

export function colour(code: string, name: string): Html {
  const language = languageOf(name)
  const reader = readers.get(language) ?? readerOf(language)
  readers.set(language, reader)
  const pieces: (Html | string)[] = []
  let end = 0
  for (const match of code.matchAll(reader.pattern)) {
    pieces.push(code.slice(end, match.index))
    const kind = reader.kinds[match.slice(1).findIndex((group) => group !== undefined)]!
    pieces.push(kind === 'slot' ? slot(match[0]) : piece(kind, match[0]))
    end = match.index + match[0].length
  }
  return html`${pieces}${code.slice(end)}`
}

const piece = (kind: Kind, text: string) =>
  html`<span class="${kind}">${text.split(keySlot).map(slotted)}</span>`

/** Marks key slots inside strings, because the shell expands variables there. Every odd part of the split is a slot. */
const slotted = (part: string, index: number) => (index % 2 === 1 ? slot(part) : part)

const slot = (text: string) => html`<span class="slot" data-quote="${quoteOf(text)}">${text}</span>`
