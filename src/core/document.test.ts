import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeCnpj, makeCpf, maskDocument, parseDocument } from './document.ts'

const digit = fc.constantFrom(...'0123456789')
const capital = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ')
const nineDigits = fc
  .string({ unit: digit, minLength: 9, maxLength: 9 })
  .filter((nine) => !/^(.)\1*$/.test(nine))
const twelveCapitals = fc
  .string({ unit: capital, minLength: 12, maxLength: 12 })
  .filter((twelve) => !/^(.)\1*$/.test(twelve))

describe('parseDocument', () => {
  it.each([
    ['06882328684', 'cpf', '06882328684'],
    ['10519952057', 'cpf', '10519952057'],
    ['58629188090', 'cpf', '58629188090'],
    ['11144477735', 'cpf', '11144477735'],
    ['52998224725', 'cpf', '52998224725'],
    ['12345678909', 'cpf', '12345678909'],
    ['529.982.247-25', 'cpf', '52998224725'],
    ['00000000000191', 'cnpj', '00000000000191'],
    ['00360305000104', 'cnpj', '00360305000104'],
    ['60701190000104', 'cnpj', '60701190000104'],
    ['33000167000101', 'cnpj', '33000167000101'],
    ['20018183000180', 'cnpj', '20018183000180'],
    ['09089356000118', 'cnpj', '09089356000118'],
    ['20.018.183/0001-80', 'cnpj', '20018183000180'],
    ['12ABC34501DE35', 'cnpj', '12ABC34501DE35'],
    ['12.ABC.345/01DE-35', 'cnpj', '12ABC34501DE35'],
    ['12abc34501de35', 'cnpj', '12ABC34501DE35'],
    ['12.abc.345/01dE-35', 'cnpj', '12ABC34501DE35'],
    ['AB12CD34EF5602', 'cnpj', 'AB12CD34EF5602'],
  ])('takes %s', (text, type, value) => {
    expect(parseDocument(text)).toEqual({ type, value })
  })

  it.each([
    ['nothing', ''],
    ['first check digit of a CPF', '52998224715'],
    ['second check digit of a CPF', '52998224724'],
    ['check digits of a placeholder', '12345678901'],
    ['a letter in a CPF', '5299822472A'],
    ['10 digits', '5299822472'],
    ['12 digits', '529982247255'],
    ['half punctuation', '529.982.24725'],
    ['only the hyphen', '529982247-25'],
    ['hyphen for a dot', '529-982-247-25'],
    ['slash for the hyphen', '529.982.247/25'],
    ['space inside', '529 982 247 25'],
    ['space in front', ' 52998224725'],
    ['space behind', '52998224725 '],
    ['line feed behind', '52998224725\n'],
    ['line feed behind punctuation', '529.982.247-25\n'],
    ['NUL behind', '52998224725\0'],
    ['full-width digits', '５２９９８２２４７２５'],
    ['Arabic digits', '٥٢٩٩٨٢٢٤٧٢٥'],
    ['a plus sign', '+52998224725'],
    ['first check digit of a CNPJ', '12ABC34501DE25'],
    ['second check digit of a CNPJ', '00000000000192'],
    ['check digits of a CNPJ placeholder', '12345678901234'],
    ['letters for check digits', '12ABC34501DEAB'],
    ['13 characters', '0000000000191'],
    ['15 characters', '000000000001911'],
    ['a letter outside A-Z', '12ABÇ34501DE35'],
    ['half punctuation of a CNPJ', '20018183/0001-80'],
    ['CNPJ without the slash', '20.018.1830001-80'],
    ['CNPJ punctuated like a CPF', '200.181.830.001-80'],
    ['space inside a CNPJ', '12 ABC 345 01DE 35'],
    ['all zeros, which pass the arithmetic', '00000000000000'],
    ['a repeated digit in a CNPJ', '11111111111111'],
    ['a repeated digit, punctuated', '00.000.000/0000-00'],
  ])('refuses %s', (_, text) => {
    expect(parseDocument(text)).toBeUndefined()
  })

  it('refuses letters that only become A-Z when upper-cased', () => {
    const value = makeCnpj('S0000000000I')
    expect(parseDocument(value.toLowerCase())).toEqual({ type: 'cnpj', value })
    expect(parseDocument(value.replace('S', 'ſ'))).toBeUndefined()
    expect(parseDocument(value.replace('I', 'ı'))).toBeUndefined()
  })

  it('refuses each repeated digit although the check digits of a CPF match', () => {
    for (const one of '0123456789') {
      const repeated = one.repeat(11)
      expect(makeCpf(one.repeat(9))).toBe(repeated)
      expect(parseDocument(repeated)).toBeUndefined()
      expect(parseDocument(one.repeat(14))).toBeUndefined()
    }
  })

  it('takes back every CPF it makes, bare and punctuated', () => {
    fc.assert(
      fc.property(nineDigits, (nine) => {
        const value = makeCpf(nine)
        const punctuated = value.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4')
        expect(parseDocument(value)).toEqual({ type: 'cpf', value })
        expect(parseDocument(punctuated)).toEqual({ type: 'cpf', value })
      }),
      { numRuns: 1000 },
    )
  })

  it('takes back every CNPJ it makes, bare, punctuated and in lower case', () => {
    fc.assert(
      fc.property(twelveCapitals, (twelve) => {
        const value = makeCnpj(twelve)
        const punctuated = value.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5')
        expect(parseDocument(value)).toEqual({ type: 'cnpj', value })
        expect(parseDocument(punctuated.toLowerCase())).toEqual({ type: 'cnpj', value })
      }),
      { numRuns: 1000 },
    )
  })

  it('refuses every change of one digit of a CPF whose first check digit is not 0', () => {
    fc.assert(
      fc.property(nineDigits, (nine) => {
        const value = makeCpf(nine)
        fc.pre(value[9] !== '0')
        expect(changesOfOneDigit(value).filter(parseDocument)).toEqual([])
      }),
      { numRuns: 1000 },
    )
  })

  // Rests 0 and 1 share the check digit 0, so the rule itself cannot tell some neighbours apart.
  it.each([
    ['21244969800', '11244969800'],
    ['21244969800', '21244769800'],
  ])('knows that the arithmetic lets %s and %s both pass', (one, other) => {
    expect(parseDocument(one)?.value).toBe(one)
    expect(parseDocument(other)?.value).toBe(other)
  })

  it('finds no other change of one digit that passes', () => {
    fc.assert(
      fc.property(nineDigits, (nine) => {
        const value = makeCpf(nine)
        for (const changed of changesOfOneDigit(value).filter(parseDocument)) {
          const place = [...changed].findIndex((one, index) => one !== value[index])
          expect(place === 0 ? value[9] === '0' : place === 5 && value.endsWith('00')).toBe(true)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => parseDocument(text) === undefined))
  })
})

describe('make', () => {
  it('computes the published examples', () => {
    expect(makeCpf('529982247')).toBe('52998224725')
    expect(makeCnpj('12ABC34501DE')).toBe('12ABC34501DE35')
    expect(makeCnpj('000000000001')).toBe('00000000000191')
  })

  it('wants exactly the characters of a base', () => {
    for (const bad of ['', '12345678', '1234567890', '12345678A', '１２３４５６７８９']) {
      expect(() => makeCpf(bad)).toThrow(RangeError)
    }
    for (const bad of ['', '12345678901', '1234567890123', '12abc34501de', '12ABC34501D-']) {
      expect(() => makeCnpj(bad)).toThrow(RangeError)
    }
  })
})

describe('maskDocument', () => {
  it.each([
    ['12345678909', '***.456.789-**'],
    ['52998224725', '***.982.247-**'],
    ['12345678000195', '**.345.678/0001-**'],
    ['12ABC34501DE35', '**.ABC.345/01DE-**'],
  ])('%s becomes %s', (value, masked) => {
    expect(maskDocument(value)).toBe(masked)
  })

  it.each(['', '529.982.247-25', '20.018.183/0001-80', '1234567', 'João'])('hides %j whole', (value) => {
    expect(maskDocument(value)).toBe('***')
  })
})

function changesOfOneDigit(value: string): string[] {
  return [...value].flatMap((old, index) =>
    [...'0123456789']
      .filter((other) => other !== old)
      .map((other) => value.slice(0, index) + other + value.slice(index + 1)),
  )
}
