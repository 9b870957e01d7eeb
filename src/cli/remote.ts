import { runningApi } from '../db/embedded/start.ts'
import type { Config } from '../node/config.ts'
import { type CliOption, type Input, option, usage } from './command.ts'

/** Commands for partners speak to the API like every other program of theirs: over HTTP, with an API key. */
export const remoteOptions: Readonly<Record<string, CliOption>> = {
  url: { type: 'string', value: 'URL', about: 'Where the service is; by default on this machine' },
}

const UNREACHABLE_MS = 1000

export type Remote = { call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<any> }

/** Refused, or not reached: the message is for the person at the terminal, and the time for whoever wants to try again. */
export class RemoteRefusal extends Error {
  readonly retry_after_ms: number
  constructor(message: string, retry_after_ms: number) {
    super(message)
    this.retry_after_ms = retry_after_ms
  }
}

/** The key comes from the environment, so that it does not stand in the list of processes. */
export function openRemote(input: Input): Remote {
  const key = process.env.TRILHO_KEY ?? usage('TRILHO_KEY is not set: it holds the API key to call with.')
  const found = urlOf(input)
  return {
    async call(method, path, body) {
      const base = await found
      const response = await fetch(base + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }).catch((error: Error) => {
        const reason = (error.cause as Error | undefined)?.message ?? error.message
        throw new RemoteRefusal(`${base} cannot be reached: ${reason}`, UNREACHABLE_MS)
      })
      const text = await response.text()
      if (response.ok) return text === '' ? undefined : JSON.parse(text)
      throw new RemoteRefusal(
        messageOf(text, response.status),
        Number(response.headers.get('retry-after') ?? 0) * 1000,
      )
    },
  }
}

/** The server that runs on this data folder says where it listens; another one is where the settings say. */
async function urlOf(input: Input): Promise<string> {
  const { config } = input
  const running = async () => (config.database_url ? undefined : await runningApi(config.data_dir))
  const url = option(input, 'url') ?? (await running()) ?? localUrl(config)
  return url.replace(/\/+$/, '')
}

function localUrl({ public_url, host, port }: Config): string {
  return public_url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function messageOf(text: string, status: number): string {
  try {
    return JSON.parse(text).error.message
  } catch {
    return `The server answered ${status}.`
  }
}
