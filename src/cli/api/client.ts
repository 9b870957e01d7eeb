import { Trilho, type TrilhoOptions } from '#sdk'
import { version } from '../../node/version.ts'
import { type Input, NotAllowed, option, usage } from '../command.ts'
import type { Io } from '../io.ts'
import { readKeyFile } from './key-file.ts'
import { type Profile, readProfiles } from './profiles-file.ts'

export type ApiClient = { readonly trilho: Trilho; readonly url: string; readonly live: boolean }

/** Commands with an API key call the API over HTTP through the SDK, like any program of a partner. */
export async function openApiClient(input: Input, more: TrilhoOptions = {}): Promise<ApiClient> {
  const { key, profile } = await credentials(input)
  const url = statedAddress(input, profile) ?? (await addressHere(input, key))
  return apiClientAt(url, key, more)
}

export function apiClientAt(url: string, key: string, more: TrilhoOptions = {}): ApiClient {
  try {
    const trilho = new Trilho({ key, baseUrl: url, userAgent: `trilho-cli/${version}`, ...more })
    return { trilho, url, live: isLive(key) }
  } catch (error) {
    // The SDK throws a TypeError for a malformed address or key before it sends anything.
    if (error instanceof TypeError) return usage(error.message)
    throw error
  }
}

export const isLive = (key: string): boolean => key.startsWith('svc_live_')

/** The API key, and the profile that its address comes from, if a profile is used. */
async function credentials(input: Input): Promise<{ key: string; profile?: Profile | undefined }> {
  const { env } = input.io
  const named = option(input, 'profile')
  const file = option(input, 'key-file')
  if (file !== undefined)
    return {
      key: await readKeyFile(input.io, file),
      profile: named ? await profileCalled(env, named) : undefined,
    }
  const set = env.TRILHO_KEY?.trim()
  if (named === undefined && set) return { key: set }
  const profile = await profileCalled(env, named ?? (env.TRILHO_PROFILE || undefined))
  if (profile) return { key: profile.key, profile }
  throw new NotAllowed(
    'There is no API key. Set TRILHO_KEY to one, give --key-file FILE, or keep one: trilho profiles add NAME',
  )
}

/** The named profile, or the current one when no name is given. */
async function profileCalled(env: Io['env'], name: string | undefined): Promise<Profile | undefined> {
  const { profiles, current } = await readProfiles(env)
  if (name === undefined) return current === undefined ? undefined : profiles[current]
  return (
    profiles[name] ??
    usage(`There is no profile ${name}. See: trilho profiles list. To add it: trilho profiles add ${name}`)
  )
}

/** The address from --url, TRILHO_URL or the profile. An option on the command line overrides an environment variable. */
export function statedAddress(input: Input, profile?: Profile): string | undefined {
  const said = option(input, 'url')
  if (said !== undefined) return checked(said)
  const set = input.io.env.TRILHO_URL || undefined
  if (!profile) return set === undefined ? undefined : checked(set)
  const kept = checked(profile.url)
  // A forgotten TRILHO_URL must not send the key of a profile to another service.
  if (option(input, 'profile') === undefined && set !== undefined && checked(set) !== kept)
    usage(
      `The key is the profile’s, whose service is ${kept}, but TRILHO_URL is ${checked(set)}. Unset TRILHO_URL, or say where with --url.`,
    )
  return kept
}

const HERE = 'http://127.0.0.1:8080'

/** The default address: the server that runs on this data folder. A live key has no default address. */
export async function addressHere({ findLocalServer }: Input, key: string): Promise<string> {
  if (isLive(key))
    usage('A live key needs an address: give --url URL, set TRILHO_URL, or keep both in a profile.')
  return checked((await findLocalServer()) ?? HERE)
}

function checked(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    usage(`${url} is not the address of a service: it looks like https://pay.example.com.`)
  const address = url.replace(/\/+$/, '')
  if (address.endsWith('/v1'))
    usage(`${url} is the address of the API’s paths. Leave /v1 away: ${address.slice(0, -'/v1'.length)}`)
  return address
}
