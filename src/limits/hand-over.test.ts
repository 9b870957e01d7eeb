import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  asAdmin,
  createDatabase,
  isLockAwaited,
  seatAt,
  type TestDatabase,
} from '../../test/support/database.ts'
import { openProxy } from '../../test/support/proxy.ts'
import { openSilencingProxy } from '../../test/support/silencing-proxy.ts'
import { roomInDay, until } from '../../test/support/wait.ts'
import { systemClock } from '../core/clock.ts'
import { openHints } from '../db/hints.ts'
import { type Limiter, openLimiter } from './limiter.ts'
import type { WindowLimit } from './windows.ts'

/** Contract §6, one interleaving per test: an exclusive node loses its lock, and another node begins to count. */
let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
beforeEach(() => roomInDay(60))
afterAll(() => database.drop())

const log = pino({ level: 'silent' })
/** A window of one day, which must not end in a test. */
const want: WindowLimit = { name: 'day', kind: 'day', limit: 20 }

async function openNode(
  url: string,
  more: { mark_wait_ms?: number; wait_ms?: number } = {},
): Promise<Limiter> {
  const seat = seatAt(url, 'shared', 'trilho')
  const hints = openHints(seat, log)
  const limiter = await openLimiter({ seat, clock: systemClock(), hints, log, try_exclusive_ms: 30, ...more })
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= limiter.stop().then(hints.stop))
  onTestFinished(stop)
  return { ...limiter, stop }
}

const admitted = async (node: Limiter, subject: string, times: number) => {
  const verdicts = await Promise.all(
    Array.from({ length: times }, () => node.take(subject, [want]).catch(() => undefined)),
  )
  return verdicts.filter((verdict) => verdict && !verdict.refused).length
}

const storedCount = async (subject: string) =>
  (await asAdmin(database.url, [`SELECT count FROM shared.windows WHERE subject = '${subject}'`]))[0]?.count

const markNow = async () => (await asAdmin(database.url, ['SELECT node FROM shared.lone_node']))[0]?.node

const endLoneConnection = () =>
  asAdmin(database.url, [
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_locks
     WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND classid = 0 AND objid = 7415302
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  ])

/** Keeps nodes from saving this count until it is released. */
async function holdCount(subject: string): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: database.url })
  await holder.connect()
  onTestFinished(() => holder.end().catch(() => {}))
  await holder.query(`BEGIN; SELECT FROM shared.windows WHERE subject = '${subject}' FOR UPDATE`)
  return () => holder.end()
}

test('a node that becomes exclusive again has a new mark', async () => {
  const first = await openNode(database.url)
  await until(async () => (await markNow()) !== undefined, 20_000)
  const mark = await markNow()
  const second = await openNode(database.url)
  await until(async () => (await markNow()) === undefined, 20_000)
  await second.stop()
  await until(async () => (await markNow()) !== undefined, 20_000)
  expect(await markNow()).not.toBe(mark)
  await first.stop()
})

test('a node that once waited for the counts of another waits as long when that node loses its lock again', async () => {
  // Longer than a busy machine may stop between two steps. A request waits longer than that.
  const waits = { mark_wait_ms: 12_000, wait_ms: 60_000 }
  const subject = 'key_twice'
  const wire = await openProxy(database.url)
  onTestFinished(() => wire.down())
  const first = await openNode(database.url, waits)
  expect(await admitted(first, subject, 2)).toBe(2)
  await until(async () => (await storedCount(subject)) === 2, 20_000)
  // First hand-over: the second node finds the mark of the first, which cannot save yet.
  let release = await holdCount(subject)
  expect(await admitted(first, subject, 3)).toBe(3)
  await endLoneConnection()
  await until(() => isLockAwaited(database.url), 20_000)
  const second = await openNode(wire.url, waits)
  const waited = admitted(second, subject, 1)
  await sleep(300)
  await release()
  expect(await waited).toBe(1)
  await until(async () => (await storedCount(subject)) === 6 && (await markNow()) === undefined, 20_000)

  // The second node loses its network, so the first becomes exclusive again, for longer than the wait.
  await wire.down()
  await until(async () => (await markNow()) !== undefined, 20_000)
  await sleep(waits.mark_wait_ms + 200)
  release = await holdCount(subject)
  expect(await admitted(first, subject, 3)).toBe(3)
  await endLoneConnection()
  await until(() => isLockAwaited(database.url), 20_000)
  await wire.up()
  const more = admitted(second, subject, 40)
  await sleep(1000)
  await release()
  expect(await more).toBe(want.limit - 9)
})

test('an exclusive node that does not notice the loss of its lock admits no request once another node counts', async () => {
  const subject = 'key_deaf'
  const hole = await openSilencingProxy(Number(new URL(database.url).port))
  onTestFinished(hole.stop)
  const deaf = await openNode(hole.urlOf(database.url))
  expect(await admitted(deaf, subject, 4)).toBe(4)
  await until(async () => (await storedCount(subject)) === 4, 20_000)
  hole.silence()
  // The server ends the connection with the lock, and the node does not notice.
  await endLoneConnection()
  const next = await openNode(database.url)
  expect(await admitted(next, subject, 40)).toBe(want.limit - 4)
  expect(await admitted(deaf, subject, 5)).toBe(0)
})
