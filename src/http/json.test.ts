import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonError, type JsonErrorReason, parseJson } from './json.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function refusal(bytes: Uint8Array): JsonError {
  try {
    parseJson(bytes)
  } catch (error) {
    if (error instanceof JsonError) return error
    throw error
  }
  return expect.fail('it was accepted')
}

describe('what is taken', () => {
  it.each([
    '{}',
    '[]',
    'null',
    'true',
    '0',
    '-0',
    '-1.5e+10',
    '1E3',
    '1e400',
    '""',
    ' \t\r\n{ "a" : [ 1 , { } , [ ] ] }\n',
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"":1," ":2}',
    '{"a":1,"A":2}',
    '{"é":1,"e\u0301":2}',
    '{"constructor":1,"toString":2,"hasOwnProperty":3,"__proto":4}',
    '["__proto__"]',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u00E9"',
    '"\\\\u0000"',
    '"\\ud83d\\ude00"',
    '"😀\u2028\u2029\u007f\ufeff"',
    '{"\\ud83d\\ude00":1}',
  ])('%s', (text) => {
    expect(parseJson(encode(text))).toStrictEqual(JSON.parse(text))
  })

  it('32 levels', () => {
    const text = '[{"a":'.repeat(16) + 1 + '}]'.repeat(16)
    expect(parseJson(encode(text))).toStrictEqual(JSON.parse(text))
    expect(refusal(encode(`[${text}]`)).reason).toBe('too_deep')
  })

  it('many values side by side', () => {
    const text = `[${'[],{},'.repeat(1000)}0]`
    expect(parseJson(encode(text))).toStrictEqual(JSON.parse(text))
  })

  it('a view into a larger buffer', () => {
    expect(parseJson(encode('x{"a":1}x').subarray(1, 8))).toStrictEqual({ a: 1 })
  })

  it('the next body after one that ended inside a character', () => {
    expect(refusal(Uint8Array.of(0x22, 0xf0, 0x9f)).reason).toBe('encoding')
    expect(parseJson(encode('"é"'))).toBe('é')
  })
})

describe('what is refused', () => {
  const table: [text: string, reason: JsonErrorReason, message: string][] = [
    ['', 'empty', 'The body is empty.'],
    [' \r\n\t', 'empty', 'The body is empty.'],
    ['\ufeff{}', 'encoding', 'The body starts with a byte order mark; send UTF-8 without one.'],
    ['{"a":1,"a":2}', 'duplicate_key', 'The key "a" appears twice in one object, again at line 1, column 8;'],
    ['{"a":1,"\\u0061":2}', 'duplicate_key', 'The key "a" appears twice'],
    ['{"x":[{"a":1,"a":1}]}', 'duplicate_key', 'line 1, column 14'],
    ['{"a":1,\n "a":2}', 'duplicate_key', 'line 2, column 2'],
    ['{"a":{"b":1},"b":2,"a":3}', 'duplicate_key', 'The key "a"'],
    ['{"":1,"":2}', 'duplicate_key', 'A key appears twice'],
    [`{"${'k'.repeat(41)}":1,"${'k'.repeat(41)}":2}`, 'duplicate_key', 'A key appears twice'],
    ['{"<script>":1,"<script>":2}', 'duplicate_key', 'A key appears twice'],
    ['{"__proto__":1}', 'forbidden_key', 'The key "__proto__" is not allowed (line 1, column 2).'],
    ['{"\\u005f_proto__":{}}', 'forbidden_key', '__proto__'],
    ['[[{"a":{"__proto__":null}}]]', 'forbidden_key', '__proto__'],
    ['"\\u0000"', 'forbidden_character', 'The string at line 1, column 1 contains the character U+0000.'],
    ['{"a\\u0000":1}', 'forbidden_character', 'column 2'],
    ['"\\ud800"', 'forbidden_character', 'half a surrogate pair'],
    ['"\\uDFFF"', 'forbidden_character', 'half a surrogate pair'],
    ['"\\ude00\\ud83d"', 'forbidden_character', 'half a surrogate pair'],
    ['["\\ud83d","\\ude00"]', 'forbidden_character', 'half a surrogate pair'],
    ['{"\\ud83d":1}', 'forbidden_character', 'half a surrogate pair'],
    ['['.repeat(33), 'too_deep', 'nested deeper than 32 levels at line 1, column 33'],
    ['['.repeat(65_536), 'too_deep', 'column 33'],
    ['{"a":'.repeat(13_000), 'too_deep', 'nested deeper than 32 levels'],
    [']'.repeat(65_536), 'syntax', 'a value was expected at line 1, column 1'],
    ['{"a":1,}', 'syntax', 'a key in double quotes was expected at line 1, column 8'],
    ['[1,]', 'syntax', 'a value was expected at line 1, column 4'],
    ['[1 2]', 'syntax', 'a comma or ] was expected at line 1, column 4'],
    ['{"a":1 "b":2}', 'syntax', 'a comma or } was expected at line 1, column 8'],
    ['[1}', 'syntax', 'a comma or ] was expected'],
    ['{"a":1]', 'syntax', 'a comma or } was expected'],
    ['[}', 'syntax', 'a value was expected'],
    ['{]', 'syntax', 'a key in double quotes was expected'],
    ['{"a"}', 'syntax', 'a colon was expected at line 1, column 5'],
    ['{"a":}', 'syntax', 'a value was expected'],
    ['{a:1}', 'syntax', 'a key in double quotes was expected'],
    ["{'a':1}", 'syntax', 'a key in double quotes was expected'],
    ['{} {}', 'syntax', 'there is more text after the end of the document at line 1, column 4'],
    ['{},', 'syntax', 'there is more text'],
    ['{}// x', 'syntax', 'there is more text'],
    ['/* x */{}', 'syntax', 'a value was expected'],
    ['{"a":1', 'syntax', 'it ends too early'],
    ['{"a":', 'syntax', 'it ends too early'],
    ['{"a"', 'syntax', 'it ends too early'],
    ['{"a', 'syntax', 'it ends too early'],
    ['[', 'syntax', 'it ends too early'],
    ['"', 'syntax', 'it ends too early'],
    ['"\n"', 'syntax', 'a control character inside a string must be escaped at line 1, column 2'],
    ['"\u001f"', 'syntax', 'a control character inside a string must be escaped'],
    ['"\\x41"', 'syntax', 'the escape sequence is unknown'],
    ['"\\u{41}"', 'syntax', 'the escape sequence is unknown'],
    ['"\\u00é1"', 'syntax', 'the escape sequence is unknown'],
    ['01', 'syntax', 'there is more text'],
    ['+1', 'syntax', 'a value was expected'],
    ['.5', 'syntax', 'a value was expected'],
    ['1.', 'syntax', 'there is more text'],
    ['NaN', 'syntax', 'a value was expected'],
    ['nulll', 'syntax', 'there is more text'],
    ['\u00a0{}', 'syntax', 'a value was expected'],
    ['{}\u2028', 'syntax', 'there is more text'],
    ['{}\0', 'syntax', 'there is more text'],
  ]

  it.each(table.map(([text, ...rest]) => [text.slice(0, 40), text, ...rest] as const))(
    '%j',
    (_, text, reason, message) => {
      const error = refusal(encode(text))
      expect(error.reason).toBe(reason)
      expect(error.message).toContain(message)
    },
  )

  it.each([
    ['a lone byte', [0x22, 0xff, 0x22]],
    ['an overlong NUL', [0x22, 0xc0, 0x80, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a character cut short', [0x22, 0xe2, 0x82, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])('%s', (_, bytes) => {
    expect(refusal(Uint8Array.from(bytes))).toMatchObject({
      reason: 'encoding',
      message: 'The body is not valid UTF-8.',
    })
  })

  it('quickly, however the 64 KiB are filled', () => {
    const fill = (unit: string) => unit.repeat(Math.floor(65_536 / unit.length))
    const bodies = ['[', '{"a":', '"', '\\', ' ', '-', '1e', '\\u0000', '\n', '[],', '{},', '""'].map(fill)
    const keys = Array.from({ length: 6000 }, (_, index) => `"${index}":1`).join(',')
    bodies.push(
      `${fill('1')}x`,
      `"${fill('\\n')}`,
      `["${fill('\\u0041')}`,
      `{${keys},"0":1}`,
      `{${keys}`,
      `[${fill('0,')}`,
    )
    const started = performance.now()
    for (const body of bodies) refusal(encode(body))
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe('against the engine', () => {
  const clean = (value: unknown): boolean => {
    const text = JSON.stringify(value)
    return text.isWellFormed() && !/__proto__|\\u0000|\\ud[89a-f]/i.test(text)
  }

  it('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), fc.nat(3), (value, indent) => {
        fc.pre(clean(value))
        const text = JSON.stringify(value, null, indent)
        expect(parseJson(encode(text))).toStrictEqual(JSON.parse(text))
      }),
      { numRuns: 3000 },
    )
  })

  it('refuses by syntax exactly what JSON.parse refuses', () => {
    const piece = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '\\', 'u', '0041', '0', '1', '-', '.', 'e', '+', ' ', '\n'],
      ...['true', 'null', '"a"', '"b":', '{"c":', '[1,', '\\n', '\0', '\u00a0', 'é', '/*', '//'],
    )
    const mutated = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.nat(), fc.nat(2), fc.option(piece, { nil: '' }))
      .map(([text, place, cut, put]) => {
        const at = place % (text.length + 1)
        return text.slice(0, at) + put + text.slice(at + cut)
      })
    fc.assert(
      fc.property(
        fc.oneof(
          mutated,
          fc.array(piece, { maxLength: 12 }).map((it) => it.join('')),
        ),
        (text) => {
          fc.pre(text.isWellFormed())
          const reason = refusalReason(text)
          // Other reasons end the parsing early, so they say nothing about the syntax of the rest.
          fc.pre(reason === undefined || reason === 'syntax' || reason === 'empty')
          expect(reason === undefined).toBe(acceptedByEngine(text))
        },
      ),
      { numRuns: 20_000 },
    )
  })

  it('never throws anything but its own error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          parseJson(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(JsonError)
        }
      }),
      { numRuns: 3000 },
    )
  })
})

function acceptedByEngine(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function refusalReason(text: string): JsonErrorReason | undefined {
  try {
    parseJson(encode(text))
    return undefined
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    if (error.message === 'The body is not valid JSON.') expect.fail('our own pass let it through')
    return error.reason
  }
}

type Part = string | { repeat: string; times: number }
type Body = { name: string; body?: string | Part[]; body_base64?: string; layer: string }
type Amount = { name: string; json: string; valid: boolean }

function readCorpus<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`../../test/corpora/${name}`, import.meta.url), 'utf8'))
}

function bytesOf(entry: Body): Uint8Array {
  if (entry.body_base64 !== undefined) return Buffer.from(entry.body_base64, 'base64')
  const text = [entry.body ?? '']
    .flat()
    .map((part) => {
      if (typeof part === 'string') return part
      return Array.from({ length: part.times }, (_, n) => part.repeat.replaceAll('{{n}}', String(n))).join('')
    })
    .join('')
  return encode(text.replaceAll('{{customer}}', 'cus_01'))
}

describe('the corpus of bodies', () => {
  const bodies = readCorpus<Body>('json-bodies.json')

  it('is as large as promised and has no name twice', () => {
    expect(bodies.length).toBeGreaterThanOrEqual(160)
    expect(new Set(bodies.map((entry) => entry.name)).size).toBe(bodies.length)
  })

  it.each(bodies.filter((entry) => entry.layer === 'json'))('refuses: $name', (entry) => {
    const bytes = bytesOf(entry)
    expect(bytes.length).toBeLessThanOrEqual(65_536)
    expect(refusal(bytes).message.length).toBeLessThan(150)
  })

  it.each(bodies.filter((entry) => entry.layer === 'schema'))('reads, for the schema: $name', (entry) => {
    const bytes = bytesOf(entry)
    expect(bytes.length).toBeLessThanOrEqual(65_536)
    expect(() => parseJson(bytes)).not.toThrow()
  })

  it.each(bodies.filter((entry) => entry.layer === 'size'))('is too large: $name', (entry) => {
    expect(bytesOf(entry).length).toBeGreaterThan(65_536)
  })
})

describe('the corpus of amounts', () => {
  const amounts = readCorpus<Amount>('amounts.json')

  it('is as large as promised and has no name twice', () => {
    expect(amounts.length).toBeGreaterThanOrEqual(90)
    expect(new Set(amounts.map((entry) => entry.name)).size).toBe(amounts.length)
  })

  it.each(amounts)('$name', (entry) => {
    expect(isAmount(encode(`{"amount":${entry.json}}`))).toBe(entry.valid)
  })
})

function isAmount(bytes: Uint8Array): boolean {
  try {
    const { amount } = parseJson(bytes) as { amount: unknown }
    return typeof amount === 'string' && /^[1-9][0-9]{0,17}$/.test(amount)
  } catch (error) {
    expect(error).toBeInstanceOf(JsonError)
    return false
  }
}
