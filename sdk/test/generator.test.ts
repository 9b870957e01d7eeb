import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Document, renderSdk } from '../../tools/sdk.ts'
import { type Schema, typeOf } from '../../tools/sdk-types.ts'

const document: Document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

describe('a schema', () => {
  test('is open where it is received, and amounts are bigints where they are sent', () => {
    expect(typeOf({ type: 'string', 'x-known-values': ['a', 'b'] }, 'received')).toBe("Open<'a' | 'b'>")
    expect(typeOf({ type: 'string', enum: ['a', 'b'] }, 'sent')).toBe("'a' | 'b'")
    expect(typeOf({ type: 'string', 'x-error': 'invalid_amount' }, 'sent')).toBe('Amount')
    expect(typeOf({ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, 'sent')).toBe(
      "readonly ('a' | 'b')[]",
    )
  })

  test('with a keyword or a type that the generator does not know is not guessed', () => {
    for (const schema of [
      { not: {} },
      { allOf: [] },
      { type: 'object', patternProperties: {} },
    ] as object[] as Schema[])
      expect(() => typeOf(schema, 'received')).toThrow(/does not know (not|allOf|patternProperties)/)
    expect(() => typeOf({ type: 'file' }, 'received')).toThrow('does not know the type file')
  })
})

describe('the table of operations', () => {
  const { operations } = renderSdk(document)

  test('has every operation, and what becomes of it when it is sent twice', () => {
    const declared = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    expect(operations.match(/^ {2}'/gm)).toHaveLength(declared.length + 3) // and three dry runs
    for (const operation of declared) {
      const name = operation['x-name'].replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
      expect(operations).toMatch(new RegExp(`'${name}': .*repeat: '${operation['x-repeat']}'`))
    }
  })

  test('a body beside a query of its own would need a decision', () => {
    const [path] = Object.keys(document.paths)
    const methods = document.paths[path!]!
    const parameters = [{ name: 'notify', in: 'query', schema: { type: 'boolean' } }]
    const changed = { ...document, paths: { [path!]: { post: { ...methods.post!, parameters } } } }
    expect(() => renderSdk(changed)).toThrow('customers.create has a body and a query of its own')
  })
})
