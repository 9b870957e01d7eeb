import { isAnswer, isServerTrouble } from '../db/failure.ts'
import { allOf, gather } from '../db/pipeline.ts'
import { type Client, withWarnings } from '../db/pool.ts'
import { addClaims, assertClaimsFree, changeClaims, decidedClaims, freeClaims, rowOf } from './claims.ts'
import { insertInto, targetOf, type Write, type WriteTarget } from './command.ts'
import type { Decided } from './decide.ts'
import type { State } from './state.ts'
import { type Group, groupOf, plainStatementOf, type Statement, statementOf } from './statements.ts'

/** The second round trip: writes all that was decided, the `last` targets after the rest, and commits. */
const entries = insertInto('entries', {
  cause_id: 'text',
  movement: 'text',
  line: 'smallint',
  partner_id: 'text',
  account: 'text',
  owner: 'text',
  asset: 'text',
  amount: 'bigint',
  seq: 'bigint?',
  balance_after: 'bigint?',
  created_at: 'timestamptz',
})

// Each account must still have the seq it had when it was locked: if not, another writer bypassed the lock.
const balances = targetOf(
  'update balances',
  {
    customer_id: 'text',
    asset: 'text',
    balance: 'bigint',
    in_transit: 'bigint',
    seq: 'bigint',
    seq_before: 'bigint',
  },
  (
    rows,
  ) => `UPDATE balances AS old SET balance = new.balance, in_transit = new.in_transit, seq = new.seq FROM ${rows}
    WHERE old.customer_id = new.customer_id AND old.asset = new.asset AND old.seq = new.seq_before RETURNING 1`,
  { counted: true },
)

const commits = insertInto('commits', { id: 'text' })

export const movesNothing = (decided: Decided): boolean =>
  decided.entries.length === 0 && decided.writes.length === 0 && decidedClaims(decided.state).length === 0

/** The database gave no certain answer whether it committed. */
export class CommitUnknown extends Error {}

/** The statements of a batch, built before anything is sent: a malformed row throws here. */
export function statementsFor(batch_id: string, decided: Decided): Statement[] {
  const groups = groupsOf(batch_id, decided)
  const first = groups.filter(({ target }) => !target.last)
  const last = groups.filter(({ target }) => target.last)
  const write = decided.results.length === 1 ? plainStatementOf : statementOf
  return [write(first, 'first'), ...(last.length > 0 ? [write(last, 'last')] : [])]
}

/**
 * Only the tag COMMIT means that the batch is committed. The tag ROLLBACK, or an error in reply to COMMIT itself, means that
 * it is not. Anything else is unknown: also a commit with a warning, by which the server says that it did not wait for its
 * standby, and an error of the server as a whole, which may have happened after the commit was on disk.
 */
export async function write(client: Client, statements: readonly Statement[]): Promise<void> {
  const { result, warning } = await withWarnings(client, async () => {
    const sendTogether = gather(client)
    const written = statements.map((statement) => client.query(statement))
    const committed = client.query({ name: 'commit', text: 'COMMIT' })
    sendTogether()
    return Promise.all([
      allOf(written).catch((error: unknown) => error),
      committed.then((answer) => answer.command).catch((error: unknown) => error),
    ])
  })
  const [failure, tag] = result
  if (tag === 'COMMIT') {
    if (warning) throw new CommitUnknown('committed with a warning', { cause: warning })
    return
  }
  if (typeof tag === 'string' || (isAnswer(tag) && !isServerTrouble(tag))) throw failure ?? tag
  throw new CommitUnknown('no answer to COMMIT', { cause: tag })
}

/** Rolls back a transaction that changed nothing. Results that rely on free claims may be returned only after `leave`. */
export async function leave(client: Client, state: State): Promise<void> {
  const free = freeClaims(state)
  const checks = free.length > 0 ? [statementOf([groupOf(assertClaimsFree, free)], 'first')] : []
  const sendTogether = gather(client)
  const answers = [...checks, { text: 'ROLLBACK' }].map((statement) => client.query(statement))
  sendTogether()
  await allOf(answers)
}

function groupsOf(batch_id: string, decided: Decided): Group[] {
  const { state } = decided
  const accounts = [...decided.changed].map(([key, seq_before]) => ({
    ...state.accounts.get(key)!,
    seq_before,
  }))
  const claims = decidedClaims(state)
  const groups: Group[] = [
    groupOf(entries, decided.entries),
    groupOf(balances, accounts),
    ...byTarget(decided.writes),
    groupOf(addClaims, claims.filter(({ there }) => !there).map(rowOf)),
    groupOf(changeClaims, claims.filter(({ there }) => there).map(rowOf)),
    groupOf(assertClaimsFree, freeClaims(state)),
    groupOf(commits, [{ id: batch_id }]),
  ]
  return groups.filter(({ rows }) => rows.length > 0)
}

/** Groups rows by target. Of several updates of one row the last one counts: it was decided on the earlier ones. */
function byTarget(writes: readonly Write[]): { target: WriteTarget; rows: Write['row'][] }[] {
  const groups = new Map<string, { target: WriteTarget; rows: Map<unknown, Write['row']> }>()
  for (const { target, row } of writes) {
    const group = groups.get(target.name) ?? { target, rows: new Map() }
    groups.set(target.name, group)
    group.rows.set(target.updates ? row.id : group.rows.size, row)
  }
  return [...groups.values()].map(({ target, rows }) => ({ target, rows: [...rows.values()] }))
}
