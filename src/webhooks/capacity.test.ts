import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  AHEAD_MAX,
  AHEAD_MS,
  aheadOf,
  allotSlots,
  type EndpointLoad,
  SLOTS,
  SLOW_SLOTS,
  SLOW_SLOTS_OF_PARTNER,
} from './capacity.ts'
import { lanesAfter, newLanes } from './lanes.ts'

const quick = { count: 16, usual_ms: 20, wasted: 0 }
const slow = { count: 1, usual_ms: 9000, wasted: 0 }
const costly = { count: 2, usual_ms: 5, wasted: 1 }
const endpoints = (count: number, load: EndpointLoad) =>
  Array.from({ length: count }, (_, i) => [`${load.partner_id} ${i}`, load] as const)
const total = (slots: ReadonlyMap<string, number>, partner = '') =>
  [...slots].filter(([id]) => id.startsWith(partner)).reduce((sum, [, count]) => sum + count, 0)

test('a single partner with many new endpoints leaves half of the slots free', () => {
  const slots = allotSlots([], new Map(endpoints(500, { partner_id: 'a', lanes: newLanes, held: 0 })))
  expect(total(slots)).toBe(SLOTS / 2)
})

test('slow endpoints of a partner hold few slots, however many there are', () => {
  const slots = allotSlots([], new Map(endpoints(500, { partner_id: 'a', lanes: slow, held: 0 })))
  expect(total(slots)).toBe(SLOW_SLOTS_OF_PARTNER)
})

test('slow endpoints of all partners leave most of the slots to other endpoints', () => {
  const backlogged = Array.from({ length: 40 }, (_, i) =>
    endpoints(20, { partner_id: `p${i}`, lanes: slow, held: 0 }),
  ).flat()
  expect(total(allotSlots([], new Map(backlogged)))).toBeLessThanOrEqual(SLOW_SLOTS)
})

test('slow endpoints of a partner take no slots from its quick endpoint', () => {
  const backlogged = [
    ...endpoints(30, { partner_id: 'a', lanes: slow, held: 0 }),
    ['quick', { partner_id: 'a', lanes: quick, held: 0 }] as const,
  ]
  expect(allotSlots([], new Map(backlogged)).get('quick')).toBe(quick.count + aheadOf(quick))
})

test('costly endpoints of a partner get only as many slots as their own pace allows, and take none from its quick endpoint', () => {
  const backlogged = [
    ...endpoints(30, { partner_id: 'a', lanes: costly, held: 0 }),
    ['quick', { partner_id: 'a', lanes: quick, held: 0 }] as const,
  ]
  const slots = allotSlots(
    [],
    new Map(backlogged),
    () => SLOTS,
    () => 7,
  )
  expect(slots.get('quick')).toBe(quick.count + aheadOf(quick))
  expect(total(slots) - slots.get('quick')!).toBe(7)
})

test('deliveries taken ahead are sent within AHEAD_MS, and are at most AHEAD_MAX', () => {
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

test('while half of the deliveries taken ahead still wait, the endpoint asks for no more', () => {
  const ask = (held: number) => {
    const load = { partner_id: 'a', lanes: quick, held }
    return total(allotSlots([load], new Map([['quick', load]])))
  }
  const most = quick.count + aheadOf(quick)
  const low = quick.count + aheadOf(quick) / 2
  expect([low + 1, low, quick.count].map(ask)).toEqual([0, most - low, most - quick.count])
})

test('partners take turns: the one that holds the fewest slots comes first, even if others asked earlier', () => {
  const backlogged = [
    ...endpoints(100, { partner_id: 'a', lanes: quick, held: 0 }),
    ...endpoints(1, { partner_id: 'b', lanes: quick, held: 0 }),
  ]
  const slots = allotSlots([{ partner_id: 'a', lanes: quick, held: 100 }], new Map(backlogged))
  expect(total(slots, 'b')).toBe(quick.count + aheadOf(quick))
})

test('the endpoints of a partner take turns, longest waiting first', () => {
  const held = [{ partner_id: 'a', lanes: slow, held: SLOW_SLOTS_OF_PARTNER - 2 }]
  const slots = allotSlots(held, new Map(endpoints(5, { partner_id: 'a', lanes: slow, held: 0 })))
  expect([...slots]).toEqual([
    ['a 0', 1],
    ['a 1', 1],
  ])
})

test('whatever was allotted before, no limit is exceeded, and a new partner gets at least half as many slots as any other holds', () => {
  const loads = fc.array(
    fc.record({
      partner_id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      lanes: fc.constantFrom(newLanes, quick, slow, { count: 4, usual_ms: 2500, wasted: 0 }, costly),
    }),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(loads, (all) => {
      const first = new Map(all.map((load, i) => [String(i), { ...load, held: 0 }]))
      const slots = allotSlots([], first)
      const held = [...slots].map(([id, count]) => ({ ...first.get(id)!, held: count }))
      const of = (partner: string, list = held) =>
        list.filter(({ partner_id }) => partner_id === partner).reduce((sum, load) => sum + load.held, 0)
      const most = Math.max(0, ...held.map(({ partner_id }) => of(partner_id)))
      expect(total(slots)).toBeLessThanOrEqual(SLOTS)
      for (const { partner_id } of held)
        expect(
          of(
            partner_id,
            held.filter(({ lanes }) => lanes === slow),
          ),
        ).toBeLessThanOrEqual(SLOW_SLOTS_OF_PARTNER)
      for (const [id, count] of slots) {
        const { lanes } = first.get(id)!
        expect(count).toBeLessThanOrEqual(lanes.count + aheadOf(lanes))
      }
      const late = allotSlots(held, new Map(endpoints(20, { partner_id: 'late', lanes: quick, held: 0 })))
      expect(total(late)).toBeGreaterThanOrEqual(Math.floor(most / 2))
    }),
  )
})
