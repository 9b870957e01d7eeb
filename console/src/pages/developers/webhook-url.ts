/** Which part of a URL the service refuses. The service's own message is English and written for programs. */
type UrlPart = 'long' | 'signs' | 'scheme' | 'none' | 'https' | 'user' | 'fragment' | 'port' | 'host'

const URL_MAX = 2048

export function wrongPartOf(text: string, environment: string): UrlPart {
  if (text.length > URL_MAX) return 'long'
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(text)) return 'signs'
  if (!/^https?:\/\//i.test(text)) return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? 'scheme' : 'none'
  if (!URL.canParse(text)) return 'none'
  const url = new URL(text)
  if (url.protocol === 'http:' && environment === 'production') return 'https'
  if (/^[^:]+:\/\/[^/?#]*@/.test(text)) return 'user'
  if (text.includes('#')) return 'fragment'
  return url.port !== '' && isOutside(url.hostname) ? 'port' : 'host'
}

/** Whether the host looks like a public DNS name. */
const isOutside = (host: string): boolean =>
  /\.[a-z][a-z0-9-]*$/i.test(host) && !/\.(localhost|localdomain|local|internal|lan|home|corp)$/i.test(host)
