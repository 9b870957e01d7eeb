import type { Files } from './site.ts'

/** Checks that every link leads to a page of the site, and to an existing anchor on it. */
export function checkLinks(files: Files, elsewhere: readonly string[]): void {
  const places = new Map([...files].map(([address, text]) => [address, idsIn(text)]))
  const broken = [...files]
    .filter(([, text]) => text.startsWith('<!doctype html>'))
    .flatMap(([from, text]) =>
      [...text.matchAll(/ href="([^"]*)"/g)]
        .map(([, href]) => href!)
        .filter((href) => !leads(from, href))
        .map((href) => `${from} → ${href}`),
    )
  if (broken.length > 0) throw new Error(`links that lead nowhere:\n${[...new Set(broken)].join('\n')}`)

  function leads(from: string, href: string): boolean {
    if (/^(https?:\/\/|mailto:)/.test(href)) return true
    const [path, id] = href.split('#') as [string, string | undefined]
    if (elsewhere.includes(path)) return true
    const ids = places.get(path || from)
    return ids !== undefined && (id === undefined || id === '' || ids.has(decodeURIComponent(id)))
  }
}

const idsIn = (text: string) => new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!))
