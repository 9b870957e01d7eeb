import { isIPv4, isIPv6 } from 'node:net'

type Address = { readonly family: 4 | 6; readonly value: bigint }

/** A range of one family: `::/0` contains every IPv6 address and no IPv4 address, in whatever notation. */
export type Cidr = { readonly family: 4 | 6; readonly network: bigint; readonly prefix: number }

const loopback: readonly Cidr[] = [
  { family: 4, network: 0x7f00_0000n, prefix: 8 },
  { family: 6, network: 1n, prefix: 128 },
]

/** The canonical spelling of an address. Returns other text unchanged. */
export function normalizeAddress(address: string): string {
  const parsed = parseAddress(address)
  return parsed ? formatAddress(parsed) : address
}

export function parseCidr(text: string): Cidr | undefined {
  // A zone names an interface of this machine; a rule cannot depend on it.
  const match = /^([0-9A-Fa-f.:]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text)
  const written = match?.[1]
  const address = written && parseAddress(written)
  if (!address) return undefined

  const width = widthOf(address.family)
  // The prefix of a mapped range counts the 96 bits in front of the IPv4 address.
  const offset = written.includes(':') && address.family === 4 ? 96 : 0
  const prefix = match[2] === undefined ? width : Number(match[2]) - offset
  if (prefix < 0 || prefix > width) return undefined
  const hostBits = BigInt(width - prefix)
  if ((address.value >> hostBits) << hostBits !== address.value) return undefined
  return { family: address.family, network: address.value, prefix }
}

/** Why a text is not a range, and which range may have been meant. */
export type RangeFault =
  | { readonly kind: 'host_bits'; readonly range: string; readonly address: string }
  | { readonly kind: 'wildcard'; readonly range: string }
  | { readonly kind: 'prefix'; readonly address: string; readonly longest: 32 | 128 }
  | { readonly kind: 'no_address' }

/** Undefined when the text is a range or a single address. */
export function faultOfRange(text: string): RangeFault | undefined {
  if (parseCidr(text)) return undefined
  const starred = /^((?:[0-9]{1,3}\.){1,3})\*(?:\.\*)*$/.exec(text)?.[1]
  if (starred) {
    const bytes = starred.split('.').slice(0, -1)
    const range = `${[...bytes, '0', '0', '0'].slice(0, 4).join('.')}/${8 * bytes.length}`
    return parseCidr(range) ? { kind: 'wildcard', range } : { kind: 'no_address' }
  }
  const [, written = '', length = ''] = /^([0-9A-Fa-f.:]+)\/([0-9]{1,3})$/.exec(text) ?? []
  const parsed = parseAddress(written)
  if (!parsed) return { kind: 'no_address' }
  const address = formatAddress(parsed)
  const longest = widthOf(parsed.family)
  const prefix = Number(length) - (written.includes(':') && parsed.family === 4 ? 96 : 0)
  if (prefix < 0 || prefix > longest) return { kind: 'prefix', address, longest }
  const hostBits = BigInt(longest - prefix)
  const network = formatAddress({ family: parsed.family, value: (parsed.value >> hostBits) << hostBits })
  return { kind: 'host_bits', range: `${network}/${prefix}`, address }
}

export function cidrContains(cidr: Cidr, address: string): boolean {
  const parsed = parseAddress(address)
  return parsed !== undefined && contains(cidr, parsed)
}

/** The network with this prefix length that contains an IPv6 address. Returns other text unchanged. */
export function networkOf(address: string, prefix: number): string {
  const parsed = parseAddress(address)
  if (parsed?.family !== 6) return address
  const hostBits = BigInt(128 - prefix)
  return `${formatAddress({ family: 6, value: (parsed.value >> hostBits) << hostBits })}/${prefix}`
}

export const isLoopback = (address: string): boolean => loopback.some((cidr) => cidrContains(cidr, address))

/**
 * The address a request came from. Each proxy appends the address it saw, so only the right end of the header, as far as
 * trusted proxies wrote it, can be trusted; the rest is the client's claim.
 */
export function clientAddress(options: {
  socket: string
  forwarded_for: string | undefined
  trusted: readonly Cidr[]
}): string {
  const isTrusted = (address: Address) => options.trusted.some((cidr) => contains(cidr, address))
  let nearest = parseAddress(options.socket)
  if (!nearest) return options.socket

  const hops = options.forwarded_for?.split(',') ?? []
  while (isTrusted(nearest)) {
    const hop = hops.pop()
    const next = hop === undefined ? undefined : parseHop(hop.trim())
    if (!next) break
    nearest = next
  }
  return formatAddress(nearest)
}

function contains(cidr: Cidr, address: Address): boolean {
  const hostBits = BigInt(widthOf(cidr.family) - cidr.prefix)
  return cidr.family === address.family && address.value >> hostBits === cidr.network >> hostBits
}

function widthOf(family: 4 | 6): 32 | 128 {
  return family === 4 ? 32 : 128
}

/** One entry of X-Forwarded-For: an address, `1.2.3.4:5678`, `[::1]` or `[::1]:443`. */
function parseHop(text: string): Address | undefined {
  const match = /^(?:\[([^\]]+)\]|([0-9.]+))(?::([0-9]{1,5}))?$/.exec(text)
  if (!match) return parseAddress(text)
  const [, bracketed, ipv4 = '', port = '0'] = match
  if (Number(port) > 65_535 || (bracketed && isIPv4(bracketed))) return undefined
  return parseAddress(bracketed ?? ipv4)
}

function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { family: 4, value: ipv4Value(text) }
  const bare = text.replace(/%[\w.~-]{1,32}$/, '')
  if (bare.includes('%') || !isIPv6(bare)) return undefined
  const value = ipv6Value(bare)
  // A dual-stack socket reports IPv4 peers as ::ffff:a.b.c.d; a rule for a.b.c.d has to hold for them too.
  if (value >> 32n === 0xffffn) return { family: 4, value: value & 0xffff_ffffn }
  return { family: 6, value }
}

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

function ipv6Value(text: string): bigint {
  const [head = '', tail = ''] = text.split('::').map(hexDigits)
  return BigInt(`0x${head}${'0'.repeat(32 - head.length - tail.length)}${tail}`)
}

function hexDigits(groups: string): string {
  const padded = groups.split(':').map((group) => {
    if (group === '') return ''
    return group.includes('.') ? ipv4Value(group).toString(16).padStart(8, '0') : group.padStart(4, '0')
  })
  return padded.join('')
}

function formatAddress({ family, value }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn)
  const zeros = longestZeroRun(groups)
  const hex = groups.map((group) => group.toString(16))
  if (zeros.length < 2) return hex.join(':')
  return `${hex.slice(0, zeros.start).join(':')}::${hex.slice(zeros.start + zeros.length).join(':')}`
}

function longestZeroRun(groups: readonly bigint[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 }
  let length = 0
  groups.forEach((group, index) => {
    length = group === 0n ? length + 1 : 0
    if (length > longest.length) longest = { start: index - length + 1, length }
  })
  return longest
}
