import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { en } from '../../text/en/en.ts'
import { ptBR } from '../../text/pt-BR/pt-BR.ts'

const guide = readFileSync(new URL('../../../../docs/guides/sandbox.md', import.meta.url), 'utf8')

test('the playground offers every Pix key of the sandbox guide, in both languages', () => {
  const listed = [...guide.matchAll(/^\| `([^`]+@sandbox\.test)`/gm)].map(([, key]) => key)
  expect(listed.length).toBeGreaterThan(14)
  for (const { playground } of [en, ptBR])
    expect(listed.filter((key) => !(key! in playground.keys))).toEqual([])
})
