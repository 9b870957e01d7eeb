import type { SearchIndex } from '../../src/doors/reference/search.ts'
import { termsOf } from '../../src/doors/reference/search.ts'
import type { Language, Page } from '../page.ts'
import { keywords, synonyms } from './synonyms.ts'

/** The weight of a word by its position. */
const WEIGHT = { title: 9, heading: 5, description: 2, text: 1 } as const

const SNIPPET_CHARS = 90

/** Score factors: most readers look for a guide, and the changelog has a word about everything. */
const factors: readonly (readonly [prefix: string, factor: number])[] = [
  ['/docs/guides/', 1.3],
  ['/docs/quickstart', 1.1],
  ['/docs/sdk', 1.1],
  ['/docs/api/events/', 0.7],
  ['/docs/operate/', 0.8],
  ['/docs/cli', 0.6],
  ['/docs/changelog', 0.5],
]

const factorOf = (address: string): [] | [number] => {
  const found = factors.find(([prefix]) => address.startsWith(prefix))
  return found ? [found[1]] : []
}

/** Builds the search index of one language: all sections, and the sections of each word. */
export function indexOf(pages: readonly Page[], language: Language): SearchIndex {
  const sections: SearchIndex['sections'][number][] = []
  const places = new Map<string, Map<number, number>>()
  for (const page of pages.filter((one) => one.language === language)) {
    for (const [position, { id, heading, text }] of page.sections.entries()) {
      const number = sections.length
      const address = id === undefined ? page.address : `${page.address}#${id}`
      sections.push([
        address,
        page.title,
        heading ?? '',
        snippetOf(heading === undefined ? page.description : text),
        ...factorOf(page.address),
      ])
      if (position === 0) {
        note(number, page.title, WEIGHT.title)
        note(number, `${page.also ?? ''} ${keywords[page.address] ?? ''}`, WEIGHT.heading)
        note(number, page.description, WEIGHT.description)
      }
      note(number, heading ?? '', WEIGHT.heading)
      note(number, text, WEIGHT.text)
    }
  }
  return {
    sections,
    terms: Object.fromEntries([...places].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(packed)),
    synonyms: synonyms[language],
  }

  function note(number: number, text: string, weight: number): void {
    for (const term of termsOf(text)) {
      const counts = places.get(term) ?? new Map<number, number>()
      places.set(term, counts.set(number, Math.min(9, (counts.get(number) ?? 0) + weight)))
    }
  }
}

/** Packs section and weight into one number; sections are stored as differences. */
function packed([term, counts]: [string, Map<number, number>]): [string, number[]] {
  let before = 0
  const list = [...counts].map(([section, weight]) => {
    const step = section - before
    before = section
    return step * 10 + weight
  })
  return [term, list]
}

function snippetOf(text: string): string {
  const flat = text.replaceAll(/[`*\s]+/g, ' ').trim()
  if (flat.length <= SNIPPET_CHARS) return flat
  return `${flat.slice(0, SNIPPET_CHARS).replace(/\s\S*$/, '')} …`
}
