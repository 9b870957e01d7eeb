import { Writable } from 'node:stream'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeError, reportError } from '../src/core/error-report.ts'
import { createLog } from '../src/node/log.ts'
import { asAdmin, createDatabase, type TestDatabase } from './support/database.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from './support/service.ts'

/** What PostgreSQL tells of an error quotes the row, the parameters or the statement. None of it is written down. */
const cpf = someCpf()
const name = 'Maria Aparecida'
const secrets = [cpf, name, 'hush@example.com']

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createDatabase({ migrated: false })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(
    `CREATE TABLE people (document text CONSTRAINT one_of_each UNIQUE, name text NOT NULL, age int CHECK (age > 0))`,
  )
  await client.query(`INSERT INTO people VALUES ('${cpf}', '${name}', 1)`)
  await client.query(
    `CREATE FUNCTION shout() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no % here', '${cpf}' USING DETAIL = '${name}', HINT = '${cpf}'; END $$`,
  )
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const failing: [string, string, unknown[]?][] = [
  ['a value that is there already', 'INSERT INTO people VALUES ($1, $2, 1)', [cpf, name]],
  ['a check that fails', 'INSERT INTO people VALUES ($1, $2, -1)', ['x', name]],
  ['a null', 'INSERT INTO people VALUES ($1, NULL, 1)', [`${cpf}1`]],
  ['text that is no number', 'SELECT $1::text::int', [cpf + name]],
  ['text that is no JSON', 'SELECT $1::text::json', [`{"document": ${name}`]],
  ['a number that is too large', `SELECT ${cpf}00000000000::bigint`],
  ['a statement that is none', `SELECT * FROM people WHERE '${name}' ${name}`],
  ['a division', `SELECT age / (length('${name}') - ${name.length}) FROM people`],
  ['an error that a function raises', 'SELECT shout()'],
  ['a type that does not exist', `SELECT '${cpf}'::"${name}"`],
]

const failureOf = async (text: string, values?: unknown[]): Promise<Error> =>
  client.query(text, values).then(
    () => {
      throw new Error('it did not fail')
    },
    (error) => error,
  )

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = ''
  const destination = new Writable({
    write(chunk, _, done) {
      text += chunk
      done()
    },
  })
  write(createLog({ level: 'trace', format: 'json', destination }))
  return text
}

describe('an error of the database', () => {
  test.each(failing)('does not bring what a row holds into a log: %s', async (_, text, values) => {
    const error = await failureOf(text, values)
    expect(error).toBeInstanceOf(pg.DatabaseError)
    Object.assign(error, { query: text, parameters: values })
    const output = logged((log) => {
      log.error({ err: error }, 'one')
      log.error(error)
      log.error(error, 'with a message')
      log.warn({ err: new Error('outer', { cause: error }) }, 'two')
      log.warn({ err: new AggregateError([error, new Error('x', { cause: error })], 'many') }, 'three')
      log.info({ reason: error, other: Object.assign(new Error('bare'), { cause: { ...error } }) }, 'four')
      log.child({ part: 'child' }).debug({ err: error }, 'five')
    })
    for (const where of [output, describeError(error), describeError(new Error('y', { cause: error }))])
      for (const secret of secrets) expect(where).not.toContain(secret)
    expect(output.trim().split('\n')).toHaveLength(7)
    // What helps to find the fault stays.
    expect(JSON.parse(output.split('\n')[0]!).err).toMatchObject({
      code: (error as pg.DatabaseError).code,
      severity: 'ERROR',
      routine: expect.any(String),
      stack: expect.stringContaining('    at '),
    })
  })

  test('keeps the names of table, column and constraint, and the message of what concerns no row', async () => {
    expect(reportError(await failureOf('INSERT INTO people VALUES ($1, $2, 1)', [cpf, name]))).toMatchObject({
      code: '23505',
      table: 'people',
      constraint: 'one_of_each',
      message: 'the database answered with 23505 (people, one_of_each)',
    })
    expect(reportError(await failureOf('SELECT * FROM nowhere')).message).toBe(
      'relation "nowhere" does not exist',
    )
  })
})

test('other errors keep their message, their cause and what says where, and nothing else', () => {
  const inner = Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:5432'), {
    code: 'ECONNREFUSED',
    port: 5432,
    body: cpf,
  })
  const round: Error & { cause?: unknown } = new Error('round')
  round.cause = round
  const output = logged((log) => {
    log.warn({ err: new TypeError('outer', { cause: inner }), commands: 3 }, 'it')
    log.warn({ err: round })
    log.info('plain %s', 'text')
  })
  expect(output).not.toContain(cpf)
  const [first] = output.split('\n')
  expect(JSON.parse(first!)).toMatchObject({
    msg: 'it',
    commands: 3,
    err: { type: 'TypeError', message: 'outer', cause: { code: 'ECONNREFUSED', port: 5432 } },
  })
  expect(output).toContain('plain text')
})

test('a server whose writes the database refuses logs that, and nothing of what was sent to it', async () => {
  const direct = openDirectAccess(await createDatabase())
  const server = await spawnServer(testEnv(direct.database.url, { LOG_LEVEL: 'trace' }))
  try {
    const { api } = await direct.partner(server.url)
    const customer = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json
    await asAdmin(direct.database.url, [
      `ALTER TABLE sandbox.customers ADD CHECK (name <> '${name}')`,
      `CREATE FUNCTION sandbox.refuse_all() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'not % of ${name}', NEW.amount USING DETAIL = '${cpf}'; END $$`,
      'CREATE TRIGGER refuse_all BEFORE INSERT ON sandbox.deposits FOR EACH ROW EXECUTE FUNCTION sandbox.refuse_all()',
    ])
    const body = { name, document: cpf, email: 'hush@example.com', metadata: { note: name } }
    const replies = [
      await api.post('/v1/customers', body),
      await api.post('/v1/sandbox/deposits', { customer_id: customer.id, asset: 'BRL', amount: '1' }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([500, 500])
    await server.kill('SIGTERM')
    const output = server.output()
    expect(output).toContain('"code":"23514"')
    expect(output).toContain('"code":"P0001"')
    for (const text of [output, ...replies.map((reply) => reply.text)])
      for (const secret of secrets) expect(text).not.toContain(secret)
  } finally {
    await server.kill('SIGKILL')
    await direct.stop()
  }
})
