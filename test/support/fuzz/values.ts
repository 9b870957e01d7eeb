import fc, { type Arbitrary } from 'fast-check'
import { DOCUMENT_PATTERN, makeCnpj, makeCpf } from '../../../src/core/document.ts'
import { AMOUNT_PATTERN } from '../../../src/core/money.ts'
import { PRICE_PATTERN } from '../../../src/core/price.ts'
import { CLEAN_PATTERN, CLEAN_TEXT_PATTERN } from '../../../src/core/text.ts'
import type { JsonSchema, Ref } from '../../../src/doors/reference/json-schema.ts'
import { CURSOR_PATTERN } from '../../../src/http/schema.ts'
import { ADDRESS_PATTERN } from '../../../src/money/onchain/address.ts'
import { PIX_KEY_PATTERN } from '../../../src/money/pix/key.ts'
import { URL_PATTERN } from '../../../src/webhooks/url.ts'
import { follow } from './document.ts'

/**
 * Values that a schema allows. What only exists while the test runs (ids, cursors, an address that listens) is written
 * as a placeholder, «what:arguments», and put in when the request is sent; so a seed gives the same requests again.
 */
export const placeholder = (...parts: readonly (string | number)[]): string => `«${parts.join(':')}»`

export const ids = (kind: string): Arbitrary<string> =>
  fc
    .tuple(
      fc.oneof(
        { weight: 86, arbitrary: fc.constant('own') },
        { weight: 4, arbitrary: fc.constant('foreign') },
        { weight: 4, arbitrary: fc.constant('elsewhere') },
        { weight: 4, arbitrary: fc.constant('nobody') },
      ),
      fc.nat(1000),
    )
    .map(([whose, which]) => placeholder('id', kind, whose, which))

const digits = (length: number) =>
  fc.array(fc.nat(9), { minLength: length, maxLength: length }).map((list) => list.join(''))

const cpf = digits(9)
  .filter((nine) => !/^(.)\1*$/.test(nine))
  .map(makeCpf)
const cnpj = fc
  .stringMatching(/^[0-9A-Z]{8}0001$/)
  .filter((twelve) => !/^(.)\1*$/.test(twelve))
  .map(makeCnpj)
const dotted = (text: string) =>
  `${text.slice(0, 3)}.${text.slice(3, 6)}.${text.slice(6, 9)}-${text.slice(9)}`
const documents = fc.oneof(
  cpf,
  cpf.map(dotted),
  cnpj,
  fc.nat(1000).map((which) => placeholder('document', which)),
)

const magic = [
  'ac03',
  'be01',
  'ab03',
  'slow',
  'slow',
  'slow',
  'timeout',
  'notfound',
  'other-owner',
  'lost',
  'anyone',
  'ok',
]
const pixKeys = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...magic).map((name) => `${name}@sandbox.test`) },
  { weight: 2, arbitrary: fc.constantFrom('ana@example.com', 'A.B+c@Example.com.br') },
  { weight: 1, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: digits(8).map((tail) => `+55119${tail}`) },
  { weight: 1, arbitrary: cpf },
)

export const destinations = [
  ['polygon', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  ['ethereum', '0x8617E340B3D01FA5F11F306F4090FD50E238070D'],
  ['arbitrum', '0x52908400098527886e0f7030069857d2e4169ee7'],
  ['optimism', '0xde709f2102306220921060314715629080e2fb77'],
  ['tron', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
  ['bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
] as const

const letters = fc.constantFrom(
  ...[
    'a',
    'B',
    '7',
    ' ',
    '-',
    '.',
    'ç',
    'Ž',
    '漢',
    '🙂',
    '👩‍👩‍👧',
    "'",
    '"',
    '\\',
    '<b>',
    '&',
    '%',
    '{',
    '$',
    '\u00a0',
    'İ',
  ],
)
function cleanText({ minLength = 0, maxLength = 60 }: JsonSchema, blank: boolean): Arbitrary<string> {
  const some = fc
    .array(letters, { minLength: Math.max(1, minLength), maxLength: 12 })
    .map((list) => list.join(''))
  const fits = (text: string) => [...text].length <= maxLength && (blank || text.trim() !== '')
  return fc.oneof(
    { weight: 8, arbitrary: some.filter(fits) },
    { weight: 1, arbitrary: fc.constantFrom('x'.repeat(maxLength), '🙂'.repeat(maxLength)) },
    { weight: 1, arbitrary: fc.constantFrom(...(blank ? ['', ' '] : ['x', ' x'])) },
  )
}

const times = fc
  .tuple(
    fc.integer({ min: -5_000_000, max: 5_000_000 }),
    fc.constantFrom('Z', 'Z', 'Z', '+03:00', 'z', '-00:30'),
  )
  .map(([seconds, zone]) => `${new Date(Date.now() + seconds * 1000).toISOString().slice(0, -1)}${zone}`)

/** Patterns behind which there is a rule that a random text would not pass. */
const byPattern: Readonly<Record<string, (schema: JsonSchema) => Arbitrary<unknown>>> = {
  [DOCUMENT_PATTERN]: () => documents,
  [PIX_KEY_PATTERN]: () => pixKeys,
  [ADDRESS_PATTERN]: () => fc.constantFrom(...destinations.map(([, address]) => address)),
  [URL_PATTERN]: () => fc.stringMatching(/^[a-z0-9]{0,8}$/).map((path) => placeholder('url', path)),
  // Where to go on from in the event log may also be an event.
  [CURSOR_PATTERN]: () =>
    fc.oneof(
      { weight: 4, arbitrary: fc.nat(1000).map((which) => placeholder('cursor', which)) },
      { weight: 1, arbitrary: ids('event') },
    ),
  [AMOUNT_PATTERN]: () =>
    fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 5_000_000 }).map(String) },
      { weight: 2, arbitrary: fc.constantFrom('9001', '9002', '9003', '9004', '1', '100000000') },
      { weight: 1, arbitrary: fc.stringMatching(/^[1-9][0-9]{0,17}$/) },
      { weight: 1, arbitrary: fc.constant('999999999999999999') },
    ),
  [PRICE_PATTERN]: () =>
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('5.40', '5.4', '6', '100000') },
      { weight: 1, arbitrary: fc.constantFrom('0.00000001', '99999999.99999999', '0') },
    ),
  [CLEAN_TEXT_PATTERN]: (schema) => cleanText(schema, false),
  [CLEAN_PATTERN]: (schema) => cleanText(schema, true),
}

function texts(schema: JsonSchema): Arbitrary<unknown> {
  const { pattern, format, minLength = 0, maxLength = 200 } = schema
  if (pattern !== undefined && byPattern[pattern]) return byPattern[pattern](schema)
  if (format === 'date-time') return times
  if (format === 'email') return fc.constantFrom('ana@example.com', 'x@y.co', "o'hara+tag@sub.example.org")
  if (pattern === undefined)
    return fc.string({ minLength: Math.max(1, minLength), maxLength: Math.min(maxLength, 40) })
  return fc
    .oneof(
      { weight: 3, arbitrary: fc.stringMatching(new RegExp(pattern, 'u')) },
      { weight: 1, arbitrary: examplesOf(schema) },
    )
    .filter((text) => {
      const { length } = [...String(text)]
      return length >= minLength && length <= maxLength
    })
}

const examplesOf = ({ examples = ['x'] }: JsonSchema) => fc.constantFrom(...(examples as unknown[]))

function wholeNumbers({ minimum = -1e9, maximum = 1e9 }: JsonSchema): Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: minimum, max: maximum }),
    fc.constantFrom(minimum, maximum, Math.min(100, maximum)),
  )
}

export function valuesOf(node: JsonSchema | Ref): Arbitrary<unknown> {
  const schema = follow<JsonSchema>(node)
  if (schema['x-id'] !== undefined) return ids(schema['x-id'])
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const variants = schema.oneOf ?? schema.anyOf
  if (variants) return fc.oneof(...variants.map(valuesOf))
  switch (schema.type) {
    case 'string':
      return texts(schema)
    case 'integer':
    case 'number':
      return wholeNumbers(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array': {
      const { minItems = 0, maxItems = 5 } = schema
      return fc.array(valuesOf(schema.items ?? {}), {
        minLength: minItems,
        maxLength: Math.min(maxItems, minItems + 4),
      })
    }
    default:
      return schema.properties ? records(schema) : dictionaries(schema)
  }
}

function records(schema: JsonSchema): Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, field]) => [name, valuesOf(field)] as const,
  )
  const least = schema.minProperties ?? 0
  return fc
    .record(Object.fromEntries(fields), { requiredKeys: [...(schema.required ?? [])], noNullPrototype: true })
    .filter((value) => Object.keys(value).length >= least)
}

function dictionaries({
  additionalProperties,
  propertyNames,
  maxProperties = 5,
}: JsonSchema): Arbitrary<unknown> {
  if (typeof additionalProperties !== 'object') return fc.constant({})
  const names = fc.stringMatching(new RegExp(propertyNames?.pattern ?? '^[a-z]{1,9}$', 'u'))
  return fc.dictionary(names, valuesOf(additionalProperties), {
    maxKeys: Math.min(maxProperties, 4),
    noNullPrototype: true,
  })
}
