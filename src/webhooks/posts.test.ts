import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openPace } from './pace.ts'
import { openPosts } from './posts.ts'
import type { TakenDelivery } from './queue.ts'

const owned = { endpoint_id: 'we_1', partner_id: 'ptn_1' }
const taken = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `evt_${n}`, ...owned }) as TakenDelivery)

function stage() {
  const begun: string[] = []
  const posts = openPosts({
    log: pino({ level: 'silent' }),
    timeout_ms: 1000,
    wait_ms: 60_000,
    pace: openPace(1000),
    deliver: ({ id }) => {
      begun.push(id)
      return new Promise(() => {})
    },
    release: () => {},
    onRoom: () => {},
  })
  return { posts, begun }
}

test('what is taken goes to its endpoint', () => {
  const { posts, begun } = stage()
  posts.expect([owned])
  const rooms = posts.rooms()
  expect([...rooms]).toEqual([['we_1', 2]])
  posts.take(rooms, taken(2))
  expect(begun).toEqual(['evt_0', 'evt_1'])
})

test('an endpoint that was dropped while somebody took for it gets nothing of that', () => {
  const { posts, begun } = stage()
  posts.expect([owned])
  const rooms = posts.rooms()
  posts.drop('we_1')
  posts.take(rooms, taken(2))
  expect(begun).toEqual([])
  expect(posts.rooms().size).toBe(0)
})
