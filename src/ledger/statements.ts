import { arrayOf, scalarOf } from '../db/arrays.ts'
import type { Write, WriteTarget } from './command.ts'

/** All rows of a batch, grouped by target, become one statement; targets that must come last become a second one. */
export type Group = { readonly target: WriteTarget; readonly rows: readonly Write['row'][] }

export const groupOf = <Row>(target: WriteTarget<Row>, rows: readonly NoInfer<Row>[]) =>
  ({ target, rows }) as Group

type Text = { readonly name: string; readonly text: string }
export type Statement = Text & { readonly values: unknown[] }

/**
 * A PostgreSQL backend keeps the plan of every prepared statement, and the targets of mixed batches come in very many
 * combinations. So only the first combinations get their own statement; all others share one with every target known so
 * far, of which most get no rows.
 */
const KINDS_MAX = 48

type Prepared = Text & { readonly targets: readonly WriteTarget[] }

/** Which of the two statements of a batch. */
type Place = 'first' | 'last'

/** The prepared statements of one place. */
type Shelf = {
  readonly name: string
  readonly kinds: Map<string, Prepared>
  readonly known: Map<string, WriteTarget>
  whole?: Prepared | undefined
}

const shelfOf = (name: string): Shelf => ({ name, kinds: new Map(), known: new Map() })
const shelves = { first: shelfOf('write'), last: shelfOf('write last') }

/** Batches with the same targets share a prepared statement, for any number of rows and in any order. */
export function statementOf(groups: readonly Group[], place: Place): Statement {
  const rows = new Map(groups.map((group) => [group.target.name, group.rows]))
  const { name, text, targets } = preparedFor(
    groups.map(({ target }) => target),
    shelves[place],
  )
  const given = targets.map((target) => ({ target, rows: rows.get(target.name) ?? [] }))
  const columns = given.flatMap(({ target, rows }) =>
    target.columns.map((column, i) =>
      arrayOf(
        target.types[i]!,
        rows.map((row) => row[column]),
      ),
    ),
  )
  return { name, text, values: [...columns, ...countsOf(given)] }
}

const countsOf = (groups: readonly Group[]) =>
  groups.filter(({ target }) => target.counted).map(({ rows }) => rows.length)

const PLAIN_KINDS_MAX = 24
const PLAIN_ROWS_MAX = 8
const plain = { first: new Map<string, Text>(), last: new Map<string, Text>() }

/** For a batch of one command: commands of one kind nearly always write the same small number of rows. */
export function plainStatementOf(groups: readonly Group[], place: Place): Statement {
  const kinds = plain[place]
  const kind = groups.map(({ target, rows }) => `${rows.length} ${target.name}`).join('; ')
  const few = kinds.size < PLAIN_KINDS_MAX && groups.every(({ rows }) => rows.length <= PLAIN_ROWS_MAX)
  const own = kinds.get(kind) ?? (few ? plainText(groups, `write one ${place} ${kinds.size}`) : undefined)
  if (!own) return statementOf(groups, place)
  kinds.set(kind, own)
  const values = groups.flatMap(({ target, rows }) =>
    rows.flatMap((row) => target.columns.map((column, i) => scalarOf(target.types[i]!, row[column]))),
  )
  return { ...own, values: [...values, ...countsOf(groups)] }
}

const plainText = (groups: readonly Group[], name: string): Text => ({
  name,
  text: textOf(groups.map(({ target, rows }) => ({ target, rows: rows.length }))),
})

function preparedFor(wanted: readonly WriteTarget[], shelf: Shelf): Prepared {
  const { kinds, known } = shelf
  const kind = kindOf(wanted)
  const own = kinds.get(kind)
  if (own) return own
  for (const target of wanted) {
    if (!known.has(target.name)) shelf.whole = undefined
    known.set(target.name, target)
  }
  if (kinds.size < KINDS_MAX) {
    const prepared = prepare(`${shelf.name} ${kinds.size}`, wanted)
    kinds.set(kind, prepared)
    return prepared
  }
  shelf.whole ??= prepare(`${shelf.name} all ${known.size}`, [...known.values()])
  return shelf.whole
}

const kindOf = (targets: readonly WriteTarget[]): string =>
  targets
    .map(({ name }) => name)
    .sort()
    .join('; ')

function prepare(name: string, wanted: readonly WriteTarget[]): Prepared {
  const targets = [...wanted].sort((a, b) => (a.name < b.name ? -1 : 1))
  return { name, text: textOf(targets.map((target) => ({ target }))), targets }
}

const objections = { true: 'expect_rows', first: 'expect_first' } as const

/** COMMIT is sent right behind the statement, so the statement itself must fail if it changes fewer rows than expected. */
function textOf(parts: readonly { readonly target: WriteTarget; readonly rows?: number }[]): string {
  let params = 0
  const texts = parts.map(({ target, rows }, i) => {
    const sql = rows === undefined ? target.sql : target.plainSql(rows)
    const numbered = sql.replaceAll(/\$(\d+)/g, (_, n) => `$${params + Number(n)}`)
    params += target.columns.length * (rows ?? 1)
    return `w${i} AS (${numbered})`
  })
  const checks = parts.flatMap(({ target }, i) =>
    target.counted
      ? [`${objections[`${target.counted}`]}('${target.name}', (SELECT count(*) FROM w${i}), $${++params})`]
      : [],
  )
  return `WITH ${texts.join(',\n')}\nSELECT ${checks.join(', ') || '1'}`
}
