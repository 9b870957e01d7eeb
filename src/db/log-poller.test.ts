import { pino } from 'pino'
import { expect, test } from 'vitest'
import { until } from '../../test/support/wait.ts'
import { type LogSource, openLogPoller } from './log-poller.ts'

test('a watch that begins while a query is under way is told of the entries that the query skipped', async () => {
  const log = new Map<string, bigint>([['a', 1n]])
  const asked: (readonly string[])[] = []
  let letGo = () => {}
  let held: Promise<void> | undefined
  const since: LogSource['since'] = async (position, partners) => {
    asked.push(partners)
    // The statement waits for a connection, so it sees entries of partners whose watch began after the call.
    await held
    const found = partners.filter((id) => (log.get(id) ?? 0n) > position)
    const last = found.map((id) => log.get(id)!).sort((a, b) => (a < b ? 1 : -1))[0]
    return { last: last ?? null, partners: new Set(found), more: false }
  }
  const poller = openLogPoller({ last: async () => 1n, since }, pino({ level: 'silent' }))
  held = new Promise((resolve) => {
    letGo = resolve
  })
  await poller.watch('a')
  await until(() => asked.length === 1, 2000)
  const watch = await poller.watch('b')
  // b has read its log and found nothing; then both get an event, that of b first.
  log.set('b', 2n).set('a', 3n)
  held = undefined
  letGo()
  expect(await watch.news(performance.now() + 60_000, new AbortController().signal)).toBe(true)
  await poller.stop()
})
