import { texts } from '../db/arrays.ts'
import { isUniqueViolation } from '../db/failure.ts'
import type { Db } from '../db/pool.ts'
import { type Claim, type IdempotencyRecord, targetOf } from './command.ts'
import { claimKey, type HeldClaim, type State } from './state.ts'

/**
 * How claims are stored. An existing claim is locked with everything else; a new one is inserted once, complete, together
 * with the resource made under it. A batch whose insert finds that another transaction was first rolls back and runs again:
 * then the claim exists. The end of the resource is not written to the claim: it is read from the resource
 * (decision 0008).
 */
type Name = Pick<Claim, 'scope' | 'operation' | 'key'>

export const claimColumns = `scope, operation, key, fingerprint, resource_id, expires_at, final, answer_status, answer_body, answer_sequence`
const WANTED = 'unnest($1::text[], $2::text[], $3::text[])'
const SORTED = 'ORDER BY scope COLLATE "C", operation COLLATE "C", key COLLATE "C"'

const selectClaims = (wanted: string) =>
  `SELECT ${claimColumns} FROM claims JOIN ${wanted} AS wanted (scope, operation, key) USING (scope, operation, key)`
const lockClaims = (wanted: string) => `${selectClaims(wanted)} ${SORTED} FOR UPDATE OF claims`

export const LOCK_CLAIMS = { name: 'lock claims', text: lockClaims(WANTED) }
export const LOCK_CLAIM = {
  name: 'lock claim',
  text: lockClaims('(VALUES ($1::text, $2::text, $3::text))'),
}

const FIND = { name: 'find claims', text: selectClaims(WANTED) }

const findAnswered = (wanted: string) => `${selectClaims(wanted)} WHERE answer_status IS NOT NULL`
export const FIND_ANSWERED_CLAIMS = { name: 'find answered claims', text: findAnswered(WANTED) }
export const FIND_ANSWERED_CLAIM = {
  name: 'find answered claim',
  text: findAnswered('(VALUES ($1::text, $2::text, $3::text))'),
}

// Never joined to the claims that are being locked: after a wait for a lock, PostgreSQL reads the locked row anew, and all
// other rows from the older snapshot.
const ENDS = {
  name: 'ends',
  text: `SELECT o.id, o.sequence, e.data::text AS body FROM ended_orders($1::text[]) AS o
    LEFT JOIN events e ON e.object_id = o.id AND e.sequence = o.sequence`,
}
const ANSWERS = {
  name: 'answers',
  text: `SELECT object_id, sequence, data::text AS body FROM events
    JOIN unnest($1::text[], $2::integer[]) AS wanted (object_id, sequence) USING (object_id, sequence)`,
}

export const namesOf = (claims: readonly Name[]) => [
  claims.map(({ scope }) => scope),
  claims.map(({ operation }) => operation),
  claims.map(({ key }) => key),
]

export type ClaimRow = Name &
  Omit<IdempotencyRecord, 'response'> & {
    readonly answer_status: number | null
    readonly answer_body: string | null
    readonly answer_sequence: number | null
  }

/** The records of claims, read without a lock, in the order of the claims. */
export async function findRecords(
  db: Db,
  claims: readonly Name[],
): Promise<(IdempotencyRecord | undefined)[]> {
  const { rows } = await db.query({ ...FIND, values: namesOf(claims).map(texts) })
  const records = await recordsOf(db, rows)
  return claims.map((claim) => records.get(claimKey(claim)))
}

/** Completes the rows with facts that are stored elsewhere: the ends of resources, and response bodies in events. */
export async function recordsOf(
  db: Db,
  rows: readonly ClaimRow[],
): Promise<ReadonlyMap<string, IdempotencyRecord>> {
  const [ends, bodies] = [
    await endsOf(db, rows.filter(mayHaveEnded)),
    await bodiesOf(db, rows.filter(refersTo)),
  ]
  return new Map(
    rows.map((row) => [
      claimKey(row),
      recordOf(row, ends.get(row.resource_id), bodies.get(`${row.resource_id} ${row.answer_sequence}`)),
    ]),
  )
}

/** Operators' claims never expire, and a claim that is final with its response needs no look-up. */
const mayHaveEnded = ({ resource_id, expires_at, final, answer_status }: ClaimRow): boolean =>
  resource_id !== null && expires_at !== null && (!final || answer_status === null)

const refersTo = ({ answer_status, answer_body, answer_sequence }: ClaimRow): boolean =>
  answer_status !== null && answer_body === null && answer_sequence !== null

type End = { readonly sequence: number; readonly body: string | null }

async function endsOf(db: Db, rows: readonly ClaimRow[]): Promise<ReadonlyMap<string | null, End>> {
  if (rows.length === 0) return new Map()
  const { rows: ended } = await db.query({ ...ENDS, values: [rows.map(({ resource_id }) => resource_id)] })
  return new Map(ended.map(({ id, ...end }) => [id, end]))
}

async function bodiesOf(db: Db, rows: readonly ClaimRow[]): Promise<ReadonlyMap<string, string>> {
  if (rows.length === 0) return new Map()
  const values = [rows.map((row) => row.resource_id), rows.map((row) => row.answer_sequence)]
  const { rows: bodies } = await db.query({ ...ANSWERS, values })
  return new Map(bodies.map(({ object_id, sequence, body }) => [`${object_id} ${sequence}`, body]))
}

function recordOf(row: ClaimRow, end: End | undefined, body: string | undefined): IdempotencyRecord {
  const { fingerprint, resource_id, expires_at, answer_status, answer_body, answer_sequence } = row
  const kept = { fingerprint, resource_id, expires_at, final: row.final || end !== undefined }
  const response = (body: string | null | undefined, status: number, sequence: number | null) =>
    body == null ? null : { status, body, ...(sequence === null ? {} : { sequence }) }
  // No response is stored: after the resource has ended, every caller gets the body of the event of its end.
  if (answer_status === null)
    return { ...kept, response: response(end?.body, CREATED, end?.sequence ?? null) }
  if (answer_body !== null) return { ...kept, response: response(answer_body, answer_status, null) }
  return { ...kept, response: response(body, answer_status, answer_sequence) }
}

/** The status of a created resource, whatever its outcome (contract §2). */
const CREATED = 201

const name = { scope: 'text', operation: 'text', key: 'text' } as const
const record = {
  fingerprint: 'text',
  resource_id: 'text?',
  expires_at: 'timestamptz?',
  final: 'boolean',
  answer_status: 'smallint?',
  answer_body: 'text?',
  answer_sequence: 'integer?',
} as const

/** Sorted, so that two transactions that insert the same claims cannot deadlock. */
export const addClaims = targetOf(
  'add claims',
  { ...name, ...record },
  (rows) => `INSERT INTO claims (${claimColumns}) SELECT ${claimColumns} FROM ${rows} ${SORTED}`,
)

/** Another transaction inserted the claim first. That is rare, and ON CONFLICT would cost every claim another WAL record. */
export const isTakenName = (error: unknown): boolean => isUniqueViolation(error, 'claims_pkey')

export const changeClaims = targetOf(
  'change claims',
  { ...name, ...record },
  (rows) => `UPDATE claims SET ${Object.keys(record)
    .map((column) => `${column} = new.${column}`)
    .join(', ')} FROM ${rows}
    WHERE (claims.scope, claims.operation, claims.key) = (new.scope, new.operation, new.key) RETURNING 1`,
  { counted: true },
)

/** Fails when a claim that was free at the lock exists by now: then the decision is not returned. Writes nothing. */
export const assertClaimsFree = targetOf(
  'look at claims',
  name,
  (rows) => `SELECT 1 FROM ${rows} WHERE NOT EXISTS (SELECT FROM claims
    WHERE (claims.scope, claims.operation, claims.key) = (new.scope, new.operation, new.key))`,
  { counted: 'first' },
)

type DecidedClaim = HeldClaim & { readonly record: IdempotencyRecord }

export const decidedClaims = ({ claims }: State): DecidedClaim[] =>
  [...claims.values()].filter((held): held is DecidedClaim => held.changed === true)

/** Claims that commands asked for, that did not exist, and that no command took. */
export const freeClaims = ({ claims }: State): Name[] =>
  [...claims.values()]
    .filter(({ there, changed, read_only }) => !there && !changed && !read_only)
    .map(({ claim }) => claim)

export const rowOf = ({ claim, record: { response, ...kept } }: DecidedClaim) => ({
  scope: claim.scope,
  operation: claim.operation,
  key: claim.key,
  fingerprint: kept.fingerprint,
  resource_id: kept.resource_id,
  expires_at: kept.expires_at,
  final: kept.final,
  answer_status: response?.status ?? null,
  answer_body: response && response.sequence === undefined ? response.body : null,
  answer_sequence: response?.sequence ?? null,
})
