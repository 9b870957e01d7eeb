import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSealer } from './seal.ts'

const key = randomBytes(32)
const secret = Buffer.from('a secret that must be read back')

test('a sealed secret opens under the same key and for the same owner only', () => {
  const { seal, open } = createSealer(key)
  const sealed = seal(secret, 'sandbox whe_1')
  expect(open(sealed, 'sandbox whe_1')).toEqual(secret)
  expect(createSealer(key).open(sealed, 'sandbox whe_1')).toEqual(secret)
  expect(() => open(sealed, 'sandbox whe_2')).toThrow()
  expect(() => open(sealed, 'production whe_1')).toThrow()
  expect(() => createSealer(randomBytes(32)).open(sealed, 'sandbox whe_1')).toThrow()
})

test('it shows nothing of the secret, is another one each time, and no byte of it can be changed', () => {
  const { seal, open } = createSealer(key)
  const sealed = seal(secret, 'x')
  expect(sealed.includes(secret.subarray(0, 6))).toBe(false)
  expect(seal(secret, 'x')).not.toEqual(sealed)
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed)
    changed[i]! ^= 1
    expect(() => open(changed, 'x')).toThrow()
  }
  expect(() => open(sealed.subarray(0, 20), 'x')).toThrow()
})
