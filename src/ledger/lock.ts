import type { QueryResult } from 'pg'
import { texts } from '../db/arrays.ts'
import { allOf, gather } from '../db/pipeline.ts'
import type { Client } from '../db/pool.ts'
import {
  type ClaimRow,
  FIND_ANSWERED_CLAIM,
  FIND_ANSWERED_CLAIMS,
  LOCK_CLAIM,
  LOCK_CLAIMS,
  namesOf,
  recordsOf,
} from './claims.ts'
import type { Claim, Command, RowRef, RowSource } from './command.ts'
import { durabilityFault, NotDurable } from './connection.ts'
import { accountKey, claimKey, type HeldRow, type State } from './state.ts'

/** The first round trip: locks and reads everything that the commands of a batch need. */
const BEGIN = { name: 'begin', text: 'BEGIN ISOLATION LEVEL READ COMMITTED' }

// Not shared row locks: under load a stream of them can keep a transaction that wants an exclusive lock waiting for ever.
const LOCK_SHARED = {
  name: 'lock shared',
  text: `SELECT pg_advisory_xact_lock_shared(id) FROM
    (SELECT DISTINCT hashtextextended(name, 0) AS id FROM unnest($1::text[]) AS name ORDER BY id) AS ids`,
}

const lockAccounts = (wanted: string) => `SELECT customer_id, asset, partner_id, balance, in_transit, seq
  FROM balances JOIN ${wanted} AS wanted (customer_id, asset) USING (customer_id, asset)
  ORDER BY customer_id COLLATE "C", asset COLLATE "C" FOR NO KEY UPDATE OF balances`

const LOCK_ACCOUNTS = { name: 'lock accounts', text: lockAccounts('unnest($1::text[], $2::text[])') }
const LOCK_ACCOUNT = { name: 'lock account', text: lockAccounts('(VALUES ($1::text, $2::text))') }

// Also reads whether commits wait for a standby: then even a replay needs a write (batch.ts). And whether the server is
// still durable: its settings may change under an open connection.
const CLOCK = {
  name: 'clock',
  text: `SELECT clock_timestamp()::timestamptz(3) AS now, current_setting('synchronous_standby_names') <> '' AS replicated,
    current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync`,
}

type Question = {
  readonly query: { readonly name: string; readonly text: string; readonly values: unknown[] }
  take(answer: QueryResult): void
}

/** Always in this order, and each part sorted, so that the batches of several nodes cannot deadlock. */
export async function lock(client: Client, commands: readonly Command<unknown>[]): Promise<State> {
  const claims = unique(
    commands.flatMap(({ locks }) => locks.claim ?? []),
    claimKey,
  )
  const locked = new Set(claims.map(claimKey))
  const answers = unique(
    commands.flatMap(({ locks }) => locks.answer ?? []),
    claimKey,
  ).filter((claim) => !locked.has(claimKey(claim)))
  const shared = [...new Set(commands.flatMap(({ locks }) => locks.shared ?? []))]
  const accounts = unique(
    commands.flatMap(({ locks }) => locks.accounts ?? []),
    accountKey,
  )
  const rows = bySource(commands.flatMap(({ locks }) => locks.rows ?? []))
  const reads = bySource(commands.flatMap(({ locks }) => locks.reads ?? []))

  const state: State = {
    now: new Date(Number.NaN),
    replicated: false,
    accounts: new Map(),
    rows: new Map(),
    claims: new Map(),
  }
  let notDurable: string | undefined
  const questions: Question[] = []
  const ask = (query: Text, values: unknown[], take: (answer: QueryResult) => void) =>
    void questions.push({ query: { ...query, values }, take })
  // One command may lock a source of which another one only reads rows: the rows of a source share one map.
  const keepRows = ({ source }: { source: RowSource }) => {
    const kept = state.rows.get(source.name) ?? new Map<string, HeldRow>()
    state.rows.set(source.name, kept)
    return (answer: QueryResult) => {
      for (const row of answer.rows) kept.set(row.id, row)
    }
  }

  const claimed: ClaimRow[] = []
  const keepClaims = (answer: QueryResult) => void claimed.push(...answer.rows)
  ask(BEGIN, [], () => {})
  if (claims.length > 0) ask(...eitherOf(LOCK_CLAIM, LOCK_CLAIMS, namesOf(claims)), keepClaims)
  if (shared.length > 0) ask(LOCK_SHARED, [texts(shared)], () => {})
  const lockRows = (group: { source: RowSource; ids: string[] }) =>
    ask({ name: `lock ${group.source.name}`, text: group.source.sql }, [texts(group.ids)], keepRows(group))
  for (const group of rows) if (!group.source.last) lockRows(group)
  if (accounts.length > 0) {
    const columns = [accounts.map((a) => a.customer_id), accounts.map((a) => a.asset)]
    ask(...eitherOf(LOCK_ACCOUNT, LOCK_ACCOUNTS, columns), (answer) => {
      for (const row of answer.rows) state.accounts.set(accountKey(row), row)
    })
  }
  for (const group of rows) if (group.source.last) lockRows(group)
  for (const group of reads)
    ask({ name: `read ${group.source.name}`, text: group.source.sql }, [texts(group.ids)], keepRows(group))
  if (answers.length > 0)
    ask(...eitherOf(FIND_ANSWERED_CLAIM, FIND_ANSWERED_CLAIMS, namesOf(answers)), keepClaims)
  ask(CLOCK, [], (answer) => {
    state.now = answer.rows[0].now
    state.replicated = answer.rows[0].replicated
    notDurable = durabilityFault(answer.rows[0])
  })
  // Everything above may throw for a malformed command; nothing has been sent until here.
  const sendTogether = gather(client)
  const taken = questions.map(({ query, take }) => client.query(query).then(take))
  sendTogether()
  await allOf(taken)
  if (notDurable) throw new NotDurable(notDurable)
  const records = await recordsOf(client, claimed)
  const keepRecord = ({ scope, operation, key }: Claim, more: { read_only?: true } = {}) => {
    const claim = { scope, operation, key }
    const record = records.get(claimKey(claim))
    state.claims.set(claimKey(claim), { claim, there: record !== undefined, record, ...more })
  }
  for (const claim of claims) keepRecord(claim)
  for (const claim of answers) keepRecord(claim, { read_only: true })
  return state
}

type Text = { readonly name: string; readonly text: string }

/** A single value has its own statement: PostgreSQL starts it faster than one that takes arrays. */
const eitherOf = (one: Text, many: Text, columns: readonly string[][]): [Text, unknown[]] =>
  columns[0]!.length === 1 ? [one, columns.flat()] : [many, columns.map(texts)]

function unique<T>(items: readonly T[], key: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()]
}

function bySource(refs: readonly RowRef[]): { source: RowSource; ids: string[] }[] {
  const groups = new Map<string, { source: RowSource; ids: Set<string> }>()
  for (const { source, id } of refs) {
    const group = groups.get(source.name) ?? { source, ids: new Set() }
    groups.set(source.name, group)
    group.ids.add(id)
  }
  return [...groups.values()]
    .sort((a, b) => (a.source.name < b.source.name ? -1 : 1))
    .map(({ source, ids }) => ({ source, ids: [...ids] }))
}
