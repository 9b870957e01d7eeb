import type { BuiltDocs } from './built-docs.ts'
import { type Html, html } from './html.ts'
import { QUERY_MARK, RESULTS_MARK } from './placeholders.ts'
import { type FoundSection, openSearch, type Search } from './search.ts'

/** The search page for browsers without JavaScript: the server searches and fills in the built page. */
export type SearchPages = {
  /** The filled-in search page; undefined for any other page. */
  pageOf(name: string, query: unknown): string | undefined
}

const languages = {
  'search.html': {
    index: 'search/en.json',
    other: { index: 'search/pt.json', tag: 'pt-BR' },
    elsewhere: 'No English page has all of these words. These in Portuguese do:',
    none: 'Nothing has all of these words. Try fewer, or shorter ones: words are found by how they begin.',
  },
  'pt/search.html': {
    index: 'search/pt.json',
    other: { index: 'search/en.json', tag: 'en' },
    elsewhere: 'Nenhuma página em português tem todas estas palavras. Estas, em inglês, têm:',
    none: 'Nada tem todas estas palavras. Tente menos, ou mais curtas: as palavras são achadas pelo começo.',
  },
} as const

const QUERY_CHARS = 100

export function openSearchPages(docs: BuiltDocs): SearchPages {
  const page = once((name) => docs.text(name))
  const searchIn = once((name): Search => openSearch(JSON.parse(docs.text(name))))
  return {
    pageOf(name, query) {
      if (!(name in languages)) return undefined
      const { q } = (query ?? {}) as { q?: unknown }
      const asked = typeof q === 'string' ? q.slice(0, QUERY_CHARS) : ''
      const results = asked.trim() === '' ? html`` : resultsOf(name as keyof typeof languages, asked)
      return page(name)
        .replace(QUERY_MARK, () => html`${asked}`.html)
        .replace(RESULTS_MARK, () => results.html)
    },
  }

  /** If the language of the page has no match, the other language is searched. */
  function resultsOf(name: keyof typeof languages, asked: string): Html {
    const { index, other, elsewhere, none } = languages[name]
    const found = searchIn(index)(asked)
    if (found.length > 0) return listOf(found)
    const foundElsewhere = searchIn(other.index)(asked)
    if (foundElsewhere.length === 0) return html`<p>${none}</p>`
    return html`<p>${elsewhere}</p><div lang="${other.tag}">${listOf(foundElsewhere)}</div>`
  }
}

/** Loads each index and page on first use and keeps them: there are two of each. */
function once<Value>(make: (name: string) => Value): (name: string) => Value {
  const made = new Map<string, Value>()
  return (name) => {
    const known = made.get(name) ?? make(name)
    made.set(name, known)
    return known
  }
}

function listOf(found: readonly FoundSection[]): Html {
  return html`<ol class="results">${found.map(
    ({ address, title, heading, text }) =>
      html`<li><a href="${address}">${heading || title}</a>${heading !== '' && html`<small>${title}</small>`}<p>${text}</p></li>
`,
  )}</ol>`
}
