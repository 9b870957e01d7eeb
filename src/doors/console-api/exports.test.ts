import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ConsoleClient, signedIn } from '../../../test/support/console.ts'
import { asAdmin, createDatabase, type TestDatabase } from '../../../test/support/database.ts'
import {
  openDirectAccess,
  someCpf,
  spawnServer,
  type TestService,
  testEnv,
} from '../../../test/support/service.ts'
import { eventually } from '../../../test/support/wait.ts'

/** The server runs in its own process, because the test reads its log. */
let database: TestDatabase
let direct: ReturnType<typeof openDirectAccess>
let server: Awaited<ReturnType<typeof spawnServer>>
let finance: ConsoleClient

beforeAll(async () => {
  database = await createDatabase()
  const env = { LOG_LEVEL: 'info', LOG_FORMAT: 'json', AUDIT_EVERY_MS: '0' }
  server = await spawnServer({ ...testEnv(database.url), ...env })
  direct = openDirectAccess(database)
  const { partner_id, api } = await direct.partner(server.url)
  const { id } = (await api.post('/v1/customers', { name: 'First', document: someCpf() })).json
  await asAdmin(database.url, [
    `INSERT INTO sandbox.customers (id, partner_id, name, document, document_type, metadata, created_at)
     SELECT left(id, 20) || lpad(n::text, 10, '0'), partner_id, repeat('long name ', 12) || n, lpad(n::text, 11, '0'), document_type, metadata, created_at
     FROM sandbox.customers, generate_series(1, 30000) n WHERE id = '${id}'`,
    `INSERT INTO sandbox.balances SELECT (b).* FROM (
       SELECT jsonb_populate_record(b, jsonb_build_object('customer_id', c.id)) AS b
       FROM sandbox.balances b, sandbox.customers c WHERE b.customer_id = '${id}' AND c.partner_id = '${partner_id}' AND c.id <> '${id}') AS copied`,
  ])
  const service = { ...direct, url: server.url } as unknown as TestService
  finance = await signedIn(service, { partner_id, role: 'finance' })
})

afterAll(async () => {
  await server.kill('SIGTERM')
  await direct.stop()
})

type Line = { level: number; msg: string; request_id?: string; status?: number; cut_by?: string }

const linesOf = (request_id: string): Line[] =>
  server
    .output()
    .split('\n')
    .filter((line) => line.includes(request_id))
    .map((line) => JSON.parse(line))

async function begin(): Promise<{ response: Response; request_id: string }> {
  const response = await eventually(async () => {
    const begun = await fetch(`${server.url}/console/api/sandbox/customers.csv`, {
      headers: { cookie: finance.cookie! },
    })
    expect(begun.status).toBe(200)
    return begun
  })
  return { response, request_id: response.headers.get('x-request-id')! }
}

test('an export that breaks off midway has an error line, a request line, and does not look complete', async () => {
  const { response, request_id } = await begin()
  const reader = response.body!.getReader()
  await reader.read()
  await asAdmin(database.url, ['ALTER TABLE sandbox.balances RENAME TO balances_gone'])
  const readOn = async () => {
    for (;;) if ((await reader.read()).done) return
  }
  await expect(readOn()).rejects.toThrow()
  await asAdmin(database.url, ['ALTER TABLE sandbox.balances_gone RENAME TO balances'])
  await eventually(() => {
    const lines = linesOf(request_id)
    expect(lines.filter(({ level }) => level >= 50)).toHaveLength(1)
    expect(lines.filter(({ msg }) => msg === 'request')).toMatchObject([{ status: 500, cut_by: 'server' }])
  })
})

test('a client that leaves during an export is logged as such, and not as a failure of the server', async () => {
  const { response, request_id } = await begin()
  const reader = response.body!.getReader()
  await reader.read()
  await reader.cancel()
  await eventually(() => {
    const lines = linesOf(request_id)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ msg: 'request', status: 499, cut_by: 'client' })
  })
})

test('a complete export has a line for its columns and one for each row', async () => {
  const { response } = await begin()
  const text = await response.text()
  expect(text.split('\r\n')).toHaveLength(30_003)
})
