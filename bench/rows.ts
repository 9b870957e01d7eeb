import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { inChild, type Measure } from './load.ts'
import { pgbench, runPgbench } from './pgbench.ts'
import type { Stage } from './stage.ts'

/**
 * The baseline for the service: the same rows written by plain SQL statements, in a separate database on the same PostgreSQL
 * server, so that settings and disk are the same. `yardstick`: the rows of commit be694bb, frozen. `rows`: what the service
 * writes today, on its current migrations.
 */
type RowsKind = 'yardstick' | 'rows'
type Script = 'payout' | 'deposit' | 'execution'

export type Rows = {
  readonly driver: 'pgbench' | 'node'
  run(script: Script, options: { clients: number; seconds: number; customers?: number }): Promise<Measure>
  close(): Promise<void>
}

/** More quotes per second than one client can execute on two cores. */
const QUOTES_PER_SECOND = 4000

export async function openRows(stage: Stage, kind: RowsKind, customers: number): Promise<Rows> {
  const fileOf = (name: string) => fileURLToPath(new URL(join(kind, `${name}.sql`), import.meta.url))
  const textOf = (name: string, numbers: Record<string, number> = {}) =>
    readFileSync(fileOf(name), 'utf8').replace(/\{\{(\w+)\}\}/g, (_, word) => String(numbers[word]))
  const url = new URL(stage.database_url)
  url.pathname = `/bench_${kind}`
  const database_url = url.href
  await stage.sql(`CREATE DATABASE bench_${kind}`)
  if (kind === 'rows') migrate(database_url)
  const schema = kind === 'rows' ? 'sandbox,bench' : 'yardstick'
  const db = new pg.Client({ connectionString: database_url, options: `-c search_path=${schema}` })
  await db.connect()
  await db.query(textOf('schema'))
  await db.query(textOf('load', { customers }))
  const run = (job: Parameters<typeof runPgbench>[1]) =>
    pgbench === undefined ? inChild('./script-load.ts', job) : runPgbench(pgbench, job)
  return {
    driver: pgbench === undefined ? 'node' : 'pgbench',
    async run(script, { clients, seconds, customers: among = customers }) {
      if (script === 'execution')
        for (const statement of textOf('quotes', { quotes: QUOTES_PER_SECOND * seconds, customers }).split(
          /;\n/,
        ))
          if (statement.trim() !== '') await db.query(statement)
      return run({ database_url, schema, file: fileOf(script), customers: among, clients, seconds })
    },
    close: () => db.end(),
  }
}

/** Creates the tables with the service's own migrations. */
function migrate(database_url: string): void {
  const env = { ...process.env, DATABASE_URL: database_url, SECRET_KEY: randomBytes(32).toString('hex') }
  const { status, stderr } = spawnSync(process.execPath, ['bin/trilho.js', 'migrate'], {
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`migrate ended with ${status}\n${stderr}`)
}
