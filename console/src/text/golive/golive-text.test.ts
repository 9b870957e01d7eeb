import { expect, test } from 'vitest'
import { goliveChecks } from '../../../../src/control/golive/checks.ts'
import { lines } from './lines-pt-BR.ts'

const gapsOf = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort()

test('every sentence of the checklist has a Portuguese one, with the same values', () => {
  for (const { name, says } of goliveChecks)
    for (const [saying, { found, to_do }] of Object.entries(says)) {
      const [in_portuguese = '', what_to_do] = lines[name]?.says[saying] ?? []
      expect(gapsOf(in_portuguese), `${name} ${saying}`).toEqual(gapsOf(found))
      const has_words = /\p{L}{2}/u.test(found.replaceAll(/\{\w+\}/g, ''))
      if (has_words) expect(in_portuguese, `${name} ${saying}`).not.toBe(found)
      expect(gapsOf(what_to_do ?? ''), `${name} ${saying}`).toEqual(gapsOf(to_do ?? ''))
      expect(what_to_do !== undefined, `${name} ${saying}`).toBe(to_do !== undefined)
    }
})

test('no Portuguese sentence is left of a check that has another name now', () => {
  const said = goliveChecks.flatMap(({ name, says }) => Object.keys(says).map((one) => `${name} ${one}`))
  const kept = Object.entries(lines).flatMap(([name, { says }]) =>
    Object.keys(says).map((one) => `${name} ${one}`),
  )
  expect(kept.sort()).toEqual(said.sort())
})
