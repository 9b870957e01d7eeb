import { expect, test } from 'vitest'
import { errors } from '../../../src/core/errors.ts'
import { en } from './en/en.ts'
import { plural } from './plural.ts'
import { ptBR } from './pt-BR/pt-BR.ts'

type Leaf = { readonly path: string; readonly text: string }

/** Every string by its path; the compiler checks the functions. */
function leaves(node: unknown, path = ''): Leaf[] {
  if (typeof node === 'string') return [{ path, text: node }]
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, child]) => leaves(child, path === '' ? key : `${path}.${key}`))
}

test('no text is empty', () => {
  expect(leaves(en).length).toBeGreaterThan(100)
  expect([...leaves(en), ...leaves(ptBR)].filter(({ text }) => text.trim() === '')).toEqual([])
})

test('no Portuguese text is an English sentence', () => {
  const english = new Map(leaves(en).map(({ path, text }) => [path, text]))
  // Names, codes and addresses may be equal; three equal words in a row are a sentence.
  const isSentence = (text: string) => /[a-z]+ [a-z]+ [a-z]+/i.test(text)
  const same = leaves(ptBR).filter(({ path, text }) => english.get(path) === text && isSentence(text))
  expect(same).toEqual([])
})

test('every error text belongs to an existing code', () => {
  expect(Object.keys(ptBR.ui.errors).filter((code) => !(code in errors))).toEqual([])
})

test('plurals follow the rules of the language', () => {
  const forms = { one: '# pagamento', other: '# pagamentos' }
  expect(plural('pt-BR')(0, forms)).toBe('0 pagamento')
  expect(plural('pt-BR')(1, forms)).toBe('1 pagamento')
  expect(plural('pt-BR')(1204, forms)).toBe('1.204 pagamentos')
  expect(plural('en')(0, { one: '# payout', other: '# payouts' })).toBe('0 payouts')
  expect(plural('en')(1204, { one: '# payout', other: '# payouts' })).toBe('1,204 payouts')
})
