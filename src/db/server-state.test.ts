import { expect, test } from 'vitest'
import { checkSeat, faultOf, type KnownCluster, type ServerState } from './server-state.ts'

const well: ServerState = {
  in_recovery: false,
  read_only: false,
  user: 'trilho_live',
  schema: 'live',
  system: '1',
  timeline: 4,
  started: '',
}
const seen: KnownCluster = { system: '1', timeline: 4 }

test.each<[string, Partial<ServerState>, Partial<KnownCluster>, RegExp | undefined]>([
  ['a primary', {}, {}, undefined],
  ['the first server that is ever seen', {}, { system: undefined, timeline: undefined }, undefined],
  ['a promoted standby', { timeline: 5 }, {}, undefined],
  ['a server that hides its control data', { system: undefined, timeline: undefined }, {}, undefined],
  ['a standby', { in_recovery: true }, {}, /is a standby/],
  ['a read-only server', { read_only: true }, {}, /is read-only/],
  ['a former primary', { timeline: 3 }, {}, /former primary \(timeline 3; 4 has been seen\)/],
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
