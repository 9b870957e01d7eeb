import { randomFillSync } from 'node:crypto'

/** The prefix of each kind of id: it tells a reader, and a log search, what the id points at. */
export const idPrefixes = {
  partner: 'ptn',
  user: 'usr',
  session: 'ses',
  key: 'key',
  customer: 'cus',
  deposit: 'dep',
  deposit_address: 'da',
  charge: 'chg',
  payout: 'po',
  transfer: 'tr',
  quote: 'qt',
  trade: 'td',
  fee_payout: 'fp',
  event: 'evt',
  webhook_endpoint: 'whe',
  request: 'req',
  batch: 'bat',
  proposal: 'prp',
  exception: 'exc',
  adjustment: 'adj',
  custody_move: 'cm',
  reconciliation: 'rec',
  sweep: 'swp',
  return: 'ret',
  link: 'lnk',
  view: 'vw',
  notification: 'ntf',
  mail: 'ml',
} as const

export type IdKind = keyof typeof idPrefixes

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const pool = Buffer.alloc(4096)
let used = pool.length

function randomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool[used++]!
}

/**
 * Prefix, 48 bits of time in milliseconds and 80 random bits, in base 32: sorts by creation time, and cannot be guessed.
 * Ids are made before their transaction, so their order is not the order of commits.
 */
export function newId(kind: IdKind, now: number): string {
  let text = timeOfId(now)
  for (let i = 0; i < 16; i++) text += alphabet[randomByte() % 32]
  return `${idPrefixes[kind]}_${text}`
}

/** The part after the prefix with which the ids of this moment begin. */
export function timeOfId(now: number): string {
  let text = ''
  for (let time = now, i = 0; i < 10; i++, time = Math.floor(time / 32)) text = alphabet[time % 32] + text
  return text
}

/** The first and the last moment of ids that begin like this; the first ten characters behind the prefix are the time. */
export function timesOfIds(begins: string): { readonly first: number; readonly last: number } {
  const read = (text: string) => [...text].reduce((time, letter) => time * 32 + alphabet.indexOf(letter), 0)
  const time = begins.slice(0, 10)
  return { first: read(time.padEnd(10, '0')), last: read(time.padEnd(10, 'z')) }
}

const TAIL = '[0-9a-hjkmnp-tv-z]{26}'
const tail = new RegExp(`^${TAIL}$`)

/** The form of an id, for schemas. */
export const idPattern = (kind: IdKind): string => `^${idPrefixes[kind]}_${TAIL}$`

export function isId(kind: IdKind, text: string): boolean {
  const prefix = `${idPrefixes[kind]}_`
  return text.startsWith(prefix) && tail.test(text.slice(prefix.length))
}
