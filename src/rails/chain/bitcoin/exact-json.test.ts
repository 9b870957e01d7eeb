import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExact, satoshisOf } from './exact-json.ts'

const inBitcoin = (satoshis: bigint) =>
  `${satoshis / 10n ** 8n}.${(satoshis % 10n ** 8n).toString().padStart(8, '0')}`

describe('numbers of JSON', () => {
  test('with decimals or an exponent are kept as text, whole ones are numbers', () => {
    const text = '{"a":0.10000000,"b":[1e-08,-2.5E+3,7,-7,0],"c":{"d":12345678901234567890},"e":"1.5"}'
    expect(parseExact(text)).toEqual({
      ...{ a: '0.10000000', b: ['1e-08', '-2.5E+3', 7, -7, 0] },
      ...{ c: { d: '12345678901234567890' }, e: '1.5' },
    })
    expect(parseExact(' 20999999.97690000 ')).toBe('20999999.97690000')
    expect(parseExact('-0')).toBe('-0')
  })

  test('in strings are left alone, whatever is escaped there', () => {
    for (const value of ['0.1', '"0.1', '\\"0.1\\', '\\', '\\\\"1.5', '{"a":1.5}', 'ß 1.5 \u2028'])
      expect(parseExact(JSON.stringify({ [value]: [value, 1] }))).toEqual({ [value]: [value, 1] })
  })

  test('give what JSON.parse gives, with decimals as text', () => {
    const isNumeric = (value: unknown) =>
      typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value))
    const asNumbers = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (_, one) => (isNumeric(one) ? Number(one) : one))
    fc.assert(
      fc.property(fc.json(), fc.boolean(), (json, is_spaced) => {
        const text = is_spaced ? JSON.stringify(JSON.parse(json), null, 2) : json
        expect(asNumbers(parseExact(text))).toEqual(asNumbers(JSON.parse(text)))
      }),
    )
  })

  test('refuse what is not JSON', () => {
    for (const text of [
      '',
      '{',
      '1.',
      '.5',
      '01.5',
      '1.5.5',
      '--1',
      '+1.5',
      '1e',
      '"0.1',
      '{"a":1.5',
      '[1.5,]',
      '0x1',
    ])
      expect(() => parseExact(text), text).toThrow(SyntaxError)
    fc.assert(
      fc.property(fc.string(), (text) => {
        const isJson = (parse: (text: string) => unknown) => {
          try {
            parse(text)
            return true
          } catch {
            return false
          }
        }
        expect(isJson(parseExact)).toBe(isJson(JSON.parse))
      }),
    )
  })

  test('are read fast beside a block of 4 MB', () => {
    const block = 'ab'.repeat(4_000_000)
    const began = performance.now()
    expect(parseExact(`{"result":"${block}","x":0.5}`)).toEqual({ result: block, x: '0.5' })
    expect(parseExact(`{"result":"${'\\'.repeat(1_000_000)}","x":0.5}`)).toMatchObject({ x: '0.5' })
    expect(performance.now() - began).toBeLessThan(10_000)
  })
})

describe('satoshis', () => {
  test('are read exactly from every amount that nodes write', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 84_000_000n * 10n ** 8n }), (satoshis) => {
        expect(satoshisOf(parseExact(inBitcoin(satoshis)) as string)).toBe(satoshis)
      }),
    )
  })

  test('are read from other spellings too', () => {
    for (const [text, satoshis] of [
      ...([
        ['1e-8', 1n],
        ['1e-05', 1000n],
        ['0.1', 10_000_000n],
        ['50', 5_000_000_000n],
      ] as const),
      ...([
        ['1.50E2', 15_000_000_000n],
        ['0.100000000', 10_000_000n],
        ['0', 0n],
        ['0.0', 0n],
      ] as const),
    ])
      expect(satoshisOf(parseExact(text) as string | number), text).toBe(satoshis)
  })

  test('are refused below one, below zero and above all that exist', () => {
    for (const text of [
      '0.000000001',
      '1e-9',
      '-1',
      '-0.1',
      '84000000.00000001',
      '9e9',
      '99e99',
      'NaN',
      '',
      ' 1',
      '1 ',
    ])
      expect(() => satoshisOf(text), text).toThrow()
  })
})
