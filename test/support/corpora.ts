import { readFileSync } from 'node:fs'

/** The inputs of test/corpora; its README says what the fields mean. */
export type AmountCase = { readonly name: string; readonly json: string; readonly valid: boolean }

export type BodyCase = {
  readonly name: string
  readonly body?: string | readonly (string | { readonly repeat: string; readonly times: number })[]
  readonly body_base64?: string
  readonly content_type?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly layer: 'json' | 'schema' | 'size' | 'media_type'
}

type TextCase = {
  readonly name: string
  readonly text: string
  readonly valid: boolean
  readonly code_points: number
}

type HeaderCase = {
  readonly name: string
  readonly value: null | string | readonly string[]
  readonly code: string | null
}

export type UrlCase = {
  readonly name: string
  readonly url: string
  readonly refused: 'at creation' | 'at delivery'
  /** What the host resolves to. */
  readonly dns?: readonly string[]
}

const read = (file: string) =>
  JSON.parse(readFileSync(new URL(`../corpora/${file}`, import.meta.url), 'utf8'))

export const amounts: readonly AmountCase[] = read('amounts.json')
export const bodies: readonly BodyCase[] = read('json-bodies.json')
export const texts: readonly TextCase[] = read('text.json')
export const headers: readonly HeaderCase[] = read('headers.json')
export const webhookUrls: readonly UrlCase[] = read('webhook-urls.json')

/** The bytes of a body, with the customer put in. */
export function bytesOf({ body, body_base64 }: BodyCase, customer_id: string): Buffer {
  if (body_base64 !== undefined) return Buffer.from(body_base64, 'base64')
  const parts = [body ?? ''].flat().map((part) => {
    if (typeof part === 'string') return part
    return Array.from({ length: part.times }, (_, n) => part.repeat.replaceAll('{{n}}', String(n))).join('')
  })
  return Buffer.from(parts.join('').replaceAll('{{customer}}', customer_id))
}

/** The header as it is sent, made from a key that works. */
export function headerOf(value: string, key: string): string {
  const [secret] = /[^_]+$/.exec(key)!
  const changed = (at: number) => {
    const place = key.length - secret.length + at
    return `${key.slice(0, place)}${key[place] === 'a' ? 'b' : 'a'}${key.slice(place + 1)}`
  }
  const placeholders: Readonly<Record<string, string>> = {
    key,
    secret,
    key_first_changed: changed(0),
    key_middle_changed: changed(secret.length >> 1),
    key_last_changed: changed(secret.length - 1),
    key_cut: key.slice(0, -1),
    key_upper: key.toUpperCase(),
    key_reversed: [...key].reverse().join(''),
    key_base64: Buffer.from(key).toString('base64'),
    key_basic: Buffer.from(`${key}:`).toString('base64'),
  }
  return value.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => placeholders[name]!)
}
