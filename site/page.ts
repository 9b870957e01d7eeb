import type { Html } from '../src/reference/html.ts'

export type Language = 'en' | 'pt'

/** A heading that a link can name. */
export type Heading = { readonly id: string; readonly text: string; readonly level: 2 | 3 }

/** What search finds: a stretch of a page under one heading; the first has none. */
export type Section = { readonly id?: string; readonly heading?: string; readonly text: string }

/** A page of the site, before the frame around it. */
export type Page = {
  /** Where it is served: `/docs/quickstart`. */
  readonly address: string
  readonly language: Language
  readonly title: string
  /** One plain sentence, for lists of pages. */
  readonly description: string
  /** Its title, as the first heading of the page. */
  readonly head: Html
  readonly main: Html
  readonly headings: readonly Heading[]
  readonly sections: readonly Section[]
  /** What else people look for it by. */
  readonly also?: string
  /** The same for programs, served under the address with `.md` behind it. */
  readonly markdown: string
  /** Where the navigation stands, when this page is not in it itself. */
  readonly under?: string
  /** The same page in the other language. */
  readonly twin?: string
  /** Offers a field for the reader's sandbox key. */
  readonly takes_key?: true
}

/** Where the same page is served for programs that read. */
export const markdownAddress = ({ address }: Pick<Page, 'address'>): string =>
  address === '/docs' ? '/docs/index.md' : `${address}.md`
