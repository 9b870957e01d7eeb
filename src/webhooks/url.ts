import { isIP } from 'node:net'
import { isAllowedAddress, NO_PUBLIC_ADDRESS, type Reach } from './address.ts'
import { isWebPort } from './ports.ts'

/**
 * What a partner may give as the address of a webhook. This refuses early, with a reason, what could never be delivered;
 * the wall that holds is at the connection (outside.ts), for a name can point elsewhere tomorrow.
 */
export type UrlRules = Reach & {
  /** Plain http is for the sandbox. */
  readonly allow_http: boolean
}

export const URL_MAX = 2048

/** For schemas: plain ASCII, no credentials in front of the host, no fragment. Which host and port it may be is judged below. */
export const URL_PATTERN =
  '^[Hh][Tt][Tt][Pp][Ss]?://[!"$%&\'()*+,.:;<=>\\[\\]^_`{|}~0-9A-Za-z-]+([/?][!"$-\\[\\]-~]*)?$'

/** Names that mean a machine nearby, wherever they are asked. */
const nearby =
  /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa|in-addr\.arpa|ip6\.arpa)$/
/** Never, not even for development. */
const metadataNames =
  /^(metadata|instance-data|metadata\.google\.internal|instance-data\.ec2\.internal|metadata\.goog)$/

/** The same whatever the reason is: nobody learns here what exists inside. */
const outOfReach = `${NO_PUBLIC_ADDRESS}: it must be reachable from the internet. For a program on your own machine use trilho listen.`

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
  if (!isWebPort(port, rules)) return `may not use port ${port}: web servers listen elsewhere.`
  return refusalOfHost(url.hostname, rules)
}

/** The host as it was parsed: `127.1`, `0x7f.1` and `2130706433` have become 127.0.0.1 by now. */
function refusalOfHost(hostname: string, reach: Reach): string | undefined {
  const literal = hostname.replace(/^\[|\]$/g, '')
  if (isIP(literal)) return isAllowedAddress(literal, reach) ? undefined : outOfReach
  const name = hostname.replace(/\.$/, '')
  if (
    name.length > 253 ||
    name.split('.').some((label) => !/^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  )
    return 'has a host that is no name.'
  if (metadataNames.test(name)) return outOfReach
  if (!reach.allow_private && (nearby.test(name) || !name.includes('.'))) return outOfReach
  return undefined
}
