import { expect, test } from 'vitest'
import { openLinks } from './links.ts'

const root = new URL('../../', import.meta.url).pathname
const { resolve, rewrite } = openLinks(
  root,
  new Map([
    ['docs/quickstart.md', '/docs/quickstart'],
    ['docs/guides/webhooks.md', '/docs/guides/webhooks'],
  ]),
)

test('links between files lead from page to page', () => {
  expect(resolve('docs/guides/x.md', '../quickstart.md#1-start')).toEqual({
    href: '/docs/quickstart#1-start',
  })
  expect(resolve('docs/quickstart.md', 'guides/webhooks.md')).toEqual({ href: '/docs/guides/webhooks' })
  expect(resolve('docs/quickstart.md', '#here')).toEqual({ href: '#here' })
  expect(resolve('docs/quickstart.md', 'http://127.0.0.1:8080/docs/errors')).toEqual({ href: '/docs/errors' })
  expect(resolve('docs/quickstart.md', 'https://example.com/a')).toEqual({ href: 'https://example.com/a' })
})

test('a link to a file that is not a page becomes text; a link to a missing file stops the build', () => {
  expect(resolve('docs/quickstart.md', '../package.json')).toEqual({
    repository: 'package.json in the repository',
  })
  expect(resolve('docs/quickstart.md', 'decisions/')).toEqual({
    repository: 'docs/decisions/ in the repository',
  })
  expect(() => resolve('docs/quickstart.md', 'nowhere.md')).toThrow('the link nowhere.md leads nowhere')
  expect(() => resolve('docs/quickstart.md', '../../outside.md')).toThrow('leads nowhere')
})

test('the Markdown for programs links to the Markdown of other pages', () => {
  const text =
    'See [the guide](guides/webhooks.md#verify) and [this](../package.json).\n\n```md\n[a](b.md)\n```\n'
  expect(rewrite('docs/quickstart.md', text)).toBe(
    'See [the guide](/docs/guides/webhooks.md#verify) and this.\n\n```md\n[a](b.md)\n```\n',
  )
})
