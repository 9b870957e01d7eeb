import pg from 'pg'
import { runFor } from './load.ts'

/** The yardstick: the rows of a request, written one transaction per request, statement by statement, without any HTTP. */
export type RowsJob = {
  readonly database_url: string
  readonly partner_id: string
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
