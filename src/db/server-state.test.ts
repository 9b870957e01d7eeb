import { expect, test } from 'vitest'
import { checkSeat, faultOf, type Said, type Seen } from './server-state.ts'

const well: Said = {
  in_recovery: false,
  read_only: false,
  user: 'trilho_live',
  schema: 'live',
  system: '1',
  timeline: 4,
  started: '',
}
const seen: Seen = { system: '1', timeline: 4 }

test.each<[string, Partial<Said>, Partial<Seen>, RegExp | undefined]>([
  ['a primary', {}, {}, undefined],
  ['the first that is ever met', {}, { system: undefined, timeline: undefined }, undefined],
  ['one that was promoted', { timeline: 5 }, {}, undefined],
  ['one that keeps its control data to itself', { system: undefined, timeline: undefined }, {}, undefined],
  ['a standby', { in_recovery: true }, {}, /is a standby/],
  ['a read-only server', { read_only: true }, {}, /is read-only/],
  ['one that was replaced', { timeline: 3 }, {}, /former primary \(timeline 3; 4 has been seen\)/],
  ['another cluster', { system: '2', timeline: 9 }, {}, /another cluster/],
])('%s', (_, said, before, fault) => {
  const found = faultOf({ ...well, ...said }, { ...seen, ...before })
  if (fault) expect(found).toMatch(fault)
  else expect(found).toBe(undefined)
})

test('a connection that did not enter its role is not used', () => {
  const seat = { user: 'trilho_live', schema: 'live' }
  expect(() => checkSeat(well, seat)).not.toThrow()
  for (const said of [{ user: 'trilho' }, { schema: '"$user", public' }])
    expect(() => checkSeat({ ...well, ...said }, seat)).toThrow(/pooler such as pgbouncer/)
})
