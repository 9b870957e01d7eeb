import { expect, test } from 'vitest'
import { logChecks } from '../../../../src/control/operator/verify.ts'
import { ledgerChecks } from '../../../../src/ledger/audit.ts'
import { sliceChecks } from '../../../../src/node/worlds.ts'
import { checkText } from './check-text.ts'
import { checks as en } from './en.ts'
import { checks as ptBR } from './pt-BR.ts'

/** The office is used only when a check runs. */
const names = [...ledgerChecks, ...sliceChecks, ...logChecks({} as never, 'sandbox')].map(({ name }) => name)

test('every check of the ledger proof has a Portuguese text', () => {
  expect(names.length).toBeGreaterThan(60)
  expect(names.filter((name) => !(name in ptBR))).toEqual([])
})

test('no text is left of a check that has another name now', () => {
  expect([...Object.keys(en), ...Object.keys(ptBR)].filter((name) => !names.includes(name))).toEqual([])
})

test('a check of another version is shown by its name', () => {
  expect(checkText('pt-BR', 'no coin is lost')).toBe('No coin is lost')
})
