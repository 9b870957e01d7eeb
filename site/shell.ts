import { type Html, html } from '../src/doors/reference/html.ts'
import type { Assets } from './assets.ts'
import { icon, mark } from './icons.ts'
import type { NavigationGroup } from './navigation.ts'
import { type Language, markdownAddress, type Page } from './page.ts'

/** The data of the frame around every page of one language. */
type Frame = {
  readonly navigation: readonly NavigationGroup[]
  readonly assets: Assets
  readonly version: string
  /** The start page of each language. */
  readonly front: Readonly<Record<Language, string>>
}

const words = {
  en: {
    skip: 'Skip to content',
    search: 'Search the docs',
    menu: 'Menu',
    contents: 'Contents',
    here: 'On this page',
    theme: 'Light or dark',
    language: 'Português',
    before: 'Previous',
    after: 'Next',
    key: 'Your sandbox key',
    key_about: 'Fills the samples. Stays in this tab, is sent nowhere.',
    markdown: 'This page as Markdown',
  },
  pt: {
    skip: 'Ir para o conteúdo',
    search: 'Buscar na documentação',
    menu: 'Menu',
    contents: 'Conteúdo',
    here: 'Nesta página',
    theme: 'Claro ou escuro',
    language: 'English',
    before: 'Anterior',
    after: 'Próxima',
    key: 'Sua chave do sandbox',
    key_about: 'Preenche os exemplos. Fica nesta aba, não é enviada a lugar nenhum.',
    markdown: 'Esta página em Markdown',
  },
} as const satisfies Record<Language, Record<string, string>>

const tags: Readonly<Record<Language, string>> = { en: 'en', pt: 'pt-BR' }

/** The page that has a feed, at the same address plus `.xml`. */
const FEED_OF = '/docs/changelog'

const searchAddress = (language: Language) => (language === 'en' ? '/docs/search' : '/docs/pt/search')

export function shell(page: Page, frame: Frame): string {
  const said = words[page.language]
  const { assets, version } = frame
  return html`<!doctype html>
<html lang="${tags[page.language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${page.description}">
<title>${page.address === '/docs' ? 'Trilho docs' : `${page.title} · Trilho docs`}</title>
<link rel="icon" type="image/svg+xml" href="/docs/mark.svg">
${
  page.markdown !== '' &&
  html`<link rel="alternate" type="text/markdown" href="${markdownAddress(page)}">
`
}${
  page.address === FEED_OF &&
  html`<link rel="alternate" type="application/atom+xml" title="Trilho changelog" href="${FEED_OF}.xml">
`
}<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}"></script>
</head>
<body data-language="${page.language}">
<a class="skip" href="#main">${said.skip}</a>
<header class="bar">
<a class="brand" href="${frame.front[page.language]}">${mark}<span>trilho</span><span class="docs">docs</span></a>
<form class="search" action="${searchAddress(page.language)}" role="search">${icon('search')}<input type="search" name="q" placeholder="${said.search}" aria-label="${said.search}" autocomplete="off" spellcheck="false" maxlength="100"><kbd aria-hidden="true">/</kbd></form>
<div class="tools"><a class="find" href="${searchAddress(page.language)}" aria-label="${said.search}">${icon('search')}</a><a href="${page.twin ?? frame.front[page.language === 'en' ? 'pt' : 'en']}" hreflang="${page.language === 'en' ? 'pt-BR' : 'en'}" lang="${page.language === 'en' ? 'pt-BR' : 'en'}">${said.language}</a><button type="button" class="theme" aria-label="${said.theme}" title="${said.theme}" hidden>${icon('theme')}</button></div>
</header>
<details class="menu"><summary>${icon('menu')} ${said.menu}</summary><nav aria-label="${said.menu}">${navigation(page, frame, said.here)}</nav></details>
<div class="frame">
<nav class="side" aria-label="${said.contents}">${navigation(page, frame, said.here)}</nav>
<main id="main">
<div class="head"><div>${page.head}</div>${page.takes_key && keyField(said)}</div>
${page.main}
${neighbours(page, frame, said)}
<footer><span>Trilho ${version}</span>${page.markdown !== '' && html` <a href="${markdownAddress(page)}">${said.markdown}</a>`}${page.address === FEED_OF && html` <a href="${FEED_OF}.xml">Atom feed</a>`}</footer>
</main>
</div>
</body>
</html>
`.html
}

function navigation(page: Page, { navigation: groups }: Frame, here: string): Html {
  const current = page.under ?? page.address
  return html`${groups.map(
    ({ title, pages }) => html`<h2>${title}</h2><ul>
${pages.map(
  (
    one,
  ) => html`<li${one.language !== page.language && html` lang="${tags[one.language]}"`}><a href="${one.address}"${one.address === current && html` aria-current="${one.address === page.address ? 'page' : 'true'}"`}>${one.title}</a>${one.address === page.address && outline(page, here)}</li>
`,
)}</ul>
`,
  )}`
}

function outline({ headings }: Page, here: string): Html | false {
  const shown = headings.filter(({ level }) => level === 2)
  if (shown.length < 2) return false
  return html`<ul class="here" aria-label="${here}">${shown.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>`
}

/** Hidden until the script shows it: without the script the field would do nothing. */
function keyField(said: (typeof words)[Language]): Html {
  return html`<div class="key-field" hidden><label for="key">${said.key}</label><input id="key" type="text" placeholder="svc_test_sk_…" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="key-about"><p id="key-about" role="status">${said.key_about}</p></div>
`
}

function neighbours(page: Page, { navigation: groups }: Frame, said: (typeof words)[Language]): Html | false {
  const all = groups.flatMap(({ pages }) => pages).filter(({ language }) => language === page.language)
  const place = all.findIndex(({ address }) => address === page.address)
  if (place < 0) return false
  const [before, after] = [all[place - 1], all[place + 1]]
  return html`<nav class="neighbours" aria-label="${said.before}, ${said.after}">${before && html`<a rel="prev" href="${before.address}"><small>${said.before}</small>${before.title}</a>`}${after && html`<a rel="next" href="${after.address}"><small>${said.after}</small>${after.title}</a>`}</nav>`
}
