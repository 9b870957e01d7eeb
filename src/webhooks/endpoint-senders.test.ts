import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openEndpointSenders } from './endpoint-senders.ts'
import { openPace } from './pace.ts'
import type { TakenDelivery } from './queue.ts'

const owned = { endpoint_id: 'we_1', partner_id: 'ptn_1' }
const taken = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `evt_${n}`, ...owned }) as TakenDelivery)

function stage(pace = openPace(1000)) {
  const begun: string[] = []
  const senders = openEndpointSenders({
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
    onSlotFree: () => {},
  })
  return { senders, begun }
}

test('the deliveries taken for an endpoint are sent to it', () => {
  const { senders, begun } = stage()
  senders.addBacklog([owned])
  const slots = senders.reserveSlots()
  expect([...slots]).toEqual([['we_1', 2]])
  senders.start(slots, taken(2))
  expect(begun).toEqual(['evt_0', 'evt_1'])
})

test('an endpoint whose partner has used up its pace stays backlogged, and gets no slot until the pace allows one', () => {
  let left = 3
  const pace = {
    left: () => left,
    spend: (_: string, count: number) => void (left -= count),
    forgetIdle() {},
  }
  const { senders } = stage(pace)
  const other = { endpoint_id: 'we_2', partner_id: 'ptn_1' }
  senders.addBacklog([owned, other])
  const slots = senders.reserveSlots()
  expect([...slots.values()].reduce((sum, count) => sum + count)).toBe(3)
  senders.start(
    slots,
    [...slots].flatMap(([endpoint_id, count]) => taken(count).map((one) => ({ ...one, endpoint_id }))),
  )
  expect(senders.hasBacklog()).toBe(true)
  expect(senders.reserveSlots().size).toBe(0)
  left = 1
  expect([...senders.reserveSlots().values()]).toEqual([1])
})

test('an endpoint that is dropped while deliveries are taken for it gets none of them', () => {
  const { senders, begun } = stage()
  senders.addBacklog([owned])
  const slots = senders.reserveSlots()
  senders.drop('we_1')
  senders.start(slots, taken(2))
  expect(begun).toEqual([])
  expect(senders.reserveSlots().size).toBe(0)
})
