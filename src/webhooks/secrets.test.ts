import { expect, test } from 'vitest'
import { createSealer } from '../core/seal.ts'
import { openSecrets } from './secrets.ts'

const sealer = createSealer([Buffer.alloc(32, 1)])
const secret = Buffer.alloc(32, 2)
const before = Buffer.alloc(32, 3)
const now = new Date()
const in_a_minute = new Date(now.getTime() + 60_000)
const sealed = (value: Buffer, endpoint_id: string) => sealer.seal(value, `sandbox ${endpoint_id}`).value
const endpoint = (more: object = {}) => ({
  endpoint_id: 'we_1',
  secret: sealed(secret, 'we_1'),
  previous_secret: null,
  previous_secret_until: null,
  ...more,
})

test('a secret is opened once, and again after a minute', () => {
  let [opened, time] = [0, 0]
  const open: typeof sealer.open = (...asked) => {
    opened++
    return sealer.open(...asked)
  }
  const secretsOf = openSecrets('sandbox', { open }, () => time)
  const one = endpoint()
  for (let i = 0; i < 100; i++) expect(secretsOf(one, now)).toEqual([secret])
  expect(opened).toBe(1)
  time = 120_000
  expect(secretsOf(one, now)).toEqual([secret])
  expect(opened).toBe(2)
})

test('the previous secret signs until its grace period ends', () => {
  const secretsOf = openSecrets('sandbox', sealer)
  const previous_secret = sealed(before, 'we_1')
  expect(secretsOf(endpoint({ previous_secret, previous_secret_until: in_a_minute }), now)).toEqual([
    secret,
    before,
  ])
  expect(secretsOf(endpoint({ previous_secret, previous_secret_until: now }), now)).toEqual([secret])
})

test('a secret sealed for another endpoint does not open, even if it is cached', () => {
  const secretsOf = openSecrets('sandbox', sealer)
  const one = endpoint()
  expect(secretsOf(one, now)).toEqual([secret])
  expect(() => secretsOf({ ...one, endpoint_id: 'we_2' }, now)).toThrow('sealed')
})
