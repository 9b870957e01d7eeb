import { Resolver } from 'node:dns/promises'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { Agent, type buildConnector } from 'undici'
import { NO_PUBLIC_ADDRESS } from './address.ts'

/**
 * Egress of webhooks (contract §12). Every connection is made here, and its address is checked three times: as a literal, as
 * what the name resolves to now (all addresses must be allowed), and on the open socket before a byte is written. A
 * kept-alive connection stays with the address that was checked.
 */
export type Egress = { readonly agent: Agent; stop(): Promise<void> }

/** All addresses of a name; none if it does not exist. */
export type Resolve = (name: string) => Promise<string[]>

/** The name has no address, or a forbidden one; the message, which the partner sees, does not say which. */
export class Forbidden extends Error {
  constructor() {
    super(`the URL ${NO_PUBLIC_ADDRESS}`)
  }
}

/** A refusal comes at the next multiple of this, so that its timing reveals nothing about the internal network. */
const REFUSAL_MS = 500
/** A name server may return thousands of addresses, and each check costs time. The others are never connected to. */
const ADDRESSES_MAX = 16
/** Bytes read per request; far more than is stored of a response. */
const READ_MAX_BYTES = 512 * 1024
/** Every request of this service is longer. */
const REQUEST_MIN_BYTES = 300

/** Shorter than the keep-alive of common servers, so that a request does not go out on a connection that is being closed. */
const KEEP_ALIVE_MS = 2000

export function openEgress(options: {
  resolve: Resolve
  /** Whether a connection may go to this address: `isAllowedAddress` of address.ts, with the settings (node/runtime.ts). */
  allows: (address: string) => boolean
  connect_ms: number
  refusal_ms?: number
}): Egress {
  const { resolve, allows, connect_ms, refusal_ms = REFUSAL_MS } = options

  async function addressesOf(host: string): Promise<string[]> {
    const begun = performance.now()
    const addresses = isIP(host) ? [host] : (await resolve(host)).slice(0, ADDRESSES_MAX)
    if (addresses.length > 0 && addresses.every(allows)) return addresses
    await sleep(refusal_ms - ((performance.now() - begun) % refusal_ms))
    throw new Forbidden()
  }

  /** Connects to one of these addresses: the name is not resolved again (DNS rebinding). */
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
        reject(new Forbidden())
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
        (socket) => done(null, metered(socket) as never),
        (error: Error) => done(error, null),
      )
  }

  // attempt.ts has the time-out of the whole attempt. undici follows no redirects by default.
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

/**
 * Limits the bytes read per request on the socket itself: headers, interim responses, trailers and chunk framing may be endless
 * too, and all of them are parsed.
 */
function metered(socket: Socket): Socket {
  return socket.on('readable', () => {
    const requests = Math.ceil(socket.bytesWritten / REQUEST_MIN_BYTES)
    if (socket.bytesRead > READ_MAX_BYTES * Math.max(1, requests))
      socket.destroy(new Error('the answer is too long'))
  })
}

const DNS_MS = 2000
const DNS_TRIES = 2

/**
 * Queries the name servers directly. getaddrinfo would run in Node's small thread pool, where a few dead name servers block all
 * other work, and would read the hosts file, which may name internal machines.
 */
export function dnsResolver(options: { servers: readonly string[]; allow_private: boolean }): Resolve {
  const resolver = new Resolver({ timeout: DNS_MS, tries: DNS_TRIES })
  if (options.servers.length > 0) resolver.setServers(options.servers)
  return async (name) => {
    if (options.allow_private && /^localhost\.?$/.test(name)) return ['127.0.0.1', '::1']
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}
