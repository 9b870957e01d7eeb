import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { PLACEHOLDER } from '../../src/doors/reference/placeholders.ts'
import type { Target } from './render.ts'

/** Page addresses by file path in the repository. */
type Addresses = ReadonlyMap<string, string>

/**
 * Resolves links between Markdown files to page addresses. A link to a file that is not a page becomes plain text; a link to a
 * missing file stops the build.
 */
export function openLinks(root: string, addresses: Addresses) {
  return { resolve, rewrite }

  function resolve(from: string, href: string): Target {
    if (href.startsWith('#')) return { href }
    if (href.startsWith(`${PLACEHOLDER}/`)) return { href: href.slice(PLACEHOLDER.length) }
    if (/^(https?:|mailto:|\/)/.test(href)) return { href }
    const [path = '', anchor] = href.split('#')
    const file = posix.join(posix.dirname(from), decodeURIComponent(path))
    const address = addresses.get(file)
    if (address !== undefined) return { href: anchor === undefined ? address : `${address}#${anchor}` }
    // A container image build has only part of the repository; test/docs.test.ts checks the links to the rest.
    if (file.startsWith('..') || (file.startsWith('docs/') && !existsSync(join(root, file))))
      throw new Error(`the link ${href} leads nowhere`)
    return { repository: `${file} in the repository` }
  }

  /** The Markdown for programs, with links to the Markdown of other pages. */
  function rewrite(from: string, markdown: string): string {
    return markdown
      .split(/(^```[\s\S]*?^```$)/m)
      .map((part, index) =>
        index % 2 === 1 ? part : part.replaceAll(link, (_, text, href) => linked(text, href)),
      )
      .join('')

    function linked(text: string, href: string): string {
      const target = resolve(from, href)
      if ('repository' in target) return text
      const [path = '', anchor] = target.href.split('#')
      if (!path.startsWith('/docs')) return `[${text}](${target.href})`
      return `[${text}](${path}.md${anchor === undefined ? '' : `#${anchor}`})`
    }
  }
}

const link = /\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g
