import { expect, test } from 'vitest'
import { initials, notAnId, shortAddress, shortId } from './id.ts'

test('an id keeps its prefix, four characters and the last five', () => {
  expect(shortId('po_01m7e0svhcehj34h3txt8xzbnr')).toBe('po_01m7…xzbnr')
  expect(shortId('E1823612020261115125141k3Qz81mXw0a')).toBe('E182…mXw0a')
  expect(shortId('key_short')).toBe('key_short')
  expect(shortId('financeiro@carla.example')).toBe('financeiro@carla.example')
})

test('a chain address keeps the first eight and the last six', () => {
  expect(shortAddress('0x52908400098527886E0F7030069857D2E4169EE7')).toBe('0x529084…169EE7')
  expect(shortAddress('short')).toBe('short')
})

test('initials', () => {
  expect(initials('Helena Prado')).toBe('HP')
  expect(initials('Rafael de Souza Teles')).toBe('RT')
  expect(initials('helena@lumen.example')).toBe('H')
})

test('a malformed id is told apart from an unknown one', () => {
  const tail = '01m7gzap9hvyhhay61akcr6c18'
  expect(notAnId(`/sandbox/payouts/po_${tail}`)).toBeUndefined()
  expect(notAnId('/sandbox/payouts/garbage')).toEqual({ text: 'garbage', of: 'payouts', prefix: 'po_' })
  expect(notAnId(`/sandbox/payouts/tr_${tail}`)).toMatchObject({ prefix: 'po_' })
  expect(notAnId(`/production/developers/keys/key_${tail}`)).toBeUndefined()
  expect(notAnId('/operator/production/partners/x')).toMatchObject({ of: 'partners' })
  expect(notAnId('/sandbox/payouts')).toBeUndefined()
})
