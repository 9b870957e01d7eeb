import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assets } from '../../src/core/money.ts'
import { type Asset, decimal, format, units } from '../dist/index.js'

const spaces = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ')

test('every asset of the service has its decimals here', () => {
  for (const [asset, { decimals }] of Object.entries(assets))
    expect(units('1', asset as Asset)).toBe(10n ** BigInt(decimals))
})

describe('units', () => {
  test('reads what people write', () => {
    expect(units('10.50', 'BRL')).toBe(1050n)
    expect(units('10.5', 'BRL')).toBe(1050n)
    expect(units('10', 'BRL')).toBe(1000n)
    expect(units('0.00000001', 'BTC')).toBe(1n)
    expect(units('-0.50', 'BRL')).toBe(-50n)
    expect(units('7', 0)).toBe(7n)
    expect(units('123456789012345678.99', 2)).toBe(12345678901234567899n)
  })

  test('refuses what could mean something else', () => {
    for (const text of [
      '',
      '10,50',
      '1.000,50',
      '.5',
      '5.',
      '1e3',
      ' 1',
      '+1',
      '--1',
      '1_000',
      '0x10',
      'R$ 1',
      '١',
    ])
      expect(() => units(text, 'BRL'), text).toThrow(`'${text}' is not an amount: write it like '1050.25'.`)
    expect(() => units('10.505', 'BRL')).toThrow("'10.505' has 3 decimals, and 'BRL' has 2.")
    expect(() => units(10.5 as never, 'BRL')).toThrow(/10.5 \(number\) is not an amount/)
    expect(() => units('1', 'EUR' as never)).toThrow(/neither an asset \(BRL, USDT, BTC\)/)
    expect(() => units('1', -1)).toThrow(/neither an asset/)
    expect(() => units('1', 1.5)).toThrow(/neither an asset/)
  })
})

describe('decimal', () => {
  test('writes every digit', () => {
    expect(decimal(1050n, 'BRL')).toBe('10.50')
    expect(decimal('5', 'BRL')).toBe('0.05')
    expect(decimal('-5', 2)).toBe('-0.05')
    expect(decimal('0', 'BTC')).toBe('0.00000000')
    expect(decimal('12', 0)).toBe('12')
    expect(() => decimal(10.5 as never, 'BRL')).toThrow(/pass a bigint, or text/)
    expect(() => decimal('10.50', 'BRL')).toThrow(/not a whole number of smallest units/)
  })

  test('is the other way round of units', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(10n ** 20n), 10n ** 20n),
        fc.integer({ min: 0, max: 20 }),
        (amount, decimals) => {
          expect(units(decimal(amount, decimals), decimals)).toBe(amount)
        },
      ),
    )
  })
})

describe('format', () => {
  test('is for people, in their language, to the last digit', () => {
    expect(spaces(format(105_000n, 'BRL', 'pt-BR'))).toBe('R$ 1.050,00')
    expect(spaces(format('-50', 'BRL', 'pt-BR'))).toBe('-R$ 0,50')
    expect(format(105_000n, 'BRL', 'en-US')).toBe('R$1,050.00')
    expect(format('1234567890', 'USDT', 'en-US')).toBe('1,234.567890 USDT')
    expect(format('1', 'BTC', 'en-US')).toBe('0.00000001 BTC')
    expect(format('12345678901234567899', 2, 'en-US')).toBe('123,456,789,012,345,678.99')
    expect(format('1234', 0, 'en-US')).toBe('1,234')
  })
})
