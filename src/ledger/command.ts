import type { Asset } from '../core/money.ts'
import type { ElementType } from '../db/arrays.ts'
import type { Movement } from './accounts.ts'

/**
 * A change of money, as data: what to lock, and a pure function that decides on the locked state. The engine knows no slice;
 * a slice describes its tables with the descriptors below, in its store.ts.
 */
export type Command<Result> = {
  /** Partners take turns in a lane, so that no partner starves. */
  readonly partner_id: string
  readonly locks: Locks
  /** Does no I/O and reads no clock. Returns what to write, or throws a Refusal; then nothing is written. */
  decide(held: Held): Decision<Result>
}

export type Locks = {
  /** The idempotency claim: at most one operation happens under its name. */
  readonly claim?: Claim
  /** Advisory locks in shared mode; a transaction that changes what a name stands for takes the lock exclusively. */
  readonly shared?: readonly string[]
  /** Rows locked for change. */
  readonly rows?: readonly RowRef[]
  readonly accounts?: readonly AccountRef[]
  /** Rows that are read without a lock, after everything above is locked. */
  readonly reads?: readonly RowRef[]
  /** A claim of which only the stored response is needed, if there is one: read without a lock too. */
  readonly answer?: Claim
}

/** The idempotency key of one operation, and a digest of its request. */
export type Claim = {
  readonly scope: string
  readonly operation: string
  readonly key: string
  /** Digest of the request: equal for equal requests. */
  readonly fingerprint: string
}

/** What is stored under a claim. */
export type IdempotencyRecord = {
  readonly fingerprint: string
  /** The resource that the operation made; null when it was refused. */
  readonly resource_id: string | null
  /** When the name becomes free again, provided the resource has reached its end. Null: never. */
  readonly expires_at: Date | null
  /** Whether the resource has reached its end. Stored for refusals and operators' acts; else read from the resource (decision 0008). */
  readonly final: boolean
  /** The response to the first caller, byte for byte. Null until there is one. */
  readonly response: StoredResponse | null
}

export type StoredResponse = {
  readonly status: number
  readonly body: string
  /** Sequence number of the resource's event that stores this body, when the record itself does not. */
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
  /** The database's clock, read after all locks were acquired. */
  readonly now: Date
  account(ref: AccountRef): HeldAccount | undefined
  row<Row extends { id: string }>(source: RowSource<Row>, id: string): Row | undefined
  /**
   * The record of the claim. Undefined when this command is the first under the name, or the first after its expiry; for a
   * claim in `answer`, also when no response is stored.
   */
  record(claim: Claim): IdempotencyRecord | undefined
}

export type Decision<Result> = {
  readonly movements?: readonly Movement[]
  readonly writes?: readonly Write[]
  /** Changes of held rows that only the next commands of the same batch see, in addition to `writes`. Not written. */
  readonly keeps?: readonly Kept[]
  /** The new record of the command's claim. Absent: the claim stays unchanged. */
  readonly record?: IdempotencyRecord
  /** The command carries out what operators approved, although no money moves. */
  readonly carries_out?: true
  readonly result: Result
}

/** A statement that takes `$1::text[]` of ids and returns the rows it finds, each with its `id`. */
export type RowSource<Row extends { id: string } = { id: string }> = {
  readonly name: string
  readonly sql: string
  /** Locked after the accounts: a row that transactions with any other locks may need as well. */
  readonly last?: true
  /** Never set: carries the type of the row. */
  readonly row?: Row
}

/** Changed fields of a held row. */
export type Kept = { readonly source: RowSource; readonly row: { readonly id: string } }

export const keep = <Row extends { id: string }>(
  source: RowSource<Row>,
  row: NoInfer<Partial<Row> & { readonly id: string }>,
): Kept => ({ source, row })

export type RowRef = { readonly source: RowSource; readonly id: string }

/** The values of each column type. `numeric` holds only whole numbers; `json` is a text that is already serialized. */
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
/** A question mark after the type: the column may be null. */
type Columns = Readonly<Record<string, TypeName | `${TypeName}?`>>
type Given<Type> = Type extends `${infer Name extends TypeName}?`
  ? ColumnTypes[Name] | null
  : ColumnTypes[Type & TypeName]

/** A row with every column, each of its type. */
type RowOf<C extends Columns> = { readonly [Name in keyof C]: Given<C[Name]> }

type AnyRow = Readonly<Record<string, unknown>>

/**
 * Where rows are written: a statement that takes one array per column. All targets of a batch become one statement, and the
 * `last` ones a second statement behind it.
 */
export type WriteTarget<Row = AnyRow> = {
  readonly name: string
  readonly sql: string
  /** The statement for a fixed number of rows, with one parameter per value: PostgreSQL starts it faster. */
  plainSql(rows: number): string
  readonly columns: readonly (keyof Row & string)[]
  /** The type of each column. */
  readonly types: readonly ElementType[]
  /**
   * The statement ends in RETURNING 1, and must change as many rows as it was given. `first`: when it does not, another
   * transaction was faster, and the batch runs again.
   */
  readonly counted?: true | 'first'
  /** Set on an update: the held rows that it changes. */
  readonly updates?: RowSource
  /** Written after everything else, right before COMMIT, so that its locks are held only during the commit. */
  readonly last?: true
  /** Never set: carries the type of the row. */
  readonly row?: Row
}

declare const held_against_target: unique symbol

/** A row and its target. Only `writeTo` makes one, so the type checker sees every misspelt, missing or mistyped column. */
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

/** A target with a custom statement, which gets the rows as `… AS new (…)`, and their number. */
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

/** Every write gives every column; the row must be held, and must still exist. */
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
