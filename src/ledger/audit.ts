import type { QueryConfig } from 'pg'
import { type Pool, transaction } from '../db/pool.ts'

/**
 * Proves the ledger from its entries alone. Each check is a query for what must not exist; a single row is a failure.
 * Slices add checks of their own: that a deposit was booked once and in full, and so on.
 */
export type Check = { readonly name: string; readonly sql: string }

export type Finding = {
  readonly check: string
  readonly found: number
  readonly examples: Record<string, unknown>[]
}

export type AuditReport = {
  readonly ok: boolean
  readonly entries: bigint
  readonly customers: bigint
  /** Per asset: what customers own, what is on its way, what the house has earned, and what is held outside against it. */
  readonly assets: Record<string, Record<string, bigint>>
  readonly findings: readonly Finding[]
}

const EXAMPLES = 5
const AN_HOUR_MS = 3_600_000

export const ledgerChecks: readonly Check[] = [
  {
    name: 'the lines of every movement sum to zero per asset',
    sql: `SELECT cause_id, movement, asset, sum(amount) AS sum FROM entries GROUP BY cause_id, movement, asset HAVING sum(amount) <> 0`,
  },
  {
    name: 'every asset sums to zero over all accounts',
    sql: 'SELECT asset, sum(amount) AS sum FROM entries GROUP BY asset HAVING sum(amount) <> 0',
  },
  {
    name: 'every balance is the sum of its entries, and counts them',
    sql: `SELECT customer_id, asset, b.balance AS stored, e.sum AS entries, b.seq, e.last_seq
      FROM (SELECT customer_id, asset, balance, seq FROM balances) AS b
      FULL JOIN (SELECT owner AS customer_id, asset, sum(amount) AS sum, max(seq) AS last_seq, count(*) AS lines
                 FROM entries WHERE account = 'customer' GROUP BY owner, asset) AS e USING (customer_id, asset)
      WHERE b.customer_id IS NULL OR b.balance <> coalesce(e.sum, 0) OR b.seq <> coalesce(e.last_seq, 0) OR b.seq <> coalesce(e.lines, 0)`,
  },
  {
    name: 'every amount in transit is the sum of its entries',
    sql: `SELECT customer_id, asset, b.in_transit AS stored, e.sum AS entries
      FROM (SELECT customer_id, asset, in_transit FROM balances) AS b
      FULL JOIN (SELECT owner AS customer_id, asset, sum(amount) AS sum
                 FROM entries WHERE account LIKE 'in\\_transit:%' GROUP BY owner, asset) AS e USING (customer_id, asset)
      WHERE b.customer_id IS NULL OR b.in_transit <> coalesce(e.sum, 0)`,
  },
  {
    name: 'every statement line follows from the one before it',
    sql: `SELECT owner AS customer_id, asset, seq, balance_after, running FROM (
        SELECT owner, asset, seq, balance_after, row_number() OVER w AS place, sum(amount) OVER w AS running
        FROM entries WHERE account = 'customer' WINDOW w AS (PARTITION BY owner, asset ORDER BY seq)) AS lines
      WHERE balance_after <> running OR seq <> place OR balance_after < 0`,
  },
]

export async function audit(pool: Pool, checks: readonly Check[]): Promise<AuditReport> {
  return transaction(pool, async (tx) => {
    // One snapshot for all checks, so that a running system can be audited; no limit on how long that takes.
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    // It reads everything, so it wants the plans that requests must not have.
    await tx.query(
      `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '5min'; SET LOCAL work_mem = '64MB';
       SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on`,
    )
    const ask = (text: string) => tx.query({ text, query_timeout: AN_HOUR_MS } as QueryConfig)
    const findings: Finding[] = []
    for (const { name, sql } of [...ledgerChecks, ...checks]) {
      const { rows } = await ask(
        `SELECT *, count(*) OVER () AS found FROM (${sql}) AS wrong LIMIT ${EXAMPLES}`,
      )
      if (rows.length === 0) continue
      findings.push({
        check: name,
        found: Number(rows[0].found),
        examples: rows.map(({ found: _, ...row }) => row),
      })
    }
    const counts = await ask(
      'SELECT (SELECT count(*) FROM entries) AS entries, (SELECT count(DISTINCT customer_id) FROM balances) AS customers',
    )
    const sums = await ask(
      `SELECT asset, split_part(account, ':', 1) AS account, sum(amount) AS sum FROM entries GROUP BY 1, 2 ORDER BY 1, 2`,
    )
    const assets: Record<string, Record<string, bigint>> = {}
    for (const { asset, account, sum } of sums.rows) (assets[asset] ??= {})[account] = sum
    return { ok: findings.length === 0, ...counts.rows[0], assets, findings }
  })
}
