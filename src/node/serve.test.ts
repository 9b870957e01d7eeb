import { expect, onTestFinished, test } from 'vitest'
import { createDatabase } from '../../test/support/database.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../../test/support/service.ts'
import { until } from '../../test/support/wait.ts'

test('the log of a node says what is missing, the outcome of each request, and how it stops', async () => {
  const direct = openDirectAccess(await createDatabase())
  const server = await spawnServer(testEnv(direct.database.url, { LOG_LEVEL: 'info' }))
  onTestFinished(async () => {
    await server.kill('SIGKILL')
    await direct.stop()
  })
  const { api } = await direct.partner(server.url)
  const made = await api.post('/v1/customers', { name: 'Ana', document: someCpf() })
  const missing = await api.get('/v1/customers/cus_00000000000000000000000000')
  // Earlier events must be in the log already, or they would end the long poll.
  const typesOf = async () =>
    (await api.get('/v1/events')).json.data.map(({ type }: { type: string }) => type)
  await until(async () => (await typesOf()).includes('customer.created'), 20_000)
  const leftToday = async () => (await api.get('/v1/usage')).json.day.remaining
  const left_before = await leftToday()
  const waiting = api.get('/v1/events?after=now&wait=30')
  // The call has arrived once it is counted beside these questions.
  let questions = 0
  await until(async () => left_before - (await leftToday()) > ++questions, 20_000)
  await server.kill('SIGTERM')
  expect((await waiting).status).toBe(200)

  const lines: Record<string, unknown>[] = server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  const messages = lines.map(({ msg }) => msg)
  expect(
    messages.filter((msg) =>
      /^production has no payment rails: .*neither PRICES_FROM nor PRICES_FILE is set/.test(String(msg)),
    ),
  ).toHaveLength(1)
  const lineOf = (reply: { headers: Headers }) =>
    lines.find(({ request_id }) => request_id === reply.headers.get('x-request-id'))
  expect(lineOf(made)).toMatchObject({ msg: 'request', status: 201, object_id: made.json.id })
  expect(lineOf(missing)).toMatchObject({
    status: 404,
    error_code: 'customer_not_found',
    object_id: 'cus_00000000000000000000000000',
  })
  const [stopping, stopped] = ['stopping: 1 request under way', 'stopped'].map((msg) => messages.indexOf(msg))
  expect(stopping).toBeGreaterThan(0)
  expect(stopped).toBe(messages.length - 1)
  expect(lines[stopping!]).toMatchObject({ requests: 1 })
})
