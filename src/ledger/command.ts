import type { Asset } from '../core/money.ts'
import type { ElementType } from '../db/arrays.ts'
import type { Movement } from './accounts.ts'

/**
 * A change of money, as data: what must be held still, and a pure function that decides on what is held. The engine knows
 * no slice; a slice describes its tables with the descriptors below, in its store.ts.
 */
export type Command<Result> = {
  /** Whose turn it takes: partners take turns in a lane, so that nobody starves. */
  readonly partner_id: string
  readonly locks: Locks
  /** No I/O and no clock of its own. Returns what to write, or throws a Refusal, which leaves nothing behind. */
  decide(held: Held): Decision<Result>
}

export type Locks = {
  /** At most one operation under this name. */
  readonly claim?: Claim
  /** Names locked together with everyone who only reads them; whoever changes what they name locks them alone. */
  readonly shared?: readonly string[]
  /** Rows locked for change. */
  readonly rows?: readonly RowRef[]
  readonly accounts?: readonly AccountRef[]
  /** Rows read, not locked, once everything above is held. */
  readonly reads?: readonly RowRef[]
  /** A claim of which only the answer that was given under it counts, if there is one: read in the same way. */
  readonly answer?: Claim
}

/** A name that the caller chose for one operation, and what the operation is. */
export type Claim = {
  readonly scope: string
  readonly operation: string
  readonly key: string
  /** Equal for equal requests. */
  readonly fingerprint: string
}

/** What a claim stands for. */
export type IdempotencyRecord = {
  readonly fingerprint: string
  /** What the operation made; null when it was refused. */
  readonly resource_id: string | null
  /** When the name is free again, if what it made has come to its end by then. Null: never. */
  readonly expires_at: Date | null
  /** It has. Written with the claim where nothing is on its way; otherwise what it made tells (decision 0083). */
  readonly final: boolean
  /** What the first caller was told, to the byte. Null until that is settled. */
  readonly response: StoredResponse | null
}

export type StoredResponse = {
  readonly status: number
  readonly body: string
  /** Of the event, of what the operation made, that has this very body: it is kept there, and not once more. */
  readonly sequence?: number
}

export type AccountRef = { readonly customer_id: string; readonly asset: Asset }

export type HeldAccount = AccountRef & {
  readonly partner_id: string
  readonly balance: bigint
  readonly in_transit: bigint
  readonly seq: bigint
}

export type Held = {
  /** The database's clock, read after every lock was won. */
  readonly now: Date
  account(ref: AccountRef): HeldAccount | undefined
  row<Row extends { id: string }>(source: RowSource<Row>, id: string): Row | undefined
  /**
   * What the claim stands for already; undefined when this command is the first to make it, or the first after its end; and
   * for a claim of which only the answer was wanted, when none was given.
   */
  record(claim: Claim): IdempotencyRecord | undefined
}

export type Decision<Result> = {
  readonly movements?: readonly Movement[]
  readonly writes?: readonly Write[]
  /** Held rows as the next commands of the same batch must see them, beyond what `writes` change. Not written anywhere. */
  readonly keeps?: readonly Kept[]
  /** What the command's claim stands for from now on. Without it the name stays as it was. */
  readonly record?: IdempotencyRecord
  readonly result: Result
}

/** A statement that takes `$1::text[]` of ids and returns the rows it finds, each with its `id`. */
export type RowSource<Row extends { id: string } = { id: string }> = {
  readonly name: string
  readonly sql: string
  /** Locked after the accounts: a row that whoever holds anything else may want as well. */
  readonly last?: true
  /** Never set: carries the type of the row. */
  readonly row?: Row
}

/** What changes of a held row. */
export type Kept = { readonly source: RowSource; readonly row: { readonly id: string } }

export const keep = <Row extends { id: string }>(
  source: RowSource<Row>,
  row: NoInfer<Partial<Row> & { readonly id: string }>,
): Kept => ({ source, row })

export type RowRef = { readonly source: RowSource; readonly id: string }

/** What a column takes. Of `numeric` only whole numbers are used, and `json` is text that its writer has put together. */
type ColumnTypes = {
  readonly text: string
  readonly bigint: bigint
  readonly numeric: bigint
  readonly integer: number
  readonly smallint: number
  readonly timestamptz: Date
  readonly json: string
  readonly boolean: boolean
}

type TypeName = keyof ColumnTypes & ElementType
/** With a question mark: it may be null. */
type Columns = Readonly<Record<string, TypeName | `${TypeName}?`>>
type Given<Type> = Type extends `${infer Name extends TypeName}?`
  ? ColumnTypes[Name] | null
  : ColumnTypes[Type & TypeName]

/** A row that has every column, each of its type. */
export type RowOf<C extends Columns> = { readonly [Name in keyof C]: Given<C[Name]> }

type AnyRow = Readonly<Record<string, unknown>>

/**
 * Where rows are written: a statement that takes one array per column. All targets of a batch become one statement, and all
 * that are `last` another one behind it.
 */
export type WriteTarget<Row = AnyRow> = {
  readonly name: string
  readonly sql: string
  /** The same for so many rows, one value after the other: PostgreSQL begins it sooner. */
  plainSql(rows: number): string
  readonly columns: readonly (keyof Row & string)[]
  /** Of each column. */
  readonly types: readonly ElementType[]
  /**
   * The statement ends in RETURNING 1, and must touch as many rows as it was given. `first`: where it does not, another
   * transaction was quicker, and the batch is run again.
   */
  readonly counted?: true | 'first'
  /** Set on an update: the held rows that it changes. */
  readonly updates?: RowSource
  /** Written after everything else, right before COMMIT: what it locks is held for no longer than the commit takes. */
  readonly last?: true
  /** Never set: carries the type of the row. */
  readonly row?: Row
}

declare const held_against_target: unique symbol

/** A row and where it goes. Only `writeTo` makes one, so none has a column misspelt, left out or of another type. */
export type Write = {
  readonly target: WriteTarget
  readonly row: AnyRow
  readonly [held_against_target]: true
}

export const writeTo = <Row>(target: WriteTarget<Row>, row: NoInfer<Row>): Write =>
  ({ target, row }) as unknown as Write

const typesOf = (columns: Columns) => Object.values(columns).map((type) => type.replace('?', '') as TypeName)

/** `$1::text[], $2::bigint[]` */
const arrays = (types: readonly TypeName[]) => types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')

/** `($1::text, $2::bigint), ($3::text, $4::bigint)` */
const values = (types: readonly TypeName[], rows: number) =>
  Array.from({ length: rows }, (_, row) => {
    const place = (i: number) => row * types.length + i + 1
    return `(${types.map((type, i) => `$${place(i)}::${type}`).join(', ')})`
  }).join(', ')

export function rowSource<Row extends { id: string }>(name: string, sql: string): RowSource<Row> {
  return { name, sql }
}

/** A target with a statement of its own, which is handed the rows as `… AS new (…)`, and how many there are. */
export function targetOf<const C extends Columns>(
  name: string,
  columns: C,
  sql: (rows: string, count: string) => string,
  more: Pick<WriteTarget, 'counted' | 'updates' | 'last'> = {},
): WriteTarget<RowOf<C>> {
  const names = Object.keys(columns) as (keyof C & string)[]
  const types = typesOf(columns)
  const as = `AS new (${names.join(', ')})`
  return {
    name,
    sql: sql(`unnest(${arrays(types)}) ${as}`, `cardinality($1::${types[0]}[])`),
    plainSql: (rows) => sql(`(VALUES ${values(types, rows)}) ${as}`, String(rows)),
    columns: names,
    types,
    ...more,
  }
}

export const insertInto = <const C extends Columns>(
  table: string,
  columns: C,
  more: Pick<WriteTarget, 'last'> = {},
): WriteTarget<RowOf<C>> =>
  targetOf(
    `insert ${table}`,
    columns,
    (rows) => {
      const names = Object.keys(columns).join(', ')
      return `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${rows}`
    },
    more,
  )

/** Every column is given in every row; the row must be held, and must still be there. */
export function updateOf<const C extends { id: 'text' } & Columns>(
  source: RowSource,
  table: string,
  columns: C,
): WriteTarget<RowOf<C>> {
  const names = Object.keys(columns)
  const sets = names.filter((name) => name !== 'id').map((name) => `${name} = new.${name}`)
  return targetOf(
    `update ${table}: ${names.join(' ')}`,
    columns,
    (rows) => `UPDATE ${table} AS old SET ${sets.join(', ')} FROM ${rows} WHERE old.id = new.id RETURNING 1`,
    { counted: true, updates: source },
  )
}
