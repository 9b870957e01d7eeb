/** Regular expressions as they stand in source text, and hostile texts made from them. */

export type Literal = { readonly source: string; readonly flags: string }

/** After one of these words or signs a slash begins a pattern; after anything else it divides. `of` may be a name too. */
const BEFORE_PATTERN =
  /(?:^|[([{,;=:!&|?+*%<>~^}-]|[\w$\]})] of|\b(?:return|typeof|case|in|do|else|void|delete|await|yield))$/

/** Every regular expression literal of a TypeScript file. Texts, templates and comments are passed over. */
export function literalsOf(code: string): Literal[] {
  const found: Literal[] = []
  /** What came before, without texts and comments: it decides what a slash means. */
  let before = ''
  /** How many braces are open in each `${…}` that we are in. */
  const templates: number[] = []
  for (let at = 0; at < code.length; ) {
    const rest = code.slice(at, at + 2)
    const char = rest[0]!
    if (rest === '//') at = end(code.indexOf('\n', at), code)
    else if (rest === '/*') at = end(code.indexOf('*/', at) + 2, code)
    else if (char === "'" || char === '"') {
      at = textEnd(code, at, char)
      before = '0'
    } else if (char === '`' || (char === '}' && templates.at(-1) === 0)) {
      if (char === '}') templates.pop()
      const { next, opened } = templateEnd(code, at)
      if (opened) templates.push(0)
      at = next
      before = opened ? '(' : '0'
    } else if (char === '/' && BEFORE_PATTERN.test(before.trimEnd())) {
      const literal = patternAt(code, at)
      found.push(literal)
      at += literal.source.length + literal.flags.length + 2
      before = '0'
    } else {
      if (templates.length > 0 && char === '{') templates[templates.length - 1]!++
      if (templates.length > 0 && char === '}') templates[templates.length - 1]!--
      before = (before + char).slice(-20)
      at++
    }
  }
  return found
}

const end = (at: number, code: string) => (at < 2 ? code.length : at)

function textEnd(code: string, start: number, quote: string): number {
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === '\\') at++
    else if (code[at] === quote) return at + 1
  }
  return code.length
}

function templateEnd(code: string, start: number): { next: number; opened: boolean } {
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === '\\') at++
    else if (code[at] === '`') return { next: at + 1, opened: false }
    else if (code.startsWith('${', at)) return { next: at + 2, opened: true }
  }
  return { next: code.length, opened: false }
}

function patternAt(code: string, start: number): Literal {
  let inClass = false
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === '\\') at++
    else if (code[at] === '[') inClass = true
    else if (code[at] === ']') inClass = false
    else if (code[at] === '/' && !inClass) {
      const flags = /^[a-z]*/.exec(code.slice(at + 1))![0]
      return { source: code.slice(start + 1, at), flags }
    } else if (code[at] === '\n') break
  }
  throw new Error(`no end of a pattern: ${code.slice(start, start + 60)}`)
}

/** A part of a pattern: some texts that it matches, and whether it may be repeated without end. */
type Part = { readonly texts: readonly string[]; readonly loops: readonly Loop[] }
/** What can be said again and again, and what must be said before. */
type Loop = { readonly prefix: string; readonly pump: string }

const CANDIDATES = [
  ' ',
  '\t',
  'a',
  'Z',
  '0',
  '_',
  '-',
  '.',
  ':',
  '/',
  '=',
  '@',
  '%',
  '+',
  '[',
  '~',
  'é',
  '\n',
]
/** A repetition up to this many times is no loop. */
const LOOP_FROM = 20

/** A text to be written at any length: something said again and again, and what spoils the match at the end. */
type Recipe = Loop & { readonly suffix: string }

export const write = ({ prefix, pump, suffix }: Recipe, length: number): string =>
  prefix + pump.repeat(Math.max(1, Math.floor((length - prefix.length) / pump.length))) + suffix

/** Ways to make a pattern work: runs of what each of its loops takes, and of everything else that it knows. */
export function hostileRecipes({ source, flags }: Literal): Recipe[] {
  const { loops, texts } = parse(source, flags)
  const others = [...texts, ...CANDIDATES].map((pump) => ({ prefix: '', pump }))
  const again = loops.map(({ prefix, pump }) => ({ prefix: '', pump: prefix + pump }))
  const recipes = [
    ...loops.flatMap((loop) => ['', '\0', '!', ' x', ...CANDIDATES].map((suffix) => ({ ...loop, suffix }))),
    ...[...again, ...others].flatMap((loop) => ['', '\0'].map((suffix) => ({ ...loop, suffix }))),
  ].filter(({ pump }) => pump !== '')
  return [...new Map(recipes.map((recipe) => [JSON.stringify(recipe), recipe])).values()]
}

function parse(source: string, flags: string): Part {
  let at = 0
  const part = alternatives()
  if (at < source.length) throw new Error(`cannot read /${source}/ at ${at}`)
  return part

  function alternatives(): Part {
    const parts = [sequence()]
    while (source[at] === '|') {
      at++
      parts.push(sequence())
    }
    return {
      texts: parts.flatMap(({ texts }) => texts).slice(0, 6),
      loops: parts.flatMap(({ loops }) => loops),
    }
  }

  function sequence(): Part {
    let prefix = ''
    const loops: Loop[] = []
    const variants: string[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const part = item()
      for (const loop of part.loops) loops.push({ prefix: prefix + loop.prefix, pump: loop.pump })
      for (const text of part.texts.slice(1, 3)) variants.push(prefix + text)
      prefix += part.texts[0] ?? ''
    }
    return { texts: [prefix, ...variants], loops }
  }

  function item(): Part {
    const atom = readAtom()
    const { min, max } = quantifier()
    const texts = atom.texts.map((text) => text.repeat(min))
    if (max - min < LOOP_FROM && max < LOOP_FROM)
      return { texts: min === 0 ? ['', ...atom.texts] : texts, loops: atom.loops }
    const pumps = atom.texts.filter((text) => text !== '')
    const mixed = pumps.length > 1 ? [pumps.join('')] : []
    return {
      texts: min === 0 ? ['', ...atom.texts] : texts,
      loops: [...atom.loops, ...[...pumps, ...mixed].map((pump) => ({ prefix: '', pump }))],
    }
  }

  function quantifier(): { min: number; max: number } {
    const match = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(source.slice(at))
    if (!match) return { min: 1, max: 1 }
    at += match[0].length
    const [sign, from, upTo, to] = match
    if (sign[0] === '*') return { min: 0, max: Infinity }
    if (sign[0] === '+') return { min: 1, max: Infinity }
    if (sign[0] === '?') return { min: 0, max: 1 }
    const min = Number(from)
    return { min, max: upTo === undefined ? min : to ? Number(to) : Infinity }
  }

  function readAtom(): Part {
    const start = at
    const char = source[at]!
    if (char === '(') {
      const look = /^\((?:\?(?::|<?[=!]|<\w+>))?/.exec(source.slice(at))![0]
      at += look.length
      const inner = alternatives()
      at++
      // What is only looked at takes nothing; what must not be there is left out.
      return /[=!]$/.test(look) ? { texts: [''], loops: inner.loops } : inner
    }
    if (char === '[') {
      for (at++; source[at] !== ']'; at++) if (source[at] === '\\') at++
      at++
      return classOf(source.slice(start, at), flags)
    }
    if (char === '\\') {
      const escaped = /^\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[^}]*\}|[pP]\{[^}]*\}|.)/i.exec(
        source.slice(at),
      )![0]
      at += escaped.length
      return escaped === '\\b' || escaped === '\\B' ? { texts: [''], loops: [] } : classOf(escaped, flags)
    }
    at++
    return char === '^' || char === '$' ? { texts: [''], loops: [] } : classOf(char, flags)
  }
}

/** What a sign, an escape or a class in brackets matches. */
function classOf(text: string, flags: string): Part {
  const one = new RegExp(
    `^${/^[.[\\]/.test(text) ? text : text.replace(/[{}]/, '\\$&')}$`,
    flags.replace(/[gy]/g, ''),
  )
  const printable = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i))
  const some = [...CANDIDATES, ...printable].filter((candidate) => one.test(candidate))
  return { texts: [...new Set(some)].slice(0, 4), loops: [] }
}
