import { expect, test } from 'vitest'
import { loggedActions } from '../../../../src/records/acts/actions.ts'
import { actText } from './act-text.ts'
import { acts as en } from './en.ts'
import { acts as ptBR } from './pt-BR.ts'

test('every act of the audit log has a sentence in both languages', () => {
  const unnamed = loggedActions.flatMap((action) =>
    (['en', 'pt-BR'] as const)
      .filter((language) => !/^\p{Lu}\S+( |$)/u.test(actText(action, language)))
      .map((language) => `${action} in ${language}`),
  )
  expect(unnamed).toEqual([])
  expect(Object.keys(en).toSorted()).toEqual([...loggedActions].toSorted())
  expect(Object.keys(ptBR).toSorted()).toEqual([...loggedActions].toSorted())
})

test('a call in the playground names its endpoint, and an unknown action is shown as it is stored', () => {
  expect(actText('play pix.payouts.create', 'en')).toBe('Called pix.payouts.create in the playground')
  expect(actText('play pix.payouts.create', 'pt-BR')).toBe('Chamou pix.payouts.create na área de testes')
  expect(actText('of_a_newer_version', 'en')).toBe('of_a_newer_version')
})
