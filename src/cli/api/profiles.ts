import { ask } from '../ask.ts'
import { argument, type Input, listed, type Output, option, usage } from '../command.ts'
import { isTerminal } from '../io.ts'
import { addressHere, apiClientAt, isLive, statedAddress } from './client.ts'
import { readKeyFile } from './key-file.ts'
import { type Profile, type Profiles, readProfiles, writeProfiles } from './profiles-file.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export async function profilesAdd(input: Input): Promise<Output> {
  const { env } = input.io
  const name = argument(input, 0, 'NAME')
  if (!NAME.test(name)) usage('NAME must be letters, digits, dots and dashes, at most 64 of them.')
  const before = await readProfiles(env)
  const stated = statedAddress(input)
  const key = await typedKey(input)
  const url = stated ?? (await addressHere(input, key))
  const { trilho } = apiClientAt(url, key)
  const { environment } = await trilho.account.get()
  const current = before.current ?? name
  const file = await writeProfiles(env, { current, profiles: { ...before.profiles, [name]: { url, key } } })
  return {
    json: { name, url, environment, current: current === name },
    text: `${name} is kept in ${file}: ${environment} at ${url}. ${current === name ? 'It is in use.' : `To use it: trilho profiles use ${name}`}\n`,
  }
}

async function typedKey(input: Input): Promise<string> {
  const file = option(input, 'key-file')
  if (file !== undefined) return readKeyFile(input.io, file)
  if (!isTerminal(input.io)) usage('Give --key-file FILE, or run this at a terminal.')
  const key = await ask(input.io, 'API key (not shown): ', { hidden: true })
  return key === '' ? usage('No key was typed; nothing was kept.') : key
}

export async function profilesList({ io }: Input): Promise<Output> {
  const { profiles, current } = await readProfiles(io.env)
  const data = Object.entries(profiles).map(([name, profile]) => ({
    name,
    url: profile.url,
    environment: isLive(profile.key) ? 'production' : 'sandbox',
    ends_in: profile.key.slice(-4),
    in_use: name === current,
  }))
  const rows = data.map(({ in_use, ...row }) => ({ ...row, in_use: in_use ? 'yes' : 'no' }))
  return listed({ data }, rows)
}

export async function profilesUse(input: Input): Promise<Output> {
  const { kept, name } = await named(input)
  await writeProfiles(input.io.env, { ...kept, current: name })
  return { json: { name, current: true }, text: `${name} is in use.\n` }
}

export async function profilesRemove(input: Input): Promise<Output> {
  const { kept, name } = await named(input)
  const { [name]: _removed, ...profiles } = kept.profiles
  await writeProfiles(input.io.env, { current: kept.current === name ? undefined : kept.current, profiles })
  return {
    json: { name, removed: true },
    text: `${name} is removed. Its key works until it is revoked.\n`,
  }
}

async function named(input: Input): Promise<{ kept: Profiles; name: string; profile: Profile }> {
  const name = argument(input, 0, 'NAME')
  const kept = await readProfiles(input.io.env)
  const profile = kept.profiles[name] ?? usage(`There is no profile ${name}. See: trilho profiles list`)
  return { kept, name, profile }
}
