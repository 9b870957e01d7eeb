import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmbeddedDatabase, startEmbedded } from '../src/db/embedded/start.ts'
import { readConfig } from '../src/node/config.ts'
import { type Service, startService } from '../src/node/serve.ts'
import { asAdmin } from './support/database.ts'
import { noteFact } from './support/proof.ts'
import { openDirectAccess, testEnv } from './support/service.ts'
import { size } from './support/size.ts'

/**
 * What a whole node asks of its database while nobody wants anything, both worlds and all its workers, told by the database
 * itself. The longer nothing happens the less it asks, so the small size allows for more.
 */
const AFTER_MS = size(330_000, 0)
const DURING_MS = size(60_000, 3000)
const TIMES = 20
const MOST_PER_SECOND = size(10, 35)

let data_dir: string
let postgres: EmbeddedDatabase
let service: Service
beforeAll(async () => {
  data_dir = await mkdtemp(join(tmpdir(), 'trilho-idle-'))
  postgres = await startEmbedded({
    data_dir,
    settings: { shared_preload_libraries: 'pg_stat_statements' },
  })
  const config = readConfig(testEnv(postgres.url))
  const onFatal = (error: Error) => {
    throw error
  }
  service = await startService({ config, print: () => {}, onFatal })
})
afterAll(async () => {
  await service.stop()
  await postgres.stop()
  await rm(data_dir, { recursive: true, force: true })
})

const ask = (statement: string) => asAdmin(postgres.url, [statement])

/** Statements of the service in so long a time, and the bytes that they wrote to the log of the server. */
async function askedFor(ms: number): Promise<{ per_second: number; wal: number; writers: string[] }> {
  await ask('SELECT pg_stat_statements_reset()')
  await sleep(ms)
  const [row] = await ask(
    `SELECT coalesce(sum(calls), 0)::float8 * 1000 / ${ms} AS per_second, coalesce(sum(wal_bytes), 0)::integer AS wal,
       coalesce(array_agg(query) FILTER (WHERE wal_bytes > 0), '{}') AS writers
     FROM pg_stat_statements JOIN pg_roles ON pg_roles.oid = userid WHERE rolname ~ '_(live|sandbox|shared)$'`,
  )
  return row as { per_second: number; wal: number; writers: string[] }
}

test('a node that nobody wants anything from asks little, and writes nothing', async () => {
  await ask('CREATE EXTENSION pg_stat_statements')
  // Books that are not empty: whoever adds them up comes by them again and again.
  const direct = openDirectAccess({ url: postgres.url, drop: async () => {} })
  const { api } = await direct.partner(service.url)
  const { json: customer } = await api.post('/v1/customers', { name: 'Ana', document: '52998224725' })
  await api.post('/v1/sandbox/deposits', { customer_id: customer.id, asset: 'BRL', amount: '100000' })
  await direct.stop()
  await sleep(AFTER_MS)
  // What was done a moment ago is still being noted down: so it is asked for one such time, not for the first.
  let asked = await askedFor(DURING_MS)
  const isIdle = () => asked.wal === 0 && asked.per_second < MOST_PER_SECOND
  for (let times = 0; times < TIMES && !isIdle(); times++) asked = await askedFor(DURING_MS)
  const { wal, per_second, writers } = asked
  expect({ wal, writers }).toEqual({ wal: 0, writers: [] })
  expect(per_second).toBeLessThan(MOST_PER_SECOND)
  noteFact(
    `idle: a node asks ${per_second.toFixed(1)} statements a second of its database, and writes nothing`,
  )
}, 600_000)
