import type { Language, Page } from './page.ts'

export type NavigationGroup = { readonly title: string; readonly pages: readonly Page[] }

/** In reading order; pages that are not listed come last, sorted by address. */
const start = ['/docs/quickstart', '/docs/sdk', '/docs/python', '/docs/cli']
const guides = [
  'money',
  'environments',
  'authentication',
  'idempotency',
  'events',
  'webhooks',
  'sandbox',
  'errors',
  'limits',
  'lists',
  'pix-charges',
  'deposits',
  'conversions',
  'payroll',
  'reconcile',
  'going-live',
  'console',
].map((name) => `/docs/guides/${name}`)
const operate = [
  'install',
  'security',
  'going-live',
  'rails',
  'custody',
  'signer',
  'money',
  'incidents',
  'backup',
  'upgrade',
  'rotate',
  'scaling',
  'monitoring',
  'mail',
  'retention',
  'cli',
  'adding-a-pix-provider',
].map((name) => `/docs/operate/${name}`)

export function navigationOf(pages: readonly Page[], language: Language): NavigationGroup[] {
  const own = pages.filter((page) => page.under === undefined)
  const english = own.filter((page) => page.language === 'en')
  const below = (prefix: string) => english.filter(({ address }) => address.startsWith(prefix))
  const groups = [
    {
      title: 'Start',
      pages: inOrder(
        english.filter(({ address }) => start.includes(address)),
        start,
      ),
    },
    { title: 'Guides', pages: inOrder(below('/docs/guides/'), guides) },
    { title: 'API', pages: [...below('/docs/api'), ...english.filter(isErrorIndex)] },
    { title: 'Operate', pages: inOrder(below('/docs/operate/'), operate) },
    { title: 'Project', pages: english.filter(({ address }) => address === '/docs/changelog') },
  ].filter(({ pages: inGroup }) => inGroup.length > 0)
  if (language === 'en') return groups
  const portuguese = own.filter((page) => page.language === 'pt')
  return [
    { title: 'Em português', pages: inOrder(portuguese, ['/docs/pt', '/docs/pt/quickstart']) },
    ...groups,
  ]
}

const isErrorIndex = ({ address }: Page) => address === '/docs/errors'

function inOrder(pages: readonly Page[], order: readonly string[]): Page[] {
  const place = ({ address }: Page) => (order.includes(address) ? order.indexOf(address) : order.length)
  return pages.toSorted((a, b) => place(a) - place(b))
}
