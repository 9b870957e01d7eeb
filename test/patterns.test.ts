import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { idPattern } from '../src/core/ids.ts'
import { AMOUNT_PATTERN } from '../src/core/money.ts'
import { PRICE_PATTERN } from '../src/core/price.ts'
import { endpoints } from '../src/doors/api/endpoints.ts'
import { PART_PATTERN } from '../src/doors/console-api/finding/id-part.ts'
import { methodAndPath } from '../src/http/endpoint.ts'
import { hostileRecipes, type Literal, literalsOf, write } from './support/patterns.ts'

/**
 * A regular expression whose time grows faster than its text is a way to stop a node. So every one in the sources, and
 * every pattern of a schema, is tried on texts that are made to keep it busy. What may be slow says why that harms nobody.
 */
const HARMLESS: Readonly<Record<string, string>> = {
  'cli/api/client.ts /\\/+$/': 'an argument on one’s own command line',
  'db/address.ts /([^?&=]+)=[^&]*/g': 'the operator’s own settings',
  'core/price.ts /0+$/': 'digits that we have made ourselves',
  'db/embedded/server.ts /still in use|lock file .* already exists/': 'what our own PostgreSQL prints',
  'db/plain-read.ts /;\\s*\\S|--|\\/\\*/': 'statements of our own',
  'db/plain-read.ts /(?<![\\p{L}\\p{N}_$."])(?<!\\bas\\s+)([\\p{L}\\p{N}_$."]+)\\s*\\(/giu':
    'statements of our own',
}

/** The longest text that reaches a pattern without having been cut: all headers together. A body has four times that. */
const LONGEST = 16 * 1024

const src = fileURLToPath(new URL('../src/', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => ({ path, code: readFileSync(join(src, path), 'utf8') }))

type Pattern = Literal & { readonly name: string }
const nameOf = (path: string, { source, flags }: Literal) => `${path} /${source}/${flags}`
const fromText = (name: string, source: string, flags = ''): Pattern => ({ name, source, flags })

const literals: readonly Pattern[] = files.flatMap(({ path, code }) =>
  literalsOf(code).map((literal) => ({ ...literal, name: nameOf(path, literal) })),
)

/** Patterns that are put together while the program runs: each place is known, and what it makes is tried too. */
const MADE: Readonly<Record<string, readonly Pattern[]>> = {
  'core/ids.ts': [fromText('an id', idPattern('payout'))],
  'core/money.ts': [fromText('an amount', AMOUNT_PATTERN)],
  'core/price.ts': [fromText('a price', PRICE_PATTERN)],
  'doors/console-api/finding/id-part.ts': [fromText('a part of an id', PART_PATTERN)],
  'http/page.ts': [fromText('the id in a cursor', '^po_[0-9a-z]+$')],
  'http/no-route.ts': endpoints.map((endpoint) => {
    const { path } = methodAndPath(endpoint)
    return fromText(`the path ${path}`, `^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
  }),
}

/** Every pattern in the schemas of what callers send, however deep. */
function schemaPatterns(schema: unknown, where: string): Pattern[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = (schema as { pattern?: unknown }).pattern
  return [
    ...(typeof own === 'string' ? [fromText(`${where} ${own}`, own, 'u')] : []),
    ...Object.entries(schema).flatMap(([name, part]) => schemaPatterns(part, `${where}.${name}`)),
  ]
}

const inSchemas: readonly Pattern[] = [
  ...new Map(
    endpoints
      .flatMap(({ name, params, query, body }) => schemaPatterns({ params, query, body }, name))
      .map((pattern) => [pattern.source, pattern] as const),
  ).values(),
]

function cpuMs(pattern: Pattern, text: string): number {
  const regexp = new RegExp(pattern.source, pattern.flags)
  const before = process.cpuUsage()
  if (regexp.global) text.replace(regexp, '')
  else regexp.test(text)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const fastest = (pattern: Pattern, text: string) =>
  Math.min(...Array.from({ length: 3 }, () => cpuMs(pattern, text)))

const WORTH_A_LOOK_MS = 4

/** Some patterns would not come to an end on long texts, so they are met in small steps. */
const SHORT = [16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80, 100, 128, 160, 200, 300, 500]

/** What makes it work more than twice as hard when it is twice as long; undefined when nothing does. */
function findSlow(pattern: Pattern): string | undefined {
  const recipes = hostileRecipes(pattern)
  for (const length of SHORT)
    for (const recipe of recipes) {
      const text = write(recipe, length)
      if (cpuMs(pattern, text) > 25 && fastest(pattern, text) > 25) return text
    }
  const slow = recipes.find((recipe) => {
    const first = cpuMs(pattern, write(recipe, LONGEST))
    if (first < WORTH_A_LOOK_MS) return false
    // What takes long already is compared with a shorter text, so that it does not take longer still.
    const length = first > 20 * WORTH_A_LOOK_MS ? LONGEST / 2 : LONGEST
    const short = fastest(pattern, write(recipe, length))
    const long = fastest(pattern, write(recipe, 2 * length))
    return long > 4 * WORTH_A_LOOK_MS && long > 3 * short
  })
  return slow && write(slow, LONGEST)
}

const told = (pattern: Pattern) => {
  const text = findSlow(pattern)
  return text === undefined
    ? []
    : [`${pattern.name} on ${JSON.stringify(`${text.slice(0, 40)}…${text.slice(-5)}`)}`]
}

describe('no text from outside keeps a pattern busy for longer than its length explains', () => {
  test('every pattern in the sources', () => {
    expect(literals.length).toBeGreaterThan(60)
    const tried = literals.filter(({ name }) => HARMLESS[name] === undefined)
    expect(tried.flatMap(told)).toEqual([])
  })

  test('every pattern that is put together while the program runs, each from a place that is known', () => {
    const made = files.filter(({ code }) => /new RegExp\(|\bRegExp\(/.test(code)).map(({ path }) => path)
    expect(made.sort()).toEqual(Object.keys(MADE).sort())
    expect(Object.values(MADE).flat().flatMap(told)).toEqual([])
  })

  test('every pattern of a schema', () => {
    expect(inSchemas.length).toBeGreaterThan(8)
    expect(inSchemas.flatMap(told)).toEqual([])
  })

  test('what may be slow is still there, and is nothing that a caller can reach', () => {
    const names = literals.map(({ name }) => name)
    expect(Object.keys(HARMLESS).filter((name) => !names.includes(name))).toEqual([])
  })
})

describe('the test itself', () => {
  test('finds patterns that are slow', () => {
    for (const source of [
      '^application\\/json\\s*(;\\s*charset\\s*=\\s*"?utf-8"?\\s*)?;?\\s*$',
      '^(a+)+$',
      '\\s+$',
    ])
      expect(findSlow(fromText(source, source, 'i')), source).toBeDefined()
    for (const source of ['^[a-z]+_[0-9a-z]+$', '^a*b*c*$', '^\\s*x', '[0-9]{1,5}$'])
      expect(findSlow(fromText(source, source)), source).toBeUndefined()
  })

  test('reads patterns out of sources, and nothing else', () => {
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the text of a program
    const code = [
      'const a = /x\\/[/]y/gi // not /this/',
      "const b = 'no /pattern/' + `nor /this/ ${/but this/.test(`${/and this/u}`)} /no/`",
      'const c = (1 + 2) / 3 / 4; /* /no/ */ const d = list[0] / 2 / 1',
      'if (x) return /returned/.exec(y)?.[1]',
      'f(/first/, /second/)',
    ].join('\n')
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the text of a program
    expect(literalsOf(code).map(({ source, flags }) => `/${source}/${flags}`)).toEqual([
      '/x\\/[/]y/gi',
      '/but this/',
      '/and this/u',
      '/returned/',
      '/first/',
      '/second/',
    ])
  })
})
