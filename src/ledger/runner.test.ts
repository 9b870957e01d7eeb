import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createDatabase, seatAt, type TestDatabase } from '../../test/support/database.ts'
import { openProxy, type When } from '../../test/support/proxy.ts'
import { newId } from '../core/ids.ts'
import { type Command, insertInto, rowSource, targetOf, writeTo } from './command.ts'
import { type Door, openDoor } from './commit.ts'

/** Batches whose BEGIN and locks are sent behind the COMMIT of the batch before: whatever its outcome, each counts once. */
let database: TestDatabase
let other: pg.Client
/** A separate session that sees who waits: within a transaction pg_stat_activity does not change. */
let watcher: pg.Client
const doors: Door[] = []

beforeAll(async () => {
  database = await createDatabase()
  other = new pg.Client({ connectionString: database.url })
  await other.connect()
  await other.query('SET search_path = sandbox')
  watcher = new pg.Client({ connectionString: database.url })
  await watcher.connect()
})
beforeEach(() => void vi.restoreAllMocks())
afterAll(async () => {
  await Promise.all(doors.map((door) => door.stop()))
  await Promise.all([other.end(), watcher.end()])
  await database.drop()
})

function open(url = database.url, more: Partial<Parameters<typeof openDoor>[0]> = {}): Door {
  const door = openDoor({ seat: seatAt(url, 'sandbox'), lanes: 1, log: pino({ level: 'silent' }), ...more })
  doors.push(door)
  return door
}

const marks = { ...insertInto('commits', { id: 'text' }), name: 'marks of a test' }
const fails = targetOf(
  'fails in a test',
  { id: 'text' },
  (rows) => `INSERT INTO commits (id) SELECT new.id FROM ${rows} WHERE false RETURNING 1`,
  { counted: true },
)

/** Keeps a batch in its first round trip until the test releases the lock. */
const latch = rowSource<{ id: string }>(
  'latch of a test',
  `SELECT customer_id AS id FROM balances WHERE customer_id = ANY($1::text[]) FOR UPDATE`,
)

async function newLatch(): Promise<string> {
  const id = newId('customer', Date.now())
  await other.query(`INSERT INTO balances (customer_id, partner_id, asset) VALUES ($1, 'ptn_test', 'BRL')`, [
    id,
  ])
  return id
}

function make(more: { row?: string; bad?: true; nothing?: true } = {}): Command<string> {
  const id = newId('batch', Date.now())
  return {
    partner_id: 'ptn_test',
    locks: { rows: more.row ? [{ source: latch, id: more.row }] : [] },
    decide: () => ({
      writes: more.nothing ? [] : [writeTo(more.bad ? fails : marks, { id })],
      result: id,
    }),
  }
}

/** Runs the commands of `first` in one batch, and those of `second` in the next one. */
async function follow<T>(door: Door, first: Command<T>[], second: Command<T>[]) {
  const row = await newLatch()
  await other.query('BEGIN')
  await other.query('SELECT FROM balances WHERE customer_id = $1 FOR UPDATE', [row])
  const held = { ...first[0]!, locks: { ...first[0]!.locks, rows: [{ source: latch, id: row }] } }
  const submit = (commands: Command<T>[]) => commands.map((command) => settled(door.commit(command)))
  const one = submit([held, ...first.slice(1)])
  while (door.facts().waiting > 0 && !(await isWaiting())) await turn()
  const two = submit(second)
  await other.query('COMMIT')
  return { first: await Promise.all(one), second: await Promise.all(two) }
}

const settled = (work: Promise<unknown>): Promise<string> =>
  work.then(String).catch((error: Error) => error.message)

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function isWaiting(): Promise<boolean> {
  const { rows } = await watcher.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  )
  return rows.length > 0
}

async function kept(ids: string[]): Promise<number> {
  const { rows } = await other.query('SELECT count(*)::integer AS kept FROM commits WHERE id = ANY($1)', [
    ids,
  ])
  return rows[0].kept
}

/** The statements and answers on a lane's connection, in order. */
function listen(): string[] {
  const heard: string[] = []
  const query = pg.Client.prototype.query
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...asked: any[]) {
    const name: string | undefined = asked[0]?.name
    const answer = (query as any).apply(this, asked)
    if (name === 'begin' || name === 'commit') {
      heard.push(`${name} sent`)
      void answer.then(() => heard.push(`${name} answered`)).catch(() => {})
    }
    return answer
  } as never)
  return heard
}

test('when at least half as many commands wait as a batch has, the next batch begins before COMMIT is answered', async () => {
  const door = open()
  await door.commit(make())
  const heard = listen()
  const { first, second } = await follow(door, [make(), make()], [make()])
  expect(await kept([...first, ...second])).toBe(3)
  expect(heard.join(', ')).toBe(
    'begin sent, begin answered, commit sent, begin sent, commit answered, begin answered, commit sent, commit answered',
  )
})

test('when far fewer commands wait, the next batch is not begun early', async () => {
  const door = open()
  await door.commit(make())
  const heard = listen()
  const { first, second } = await follow(door, [make(), make(), make()], [make()])
  expect(await kept([...first, ...second])).toBe(4)
  expect(heard.join(', ')).toBe(
    'begin sent, begin answered, commit sent, commit answered, begin sent, begin answered, commit sent, commit answered',
  )
})

test('a command submitted while a failed batch is rolled back stays out of its transaction', async () => {
  const door = open()
  await door.commit(make())
  const row = await newLatch()
  await other.query('BEGIN')
  await other.query('SELECT FROM balances WHERE customer_id = $1 FOR UPDATE', [row])
  const query = pg.Client.prototype.query
  let late: Promise<string> | undefined
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...asked: any[]) {
    const answer = (query as any).apply(this, asked)
    if (asked[0] === 'ROLLBACK') late ??= settled(door.commit(make({ row })))
    return answer
  } as never)
  const [good, bad] = await Promise.all(
    [make(), make({ bad: true })].map((each) => settled(door.commit(each))),
  )
  await other.query('COMMIT')
  expect(bad).toMatch(/fails in a test/)
  expect(await kept([good!, (await late)!])).toBe(2)
})

test('a command whose locks cannot be encoded affects no other command, and costs no connection', async () => {
  const door = open()
  await door.commit(make())
  const odd = { ...make(), locks: { rows: [{ source: latch, id: 5 as unknown as string }] } }
  const [one, fault, two] = await Promise.all([make(), odd, make()].map((each) => settled(door.commit(each))))
  expect(fault).toBe('a text was expected')
  expect(await kept([one!, two!])).toBe(2)
  const ids = Array.from({ length: 3 }, () => door.commit(make()))
  expect(await kept(await Promise.all(ids))).toBe(3)
})

test('the next batch also begins early behind a batch that moves nothing', async () => {
  const door = open()
  await door.commit(make())
  const { first, second } = await follow(door, [make({ nothing: true })], [make(), make({ nothing: true })])
  expect(await kept([...first, ...second])).toBe(1)
})

test('a batch that fails does not affect the batch behind it', async () => {
  const door = open()
  await door.commit(make())
  const { first, second } = await follow(
    door,
    [make(), make({ bad: true }), make()],
    [make(), make(), make()],
  )
  expect(first[1]).toMatch(/fails in a test/)
  expect(await kept([first[0]!, first[2]!, ...second])).toBe(5)
})

test('a batch that fails does not affect the batch before it', async () => {
  const door = open()
  await door.commit(make())
  const { first, second } = await follow(door, [make(), make()], [make(), make({ bad: true }), make()])
  expect(second[1]).toMatch(/fails in a test/)
  expect(await kept([...first, second[0]!, second[2]!])).toBe(4)
})

test.each<When>(['before', 'after'])(
  'the connection is lost %s COMMIT, with the begun batch behind it: each command counts once',
  async (when) => {
    const proxy = await openProxy(database.url)
    const door = open(proxy.url)
    await door.commit(make())
    proxy.cut(when, 1)
    const { first, second } = await follow(door, [make(), make()], [make(), make()])
    expect(proxy.cuts()).toBe(1)
    expect(await kept([...first, ...second])).toBe(4)
    await proxy.down()
  },
)

test('a batch is answered without waiting for the locks of the batch behind it', async () => {
  const door = open()
  await door.commit(make())
  const [gate, row] = [await newLatch(), await newLatch()]
  const holder = new pg.Client({ connectionString: database.url })
  await holder.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT FROM sandbox.balances WHERE customer_id = $1 FOR UPDATE', [row])
  await other.query('BEGIN')
  await other.query('SELECT FROM balances WHERE customer_id = $1 FOR UPDATE', [gate])
  const first = door.commit(make({ row: gate }))
  while (!(await isWaiting())) await turn()
  const second = door.commit(make({ row }))
  await other.query('COMMIT')
  expect(await kept([await first])).toBe(1)
  await holder.query('COMMIT')
  await holder.end()
  expect(await kept([await second])).toBe(1)
})

test('a stopped door still answers the commands that it has begun', async () => {
  const door = open()
  await door.commit(make())
  let stopping: Promise<void> | undefined
  const stops: Command<string> = {
    ...make(),
    decide(held) {
      stopping = door.stop()
      return make().decide(held)
    },
  }
  const { first, second } = await follow(door, [stops], [make(), make()])
  await stopping
  expect(await kept([...first, ...second])).toBe(3)
})

test('a listener that throws leaves nothing open on the connection', async () => {
  const door = open(database.url, {
    onBatch: () => {
      throw new Error('a listener failed')
    },
  })
  await door.commit(make())
  const { first, second } = await follow(door, [make()], [make()])
  expect(await kept([...first, ...second])).toBe(2)
})

test('commands behind a batch that took too long are refused, and not begun again', async () => {
  const proxy = await openProxy(database.url)
  const door = open(proxy.url, { wait_ms: 1000 })
  await door.commit(make())
  const id = newId('batch', Date.now())
  const late: Command<string> = {
    ...make(),
    decide: () => ({ writes: [writeTo(marks, { id })], result: id }),
  }
  proxy.cut('before', 1)
  // The outcome of the first batch stays unknown until the second one has waited too long.
  let down: Promise<void> | undefined
  const first: Command<string> = {
    ...make(),
    decide(held) {
      down = (async () => {
        while (proxy.cuts() === 0) await turn()
        await proxy.down()
        await new Promise((resolve) => setTimeout(resolve, 1500))
        await proxy.up()
      })()
      return make().decide(held)
    },
  }
  const { second } = await follow(door, [first], [late])
  await down
  await door.stop()
  expect(second).not.toEqual([id])
  expect(await kept([id])).toBe(0)
  await proxy.down()
})
