import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lanesAfter, newLanes } from './lanes.ts'
import {
  AHEAD_MAX,
  AHEAD_MS,
  aheadOf,
  giveRooms,
  PLACES,
  type Post,
  SLOW_PLACES,
  SLOW_PLACES_OF_PARTNER,
} from './rooms.ts'

const quick = { count: 16, usual_ms: 20, wasted: 0 }
const slow = { count: 1, usual_ms: 9000, wasted: 0 }
const costly = { count: 2, usual_ms: 5, wasted: 1 }
const endpoints = (count: number, post: Post) =>
  Array.from({ length: count }, (_, i) => [`${post.partner_id} ${i}`, post] as const)
const total = (rooms: ReadonlyMap<string, number>, partner = '') =>
  [...rooms].filter(([id]) => id.startsWith(partner)).reduce((sum, [, room]) => sum + room, 0)

test('a lone partner with many new endpoints leaves half of the places free', () => {
  const rooms = giveRooms([], new Map(endpoints(500, { partner_id: 'a', lanes: newLanes, held: 0 })))
  expect(total(rooms)).toBe(PLACES / 2)
})

test('slow endpoints of a partner hold few places, however many there are', () => {
  const rooms = giveRooms([], new Map(endpoints(500, { partner_id: 'a', lanes: slow, held: 0 })))
  expect(total(rooms)).toBe(SLOW_PLACES_OF_PARTNER)
})

test('slow endpoints of all partners leave most of the places to the others', () => {
  const hungry = Array.from({ length: 40 }, (_, i) =>
    endpoints(20, { partner_id: `p${i}`, lanes: slow, held: 0 }),
  ).flat()
  expect(total(giveRooms([], new Map(hungry)))).toBeLessThanOrEqual(SLOW_PLACES)
})

test('slow endpoints of a partner are not in the way of its quick one', () => {
  const hungry = [
    ...endpoints(30, { partner_id: 'a', lanes: slow, held: 0 }),
    ['quick', { partner_id: 'a', lanes: quick, held: 0 }] as const,
  ]
  expect(giveRooms([], new Map(hungry)).get('quick')).toBe(quick.count + aheadOf(quick))
})

test('costly endpoints of a partner begin only as many as their own pace allows, and are not in the way of its quick one', () => {
  const hungry = [
    ...endpoints(30, { partner_id: 'a', lanes: costly, held: 0 }),
    ['quick', { partner_id: 'a', lanes: quick, held: 0 }] as const,
  ]
  const rooms = giveRooms(
    [],
    new Map(hungry),
    () => PLACES,
    () => 7,
  )
  expect(rooms.get('quick')).toBe(quick.count + aheadOf(quick))
  expect(total(rooms) - rooms.get('quick')!).toBe(7)
})

test('what is taken ahead is worked off in a moment, and never more than so many', () => {
  const times = [0, 1, 2, 5, 20, 100, 600, 4000, 9000]
  for (const usual_ms of times) {
    const lanes = lanesAfter(
      { count: 16, usual_ms, wasted: 0 },
      { took_ms: usual_ms, delivered: true, lengthy: false },
      10_000,
    )
    const ahead = aheadOf(lanes)
    expect(ahead).toBeLessThanOrEqual(AHEAD_MAX)
    expect((ahead * usual_ms) / lanes.count).toBeLessThanOrEqual(Math.max(AHEAD_MS, usual_ms))
  }
  expect([newLanes, slow].map(aheadOf)).toEqual([0, 0])
})

test('while half of what may be taken ahead waits, nothing more is asked for', () => {
  const ask = (held: number) => {
    const post = { partner_id: 'a', lanes: quick, held }
    return total(giveRooms([post], new Map([['quick', post]])))
  }
  const most = quick.count + aheadOf(quick)
  const low = quick.count + aheadOf(quick) / 2
  expect([low + 1, low, quick.count].map(ask)).toEqual([0, most - low, most - quick.count])
})

test('partners take turns: who holds fewest is served first, though others asked before', () => {
  const hungry = [
    ...endpoints(100, { partner_id: 'a', lanes: quick, held: 0 }),
    ...endpoints(1, { partner_id: 'b', lanes: quick, held: 0 }),
  ]
  const rooms = giveRooms([{ partner_id: 'a', lanes: quick, held: 100 }], new Map(hungry))
  expect(total(rooms, 'b')).toBe(quick.count + aheadOf(quick))
})

test('the endpoints of a partner take turns, those that waited longest first', () => {
  const held = [{ partner_id: 'a', lanes: slow, held: SLOW_PLACES_OF_PARTNER - 2 }]
  const rooms = giveRooms(held, new Map(endpoints(5, { partner_id: 'a', lanes: slow, held: 0 })))
  expect([...rooms]).toEqual([
    ['a 0', 1],
    ['a 1', 1],
  ])
})

test('whatever was given out before, nobody gets too much, and somebody new gets as much as anybody holds', () => {
  const posts = fc.array(
    fc.record({
      partner_id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      lanes: fc.constantFrom(newLanes, quick, slow, { count: 4, usual_ms: 2500, wasted: 0 }, costly),
    }),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(posts, (all) => {
      const first = new Map(all.map((post, i) => [String(i), { ...post, held: 0 }]))
      const rooms = giveRooms([], first)
      const held = [...rooms].map(([id, room]) => ({ ...first.get(id)!, held: room }))
      const of = (partner: string, list = held) =>
        list.filter(({ partner_id }) => partner_id === partner).reduce((sum, post) => sum + post.held, 0)
      const most = Math.max(0, ...held.map(({ partner_id }) => of(partner_id)))
      expect(total(rooms)).toBeLessThanOrEqual(PLACES)
      for (const { partner_id } of held)
        expect(
          of(
            partner_id,
            held.filter(({ lanes }) => lanes === slow),
          ),
        ).toBeLessThanOrEqual(SLOW_PLACES_OF_PARTNER)
      for (const [id, room] of rooms) {
        const { lanes } = first.get(id)!
        expect(room).toBeLessThanOrEqual(lanes.count + aheadOf(lanes))
      }
      const late = giveRooms(held, new Map(endpoints(20, { partner_id: 'late', lanes: quick, held: 0 })))
      expect(total(late)).toBeGreaterThanOrEqual(Math.floor(most / 2))
    }),
  )
})
