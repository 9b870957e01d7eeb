import { resolve } from 'node:path'
import { Trilho, type TrilhoOptions } from '#sdk'
import { runningApi } from '../../db/embedded/running.ts'
import { version } from '../../node/version.ts'
import { type Input, NotAllowed, option, usage } from '../command.ts'
import type { Io } from '../io.ts'
import { readKeyFile } from './key-file.ts'
import { type Profile, readProfiles } from './profiles-file.ts'

export type Client = { readonly trilho: Trilho; readonly url: string; readonly live: boolean }

/** Commands with an API key call the API like every other program of a partner: over HTTP, with the SDK. */
export async function openClient(input: Input, more: TrilhoOptions = {}): Promise<Client> {
  const { key, profile } = await credentials(input)
  return clientAt(await addressOf(input, profile), key, more)
}

export function clientAt(url: string, key: string, more: TrilhoOptions = {}): Client {
  try {
    const trilho = new Trilho({ key, baseUrl: url, userAgent: `trilho-cli/${version}`, ...more })
    return { trilho, url, live: key.startsWith('svc_live_') }
  } catch (error) {
    // What the SDK says of an address or a key before it sends anything.
    if (error instanceof TypeError) return usage(error.message)
    throw error
  }
}

/** A key and, where it is a profile's or a profile was named on the line, the address that goes with it. */
async function credentials(input: Input): Promise<{ key: string; profile?: Profile | undefined }> {
  const { env } = input.io
  const named = option(input, 'profile')
  const file = option(input, 'key-file')
  if (file !== undefined)
    return {
      key: await readKeyFile(input.io, file),
      profile: named ? await profileCalled(env, named) : undefined,
    }
  if (named === undefined && env.TRILHO_KEY) return { key: env.TRILHO_KEY }
  const profile = await profileCalled(env, named ?? (env.TRILHO_PROFILE || undefined))
  if (profile) return { key: profile.key, profile }
  throw new NotAllowed(
    'There is no API key. Set TRILHO_KEY to one, give --key-file FILE, or keep one: trilho profiles add NAME',
  )
}

/** Without a name, the one in use. */
async function profileCalled(env: Io['env'], name: string | undefined): Promise<Profile | undefined> {
  const { profiles, current } = await readProfiles(env)
  if (name === undefined) return current === undefined ? undefined : profiles[current]
  return (
    profiles[name] ??
    usage(`There is no profile ${name}. See: trilho profiles list. To add it: trilho profiles add ${name}`)
  )
}

const HERE = 'http://127.0.0.1:8080'

/** As it was said; else the server that runs on this data folder says where it listens. */
export async function addressOf(input: Input, profile?: Profile): Promise<string> {
  const { TRILHO_URL, DATA_DIR } = input.io.env
  const said = option(input, 'url')
  const known = option(input, 'profile') === undefined ? TRILHO_URL || profile?.url : profile?.url
  const url = said ?? known ?? (await runningApi(resolve(DATA_DIR || 'data'))) ?? HERE
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    usage(`${url} is not the address of a service: it looks like https://pay.example.com.`)
  return url.replace(/\/+$/, '')
}
