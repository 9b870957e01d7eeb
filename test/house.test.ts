import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/**
 * The floors of src, lowest first, and the slices on each. A file may import from its own place and from lower ranks.
 * `ls src` shows the floors; ARCHITECTURE.md says what each is for.
 */
const ranks: readonly (readonly string[])[] = [
  ['core'],
  ['db', 'rails'],
  ['world.ts', 'ledger', 'http'],
  ['limits', ...on('records', ['acts', 'desk', 'events', 'exceptions', 'requests', 'steps'])],
  on('parties', ['customers', 'keys', 'partners', 'team']),
  on('money', ['custody', 'money-limits', 'treasury']),
  on('money', ['deposits']),
  ['webhooks', ...on('money', ['adjustments', 'pix', 'quotes', 'sweeps'])],
  on('money', ['charges', 'onchain']),
  on('money', ['account', 'daily', 'receipts']),
  on('control', ['audit', 'golive', 'operator', 'secrets']),
  ['notifications'],
  on('doors', ['reference']),
  on('doors', ['sandbox']),
  on('doors', ['api']),
  on('doors', ['console-api']),
  ['node'],
  on('node', ['backup', 'database-copy']),
  ['cli'],
]
/** Places of one rank that may name each other's types. */
const TYPES_ONLY = 2
/** Ranks whose places may use each other, as long as no circle comes of it. */
const AMONG_THEMSELVES = [3, 4]

function on(floor: string, slices: readonly string[]): string[] {
  return slices.map((slice) => `${floor}/${slice}`)
}

const src = fileURLToPath(new URL('../src/', import.meta.url))

type Import = { readonly target: string; readonly type_only: boolean }
type File = { readonly path: string; readonly text: string; readonly imports: readonly Import[] }

const files: readonly File[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => {
    const text = readFileSync(join(src, path), 'utf8')
    return { path, text, imports: importsOf(path, text) }
  })

function importsOf(path: string, text: string): Import[] {
  const written = text.matchAll(/^(?:import|export)\s(?:(type\s)?([^'";]*?)\sfrom\s)?\s*['"]([^'"]+)['"]/gm)
  const called = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)
  const found = [
    ...[...written].map(([, type, names, target]) => ({
      target: target!,
      type_only: type !== undefined || onlyTypes(names ?? ''),
    })),
    ...[...called].map(([, target]) => ({ target: target!, type_only: false })),
  ]
  return found
    .filter(({ target }) => target.startsWith('.'))
    .map((one) => ({ ...one, target: relative(src, join(src, dirname(path), one.target)) }))
}

function onlyTypes(names: string): boolean {
  const inside = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1]
  const parts = inside?.split(',').filter((part) => part.trim() !== '') ?? []
  return parts.length > 0 && parts.every((part) => /^\s*type\s/.test(part))
}

const places = new Set(ranks.flat())
/** A slice on a floor (`money/pix`), or a folder that is a floor by itself (`ledger`). */
function placeOf(path: string): string {
  const [floor, slice] = path.split('/')
  const place = `${floor}/${slice}`
  return places.has(place) ? place : floor!
}
const rankOf = (path: string) => ranks.findIndex((places) => places.includes(placeOf(path)))

test('every file of src has a rank', () => {
  expect(files.length).toBeGreaterThan(50)
  expect(files.filter(({ path }) => rankOf(path) < 0).map(({ path }) => path)).toEqual([])
})

test('a file imports from lower ranks only', () => {
  const wrong = files.flatMap(({ path, imports }) =>
    imports
      .filter(({ target, type_only }) => {
        const own = rankOf(path)
        const other = rankOf(target)
        if (placeOf(path) === placeOf(target) || other < own) return other < 0
        if (other > own) return true
        return own === TYPES_ONLY ? !type_only : !AMONG_THEMSELVES.includes(own)
      })
      .map(({ target }) => `${path} → ${target}`),
  )
  expect(wrong).toEqual([])
})

test('no folders of src use each other in a circle', () => {
  const uses = new Map<string, Set<string>>()
  for (const { path, imports } of files) {
    for (const { target, type_only } of imports) {
      if (type_only || placeOf(path) === placeOf(target)) continue
      uses.set(placeOf(path), (uses.get(placeOf(path)) ?? new Set()).add(placeOf(target)))
    }
  }
  const circles: string[] = []
  const done = new Set<string>()
  const walk = (place: string, trail: readonly string[]) => {
    if (trail.includes(place))
      return void circles.push([...trail.slice(trail.indexOf(place)), place].join(' → '))
    if (done.has(place)) return
    for (const next of uses.get(place) ?? []) walk(next, [...trail, place])
    done.add(place)
  }
  for (const place of uses.keys()) walk(place, [])
  expect(circles).toEqual([])
})

test('no file of src imports tests, benchmarks or tools', () => {
  const outside = files.flatMap(({ path, imports }) =>
    imports.filter(({ target }) => target.startsWith('..')).map(({ target }) => `${path} → ${target}`),
  )
  expect(outside).toEqual([])
})

test('only the ledger writes entries and balances', () => {
  const sql =
    /\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate(?:\s+table)?|copy)\s+(?:only\s+)?(?:\w+\.)?"?(?:entries|balances)\b[^`;]*/gi
  const descriptor = /\b(?:insertInto|updateOf)\([^)]*['"](?:entries|balances)['"]/g
  const writes = files.flatMap(({ path, text }) =>
    [...text.matchAll(sql), ...text.matchAll(descriptor)].map(([found]) => ({
      path,
      found: found.replaceAll(/\s+/g, ' '),
    })),
  )
  const elsewhere = writes.filter(({ path }) => placeOf(path) !== 'ledger')
  expect(elsewhere).toEqual([])
  expect(writes.length).toBeGreaterThanOrEqual(3)
  // A new account starts from nothing: its insert names no amount.
  const opened = writes.filter(({ found }) => /^insert into balances|insertInto.*balances/i.test(found))
  expect(opened).toEqual([
    {
      path: 'ledger/balances.ts',
      found: 'INSERT INTO balances (customer_id, partner_id, asset) SELECT $1, $2, unnest($3::text[])',
    },
  ])
})

/** The slices: what they do follows from the world that they are handed. */
const SLICES = [3, 4, 5, 6, 7, 8, 9, 10]

test('no rule asks which world it is in', () => {
  const asks =
    /\benvironment\s*[!=]==?|[!=]==?\s*[\w.?]*\benvironment\b|switch\s*\([^)]*\benvironment\b|['"](?:production|sandbox)['"]\s*[!=]==?|[!=]==?\s*['"](?:production|sandbox)['"]/
  const found = files
    // Who may act where is the very rule of the operator.
    .filter(({ path }) => SLICES.includes(rankOf(path)) && placeOf(path) !== 'control/operator')
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, i) => (asks.test(line) ? [`${path}:${i + 1} ${line.trim()}`] : [])),
    )
  expect(found).toEqual([])
})

test('only the sandbox, and what builds its world, knows the simulated rails', () => {
  const users = files.filter(({ imports }) =>
    imports.some(({ target }) => /^rails\/.*simulated/.test(target)),
  )
  expect([...new Set(users.map(({ path }) => placeOf(path)))].sort()).toEqual(['doors/sandbox', 'node'])
})

test('no file has a default export', () => {
  const found = files.filter(({ text }) =>
    /^export default\b|^export\s*\{[^}]*\bas default\b/m.test(text.replaceAll(/\/\*[\s\S]*?\*\//g, '')),
  )
  expect(found.map(({ path }) => path)).toEqual([])
})
