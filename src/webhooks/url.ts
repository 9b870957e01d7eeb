import { isIP } from 'node:net'
import { isAllowedAddress } from './address.ts'

/**
 * What a partner may give as the address of a webhook. This refuses early, with a reason, what could never be delivered;
 * the wall that holds is at the connection (outside.ts), for a name can point elsewhere tomorrow.
 */
export type UrlRules = {
  /** Plain http is for the sandbox. */
  readonly allow_http: boolean
  readonly allow_private: boolean
}

export const URL_MAX = 2048

/** For schemas: plain ASCII, no credentials in front of the host, no fragment. Which host and port it may be is judged below. */
export const URL_PATTERN =
  '^[Hh][Tt][Tt][Pp][Ss]?://[!"$%&\'()*+,.:;<=>\\[\\]^_`{|}~0-9A-Za-z-]+([/?][!"$-\\[\\]-~]*)?$'

/** Below 1024 only the two of the web. Above it, what databases, queues and control planes listen on. */
const closedPorts = new Set([
  1080, 1099, 1433, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3128, 3306, 3389, 3659, 4045,
  4190, 4369, 5060, 5061, 5432, 5433, 5555, 5601, 5672, 5900, 5984, 5985, 5986, 6000, 6379, 6380, 6443, 6566,
  6665, 6666, 6667, 6668, 6669, 6679, 6697, 7000, 7001, 7199, 8086, 8125, 8300, 8301, 8500, 8600, 9042, 9092,
  9100, 9160, 9200, 9300, 9418, 10080, 10250, 10255, 11211, 15672, 16379, 20000, 25565, 26257, 26379, 27017,
  27018, 27019, 50000, 50070, 61613, 61616,
])

/** Names that mean a machine nearby, wherever they are asked. */
const nearby =
  /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa|in-addr\.arpa|ip6\.arpa)$/
/** Never, not even for development. */
const metadataNames =
  /^(metadata|instance-data|metadata\.google\.internal|instance-data\.ec2\.internal|metadata\.goog)$/

/** The reason why not, or undefined. */
export function refusalOfUrl(text: string, rules: UrlRules): string | undefined {
  if (text.length > URL_MAX) return `may have at most ${URL_MAX} characters.`
  // The parser would drop tabs and line breaks, turn \ into / and digits of other scripts into ASCII, without a word.
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(text))
    return 'must be plain ASCII without spaces, line breaks or backslashes.'
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text))
    return 'must be a URL such as https://example.com/webhooks.'
  const url = new URL(text)
  if (url.protocol === 'http:' && !rules.allow_http) return 'must start with https:// in production.'
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(text)?.[1] ?? ''
  if (url.username || url.password || authority.includes('@')) return 'may not hold a user name or password.'
  if (text.includes('#')) return 'may not have a fragment.'
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if ((port < 1024 && port !== 80 && port !== 443) || closedPorts.has(port))
    return `may not use port ${port}: web servers listen elsewhere.`
  return refusalOfHost(url.hostname, rules.allow_private)
}

/** The host as it was parsed: `127.1`, `0x7f.1` and `2130706433` have become 127.0.0.1 by now. */
function refusalOfHost(hostname: string, allow_private: boolean): string | undefined {
  const literal = hostname.replace(/^\[|\]$/g, '')
  if (isIP(literal)) return isAllowedAddress(literal, allow_private) ? undefined : 'must be a public address.'
  const name = hostname.replace(/\.$/, '')
  if (
    name.length > 253 ||
    name.split('.').some((label) => !/^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  )
    return 'has a host that is no name.'
  if (metadataNames.test(name)) return 'must be a public address.'
  if (!allow_private && (nearby.test(name) || !name.includes('.'))) return 'must be a public address.'
  return undefined
}
