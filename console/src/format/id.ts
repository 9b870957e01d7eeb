/** `po_01m7…xzbnr`: prefix, four, …, last five. What is short already stays whole. */
export function shortId(id: string): string {
  const [, prefix = '', rest = id] = /^([a-z]+_)?(.*)$/s.exec(id) ?? []
  return rest.length <= 11 ? id : `${prefix}${rest.slice(0, 4)}…${rest.slice(-5)}`
}

/** Chain addresses and hashes: first eight and last six. */
export const shortAddress = (address: string): string =>
  address.length <= 16 ? address : `${address.slice(0, 8)}…${address.slice(-6)}`

/** `HP` of Helena Prado; of a bare address its first letter. */
export function initials(name: string): string {
  const words = name.split(/[\s@]/).filter((word) => word !== '')
  const last = words.length > 1 && !name.includes('@') ? words.at(-1)![0]! : ''
  return ((words[0]?.[0] ?? '') + last).toUpperCase()
}

/** A name where no element can hold it apart: written from right to left, it must not turn round what stands beside it. */
export const isolated = (name: string): string => `\u2068${name}\u2069`

/** What the ids of each page begin with, by the word in its address. */
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

export type Listed = keyof typeof prefixes

/** Of an address that ends in what can be no id of its page: what stands there, and what would. */
export function notAnId(
  path: string,
): { readonly text: string; readonly of: Listed; readonly prefix: string } | undefined {
  const [, of, text] = /\/(\w+)\/([^/]+)\/?$/.exec(path) ?? []
  if (of === undefined || text === undefined || !Object.hasOwn(prefixes, of)) return undefined
  const prefix = `${prefixes[of as Listed]}_`
  const possible = text.startsWith(prefix) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length))
  return possible ? undefined : { text, of: of as Listed, prefix }
}
