import { openActLog } from '../../src/acts/log.ts'
import { openWalk } from '../../src/acts/verify.ts'
import { createSealer } from '../../src/core/seal.ts'
import { sqlState } from '../../src/db/failure.ts'
import { type Client, type Pool, roleOf, type SchemaName } from '../../src/db/pool.ts'
import { type Check, ledgerChecks, type RangeCheck } from '../../src/ledger/audit.ts'
import { sliceChecks } from '../../src/node/worlds.ts'
import { verifyIn } from '../../src/operator/verify.ts'
import { TEST_KEY } from './database.ts'

/**
 * What came of an attempt: the database refused it; it changed nothing; the audit names it; or it was accepted and the audit
 * finds nothing.
 */
export type Verdict = 'refused' | 'nothing' | 'named' | 'unnamed'

/** Refusals: data that does not fit, constraints, rights, triggers, limits, a value of a generated column, a timeout. */
const REFUSED = /^(22|23|54|P0)|^(42501|428C9|0A000|55000)$/

/** Every check over everything, the log of acts included. */
const wholeChecks = [...ledgerChecks, ...sliceChecks].filter((check) => !('pieces_only' in check))
const rangeChecks = wholeChecks.filter((check): check is RangeCheck => 'sql' in check)
const searchChecks = wholeChecks.filter((check) => 'find' in check) as Extract<Check, { find: unknown }>[]

const queries = rangeChecks.map(({ sql }) => `SELECT FROM (${sql(() => 'true')}) AS wrong LIMIT 1`)
const mentions = (query: string, table: string) => new RegExp(`\\b${table}\\b`).test(query)

/**
 * Tries statements as a role, each in a transaction that is rolled back. `owner` is a connection of the owner of everything: the
 * audit afterwards runs with the owner's rights, over what the role left.
 */
export function openTrials(owner: Client, url: string) {
  const sealer = createSealer([TEST_KEY])

  async function attempt(role: SchemaName, schema: string, sql: string): Promise<Verdict> {
    const sequences = await sequenceValues(owner)
    await owner.query('BEGIN')
    try {
      await owner.query(
        `SET LOCAL search_path = ${schema}; SET LOCAL statement_timeout = '10s'; SET LOCAL lock_timeout = '2s';
         SET LOCAL ROLE ${roleOf(url, role)}`,
      )
      try {
        await owner.query(sql)
        // What COMMIT would have done.
        await owner.query('SET CONSTRAINTS ALL IMMEDIATE')
      } catch (error) {
        if (REFUSED.test(sqlState(error) ?? '')) return 'refused'
        throw new Error(`${sql}: ${(error as Error).message}`, { cause: error })
      }
      await owner.query('RESET ROLE; SET LOCAL statement_timeout = 0')
      const touched = await touchedTables(owner)
      const moved = (await sequenceValues(owner)) !== sequences
      if (touched.length === 0 && !moved) return 'nothing'
      return (await isNamed(role, touched)) ? 'named' : 'unnamed'
    } finally {
      await owner.query('ROLLBACK')
      await restoreSequences(owner, sequences)
    }
  }

  /** The audit of each world that sees the change, and the logs of acts. Checks that speak of what was touched come first. */
  async function isNamed(role: SchemaName, touched: readonly string[]): Promise<boolean> {
    const schemas = role === 'shared' ? ['sandbox', 'live'] : [role]
    for (const schema of schemas) {
      await owner.query(`SET LOCAL search_path = ${schema}`)
      const near = (query: string) => touched.some((table) => mentions(query, table))
      const order = [...queries.keys()].sort((a, b) => Number(near(queries[b]!)) - Number(near(queries[a]!)))
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
      return (await verifyIn(owner, place, openWalk({ place, key }))).broken.length > 0
    } catch {
      // A check that cannot be made is a finding.
      await owner.query('ROLLBACK TO SAVEPOINT log')
      return true
    }
  }

  return { attempt }
}

async function touchedTables(owner: Client): Promise<string[]> {
  const { rows } = await owner.query({
    name: 'touched tables',
    text: 'SELECT DISTINCT relname::text AS name FROM pg_stat_xact_user_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0',
  })
  return rows.map(({ name }) => name)
}

/** A sequence keeps its value when the transaction is rolled back. */
async function sequenceValues(owner: Client): Promise<string> {
  const { rows } = await owner.query({
    name: 'sequence values',
    text: `SELECT coalesce(json_object_agg(format('%I.%I', schemaname, sequencename), last_value ORDER BY schemaname, sequencename), '{}')::text AS all
      FROM pg_sequences`,
  })
  return rows[0].all
}

async function restoreSequences(owner: Client, values: string): Promise<void> {
  const now = JSON.parse(await sequenceValues(owner))
  for (const [name, value] of Object.entries(JSON.parse(values)))
    if (value !== null && value !== now[name]) await owner.query('SELECT setval($1, $2)', [name, value])
}
