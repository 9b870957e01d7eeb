import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'

/** TLS options of a connection; false: not encrypted. */
export type Tls = false | ConnectionOptions

/** Values of libpq's `sslmode`. All of them are treated as verify-full; only `disable` switches TLS off. */
const VERIFIED = ['verify-full', 'verify-ca', 'require', 'prefer']
const OPTIONS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'ssl', 'uselibpqcompat']

/**
 * A server on another machine must show a certificate for its name, signed by a trusted authority, unless TLS is explicitly
 * switched off (decision 0032). Removes the TLS options from `search`. Throws an error that says what is wrong with them.
 */
export function takeTls(search: URLSearchParams, hosts: readonly string[]): Tls {
  const mode =
    search.get('sslmode') ?? (/^(true|1)$/.test(search.get('ssl') ?? '') ? 'verify-full' : undefined)
  const read = (option: string) => readOption(option, search.get(option))
  const [ca, cert, key] = [read('sslrootcert'), read('sslcert'), read('sslkey')]
  for (const option of OPTIONS) search.delete(option)
  if (mode === 'disable') return false
  if (mode !== undefined && !VERIFIED.includes(mode))
    throw new Error(
      `has sslmode=${mode}; it must be verify-full, or disable where nobody else can listen on the network`,
    )
  if (mode === undefined && ca === undefined && hosts.every(isOnThisMachine)) return false
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
  }
}

/** `system` is libpq's name for the certificates that the machine trusts by default. */
function readOption(option: string, path: string | null): string | undefined {
  if (path === null || path === '' || path === 'system') return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(
      `names a file in ${option} that cannot be read (${(error as NodeJS.ErrnoException).code})`,
    )
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** A Unix socket or a loopback address. A host name other than localhost could resolve to another machine. */
function isOnThisMachine(host: string): boolean {
  if (host === '' || host === 'localhost' || /^(\/|%2f)/i.test(host)) return true
  const family = isIP(host)
  return family > 0 && loopback.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

const FAULT = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/
const NOT_OFFERED = 'The server does not support SSL connections'

/** The server does not prove its identity, or does not encrypt. Waiting does not help. */
export class UntrustedServer extends Error {
  override name = 'UntrustedServer'
  constructor(host: string, what: string) {
    super(
      `The database server ${host} ${what}. A connection to another machine must be encrypted, and the server must show ` +
        'a certificate for its name: say in DATABASE_URL whose certificates to trust (sslrootcert=FILE), or set ' +
        'DATABASE_TLS=off where nobody else can listen on the network.',
    )
  }
}

/** Turns an error of the TLS layer into one that says what to configure; returns any other error as it is. */
export function explainTls(error: unknown, host: string): unknown {
  const { code = '', message = '' } = error as NodeJS.ErrnoException
  if (message === NOT_OFFERED) return new UntrustedServer(host, 'does not offer TLS')
  return FAULT.test(code) ? new UntrustedServer(host, `is not trusted: ${message}`) : error
}
