/** `po_01m7…xzbnr`: prefix, first four, last five. A short id and an e-mail address stay whole. */
export function shortId(id: string): string {
  if (id.includes('@')) return id
  const [, prefix = '', rest = id] = /^([a-z]+_)?(.*)$/s.exec(id) ?? []
  return rest.length <= 11 ? id : `${prefix}${rest.slice(0, 4)}…${rest.slice(-5)}`
}

/** Shortens a chain address or hash to its first eight and last six characters. */
export const shortAddress = (address: string): string =>
  address.length <= 16 ? address : `${address.slice(0, 8)}…${address.slice(-6)}`

/** `HP` for Helena Prado; for an e-mail address its first letter. */
export function initials(name: string): string {
  const words = name.split(/[\s@]/).filter((word) => word !== '')
  const last = words.length > 1 && !name.includes('@') ? words.at(-1)![0]! : ''
  return ((words[0]?.[0] ?? '') + last).toUpperCase()
}

/** Wraps a name in Unicode isolates for plain text: a right-to-left name must not reorder the text beside it. */
export const isolated = (name: string): string => `\u2068${name}\u2069`

/** The id prefix of each page, by the word in its URL. */
const prefixes = {
  customers: 'cus',
  payouts: 'po',
  transfers: 'tr',
  quotes: 'qt',
  trades: 'td',
  keys: 'key',
  webhooks: 'whe',
  events: 'evt',
  partners: 'ptn',
} as const

type Listed = keyof typeof prefixes

/** For a URL whose last part cannot be an id of its page: that part, and the prefix that the page expects. */
export function notAnId(
  path: string,
): { readonly text: string; readonly of: Listed; readonly prefix: string } | undefined {
  const [, of, text] = /\/(\w+)\/([^/]+)\/?$/.exec(path) ?? []
  if (of === undefined || text === undefined || !Object.hasOwn(prefixes, of)) return undefined
  const prefix = `${prefixes[of as Listed]}_`
  const possible = text.startsWith(prefix) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length))
  return possible ? undefined : { text, of: of as Listed, prefix }
}
