import { expect, test } from 'vitest'
import {
  amountParts,
  amountText,
  countText,
  faultOfAmount,
  parseAmount,
  percentText,
  shareBps,
  sumUnits,
} from './amount.ts'

const en = { language: 'en' } as const
const pt = { language: 'pt-BR' } as const

test('BRL is prefixed with R$, other assets are followed by their code, always with all decimals', () => {
  expect(amountText('482000', 'BRL', en)).toBe('R$\u00a04,820.00')
  expect(amountText('482000', 'BRL', pt)).toBe('R$\u00a04.820,00')
  expect(amountText('2401000000', 'USDT', en)).toBe('2,401.000000\u00a0USDT')
  expect(amountText('2401000000', 'USDT', pt)).toBe('2.401,000000\u00a0USDT')
  expect(amountText('0', 'BTC', en)).toBe('0.00000000\u00a0BTC')
  expect(amountText('7', 'BRL', en)).toBe('R$\u00a00.07')
  expect(amountText('123456789012', 'BRL', en)).toBe('R$\u00a01,234,567,890.12')
})

test('amounts beyond the range of a floating-point number keep all digits', () => {
  expect(amountText('900719925474099301', 'BRL', en)).toBe('R$\u00a09,007,199,254,740,993.01')
  expect(amountText('123456789123456789', 'BTC', pt)).toBe('1.234.567.891,23456789\u00a0BTC')
  expect(sumUnits(['9007199254740993', '1'])).toBe('9007199254740994')
})

test('trailing zeros beyond two decimals are a separate part', () => {
  expect(amountParts('2401000000', 'USDT', en)).toMatchObject({ figure: '2,401.00', rest: '0000' })
  expect(amountParts('8003510000', 'USDT', en)).toMatchObject({ figure: '8,003.51', rest: '0000' })
  expect(amountParts('412806140250', 'USDT', en)).toMatchObject({ figure: '412,806.140250', rest: '' })
  expect(amountParts('5000000', 'BTC', pt)).toMatchObject({ figure: '0,05', rest: '000000' })
  expect(amountParts('100', 'BRL', en)).toMatchObject({ figure: '1.00', rest: '' })
})

test('a negative amount has a minus sign; a plus sign is shown only for changes', () => {
  expect(amountText('-482000', 'BRL', en)).toBe('−R$\u00a04,820.00')
  expect(amountText('482000', 'BRL', { ...en, change: true })).toBe('+R$\u00a04,820.00')
  expect(amountText('0', 'BRL', { ...en, change: true })).toBe('R$\u00a00.00')
})

test('a typed amount is parsed in the language of the page, exactly or not at all', () => {
  expect(parseAmount('4,820.00', 'BRL', 'en')).toBe('482000')
  expect(parseAmount('R$ 4.820,5', 'BRL', 'pt-BR')).toBe('482050')
  expect(parseAmount('0.00000001', 'BTC', 'en')).toBe('1')
  for (const wrong of ['', '1.234', '1e3', '-1', '1.2.3', 'abc', '.5', '0x1'])
    expect(parseAmount(wrong, 'BRL', 'en'), wrong).toBeUndefined()
})

test('the decimal mark of the other language is refused instead of multiplying the amount', () => {
  expect(parseAmount('10.50', 'BRL', 'pt-BR')).toBeUndefined()
  expect(parseAmount('10,50', 'BRL', 'en')).toBeUndefined()
  expect(parseAmount('1.050', 'BRL', 'pt-BR')).toBe('105000')
  expect(parseAmount('1.050,5', 'BRL', 'pt-BR')).toBe('105050')
  for (const wrong of ['1234.567', '1..234', '.234', '1.23.456'])
    expect(parseAmount(wrong, 'BRL', 'pt-BR'), wrong).toBeUndefined()
})

test('the reason for an invalid amount: too small, too many decimals, or not a number', () => {
  for (const small of ['0', '0.00', '-5', '−5']) expect(faultOfAmount(small, 'BRL', 'en'), small).toBe('zero')
  expect(faultOfAmount('1.005', 'BRL', 'en')).toBe('decimals')
  expect(faultOfAmount('1,0000001', 'USDT', 'pt-BR')).toBe('decimals')
  expect(faultOfAmount('1.005', 'USDT', 'en')).toBeUndefined()
  for (const none of ['', 'abc', '10,50', '1.2.3', '-', '--5'])
    expect(faultOfAmount(none, 'BRL', 'en'), none).toBe('figure')
})

test('shares and percent', () => {
  expect(shareBps('624', '1000')).toBe(6240)
  expect(shareBps('1', '0')).toBe(0)
  expect(percentText(9987, 'en')).toBe('99.87\u00a0%')
  expect(percentText(10000, 'pt-BR')).toBe('100,00\u00a0%')
  expect(countText(1204, 'en')).toBe('1,204')
  expect(countText(1204, 'pt-BR')).toBe('1.204')
})
