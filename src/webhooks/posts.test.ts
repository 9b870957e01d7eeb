import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openPace } from './pace.ts'
import { openPosts } from './posts.ts'
import type { TakenDelivery } from './queue.ts'

const owned = { endpoint_id: 'we_1', partner_id: 'ptn_1' }
const taken = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `evt_${n}`, ...owned }) as TakenDelivery)

function stage(pace = openPace(1000)) {
  const begun: string[] = []
  const posts = openPosts({
    log: pino({ level: 'silent' }),
    timeout_ms: 1000,
    wait_ms: 60_000,
    pace,
    costly_pace: openPace(1000),
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

test('an endpoint whose partner has used up its pace is hungry, and has no room until it has some again', () => {
  let left = 3
  const pace = {
    left: () => left,
    spend: (_: string, count: number) => void (left -= count),
    forgetIdle() {},
  }
  const { posts } = stage(pace)
  const other = { endpoint_id: 'we_2', partner_id: 'ptn_1' }
  posts.expect([owned, other])
  const rooms = posts.rooms()
  expect([...rooms.values()].reduce((sum, room) => sum + room)).toBe(3)
  posts.take(
    rooms,
    [...rooms].flatMap(([endpoint_id, room]) => taken(room).map((one) => ({ ...one, endpoint_id }))),
  )
  expect(posts.isHungry()).toBe(true)
  expect(posts.rooms().size).toBe(0)
  left = 1
  expect([...posts.rooms().values()]).toEqual([1])
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
