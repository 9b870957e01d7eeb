import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

test('a rail’s time is at most a third of the lease, and by default as long as that allows', () => {
  expect(readConfig({}).rail_timeout_ms).toBe(5000)
  expect(readConfig({ LEASE_MS: '1500' }).rail_timeout_ms).toBe(500)
  expect(readConfig({ LEASE_MS: '60000' }).rail_timeout_ms).toBe(5000)
  expect(readConfig({ LEASE_MS: '1500', RAIL_TIMEOUT_MS: '400' }).rail_timeout_ms).toBe(400)
  expect(() => readConfig({ LEASE_MS: '1500', RAIL_TIMEOUT_MS: '600' })).toThrow(
    /RAIL_TIMEOUT_MS must be at most a third of LEASE_MS \(500\)/,
  )
})
