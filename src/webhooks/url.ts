import { isIP } from 'node:net'
import { type EgressRules, isAllowedAddress, NO_PUBLIC_ADDRESS } from './address.ts'
import { isWebPort } from './ports.ts'

/**
 * Checks the URL of a webhook endpoint when it is created or changed. This check refuses early and with a reason; the check
 * that protects the network is at the connection (outside.ts), because a name can resolve differently later.
 */
type UrlRules = EgressRules & {
  /** Plain http is allowed in the sandbox only. */
  readonly allow_http: boolean
}

export const URL_MAX = 2048

/** For schemas: plain ASCII, no credentials, no fragment. `refusalOfUrl` checks host and port. */
export const URL_PATTERN =
  '^[Hh][Tt][Tt][Pp][Ss]?://[!"$%&\'()*+,.:;<=>\\[\\]^_`{|}~0-9A-Za-z-]+([/?][!"$-\\[\\]-~]*)?$'

/** Names of local or internal machines. */
const nearby =
  /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa|in-addr\.arpa|ip6\.arpa)$/
/** Metadata services: refused also in development. */
const metadataNames =
  /^(metadata|instance-data|metadata\.google\.internal|instance-data\.ec2\.internal|metadata\.goog)$/

/** One text for all reasons, so that it reveals nothing about the internal network. */
const outOfReach = `${NO_PUBLIC_ADDRESS}: it must be reachable from the internet. For a program on your own machine use trilho listen.`

/** The reason to refuse the URL, or undefined. */
export function refusalOfUrl(text: string, rules: UrlRules): string | undefined {
  if (text.length > URL_MAX) return `may have at most ${URL_MAX} characters.`
  // The URL parser would silently drop tabs and line breaks, and turn \ into / and other scripts' digits into ASCII.
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
  if (!isWebPort(port, rules))
    return `may not use port ${port}: use 443, 8443, in the sandbox also 80, or a port from 1024 up that no well-known service uses.`
  return refusalOfHost(url.hostname, rules)
}

/** Gets the parsed host: the parser has turned `127.1`, `0x7f.1` and `2130706433` into 127.0.0.1. */
function refusalOfHost(hostname: string, reach: EgressRules): string | undefined {
  const literal = hostname.replace(/^\[|\]$/g, '')
  if (isIP(literal)) return isAllowedAddress(literal, reach) ? undefined : outOfReach
  const name = hostname.replace(/\.$/, '')
  if (
    name.length > 253 ||
    name.split('.').some((label) => !/^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  )
    return 'has a host that is not a valid DNS name.'
  if (metadataNames.test(name)) return outOfReach
  if (!reach.allow_private && (nearby.test(name) || !name.includes('.'))) return outOfReach
  return undefined
}
