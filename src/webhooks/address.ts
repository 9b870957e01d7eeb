import { type Cidr, cidrContains, parseCidr } from '../http/ip.ts'

/**
 * Which addresses a webhook may be sent to: public ones only (SSRF). An IPv4-mapped IPv6 address (::ffff:a.b.c.d) is judged as
 * the IPv4 address; all other embeddings, such as 6to4 and NAT64, are refused.
 */
const ranges = (...texts: string[]): readonly Cidr[] => texts.map((text) => parseCidr(text)!)

/** What the operator's settings allow. */
export type EgressRules = {
  readonly allow_private: boolean
  /** WEBHOOK_DENY: refused, whatever the other rules allow. */
  readonly denied?: readonly Cidr[]
}

/**
 * One message for every refused address and for every name without an address: different messages would let a partner map the
 * internal network.
 */
export const NO_PUBLIC_ADDRESS = 'has a host without a public address'

/** Allowed by WEBHOOK_ALLOW_PRIVATE, for development. */
const privateRanges = ranges(
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
)

/** Metadata services of clouds, which hand out the machine's credentials. */
const metadata = ranges(
  '169.254.0.0/16',
  '168.63.129.16/32', // Azure, among public addresses
  '100.100.100.200/32', // Alibaba
  '192.0.0.192/32', // Oracle
  'fd00:ec2::/32', // AWS
  'fd20:ce::/32', // Google
  'fd00:c1::a9fe:a9fe/128', // Oracle
)

const special4 = ranges(
  '0.0.0.0/8', // this network
  '100.64.0.0/10', // carrier-grade NAT
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
)

/** IPv6 outside of global unicast is refused as a whole, so NAT64, link-local, site-local and multicast need no line here. */
const [globalUnicast] = ranges('2000::/3')
const special6 = ranges(
  '2001::/23', // protocol assignments, Teredo among them
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
)

const inside = (list: readonly Cidr[], address: string) => list.some((cidr) => cidrContains(cidr, address))
const [everyIPv4] = ranges('0.0.0.0/0')

export function isAllowedAddress(address: string, { allow_private, denied = [] }: EgressRules): boolean {
  // An IPv6 zone (%eth0) names an interface of this machine.
  if (address.includes('%') || inside(metadata, address) || inside(denied, address)) return false
  if (inside(privateRanges, address)) return allow_private
  if (cidrContains(everyIPv4!, address)) return !inside(special4, address)
  return cidrContains(globalUnicast!, address) && !inside(special6, address)
}
