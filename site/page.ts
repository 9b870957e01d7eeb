import type { Html } from '../src/doors/reference/html.ts'

export type Language = 'en' | 'pt'

/** A heading with an anchor. */
export type Heading = { readonly id: string; readonly text: string; readonly level: 2 | 3 }

/** A searchable part of a page under one heading; the first part has no heading. */
export type Section = { readonly id?: string; readonly heading?: string; readonly text: string }

/** A page of the site, without the frame. */
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
  /** Further search words. */
  readonly also?: string
  /** The page as Markdown for programs, served at the address plus `.md`. */
  readonly markdown: string
  /** The address to mark in the navigation, if the page itself is not listed. */
  readonly under?: string
  /** The same page in the other language. */
  readonly twin?: string
  /** Offers a field for the reader's sandbox key. */
  readonly takes_key?: true
}

/** The address of the Markdown version. */
export const markdownAddress = ({ address }: Pick<Page, 'address'>): string =>
  address === '/docs' ? '/docs/index.md' : `${address}.md`
