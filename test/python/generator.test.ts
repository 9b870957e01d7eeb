import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { renderPython } from '../../tools/python.ts'
import { argumentOf, isAmount, openPythonTypes } from '../../tools/python-types.ts'
import type { Document } from '../../tools/sdk.ts'
import type { Schema } from '../../tools/sdk-types.ts'

const document: Document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
const typeOf = (schema: object, side: 'sent' | 'received' = 'received') =>
  openPythonTypes().typeOf(schema as Schema, side, 'Thing')

describe('a schema', () => {
  test('is open where it is received, and closed where it is sent', () => {
    expect(typeOf({ type: 'string', 'x-known-values': ['a'] })).toBe('Union[Literal["a"], str]')
    expect(typeOf({ type: 'string', enum: ['a', 'b'] }, 'sent')).toBe('Literal["a", "b"]')
    expect(typeOf({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toBe('Optional[str]')
    expect(typeOf({ type: 'array', items: { type: 'string' } }, 'sent')).toBe('Sequence[str]')
  })

  test.each([
    ['^(0|[1-9][0-9]{0,18})$', true],
    ['^-?[1-9][0-9]{0,17}$', true],
    ['^(0|[1-9][0-9]*)$', true],
    ['^[0-9]{1,4}$', false],
    ['^[0-9]{1,20}$', false],
    ['^[0-9]+(\\.[0-9]{1,8})?$', false],
    ['^[2-5][0-9]{2}$', false],
  ])('with the pattern %s is an int: %s', (pattern, expected) => {
    expect(isAmount({ type: 'string', pattern } as Schema)).toBe(expected)
    expect(typeOf({ type: 'string', pattern })).toBe(expected ? 'int' : 'str')
  })

  test('whose fields are not always there is two classes, and nested objects have names', () => {
    const types = openPythonTypes()
    const inner = { type: 'object', required: ['c'], properties: { c: { type: 'boolean' } } }
    types.declare(
      'Thing',
      { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: inner } },
      'received',
    )
    expect(types.declared).toEqual([
      'class ThingB(TypedDict):\n    c: bool\n',
      'class ThingAlways(TypedDict):\n    a: str\n\n\nclass Thing(ThingAlways, total=False):\n    b: "ThingB"\n',
    ])
  })

  test('that Python cannot express is not guessed', () => {
    expect(() => typeOf({ type: 'file' })).toThrow('does not know the type file')
    expect(() => typeOf({ type: 'object', properties: { from: { type: 'string' } } })).toThrow('Thing.from')
    expect(argumentOf('from')).toBe('from_')
    expect(argumentOf('form')).toBe('form')
  })
})

describe('the table of operations', () => {
  const { '_operations.py': operations, '_resources.py': resources } = renderPython(document)

  test('has every operation, and what becomes of it when it is sent twice', () => {
    const declared = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    expect(operations!.match(/^ {4}"[\w.]+": Operation/gm)).toHaveLength(declared.length + 3) // and three dry runs
    for (const operation of declared)
      expect(operations).toMatch(
        new RegExp(`"${operation['x-name']}": Operation\\("[A-Z]+", "[^"]+", "${operation['x-repeat']}"`),
      )
  })

  test('a response that is not JSON is bytes', () => {
    expect(operations).toContain('media="application/pdf"')
    expect(resources).toMatch(/def receipt\([^)]*\) -> bytes:/)
  })

  test('a body beside a query of its own would need a decision', () => {
    const [path] = Object.keys(document.paths)
    const parameters = [{ name: 'notify', in: 'query', schema: { type: 'boolean' } }]
    const changed = {
      ...document,
      paths: { [path!]: { post: { ...document.paths[path!]!.post!, parameters } } },
    }
    expect(() => renderPython(changed)).toThrow('customers.create has a body and a query of its own')
  })
})
