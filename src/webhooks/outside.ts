import { Resolver } from 'node:dns/promises'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Agent, type buildConnector } from 'undici'

/**
 * The way out. Every connection is made here, and the address it really goes to is judged three times: as a literal,
 * as whatever the name resolves to at this moment (all of it must be public), and once more on the open socket, before
 * a single byte is written. A connection that is kept open stays with the address that was judged.
 */
export type Outside = { readonly agent: Agent; stop(): Promise<void> }

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<string[]>

/** The address is not one that may be reached. The message is shown to the partner. */
export class Forbidden extends Error {}

/** Shorter than what servers commonly allow: a request must not meet a connection that is just being closed. */
const KEEP_ALIVE_MS = 2000

export function openOutside(options: {
  resolve: Resolve
  /** Whether a connection may go to this address. */
  allows: (address: string) => boolean
  connect_ms: number
}): Outside {
  const { resolve, allows, connect_ms } = options

  async function addressesOf(host: string): Promise<string[]> {
    const addresses = isIP(host) ? [host] : await resolve(host)
    const wrong = addresses.find((address) => !allows(address))
    if (wrong !== undefined) throw new Forbidden(`${host} is not a public address`)
    if (addresses.length === 0) throw new Error(`${host} has no address`)
    return addresses
  }

  /** To one of these and nowhere else: the name is not asked for again. */
  function open(addresses: readonly string[], port: number): Promise<Socket> {
    const list = addresses.map((address) => ({ address, family: isIP(address) as 4 | 6 }))
    const lookup = ((_, { all }, done) =>
      all ? done(null, list) : done(null, list[0]!.address, list[0]!.family)) as LookupFunction
    return new Promise((resolve, reject) => {
      const socket = connectTcp({ host: 'resolved', port, lookup, autoSelectFamily: true, noDelay: true })
      socket.setTimeout(connect_ms, () => socket.destroy(new Error('no connection in time')))
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.setTimeout(0)
        socket.on('error', () => {}).off('error', reject)
        if (allows(socket.remoteAddress ?? '%')) return resolve(socket)
        socket.destroy()
        reject(new Forbidden('connected to an address that is not public'))
      })
    })
  }

  function encrypt(socket: Socket, host: string): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const servername = isIP(host) ? '' : host
      const secure = connectTls({ socket, servername, host, ALPNProtocols: ['http/1.1'] })
      secure.setTimeout(connect_ms, () => secure.destroy(new Error('no TLS in time')))
      secure.once('error', reject)
      secure.once('secureConnect', () => {
        secure.setTimeout(0)
        secure.on('error', () => {}).off('error', reject)
        resolve(secure)
      })
    })
  }

  const connect: buildConnector.connector = ({ hostname, port, protocol }, done) => {
    const host = hostname.replace(/^\[|\]$/g, '')
    const secure = protocol === 'https:'
    addressesOf(host)
      .then((addresses) => open(addresses, Number(port || (secure ? 443 : 80))))
      .then((socket) => (secure ? encrypt(socket, host) : socket))
      .then(
        (socket) => done(null, socket as never),
        (error: Error) => done(error, null),
      )
  }

  // The time of a whole attempt is watched by whoever makes it; redirects are not followed unless one asks for it.
  const agent = new Agent({
    connect,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })
  return { agent, stop: () => agent.destroy() }
}

const DNS_MS = 2000
const DNS_TRIES = 2

/**
 * Asks name servers itself. The system's own way would wait in a small pool of threads, where a few dead name servers
 * stand in the way of everybody; it would also read the hosts file, which names machines that are none of a partner's
 * business.
 */
export function dnsResolver(options: { servers: readonly string[]; allow_private: boolean }): Resolve {
  const resolver = new Resolver({ timeout: DNS_MS, tries: DNS_TRIES })
  if (options.servers.length > 0) resolver.setServers(options.servers)
  return async (name) => {
    if (options.allow_private && /^localhost\.?$/.test(name)) return ['127.0.0.1', '::1']
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const failure = answers.find((answer) => answer.status === 'rejected')?.reason as NodeJS.ErrnoException
    throw new Error(`${name} cannot be resolved (${failure?.code ?? 'no address'})`)
  }
}
