import { createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSealer, keyIdOf } from './seal.ts'

const key = randomBytes(32)
const other = randomBytes(32)
const secret = Buffer.from('a secret that must be read back')

test('a sealed secret opens under the same key and for the same owner only', () => {
  const { seal, open, openerOf } = createSealer([key])
  const { value } = seal(secret, 'sandbox whe_1')
  expect(open(value, 'sandbox whe_1')).toEqual(secret)
  expect(createSealer([key]).open(value, 'sandbox whe_1')).toEqual(secret)
  expect(() => open(value, 'sandbox whe_2')).toThrow()
  expect(() => open(value, 'production whe_1')).toThrow()
  expect(() => createSealer([other]).open(value, 'sandbox whe_1')).toThrow()
  expect(openerOf(value, 'sandbox whe_2')).toBeUndefined()
})

test('a sealed value hides the secret, differs each time, and opens no more when a byte is changed', () => {
  const { seal, open } = createSealer([key])
  const { value } = seal(secret, 'x')
  expect(value.includes(secret.subarray(0, 6))).toBe(false)
  expect(seal(secret, 'x').value).not.toEqual(value)
  for (let i = 0; i < value.length; i++) {
    const changed = Buffer.from(value)
    changed[i]! ^= 1
    expect(() => open(changed, 'x')).toThrow()
  }
  expect(() => open(value.subarray(0, 20), 'x')).toThrow()
  expect(() => open(Buffer.alloc(0), 'x')).toThrow()
})

test('a sealed value has the id of its key, which reveals nothing of the key', () => {
  const { key_id } = createSealer([key]).seal(secret, 'x')
  expect(key_id).toBe(keyIdOf(key))
  expect(key_id).toMatch(/^[0-9a-f]{16}$/)
  expect(key_id).not.toBe(keyIdOf(other))
  expect(key.toString('hex')).not.toContain(key_id)
})

test('during a rotation both keys open values, and either can seal', () => {
  const both = createSealer([key, other])
  const old = createSealer([other]).seal(secret, 'x')
  expect(both.keyIds()).toEqual([keyIdOf(key), keyIdOf(other)])
  expect(both.open(old.value, 'x')).toEqual(secret)
  expect(both.openerOf(old.value, 'x')).toBe(keyIdOf(other))
  expect(both.seal(secret, 'x').key_id).toBe(keyIdOf(key))
  expect(createSealer([other]).open(both.seal(secret, 'x', keyIdOf(other)).value, 'x')).toEqual(secret)
  expect(() => createSealer([key]).seal(secret, 'x', keyIdOf(other))).toThrow(/does not have/)
})

test('later keys are read when no known key fits, and only then', () => {
  let looked = 0
  const sealer = createSealer([key], () => {
    looked++
    return [other]
  })
  expect(sealer.open(sealer.seal(secret, 'x').value, 'x')).toEqual(secret)
  expect(looked).toBe(0)
  const later = createSealer([other]).seal(secret, 'x')
  expect(sealer.open(later.value, 'x')).toEqual(secret)
  expect(sealer.open(later.value, 'x')).toEqual(secret)
  expect(looked).toBe(1)
})

test('a sealed value has the format that the version before reads', () => {
  const { value } = createSealer([key]).seal(secret, 'sandbox whe_1')
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'trilho: sealed secrets', 32))
  expect(value[0]).toBe(1)
  const decipher = createDecipheriv('aes-256-gcm', derived, value.subarray(1, 13), { authTagLength: 16 })
  decipher.setAAD(Buffer.from('sandbox whe_1')).setAuthTag(value.subarray(13, 29))
  expect(Buffer.concat([decipher.update(value.subarray(29)), decipher.final()])).toEqual(secret)
})
