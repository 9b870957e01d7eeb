import { expect, test } from 'vitest'
import { eventually } from '../../../test/support/wait.ts'
import { openSessionWatch } from './session-watch.ts'

const never = new AbortController().signal

test('the streams of an ended session are ended, and no others', async () => {
  const going = new Set(['one', 'two'])
  const watch = openSessionWatch(async (ids) => new Set(ids.filter((id) => going.has(id))), { check_ms: 1 })
  const ended = ['one', 'one', 'two'].map((id) => watch.ended(id, never))
  going.delete('one')
  await eventually(() => expect(ended.map(({ aborted }) => aborted)).toEqual([true, true, false]))
})

test('a database that does not answer ends no session', async () => {
  let asked = 0
  const watch = openSessionWatch(
    async () => {
      if (++asked < 4) throw new Error('no answer')
      return new Set()
    },
    { check_ms: 1 },
  )
  const ended = watch.ended('one', never)
  const askedAtEnd = new Promise<number>((resolve) => ended.addEventListener('abort', () => resolve(asked)))
  expect(await askedAtEnd).toBe(4)
})

test('sessions without a stream are not checked', async () => {
  const asked: (readonly string[])[] = []
  const watch = openSessionWatch(
    async (ids) => {
      asked.push(ids)
      return new Set(ids)
    },
    { check_ms: 1 },
  )
  const gone = new AbortController()
  watch.ended('left', gone.signal)
  watch.ended('stays', never)
  gone.abort()
  await eventually(() => expect(asked.length).toBeGreaterThan(1))
  expect(asked.flat()).not.toContain('left')
})
