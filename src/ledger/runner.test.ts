import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createDatabase, seatAt, type TestDatabase } from '../../test/support/database.ts'
import { openProxy, type When } from '../../test/support/proxy.ts'
import { newId } from '../core/ids.ts'
import { type Command, insertInto, rowSource, targetOf, writeTo } from './command.ts'
import { type Door, openDoor } from './commit.ts'

/** A batch whose BEGIN and locks ride behind the end of the one before it: whatever becomes of that one, each counts once. */
let database: TestDatabase
let other: pg.Client
/** Sees who waits, from outside of the other's transaction: inside, what is seen first stays. */
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

/** Keeps a batch in its first round trip until the other side lets go of it. */
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

/** Runs the commands of `first` in one batch, and those of `second` in the one that follows it. */
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

/** What is sent on a lane and what is answered, in order. */
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

test('what waits when a batch is sent, if it is half as many, begins right behind it, before COMMIT is answered', async () => {
  const door = open()
  await door.commit(make())
  const heard = listen()
  const { first, second } = await follow(door, [make(), make()], [make()])
  expect(await kept([...first, ...second])).toBe(3)
  expect(heard.join(', ')).toBe(
    'begin sent, begin answered, commit sent, begin sent, commit answered, begin answered, commit sent, commit answered',
  )
})

test('unless far fewer wait than were sent: they go on gathering', async () => {
  const door = open()
  await door.commit(make())
  const heard = listen()
  const { first, second } = await follow(door, [make(), make(), make()], [make()])
  expect(await kept([...first, ...second])).toBe(4)
  expect(heard.join(', ')).toBe(
    'begin sent, begin answered, commit sent, commit answered, begin sent, begin answered, commit sent, commit answered',
  )
})

test('what is handed in while a failed batch is rolled back stays out of its transaction', async () => {
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

test('a command whose locks cannot be put together costs nobody else anything, nor a connection', async () => {
  const door = open()
  await door.commit(make())
  const odd = { ...make(), locks: { rows: [{ source: latch, id: 5 as unknown as string }] } }
  const [one, fault, two] = await Promise.all([make(), odd, make()].map((each) => settled(door.commit(each))))
  expect(fault).toBe('a text was expected')
  expect(await kept([one!, two!])).toBe(2)
  const ids = Array.from({ length: 3 }, () => door.commit(make()))
  expect(await kept(await Promise.all(ids))).toBe(3)
})

test('behind a batch that moves nothing too', async () => {
  const door = open()
  await door.commit(make())
  const { first, second } = await follow(door, [make({ nothing: true })], [make(), make({ nothing: true })])
  expect(await kept([...first, ...second])).toBe(1)
})

test('a batch that fails takes nothing of the one behind it along', async () => {
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

test('nor does one that fails behind a good one', async () => {
  const door = open()
  await door.commit(make())
  const { first, second } = await follow(door, [make(), make()], [make(), make({ bad: true }), make()])
  expect(second[1]).toMatch(/fails in a test/)
  expect(await kept([...first, second[0]!, second[2]!])).toBe(4)
})

test.each<When>(['before', 'after'])(
  'the connection is lost %s COMMIT, and with it what was behind',
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

test('nobody waits for the locks of the batch behind', async () => {
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

test('a door that is stopped still answers what it has begun', async () => {
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

test('what was lost behind a batch that took too long is not begun any more', async () => {
  const proxy = await openProxy(database.url)
  const door = open(proxy.url, { wait_ms: 1000 })
  await door.commit(make())
  const id = newId('batch', Date.now())
  const late: Command<string> = {
    ...make(),
    decide: () => ({ writes: [writeTo(marks, { id })], result: id }),
  }
  proxy.cut('before', 1)
  // Nobody answers what became of the first one until the second has waited for too long.
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
