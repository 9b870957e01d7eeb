import { type KeyObject, sign } from 'node:crypto'
import type { Clock } from '../../../core/clock.ts'
import { isOver } from '../../deadline.ts'
import { type CallBounds, NotSent, openExchange, type ProviderAnswer } from '../exchange.ts'
import { wordOf } from './bodies.ts'

/** Calls to Stark Bank: each is signed with the private key of a project (ECDSA over secp256k1, SHA-256). There is no sign-in. */
export type StarkClient = {
  /** Any HTTP answer is returned, whatever its status. Throws `NotSent`, or `NoAnswer` if the call may have arrived. */
  call(
    call: { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: object } & CallBounds,
  ): Promise<ProviderAnswer>
  stop(): Promise<void>
}

export type StarkAccess = {
  /** Scheme and host. */
  readonly url: string
  readonly project_id: string
  readonly private_key: KeyObject
  /** The authority of the server's certificate, where it is not a public one: for tests. */
  readonly ca?: string
}

type ClientOptions = { readonly access: StarkAccess; readonly timeout_ms: number; readonly clock: Clock }

export function openStarkClient({ access, timeout_ms, clock }: ClientOptions): StarkClient {
  const { url, project_id, private_key, ca } = access
  const exchange = openExchange({
    ...{ name: 'Stark Bank', url, timeout_ms },
    ...(ca === undefined ? {} : { tls: { ca } }),
  })
  const id = `project/${project_id}`
  return {
    async call({ method, path, body, ...bounds }) {
      if (bounds.signal && isOver(bounds.signal))
        throw new NotSent('the call was given up before it was sent')
      const text = body === undefined ? '' : JSON.stringify(body)
      const time = Math.floor(clock.now() / 1000).toString()
      const signature = sign('sha256', Buffer.from(`${id}:${time}:${text}`), private_key).toString('base64')
      const headers = {
        ...{ 'access-id': id, 'access-time': time, 'access-signature': signature },
        ...{ 'content-type': 'application/json', accept: 'application/json', 'accept-language': 'en-US' },
      }
      return exchange.call(path, { method, headers, ...(body && { body: text }) }, bounds)
    },
    stop: exchange.stop,
  }
}

/** Status and word of an answer, for log lines. */
export const describeAnswer = ({ http, body }: Pick<ProviderAnswer, 'http' | 'body'>): string =>
  [`HTTP ${http}`, wordOf(body)].filter((part) => part !== undefined).join(' ')
