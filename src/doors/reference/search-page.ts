import type { SearchLimit } from '../../limits/searches.ts'
import type { BuiltDocs } from './built-docs.ts'
import { type Html, html } from './html.ts'
import { QUERY_MARK, RESULTS_MARK } from './placeholders.ts'
import { arrange, type FoundSection, needsOther, nothingFound, openSearch, type Search } from './search.ts'

/** The search page for browsers without JavaScript: the server searches and fills in the built page. */
export type SearchPages = {
  /** The filled-in search page, or the form alone without a query; undefined for any other page. Throws beyond the limit of searches. */
  pageOf(name: string, query: unknown): string | Buffer | undefined
}

const languages = {
  'search.html': {
    index: 'search/en.json',
    other: { index: 'search/pt.json', tag: 'pt-BR', heading: 'In Portuguese' },
    none: 'No page has any of these words. Try others, or the name of a field or an error code.',
  },
  'pt/search.html': {
    index: 'search/pt.json',
    other: { index: 'search/en.json', tag: 'en', heading: 'Em inglês' },
    none: 'Nenhuma página tem uma destas palavras. Tente outras, ou o nome de um campo ou código de erro.',
  },
} as const

const QUERY_CHARS = 100

export function openSearchPages(docs: BuiltDocs, limit: SearchLimit): SearchPages {
  const page = once((name) => docs.text(name))
  const searchIn = once((name): Search => openSearch(JSON.parse(docs.text(name))))
  /** A buffer, which all responses share. */
  const form = once((name) => Buffer.from(filledIn(name, '', html``)))
  return {
    pageOf(name, query) {
      if (!(name in languages)) return undefined
      const { q } = (query ?? {}) as { q?: unknown }
      const asked = typeof q === 'string' ? q.slice(0, QUERY_CHARS) : ''
      if (asked.trim() === '') return form(name)
      limit.take()
      return filledIn(name, asked, resultsOf(name as keyof typeof languages, asked))
    },
  }

  function filledIn(name: string, asked: string, results: Html): string {
    return page(name)
      .replace(QUERY_MARK, () => html`${asked}`.html)
      .replace(RESULTS_MARK, () => results.html)
  }

  function resultsOf(name: keyof typeof languages, asked: string): Html {
    const { index, other, none } = languages[name]
    const own = searchIn(index)(asked)
    const elsewhere = needsOther(own) ? searchIn(other.index)(asked) : nothingFound
    const blocks = arrange(own, elsewhere).map((which) =>
      which === 'own'
        ? listOf(own.sections)
        : html`<h2>${other.heading}</h2><div lang="${other.tag}">${listOf(elsewhere.sections)}</div>`,
    )
    return blocks.length === 0 ? html`<p>${none}</p>` : html`${blocks}`
  }
}

/** Makes each value on first use and keeps it: there are two of each, one per language. */
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
