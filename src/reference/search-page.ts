import type { BuiltDocs } from './built.ts'
import { type Html, html } from './html.ts'
import { QUERY_MARK, RESULTS_MARK } from './marks.ts'
import { type Found, type SearchIndex, search } from './search.ts'

/** The search for a reader without a script: the server looks, and fills the page that was built for it. */
export type SearchPages = {
  /** Undefined for every other page. */
  pageOf(name: string, query: unknown): string | undefined
}

const languages = {
  'search.html': {
    index: 'search/en.json',
    none: 'Nothing has all of these words. Try fewer, or shorter ones: words are found by how they begin.',
  },
  'pt/search.html': {
    index: 'search/pt.json',
    none: 'Nada tem todas estas palavras. Tente menos, ou mais curtas: as palavras são achadas pelo começo.',
  },
} as const

const QUERY_CHARS = 100

export function openSearchPages(docs: BuiltDocs): SearchPages {
  const indexes = new Map<string, SearchIndex>()
  return {
    pageOf(name, query) {
      if (!(name in languages)) return undefined
      const { index, none } = languages[name as keyof typeof languages]
      const { q } = (query ?? {}) as { q?: unknown }
      const asked = typeof q === 'string' ? q.slice(0, QUERY_CHARS) : ''
      const results = asked.trim() === '' ? html`` : listOf(search(indexAt(index), asked), none)
      return docs
        .text(name)
        .replace(QUERY_MARK, () => html`${asked}`.html)
        .replace(RESULTS_MARK, () => results.html)
    },
  }

  function indexAt(name: string): SearchIndex {
    const known = indexes.get(name) ?? (JSON.parse(docs.text(name)) as SearchIndex)
    indexes.set(name, known)
    return known
  }
}

function listOf(found: readonly Found[], none: string): Html {
  if (found.length === 0) return html`<p>${none}</p>`
  return html`<ol class="results">${found.map(
    ({ address, title, heading, text }) =>
      html`<li><a href="${address}">${heading || title}</a>${heading !== '' && html`<small>${title}</small>`}<p>${text}</p></li>
`,
  )}</ol>`
}
