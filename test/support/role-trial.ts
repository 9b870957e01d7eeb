import { wrongSettings } from '../../src/control/operator/settings-audit.ts'
import { verifyIn } from '../../src/control/operator/verify.ts'
import { createSealer } from '../../src/core/seal.ts'
import { sqlState } from '../../src/db/failure.ts'
import { type Client, databaseRoleOf, type Pool, type SchemaName } from '../../src/db/pool.ts'
import { type Check, ledgerChecks, type RangeCheck } from '../../src/ledger/audit.ts'
import { sliceChecks } from '../../src/node/worlds.ts'
import { openActLog } from '../../src/records/acts/log.ts'
import { openWalk } from '../../src/records/acts/verify.ts'
import { TEST_KEY } from './database.ts'

/**
 * What came of an attempt: the database refused it; it changed nothing; the audit names it; or it was accepted and the audit
 * finds nothing.
 */
export type Verdict = 'refused' | 'nothing' | 'named' | 'unnamed'

/** Refusals: data that does not fit, constraints, rights, triggers, limits, a value of a generated column, a timeout. */
const REFUSED = /^(22|23|54|P0)|^(42501|428C9|0A000|40001|55000)$/

/** Every check over everything, the log of acts included. */
const wholeChecks = [...ledgerChecks, ...sliceChecks].filter((check) => !('pieces_only' in check))
const rangeChecks = wholeChecks.filter((check): check is RangeCheck => 'sql' in check)
const searchChecks = wholeChecks.filter((check) => 'find' in check) as Extract<Check, { find: unknown }>[]

const queries = rangeChecks.map(({ sql }) => `SELECT FROM (${sql(() => 'true')}) AS wrong LIMIT 1`)

/**
 * Tries statements as a role, each in a transaction that is rolled back. `owner` is a connection of the owner of everything: the
 * audit afterwards runs with the owner's rights, over what the role left.
 */
export function openTrials(owner: Client, url: string) {
  const sealer = createSealer([TEST_KEY])

  /** `table`: what the statement speaks of; checks that speak of it too come first. */
  async function attempt(role: SchemaName, schema: string, sql: string, table?: string): Promise<Verdict> {
    const before = table === undefined ? await fingerprint(owner) : undefined
    await owner.query('BEGIN')
    try {
      await owner.query(
        `SET LOCAL search_path = ${schema}; SET LOCAL statement_timeout = '10s'; SET LOCAL lock_timeout = '2s';
         SET LOCAL ROLE ${databaseRoleOf(url, role)}`,
      )
      let changed = 0
      try {
        changed = (await owner.query(sql)).rowCount ?? 0
        // What COMMIT would have done.
        await owner.query('SET CONSTRAINTS ALL IMMEDIATE')
      } catch (error) {
        if (REFUSED.test(sqlState(error) ?? '')) return 'refused'
        throw new Error(`${sql}: ${(error as Error).message}`, { cause: error })
      }
      await owner.query('RESET ROLE; SET LOCAL statement_timeout = 0')
      // A function tells nothing of what it changed.
      const same = before === undefined ? changed === 0 : (await fingerprint(owner)).text === before.text
      if (same) return 'nothing'
      return (await isNamed(role, table)) ? 'named' : 'unnamed'
    } finally {
      await owner.query('ROLLBACK')
      // A sequence keeps its value when the transaction is rolled back.
      for (const { name, value } of before?.sequences ?? [])
        await owner.query('SELECT setval($1, $2)', [name, value])
    }
  }

  /** The audit of each world that sees the change, and the log of acts. */
  async function isNamed(role: SchemaName, table = ''): Promise<boolean> {
    for (const schema of role === 'shared' ? ['sandbox', 'live'] : [role]) {
      await owner.query(`SET LOCAL search_path = ${schema}`)
      const speaks = new RegExp(`\\b${table}\\b`)
      const order = [...queries.keys()].sort(
        (a, b) => Number(speaks.test(queries[b]!)) - Number(speaks.test(queries[a]!)),
      )
      for (const i of order) {
        const { rowCount } = await owner.query({ name: `${schema} check ${i}`, text: queries[i]! })
        if (rowCount! > 0) return true
      }
      for (const check of searchChecks) if ((await check.find(owner)).length > 0) return true
    }
    return isLogBroken(role)
  }

  async function isLogBroken(role: SchemaName): Promise<boolean> {
    const place = role === 'live' ? 'production' : role
    await owner.query('SET LOCAL search_path = shared; SAVEPOINT log')
    try {
      const pool = owner as unknown as Pool
      const log = openActLog({ pools: { shared: pool, production: pool, sandbox: pool }, sealer })
      const key = await log.key()
      await owner.query(`SET LOCAL search_path = ${role}`)
      const { broken } = await verifyIn(owner, place, openWalk({ place, key }))
      return broken.length > 0 || (await wrongSettings(owner, place)).length > 0
    } catch {
      // A check that cannot be made is a finding.
      await owner.query('ROLLBACK TO SAVEPOINT log')
      return true
    }
  }

  /** Whether the audit finds anything before any attempt. */
  async function isClean(role: SchemaName): Promise<boolean> {
    await owner.query('BEGIN')
    try {
      return !(await isNamed(role))
    } finally {
      await owner.query('ROLLBACK')
    }
  }

  return { attempt, isClean }
}

/** Everything there is: a digest of the rows of each table, and the values of the sequences. */
async function fingerprint(owner: Client) {
  const { rows: tables } = await owner.query(
    `SELECT format('SELECT %L || count(*) || coalesce(sum(hashtext(t::text)), 0) AS d FROM %I.%I t', relname, nspname, relname) AS sql
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND nspname IN ('live', 'sandbox', 'shared') ORDER BY 1`,
  )
  const { rows: digests } = await owner.query(tables.map(({ sql }) => sql).join(' UNION ALL '))
  const { rows: sequences } = await owner.query(
    `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value AS value FROM pg_sequences WHERE last_value IS NOT NULL ORDER BY 1`,
  )
  const values = sequences.map(({ name, value }) => `${name} ${value}`)
  return { text: [...digests.map(({ d }) => d), ...values].join('\n'), sequences }
}
