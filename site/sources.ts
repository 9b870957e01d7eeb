import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Language } from './page.ts'

/** A Markdown file that becomes a page. */
export type Source = { readonly file: string; readonly address: string; readonly language: Language }

const single = ['docs/quickstart.md', 'docs/sdk.md', 'docs/python.md', 'docs/cli.md']
const folders = ['docs/guides', 'docs/operate', 'docs/pt']

/** All Markdown files that are served. Decisions, proofs and the specification are not. */
export function sourcesIn(root: string): Source[] {
  const found = [
    ...single.filter((file) => existsSync(join(root, file))),
    ...folders.flatMap((folder) => markdownIn(root, folder)),
  ]
  return [
    ...found.map((file): Source => {
      const address = `/${file.replace(/\.md$/, '')}`
      return { file, address, language: address.startsWith('/docs/pt/') ? 'pt' : 'en' }
    }),
    { file: 'CHANGELOG.md', address: '/docs/changelog', language: 'en' },
  ]
}

function markdownIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .toSorted()
}
