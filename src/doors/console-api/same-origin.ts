import { isIP } from 'node:net'
import { Refusal } from '../../core/errors.ts'

/** The headers by which a browser names the page of a request. */
export type OriginHeaders = {
  readonly origin?: string | undefined
  readonly host?: string | undefined
  readonly 'sec-fetch-site'?: string | string[] | undefined
}

/**
 * Refuses a request that does not come from a page of this console. A page of our own is at PUBLIC_URL. At another address
 * the page must have the same origin as the request, and the address must be `localhost` or an IP address: a name that is not
 * ours may lead here by a DNS entry of somebody else (DNS rebinding), an IP address cannot. Same origin is what the browser
 * says in Sec-Fetch-Site, or an Origin that equals Host: over plain HTTP, browsers send Sec-Fetch-Site to their own machine
 * only. Where a browser sends no Origin, Host stands in for it.
 */
export function assertSameOrigin(headers: OriginHeaders, public_url: string): void {
  const own = new URL(public_url)
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (origin === own.origin) return
  const place = origin ?? (host === undefined ? undefined : `http://${host}`)
  const shown = place !== undefined && URL.canParse(place) ? new URL(place) : undefined
  const same_origin =
    site === 'same-origin' || (site === undefined && origin !== undefined && shown?.host === host)
  if (same_origin && shown && isNobodysName(shown.hostname)) return
  if (same_origin && origin === undefined && shown?.host === own.host) return
  if (!same_origin || !shown) throw new Refusal('cross_site_request')
  throw new Refusal('cross_site_request', {
    message: `This page is at ${shown.host}, and the console is at ${own.origin}/console. Open it there. If people reach this server at ${shown.host}, its operator sets PUBLIC_URL to that address.`,
    details: { expected: own.origin },
  })
}

/** A host that no DNS entry can point here. Browsers write IPv6 addresses in brackets. */
const isNobodysName = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  isIP(hostname.replace(/^\[(.*)\]$/, '$1')) > 0
