import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { parseAddress } from '../db/address.ts'
import { type Cidr, isLoopback, parseCidr } from '../http/ip.ts'
import { isEvmAddress } from '../money/onchain/address.ts'
import { parsePixKey } from '../money/pix/key.ts'
import { parseSender, type Sender } from '../notifications/address.ts'
import type { SmtpServer } from '../notifications/smtp.ts'
import { scriptOf } from '../rails/chain/bitcoin/transaction.ts'
import { readExtendedKey } from '../rails/chain/deposit-addresses.ts'
import { tronHexOf } from '../rails/chain/tron/address.ts'
import { type ExchangeName, exchangeNames } from '../rails/prices/exchange-table.ts'
import type { ExchangeUrls } from '../rails/prices/exchanges.ts'
import { readExtendedPrivateKey } from '../rails/signer/deposit-keys.ts'
import type { SignerAddress } from '../rails/signer/server.ts'

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

export type SignerUrl =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'https'; readonly url: string }

/** How a service reaches its signer. */
export function signerUrl(value: string): SignerUrl {
  if (value.startsWith('unix:')) return { kind: 'unix', path: socketPath(value) }
  if (!value.startsWith('https:'))
    throw new Error('must be unix: and the path of a socket, or https:// with a host and a port')
  return { kind: 'https', url: httpsOrigin(value) }
}

/** Where a signer listens. */
export function signerAddress(value: string): SignerAddress {
  if (value.startsWith('unix:')) return { kind: 'unix', path: socketPath(value) }
  const [, bracketed, plain, digits] =
    /^(?:\[([0-9a-f:.]+)\]|([0-9A-Za-z._-]+)):([0-9]{1,5})$/.exec(value) ?? []
  const host = bracketed ?? plain
  if (host === undefined || digits === undefined)
    throw new Error('must be unix: and the path of a socket, or an address and a port, such as 0.0.0.0:8443')
  return { kind: 'tls', host, port: integer(0, 65_535)(digits) }
}

/** The longest path of a socket that all supported kernels accept. */
const SOCKET_PATH_BYTES = 103

function socketPath(value: string): string {
  const path = value.slice('unix:'.length)
  if (!path.startsWith('/') || Buffer.byteLength(path) > SOCKET_PATH_BYTES)
    throw new Error(`must have an absolute path of at most ${SOCKET_PATH_BYTES} bytes after unix:`)
  return path
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g
const PRIVATE_KEY =
  /-----BEGIN (?:RSA |EC )?PRIVATE KEY-----[A-Za-z0-9+/=\s]+-----END (?:RSA |EC )?PRIVATE KEY-----/

/** Certificate and private key, both PEM, in one text. */
export function certificatePair(value: string): { readonly cert: string; readonly key: string } {
  const cert = value.match(CERTIFICATES)?.join('\n')
  const key = PRIVATE_KEY.exec(value)?.[0]
  if (cert === undefined || key === undefined)
    throw new Error('must have a certificate and its private key, both PEM and not encrypted, in one text')
  try {
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) throw new Error()
  } catch {
    throw new Error('has a certificate and a private key that cannot be read or do not belong together')
  }
  return { cert, key }
}

export function depositKinds(value: string): ('evm' | 'bitcoin')[] {
  return partsOf(value).map(oneOf('evm', 'bitcoin'))
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

const isThisMachine = (hostname: string): boolean =>
  hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''))

/** `binance=https://…, bitso=https://…`. Prices decide about money: on the way from another machine nobody may change them. */
export function exchangeUrls(value: string): ExchangeUrls {
  const urls: Partial<Record<ExchangeName, string>> = {}
  for (const part of partsOf(value)) {
    const at = part.indexOf('=')
    const name = part.slice(0, Math.max(0, at)).trim() as ExchangeName
    if (!exchangeNames.includes(name))
      throw new Error(`must be name=URL, separated by commas, with names of ${exchangeNames.join(', ')}`)
    if (urls[name] !== undefined) throw new Error(`has ${name} twice`)
    urls[name] = exchangeUrl(name, part.slice(at + 1).trim())
  }
  return urls
}

function exchangeUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const is_secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname))
  if (!url || !is_secure)
    throw new Error(`must have a URL with https for ${name}; http only for this machine`)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new Error(`must have a URL for ${name} without a user, a password, ? and #`)
  return url.origin + (url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname)
}

/** The address of a service of the operator's own: scheme, host, port, and a path if need be. */
export function serviceUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const is_plain = url?.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (!url || !is_plain || !['http:', 'https:'].includes(url.protocol))
    throw new Error(
      'must be a URL with https or http, such as http://prometheus.example.com:9090, without a user, a password, ? and #',
    )
  return url.origin + (url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname)
}

export function httpsOrigin(value: string): string {
  const parsed = origin(value)
  if (!parsed.startsWith('https:')) throw new Error('must begin with https://')
  return parsed
}

/** The payer's key, as the DICT spells it. */
export function pixKey(value: string): string {
  const key = parsePixKey(value)?.key
  if (key === undefined) throw new Error('must be a Pix key: CPF, CNPJ, e-mail, phone (+55…) or random key')
  return key
}

/** A secret that is part of a URL. The message does not quote it. */
export function urlToken(value: string): string {
  if (!/^[A-Za-z0-9_-]{32,200}$/.test(value))
    throw new Error('must be 32 to 200 letters, digits, - or _ (openssl rand -hex 32)')
  return value
}

/** Digits: the id of a project at Stark Bank. */
export function projectId(value: string): string {
  if (!/^[0-9]{1,30}$/.test(value)) throw new Error('must be the digits of a project id')
  return value
}

/** Certificates of authorities, PEM. */
export function authorities(value: string): string {
  if (!value.includes('-----BEGIN CERTIFICATE-----')) throw new Error('must be certificates in PEM form')
  return value
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

export function extendedPublicKey(value: string): string {
  readExtendedKey(value)
  return value
}

export function extendedPrivateKey(value: string): string {
  readExtendedPrivateKey(value)
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
  if (!scriptOf(value)?.startsWith('0014'))
    throw new Error('must be a Bitcoin address of one key that begins with bc1q (P2WPKH)')
  return value.toLowerCase()
}

/** TRX, as sun. */
export const trx = decimal(6, '30')

export function tronAddress(value: string): string {
  if (tronHexOf(value) === undefined)
    throw new Error('must be an address of Tron: base58 with a checksum, beginning with T')
  return value
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
