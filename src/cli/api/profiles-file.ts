import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, writePrivately } from '../../db/embedded/files.ts'
import { configFolder } from '../config-folder.ts'
import type { Io } from '../io.ts'

export type Profile = { readonly url: string; readonly key: string }
export type Profiles = {
  /** The profile that is used when none is named. */
  readonly current: string | undefined
  readonly profiles: Readonly<Record<string, Profile>>
}

const fileIn = (env: Io['env']) => join(configFolder(env), 'trilho', 'profiles.json')

/** The file holds API keys, so a file that other users can read is refused. */
export async function readProfiles(env: Io['env']): Promise<Profiles> {
  const file = fileIn(env)
  try {
    const { mode, uid } = await stat(file)
    if ((mode & 0o077) !== 0 || uid !== process.getuid?.())
      throw new Error(
        `${file} can be read or changed by others, so the keys in it are not used. Rotate them, then: chmod 600 ${file}`,
      )
    return parse(file, await readFile(file, 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { current: undefined, profiles: byName({}) }
    throw error
  }
}

export async function writeProfiles(env: Io['env'], { current, profiles }: Profiles): Promise<string> {
  const file = fileIn(env)
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
  await writePrivately(file, `${JSON.stringify({ current, profiles }, null, 2)}\n`)
  return file
}

/** An object without a prototype: otherwise `constructor` would look like the name of a profile. */
const byName = (kept: Profiles['profiles']): Profiles['profiles'] => Object.assign(Object.create(null), kept)

function parse(file: string, text: string): Profiles {
  try {
    const { current, profiles: kept } = JSON.parse(text) as Profiles
    const profiles = byName(kept)
    if (Object.values(profiles).every(({ url, key }) => typeof url === 'string' && typeof key === 'string'))
      return { current: current !== undefined && current in profiles ? current : undefined, profiles }
  } catch {}
  throw new Error(`${file} does not hold profiles. Remove it, then add them again: trilho profiles add NAME`)
}
