import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeCnpj, makeCpf, parseDocument } from '../../src/core/document.ts'
import { parsePixKey } from '../../src/money/pix/key.ts'
import { isCnpj, isCpf, isPixKey } from '../dist/index.js'

type Vector = { readonly key: string; readonly type: string; readonly valid: boolean; readonly why: string }

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../test/vectors/pix-keys.json', import.meta.url), 'utf8'),
)

describe('the vectors of the server', () => {
  test.each(vectors)('$key: $why', ({ key, type, valid }) => {
    expect(isPixKey(key)).toBe(valid)
    expect(isCpf(key)).toBe(valid && type === 'cpf')
    expect(isCnpj(key)).toBe(valid && type === 'cnpj')
  })
})

test('the SDK takes what the server takes, and nothing else', () => {
  const digits = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length })
  const genuine = fc.oneof(
    digits(9).map(makeCpf),
    digits(12).map(makeCnpj),
    digits(8).map((rest) => `+55119${rest}`),
    fc.uuid(),
    fc.constant('ana@example.com'),
  )
  const near = fc.tuple(genuine, fc.nat(), fc.string({ maxLength: 1 })).map(([text, at, put]) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + put + text.slice(place + (at % 2))
  })
  fc.assert(
    fc.property(fc.oneof(genuine, near, fc.string()), (text) => {
      expect(isPixKey(text)).toBe(parsePixKey(text) !== undefined)
      expect(isCpf(text)).toBe(parseDocument(text)?.type === 'cpf')
      expect(isCnpj(text)).toBe(parseDocument(text)?.type === 'cnpj')
    }),
    { numRuns: 3000 },
  )
})

test('a value that is no text is no key', () => {
  for (const value of [undefined, null, 52998224725, {}, ['52998224725']] as never[])
    expect([isCpf(value), isCnpj(value), isPixKey(value)]).toEqual([false, false, false])
})
