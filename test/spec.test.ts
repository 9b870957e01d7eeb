import { basename, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  citationsIn,
  documents,
  readSpec,
  resolves,
  type SpecName,
  sectionsOf,
  sources,
} from './support/spec.ts'

/** What is cited as `interface §4.1` or `contract §17.6` stands in docs/spec. */
const here = 'test/spec.test.ts'

describe('docs/spec', () => {
  test.each([
    ['interface', 9],
    ['contract', 17],
  ] as const)('%s has all of its %i parts, in order', (name, count) => {
    const parts = [...sectionsOf(readSpec(name))].filter((section) => /^\d+$/.test(section))
    expect(parts).toEqual(Array.from({ length: count }, (_, index) => String(index + 1)))
  })

  test('the points of contract §17 can be cited one by one', () => {
    const points = [...sectionsOf(readSpec('contract'))].filter((section) => section.startsWith('17.'))
    expect(points).toEqual(Array.from({ length: 16 }, (_, index) => `17.${index + 1}`))
  })
})

describe('a citation', () => {
  test.each([
    ['Interface §2.5, with the two extra fields of contract §10.', ['interface 2.5', 'contract 10']],
    ['contract §3, §6.', ['contract 3', 'contract 6']],
    ['Interface §4.1 and §4.2, rule 1', ['interface 4.1', 'interface 4.2']],
    ['from the contract\n * §5, §14', ['contract 5', 'contract 14']],
    ['(§17.3)', ['undefined 17.3']],
  ])('%j is read with its document', (text, expected) => {
    expect(citationsIn(text).map(({ document, section }) => `${document} ${section}`)).toEqual(expected)
  })

  test.each([
    'interface §10',
    'contract §18',
    'contract §17.17',
    'interface §4.1, rule 9',
    '§5',
    'interface §2.9',
  ])('made up is found: %s', (text) => {
    expect(citationsIn(text).map(resolves)).toEqual([false])
  })
})

test('every section that is cited exists, and says of which document', () => {
  const cited = sources()
    .filter(({ path }) => path !== here)
    .flatMap(({ path, text }) => citationsIn(text, ownOf(path)).map((citation) => ({ path, ...citation })))
  expect(cited.length).toBeGreaterThan(80)
  const lost = cited.filter((citation) => !resolves(citation))
  expect(lost.map(({ path, line, document, section }) => `${path}:${line}: ${document} §${section}`)).toEqual(
    [],
  )
})

/** Within a document of the specification a bare `§` is a section of the same. */
function ownOf(path: string): SpecName | undefined {
  const name = basename(path, '.md') as SpecName
  return dirname(path) === 'docs/spec' && documents.includes(name) ? name : undefined
}
