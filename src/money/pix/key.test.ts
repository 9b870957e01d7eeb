import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeCnpj, makeCpf } from '../../core/document.ts'
import { parsePixKey } from './key.ts'

type Vector = { key: string; type: string; valid: boolean; why: string; normalized?: string }

const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('../../../test/vectors/pix-keys.json', import.meta.url), 'utf8'),
)
// The directory calls a random key EVP.
const typeOf = (vector: Vector) => (vector.type === 'evp' ? 'random' : vector.type)

const string = (alphabet: string, minLength: number, maxLength = minLength) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength })
const digits = '0123456789'
const areaCodes = [
  ...[11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 27, 28, 31, 32, 33, 34, 35, 37, 38, 41, 42, 43, 44],
  ...[45, 46, 47, 48, 49, 51, 53, 54, 55, 61, 62, 63, 64, 65, 66, 67, 68, 69, 71, 73, 74, 75, 77, 79, 81],
  ...[82, 83, 84, 85, 86, 87, 88, 89, 91, 92, 93, 94, 95, 96, 97, 98, 99],
]

const cpf = string(digits, 9)
  .filter((nine) => !/^(.)\1*$/.test(nine))
  .map(makeCpf)
const cnpj = string(`${digits}ABCDEFGHIJKLMNOPQRSTUVWXYZ`, 12)
  .filter((twelve) => !/^0*$/.test(twelve))
  .map(makeCnpj)
const phone = fc
  .tuple(fc.constantFrom(...areaCodes), string(digits, 8))
  .map(([areaCode, rest]) => `+55${areaCode}9${rest}`)
const email = fc
  .tuple(string("abcxyz019.!#$&'*+/=?^_`{|}~-", 1, 30), string('abcxyz019', 1, 20), string('abcxyz', 2, 10))
  .map(([local, domain, top]) => `${local}@${domain}.${top}`)
const random = fc.uuid()

describe('the vectors', () => {
  it.each(vectors.filter(({ valid }) => valid))('takes $key: $why', (vector) => {
    expect(parsePixKey(vector.key)).toEqual({ type: typeOf(vector), key: vector.normalized ?? vector.key })
  })

  it.each(vectors.filter(({ valid }) => !valid))('refuses $key: $why', ({ key }) => {
    expect(parsePixKey(key)).toBeUndefined()
  })

  it('are of every type', () => {
    const taken = new Set(vectors.filter(({ valid }) => valid).map(typeOf))
    expect([...taken].sort()).toEqual(['cnpj', 'cpf', 'email', 'phone', 'random'])
  })
})

describe('CPF and CNPJ', () => {
  it.each([
    ['529.982.247-25', 'cpf', '52998224725'],
    ['12.ABC.345/01DE-35', 'cnpj', '12ABC34501DE35'],
    ['12.abc.345/01de-35', 'cnpj', '12ABC34501DE35'],
  ])('takes %s fully punctuated', (text, type, key) => {
    expect(parsePixKey(text)).toEqual({ type, key })
  })

  it.each(['529982247-25', '529.982.24725', '529 982 247 25', '20018183/0001-80', '20.018.183.0001-80'])(
    'refuses %s, punctuated in part or otherwise',
    (text) => {
      expect(parsePixKey(text)).toBeUndefined()
    },
  )

  it('eleven digits that could be a mobile number are only ever a CPF', () => {
    expect(parsePixKey('11987654321')).toBeUndefined()
    expect(parsePixKey(makeCpf('119876543'))?.type).toBe('cpf')
  })
})

describe('phone', () => {
  it.each([
    '+5511987654321',
    '+55 11 987654321',
    '+55 11 98765-4321',
    '+55 11 98765 4321',
    '+55 11 9 8765-4321',
    '+55 11 9 8765 4321',
    '+55(11)987654321',
    '+55 (11) 98765-4321',
    '+55 (11)98765-4321',
    '+55 (11) 9 8765-4321',
    '+55-11-98765-4321',
    '+55 11-98765-4321',
    '+551198765-4321',
  ])('drops the punctuation of %s', (text) => {
    expect(parsePixKey(text)).toEqual({ type: 'phone', key: '+5511987654321' })
  })

  it.each([
    ['no country code', '+11987654321'],
    ['another country', '+5411987654321'],
    ['no plus', '55 (11) 98765-4321'],
    ['two zeros for the plus', '005511987654321'],
    ['space after the plus', '+ 5511987654321'],
    ['country code enclosed', '+(55) 11 98765-4321'],
    ['opening parenthesis only', '+55 (11 98765-4321'],
    ['closing parenthesis only', '+55 11) 98765-4321'],
    ['area code with trunk zero', '+55 (011) 98765-4321'],
    ['two spaces', '+55  11987654321'],
    ['hyphen in another place', '+5511987-654321'],
    ['hyphen after the 9', '+55119-8765-4321'],
    ['dots', '+55.11.98765.4321'],
    ['slash', '+55/11/987654321'],
    ['tab', '+55\t11987654321'],
    ['no-break space', '+55\u00a011987654321'],
    ['dash that is no hyphen', '+55 11 98765–4321'],
    ['landline', '+551132654321'],
    ['nine digits that do not begin with 9', '+5511887654321'],
    ['ten digits', '+55119876543210'],
    ['full-width digits', '+55１１987654321'],
    ['extension', '+5511987654321x1'],
    ['nothing but the plus', '+'],
  ])('refuses %s', (_, text) => {
    expect(parsePixKey(text)).toBeUndefined()
  })

  it('takes the 67 existing area codes and no other', () => {
    const codes = Array.from({ length: 100 }, (_, code) => String(code).padStart(2, '0'))
    const taken = codes.filter((code) => parsePixKey(`+55${code}987654321`))
    expect(taken).toEqual(areaCodes.map(String))
    expect(taken).toHaveLength(67)
    expect(codes.filter((code) => parsePixKey(`+55 (${code}) 98765-4321`))).toEqual(taken)
  })
})

describe('e-mail', () => {
  it.each([
    ['Maria.Silva@Example.COM.BR', 'maria.silva@example.com.br'],
    ['+5511987654321@example.com', '+5511987654321@example.com'],
    ['52998224725@example.com', '52998224725@example.com'],
    ["o'brien!#$&*+/=?^_`{|}~-@example.com", "o'brien!#$&*+/=?^_`{|}~-@example.com"],
    [`a@${'b'.repeat(63)}.com`, `a@${'b'.repeat(63)}.com`],
  ])('takes %s', (text, key) => {
    expect(parsePixKey(text)).toEqual({ type: 'email', key })
  })

  it.each([
    ['no dot in the domain', 'maria@localhost'],
    ['only a dot', 'maria@.'],
    ['dot at the end', 'maria@example.com.'],
    ['dot at the start of the domain', 'maria@.example.com'],
    ['two dots in the domain', 'maria@example..com'],
    ['hyphen at the start of a label', 'maria@-example.com'],
    ['hyphen at the end of a label', 'maria@example-.com'],
    ['label of 64', `a@${'b'.repeat(64)}.com`],
    ['underscore in the domain', 'maria@exa_mple.com'],
    ['address literal', 'maria@[127.0.0.1]'],
    ['nothing before the @', '@example.com'],
    ['nothing after the @', 'maria@'],
    ['percent sign, which the DICT leaves out', 'maria%x@example.com'],
    ['quoted', '"maria"@example.com'],
    ['display name', 'Maria <maria@example.com>'],
    ['non-ASCII domain', 'maria@exemplo.são.br'],
    ['Kelvin sign for K', 'mari\u212a@example.com'],
    ['long s for s', 'maria@example.com.\u017f\u017f'],
    ['two addresses', 'a@example.com,b@example.com'],
    ['78 characters with capitals', `${'X'.repeat(66)}@example.com`],
  ])('refuses %s', (_, text) => {
    expect(parsePixKey(text)).toBeUndefined()
  })

  it('rejects a text that would make the expression backtrack, at once', () => {
    const began = performance.now()
    for (const part of ['a', 'a.', 'a-', '@a', '.', '+']) {
      expect(parsePixKey(`a@${part.repeat(200_000)}!`)).toBeUndefined()
      expect(parsePixKey(`+55${part.repeat(200_000)}`)).toBeUndefined()
    }
    expect(performance.now() - began).toBeLessThan(5000)
  })
})

describe('random', () => {
  it.each(['123e4567-e89b-12d3-a456-426655440000', '00000000-0000-0000-0000-000000000000'])(
    'takes %s of any version',
    (key) => {
      expect(parsePixKey(key)).toEqual({ type: 'random', key })
      expect(parsePixKey(key.toUpperCase())).toEqual({ type: 'random', key })
    },
  )

  it.each([
    ['hyphens in other places', '123e456-7e89b-12d3-a456-426655440000'],
    ['URN', 'urn:uuid:123e4567-e89b-12d3-a456-426655440000'],
    ['a hyphen missing', '123e4567-e89b-12d3-a456426655440000'],
    ['a digit too many', '123e4567-e89b-12d3-a456-4266554400001'],
    ['text in front', 'x123e4567-e89b-12d3-a456-426655440000'],
  ])('refuses %s', (_, text) => {
    expect(parsePixKey(text)).toBeUndefined()
  })
})

describe('properties', () => {
  const key = fc.oneof(
    fc.record({ type: fc.constant('cpf'), key: cpf }),
    fc.record({ type: fc.constant('cnpj'), key: cnpj }),
    fc.record({ type: fc.constant('phone'), key: phone }),
    fc.record({ type: fc.constant('email'), key: email }),
    fc.record({ type: fc.constant('random'), key: random }),
  )

  it('a key in the DICT’s spelling is returned unchanged, with its type', () => {
    fc.assert(
      fc.property(key, (one) => {
        expect(parsePixKey(one.key)).toEqual(one)
      }),
      { numRuns: 2000 },
    )
  })

  it('the case of letters does not change the key', () => {
    fc.assert(
      fc.property(key, fc.infiniteStream(fc.boolean()), (one, coins) => {
        const text = [...one.key]
          .map((character) => (coins.next().value ? character.toUpperCase() : character.toLowerCase()))
          .join('')
        expect(parsePixKey(text)).toEqual(one)
      }),
      { numRuns: 1000 },
    )
  })

  it('white space or a control character around a key is refused, never trimmed', () => {
    const outer = fc.constantFrom(' ', '\t', '\n', '\r', '\0', '\u00a0', '\u2028', '\ufeff', '\u200b')
    fc.assert(
      fc.property(key, outer, (one, blank) => {
        expect(parsePixKey(blank + one.key)).toBeUndefined()
        expect(parsePixKey(one.key + blank)).toBeUndefined()
      }),
      { numRuns: 1000 },
    )
  })

  it('never throws, and every accepted key is its own normal form', () => {
    const characters = fc.constantFrom(...'+55119. -()/@abAB{}\0\u212a\ud800')
    const near = fc
      .tuple(key, fc.nat(), fc.string({ unit: characters, maxLength: 2 }))
      .map(([one, at, put]) => {
        const place = at % (one.key.length + 1)
        return one.key.slice(0, place) + put + one.key.slice(place + (at % 2))
      })
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ unit: 'binary' }), fc.string({ unit: characters })), (text) => {
        const taken = parsePixKey(text)
        if (taken) expect(parsePixKey(taken.key)).toEqual(taken)
      }),
      { numRuns: 2000 },
    )
  })
})
