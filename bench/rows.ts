import pg from 'pg'
import { newId } from '../src/core/ids.ts'
import { runFor } from './load.ts'

/**
 * The yardstick: the rows of a request, written one transaction per request, statement by statement, without any HTTP.
 * They are the rows that the service would have written: the audit at the end of a bench holds them to the same rules.
 */
export type RowsJob = {
  readonly database_url: string
  readonly partner_id: string
  readonly api_key_id: string
  readonly customers: readonly string[]
  readonly connections: number
  readonly seconds: number
}

/** Runs a named, prepared statement. */
export type Run = (name: string, text: string, values: unknown[]) => Promise<pg.QueryResult>

/** Does the work again and again on each of its connections until the time is over, and prints what was measured. */
export async function measureRows<Job extends RowsJob>(
  job: Job,
  work: (run: Run, transaction: (statements: () => Promise<void>) => Promise<void>) => Promise<boolean>,
): Promise<void> {
  const options = '-c search_path=sandbox -c jit=off -c plan_cache_mode=force_generic_plan'
  const clients = await Promise.all(
    Array.from({ length: job.connections }, async () => {
      const client = new pg.Client({ connectionString: job.database_url, options })
      await client.connect()
      return client
    }),
  )
  const measure = await runFor(job.seconds, job.connections, (worker) => {
    const client = clients[worker]!
    const transaction = async (statements: () => Promise<void>) => {
      await client.query('BEGIN')
      await statements()
      await client.query('COMMIT')
    }
    return work((name, text, values) => client.query({ name, text, values }), transaction)
  })
  await Promise.all(clients.map((client) => client.end()))
  process.stdout.write(JSON.stringify(measure))
}

export const customerOf = ({ customers }: RowsJob): string =>
  customers[Math.floor(Math.random() * customers.length)]!

export type Held = { readonly balance: bigint; readonly seq: bigint }

export async function lockBalance(run: Run, customer_id: string): Promise<Held> {
  const { rows } = await run(
    'lock',
    `SELECT balance, seq FROM balances WHERE customer_id = $1 AND asset = 'BRL' FOR NO KEY UPDATE`,
    [customer_id],
  )
  return { balance: BigInt(rows[0].balance), seq: BigInt(rows[0].seq) }
}

export async function writeEvent(
  run: Run,
  { partner_id }: RowsJob,
  event: { type: string; object_id: string; sequence: number; data: string; at: Date },
): Promise<void> {
  await run(
    'event',
    'INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)',
    [
      newId('event', Date.now()),
      partner_id,
      event.type,
      event.object_id,
      event.sequence,
      event.data,
      event.at,
    ],
  )
}
