import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { errors } from '../../../src/core/errors.ts'
import { chargeFailureMessages } from '../../../src/money/charges/contract.ts'
import { transferFailureMessages } from '../../../src/money/onchain/contract.ts'
import { payoutFailureMessages } from '../../../src/money/pix/failures.ts'
import { charges as enCharges } from './charges/en.ts'
import { charges as ptCharges } from './charges/pt-BR.ts'
import { checks } from './checks/pt-BR.ts'
import { en as ofConsole } from './en/en.ts'
import { plural } from './plural.ts'
import { ptBR as ofConsoleInPortuguese } from './pt-BR/pt-BR.ts'

/** With the texts that are loaded with the pages of charges. */
const en = { ...ofConsole, charges: enCharges }
const ptBR = { ...ofConsoleInPortuguese, charges: ptCharges }

type Leaf = { readonly path: string; readonly text: string }

/** Every string by its path, and the strings that a function is written with. */
function leaves(node: unknown, path = ''): Leaf[] {
  if (typeof node === 'string') return [{ path, text: node }]
  if (typeof node === 'function') {
    const strings = node.toString().match(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? []
    return strings.map((text, i) => ({ path: `${path}(${i})`, text: text.slice(1, -1) }))
  }
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, child]) => leaves(child, path === '' ? key : `${path}.${key}`))
}

test('every failure of a payout and a transfer is told in Portuguese', () => {
  const messages = { ...payoutFailureMessages, ...transferFailureMessages }
  for (const [code, message] of Object.entries(messages)) {
    const failure = { code: code as keyof typeof messages, message }
    expect(en.money.details.failure_text(failure)).toBe(message)
    expect(ptBR.money.details.failure_text(failure), code).not.toBe(message)
  }
})

test('every failure of a charge is told in Portuguese', () => {
  for (const [code, message] of Object.entries(chargeFailureMessages)) {
    const failure = { code: code as keyof typeof chargeFailureMessages, message }
    expect(en.charges.failure_text(failure)).toBe(message)
    expect(ptBR.charges.failure_text(failure), code).not.toBe(message)
  }
})

test('no text is empty', () => {
  expect(leaves(en).length).toBeGreaterThan(100)
  expect([...leaves(en), ...leaves(ptBR)].filter(({ text }) => text.trim() === '')).toEqual([])
})

test('no Portuguese text is the English one', () => {
  const english = new Map(leaves(en).map(({ path, text }) => [path, text]))
  const words = (text: string) => text.replaceAll(/`[^`]*`|\$\{[^}]*\}/g, ' ').match(/[\p{L}-]{2,}/gu) ?? []
  const same = leaves(ptBR).filter(({ path, text }) => english.get(path) === text && words(text).length > 1)
  expect(same).toEqual([])
})

test('no Portuguese text has an English word', () => {
  const english =
    /(?<![\p{L}-])(the|of|and|is|are|was|were|with|without|your|you|this|that|from|not|once|waiting|accepted|fixed|set|again|key|keys)(?![\p{L}-])/iu
  // Codes, commands and ids stand between backquotes; values come in.
  const bare = (text: string) => text.replaceAll(/\\?`[^`]*`|\$\{[^}]*\}|\w+=\w+|\w+_\w*/g, ' ')
  expect(leaves(ptBR).filter(({ text }) => english.test(bare(text)))).toEqual([])
  expect(Object.values(checks).filter((text) => english.test(bare(text)))).toEqual([])
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

test('texts of the operator’s pages are used on no other page: a partner’s browser does not load them', () => {
  const folder = fileURLToPath(new URL('..', import.meta.url))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /[.]tsx?$/.test(name) && !/^text|^pages.operator|[.]test[.]/.test(name),
  )
  expect(files.length).toBeGreaterThan(100)
  const use =
    /operator\b[^=\n]*\}? = (useText\(\)|texts)|useText\(\)[.]operator|Texts\['operator'\]|Texts, '[^>]*'operator'/
  expect(files.filter((name) => use.test(readFileSync(`${folder}/${name}`, 'utf8')))).toEqual([])
})
