import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { html } from '../src/doors/reference/html.ts'
import type { OpenApi } from '../src/doors/reference/openapi.ts'
import { QUERY_MARK, RESULTS_MARK } from '../src/doors/reference/placeholders.ts'
import type { Assets } from './assets.ts'
import { checkLinks } from './check-links.ts'
import { errorPages } from './errors/pages.ts'
import { home } from './home.ts'
import { portugueseHome } from './home-pt.ts'
import { changelogFeed, llmsText } from './lists.ts'
import { openLinks } from './markdown/links.ts'
import { type Rendered, render } from './markdown/render.ts'
import { navigationOf } from './navigation.ts'
import { type Language, markdownAddress, type Page } from './page.ts'
import { referencePages } from './reference/pages.ts'
import { indexOf } from './search/index.ts'
import { shell } from './shell.ts'
import { type Source, sourcesIn } from './sources.ts'

type SiteOptions = {
  /** The root folder of the repository. */
  readonly root: string
  readonly openapi: OpenApi
  readonly assets: Assets
}

/** File contents by address; the address of a page has no extension. */
export type Files = ReadonlyMap<string, string>

/** Files of the repository that are served as they are, if they exist. */
const companions: readonly (readonly [file: string, address: string])[] = [
  ['docs/trilho.postman_collection.json', '/docs/trilho.postman_collection.json'],
  ['docs/trilho.http', '/docs/trilho.http'],
  ['console/public/mark.svg', '/docs/mark.svg'],
]

/** Addresses that links may use although this build does not write them. */
const elsewhere = ['/openapi.json', '/docs/trilho-sdk.tgz', '/docs/trilho-cli.tgz', '/console']

export function buildSite({ root, openapi, assets }: SiteOptions): Files {
  const files = new Map([
    ['/openapi.yaml', stringify(openapi, { aliasDuplicateObjects: false, lineWidth: 0 })],
  ])
  for (const [file, address] of companions)
    if (existsSync(join(root, file))) files.set(address, readFileSync(join(root, file), 'utf8'))
  const pages = pagesOf(root, openapi, (address) => files.has(address))
  const { version } = openapi.info
  const front = { en: '/docs', pt: '/docs/pt' }
  for (const page of [...pages, ...searchPages, ...missingPages(front)]) {
    const navigation = navigationOf(pages, page.language)
    files.set(page.address, shell(page, { navigation, assets, version, front }))
    if (page.markdown !== '') files.set(markdownAddress(page), `${page.markdown.trim()}\n`)
  }
  for (const language of ['en', 'pt'] as const)
    files.set(`/docs/search/${language}.json`, JSON.stringify(indexOf(pages, language)))
  files.set('/llms.txt', llmsText(pages, openapi.info.summary))
  files.set('/docs/changelog.xml', changelogFeed(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')))
  checkLinks(files, [...elsewhere, assets.script, assets.style])
  return files
}

function pagesOf(root: string, openapi: OpenApi, isFile: (address: string) => boolean): Page[] {
  const written = writtenPages(root)
  const reference = referencePages(openapi)
  const isPage = (address: string) => [...written, ...reference].some((page) => page.address === address)
  const intro = written.find(({ address }) => address === '/docs/pt/errors')
  const front = home(
    (address) =>
      isPage(address) || isFile(address) || ['/docs/errors', '/openapi.json', '/llms.txt'].includes(address),
  )
  const all = [
    front,
    ...written.filter((page) => page !== intro),
    ...reference,
    ...errorPages('en', openapi, undefined),
    ...errorPages('pt', openapi, intro),
  ]
  return [...all, portugueseHome(all)]
}

function writtenPages(root: string): Page[] {
  const sources = sourcesIn(root)
  const { resolve, rewrite } = openLinks(root, new Map(sources.map(({ file, address }) => [file, address])))
  return sources.map((source) => {
    try {
      const markdown = include(root, readFileSync(join(root, source.file), 'utf8'))
      const rendered = render(markdown, (href) => resolve(source.file, href), source.language)
      return writtenPage(source, rendered, rewrite(source.file, markdown), sources)
    } catch (error) {
      throw new Error(`${source.file}: ${(error as Error).message}`, { cause: error })
    }
  })
}

/** Fills an empty code fence that names a file with that file: ```ts file=examples/verify/verify.ts */
function include(root: string, markdown: string): string {
  return markdown.replaceAll(/^(```\w+[^\n]*) file=(\S+)([^\n]*)\n```$/gm, (_, before, file, after) => {
    if (!existsSync(join(root, file))) throw new Error(`there is no file ${file} to show`)
    return `${before}${after}\n${readFileSync(join(root, file), 'utf8').trimEnd()}\n\`\`\``
  })
}

/** The Portuguese guide to errors opens the list of all codes. */
const inPortuguese = (address: string) =>
  address === '/docs/guides/errors' ? '/docs/pt/errors' : address.replace('/docs/', '/docs/pt/')

function writtenPage(source: Source, rendered: Rendered, markdown: string, sources: readonly Source[]): Page {
  const { address, language } = source
  const other = language === 'en' ? inPortuguese(address) : address.replace('/docs/pt/', '/docs/')
  const twin = sources.some((one) => one.address === other) ? { twin: other } : {}
  return {
    ...rendered,
    address,
    language,
    markdown,
    ...twin,
    ...(address.endsWith('/quickstart') ? { takes_key: true } : {}),
  }
}

const searchWords: Readonly<Record<Language, readonly [title: string, about: string]>> = {
  en: [
    'Search',
    'Words of a guide, a call or an error, in English or Portuguese. Small typing errors do not matter.',
  ],
  pt: [
    'Busca',
    'Palavras de um guia, de uma chamada ou de um erro, em português ou inglês. Pequenos erros de digitação não atrapalham.',
  ],
}

const searchPages = (['en', 'pt'] as const).map((language): Page => {
  const [title, description] = searchWords[language]
  const address = language === 'en' ? '/docs/search' : '/docs/pt/search'
  return {
    ...{ address, language, title, description, headings: [], sections: [], markdown: '' },
    twin: language === 'en' ? '/docs/pt/search' : '/docs/search',
    head: html`<h1>${title}</h1>`,
    main: html`<div class="row alone"><div class="text"><p class="lede">${description}</p>
<form class="search-page" action="${address}"><input type="search" name="q" aria-label="${title}" value="${QUERY_MARK}" maxlength="100"><button class="button">${title}</button></form>
${{ html: RESULTS_MARK }}</div></div>`,
  }
})

const missingPages = (front: Readonly<Record<Language, string>>): Page[] => [
  {
    ...{ address: '/docs/404', language: 'en', headings: [], sections: [], markdown: '' },
    title: 'No such page',
    description: 'There is no page at this address.',
    head: html`<h1>No such page</h1>`,
    main: html`<div class="row alone"><div class="text"><p class="lede">There is no page at this address. It may have moved: search for a word of it, or start at <a href="${front.en}">the beginning</a>.</p></div></div>`,
  },
  {
    ...{ address: '/docs/pt/404', language: 'pt', headings: [], sections: [], markdown: '' },
    title: 'Página não encontrada',
    description: 'Não há página neste endereço.',
    head: html`<h1>Página não encontrada</h1>`,
    main: html`<div class="row alone"><div class="text"><p class="lede">Não há página neste endereço. Talvez ela exista só em inglês: busque uma palavra dela, ou comece pelo <a href="${front.pt}">início</a>.</p></div></div>`,
  },
]
