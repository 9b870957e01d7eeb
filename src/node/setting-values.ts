import { isIP } from 'node:net'
import { parseAddress } from '../db/address.ts'
import { type Cidr, parseCidr } from '../http/ip.ts'
import { isEvmAddress, isPayableAddress, scriptOfAddress } from '../money/onchain/address.ts'
import { parseSender, type Sender } from '../notifications/address.ts'
import type { SmtpServer } from '../notifications/smtp.ts'

/** Readers of settings: text to value. Each throws a message that follows the setting's name: "must be …". */
export function text(value: string): string {
  return value
}

export function integer(min: number, max: number) {
  return (value: string): number => {
    const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= min && number <= max))
      throw new Error(`must be a whole number from ${min} to ${max}, not "${value}"`)
    return number
  }
}

/** The non-empty parts between commas. */
export const partsOf = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

export function integers(min: number, max: number) {
  return (value: string): number[] => partsOf(value).map(integer(min, max))
}

export function nameServers(value: string): string[] {
  const parts = partsOf(value)
  for (const part of parts) {
    const host = part.replace(/:[0-9]{1,5}$/, '').replace(/^\[|\]$/g, '')
    if (isIP(host) === 0 && isIP(part) === 0) throw new Error(`has "${part}", which is not an address`)
  }
  return parts
}

export function oneOf<const T extends string>(...allowed: readonly T[]) {
  return (value: string): T => {
    if (!allowed.includes(value as T)) throw new Error(`must be one of ${allowed.join(', ')}, not "${value}"`)
    return value as T
  }
}

export function yesOrNo(value: string): boolean {
  if (value !== 'true' && value !== 'false') throw new Error(`must be true or false, not "${value}"`)
  return value === 'true'
}

const HOST = /^([a-z0-9_-]+\.)*[a-z0-9_-]+$|^\[[0-9a-f:.]+\]$/

/** Links are made from the origin, and some are pasted into a shell: only scheme, host and port are allowed. */
export function origin(value: string): string {
  const parsed =
    /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(value) && URL.canParse(value) ? new URL(value) : undefined
  // The message does not quote the value: it may contain a password.
  if (!parsed || !HOST.test(parsed.hostname))
    throw new Error(
      'must be https:// or http:// with a host, and a port if need be, such as https://api.example.com; without a path, a user or a password',
    )
  return parsed.origin
}

export function databaseUrl(value: string): string {
  parseAddress(value)
  if (!/^[a-z]+:\/\/[^/?#]*\/[^?#]/.test(value))
    throw new Error(
      'must end with the name of the database, as in postgresql://user:password@host:5432/database',
    )
  return value
}

export function hexKey(value: string): Buffer {
  if (!/^[0-9a-fA-F]{64}$/.test(value)) throw new Error('must be 64 hex digits (openssl rand -hex 32)')
  return Buffer.from(value, 'hex')
}

/** The messages do not quote the value: the URL of a provider contains a key. */
export function endpointUrls(value: string): string[] {
  const urls = partsOf(value)
  for (const [index, url] of urls.entries()) {
    const { protocol, href } = URL.canParse(url) ? new URL(url) : { protocol: '', href: '' }
    if (protocol !== 'https:' && protocol !== 'http:')
      throw new Error(`must be URLs with https or http, separated by commas; number ${index + 1} is none`)
    if (urls.slice(0, index).some((other) => new URL(other).href === href))
      throw new Error(
        `has the same URL twice (number ${index + 1}): equal endpoints would confirm each other`,
      )
  }
  return urls
}

/** In lower case it has no checksum; the check of the chain finds out if it is another one. */
export function evmAddress(value: string): string {
  if (!isEvmAddress(value, false))
    throw new Error('must be an EVM address: 0x and 40 hex digits, whose capitals are its checksum (EIP-55)')
  return value
}

/** A wallet's private key. The messages do not quote it. */
export function walletKey(value: string): string {
  if (!/^(?:0x)?[0-9a-fA-F]{64}$/.test(value)) throw new Error('must be a private key of 64 hex digits')
  return value
}

/** Whole units and some decimals, as smallest units. */
function decimal(decimals: number, example: string) {
  return (value: string): bigint => {
    const [, whole, part = ''] = /^([0-9]{1,9})(?:\.([0-9]{1,18}))?$/.exec(value) ?? []
    const is_exact = whole !== undefined && part.length <= decimals
    const units = is_exact ? BigInt(whole + part.padEnd(decimals, '0')) : 0n
    if (units <= 0n)
      throw new Error(
        `must be a positive decimal number such as ${example}, with at most ${decimals} decimals, not "${value}"`,
      )
    return units
  }
}

export const wei = decimal(18, '0.01')

/** BTC, as satoshis. */
export const btc = decimal(8, '1.5')

/** Satoshis per virtual byte, as satoshis per 1,000 of them. */
export const feeRate = decimal(3, '1.5')

export const satoshis = (value: string): bigint => BigInt(integer(1, 100_000_000)(value))

export const blockHeight = (value: string): bigint => BigInt(integer(0, 999_999_999)(value))

export function blockHash(value: string): string {
  if (!/^[0-9a-fA-F]{64}$/.test(value)) throw new Error('must be the hash of a block: 64 hex digits')
  return value.toLowerCase()
}

/** The wallet's form is that of the signer: the hash of one key (P2WPKH). The database names wallets by it, in lower case. */
export function bitcoinWallet(value: string): string {
  if (!isPayableAddress('bitcoin', value) || !/^0014/.test(scriptOfAddress(value)))
    throw new Error('must be a Bitcoin address of one key that begins with bc1q (P2WPKH)')
  return value.toLowerCase()
}

/** Whole USDT, as smallest units. */
export const usdt = (value: string): bigint => BigInt(integer(1, 999_999_999)(value)) * 10n ** 6n

export function cidrs(value: string): Cidr[] {
  return partsOf(value).map((part) => {
    const cidr = parseCidr(part)
    if (!cidr) throw new Error(`has "${part}", which is neither an address nor a CIDR range`)
    return cidr
  })
}

/** The messages do not quote the value: it contains a password. */
export function smtpServer(value: string): SmtpServer {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const secure = url?.protocol === 'smtps:'
  const host = url?.hostname.replace(/^\[|\]$/g, '').toLowerCase() ?? ''
  if (!url || !(secure || url.protocol === 'smtp:') || !(HOST.test(host) || isIP(host) === 6))
    throw new Error(
      'must be smtp:// or smtps:// with a host, such as smtps://user:password@smtp.example.com:465',
    )
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '')
    throw new Error(
      'must end after the host or the port; write characters such as / ? # @ : % of the password as %2F %3F %23 %40 %3A %25',
    )
  if ((url.username === '') !== (url.password === ''))
    throw new Error(`has ${url.username === '' ? 'a password and no user' : 'a user and no password'}`)
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port)
  const [user, password] = [decoded(url.username), decoded(url.password)]
  return { host, port, secure, user: user || undefined, password: password || undefined }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('has a % in the user or the password that must be written as %25')
  }
}

export function sender(value: string): Sender {
  const parsed = parseSender(value)
  if (!parsed)
    throw new Error(
      `must be an e-mail address, or a name and an address, such as Trilho <no-reply@example.com>, not "${value}"`,
    )
  return parsed
}
