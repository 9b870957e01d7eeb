import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codePoints, isCleanText } from './text.ts'

type Entry = { name: string; text: string; valid: boolean; code_points: number }

const corpus: Entry[] = JSON.parse(
  readFileSync(new URL('../../test/corpora/text.json', import.meta.url), 'utf8'),
)

describe('the text corpus', () => {
  it('is as large as promised and has no name twice', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(60)
    expect(new Set(corpus.map((entry) => entry.name)).size).toBe(corpus.length)
  })

  it.each(corpus)('$name', (entry) => {
    expect(codePoints(entry.text)).toBe(entry.code_points)
    expect(isCleanText(entry.text) && codePoints(entry.text) <= 140).toBe(entry.valid)
  })
})

describe('isCleanText', () => {
  it('judges every code unit on its own as listed', () => {
    const refused = [
      [0x0000, 0x001f],
      [0x007f, 0x009f],
      [0x2028, 0x202e],
      [0x2066, 0x2069],
      [0xd800, 0xdfff],
    ] as const
    for (let code = 0; code <= 0xffff; code++) {
      const listed = refused.some(([first, last]) => code >= first && code <= last)
      if (isCleanText(`a${String.fromCharCode(code)}b`) === listed) {
        expect.fail(`U+${code.toString(16)} is ${listed ? 'let through' : 'refused'}`)
      }
    }
  })

  it('takes every code point above U+FFFF', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0x10000, max: 0x10ffff }), (code) =>
        isCleanText(String.fromCodePoint(code)),
      ),
    )
  })

  it('gives the same answer when asked again', () => {
    expect([isCleanText('a\n'), isCleanText('a\n'), isCleanText('a'), isCleanText('a')]).toEqual([
      false,
      false,
      true,
      true,
    ])
  })
})

describe('codePoints', () => {
  it('counts code points, neither UTF-16 units nor graphemes', () => {
    const family = '👨‍👩‍👧‍👦'
    expect(family.length).toBe(11)
    expect(codePoints(family)).toBe(7)
    expect(codePoints('')).toBe(0)
  })

  it('is the number of code points a text was made of', () => {
    const code = fc.integer({ min: 0, max: 0x10ffff }).filter((it) => it < 0xd800 || it > 0xdfff)
    fc.assert(
      fc.property(fc.array(code), (codes) => codePoints(String.fromCodePoint(...codes)) === codes.length),
    )
  })
})
