import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { citationsIn, resolves, root } from './support/spec.ts'

/** The table of rules in ARCHITECTURE.md: each leads from the map, by its folder, to the file that enforces it. */
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
const partOf = (heading: string) => page.split(`## ${heading}\n`)[1]!.split(/^## /m)[0]!
const rules = [...partOf('Where a rule is').matchAll(/^\| (.+) \| (.+§.+) \| \[.*\]\((.+)\) \|$/gm)].map(
  ([, rule, section, path]) => ({ rule: rule!, citations: citationsIn(section!), path: path! }),
)

test('there are twenty rules', () => {
  expect(new Set(rules.map(({ rule }) => rule)).size).toBe(20)
  expect(new Set(rules.map(({ path }) => path)).size).toBe(20)
})

describe.each(rules)('$rule', ({ citations, path }) => {
  test('stands in the specification', () => {
    expect(citations).toHaveLength(1)
    expect(citations.map(resolves)).toEqual([true])
  })

  test('is enforced by a file that says so', () => {
    expect(existsSync(join(root, path)), path).toBe(true)
    const cited = citationsIn(commentsOf(readFileSync(join(root, path), 'utf8')))
    for (const { document, section } of citations)
      expect(cited.map((one) => `${one.document} §${one.section}`)).toContain(`${document} §${section}`)
  })

  test('is found from the map: floor, slice, file', () => {
    const [, src, folder] = /^(src)\/(?:[a-z-]+\/)?([a-z-]+)\/[a-z-]+\.ts$/.exec(path) ?? []
    expect(src, path).toBe('src')
    expect(partOf('Floors')).toContain(`\`${folder}\``)
  })
})

function commentsOf(code: string): string {
  return [...code.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm)].map(([comment]) => comment).join('\n')
}
