import { chmod, link, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { forgetSession, keepSession, readSession, type SessionPlace, sessionPlace } from './session-file.ts'

const TOKEN = 'k'.repeat(43)
const settings = (database_url: string) => ({ database_url, data_dir: '/nowhere' })
const url = 'postgresql://owner:hush@db.example:5432/trilho'

let home: string
let place: SessionPlace
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trilho-home-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  place = sessionPlace(settings(url), { XDG_CONFIG_HOME: home })
})

const modeOf = async (path: string) => (await lstat(path)).mode & 0o777

test('a session is stored in a file that only its owner can read, with its database and nothing else', async () => {
  expect(await readSession(place)).toBeUndefined()
  await keepSession(place, TOKEN)
  expect(await readSession(place)).toBe(TOKEN)
  expect([await modeOf(place.folder), await modeOf(place.file)]).toEqual([0o700, 0o600])
  expect(JSON.parse(await readFile(place.file, 'utf8'))).toEqual({
    database: 'db.example:5432/trilho',
    token: TOKEN,
  })
  await keepSession(place, 'l'.repeat(43))
  expect(await readSession(place)).toBe('l'.repeat(43))
  await forgetSession(place)
  expect(await readSession(place)).toBeUndefined()
})

test('each database has its own file, and a session of another database is not used', async () => {
  const other = sessionPlace(settings('postgresql://x@db.example:5432/other'), { XDG_CONFIG_HOME: home })
  const embedded = sessionPlace({ database_url: undefined, data_dir: '/nowhere' }, { XDG_CONFIG_HOME: home })
  expect(new Set([place.file, other.file, embedded.file]).size).toBe(3)
  // The same database with another login has the same file.
  const same = sessionPlace(settings('postgresql://role:other@db.example/trilho'), { XDG_CONFIG_HOME: home })
  expect(same).toEqual(place)
  await keepSession(other, TOKEN)
  await link(other.file, place.file)
  await expect(readSession(place)).rejects.toThrow(
    /is for another database, db\.example:5432\/other\. Remove it, then run: trilho login/,
  )
})

test.each([
  ['others can read', 0o640],
  ['everybody can read', 0o604],
  ['others can change', 0o620],
])('a file that %s is refused', async (_, mode) => {
  await keepSession(place, TOKEN)
  await chmod(place.file, mode)
  await expect(readSession(place)).rejects.toThrow(/can be read or changed by others.*trilho login/)
})

test('links are not followed, neither to read nor to write', async () => {
  const elsewhere = join(home, 'elsewhere')
  await keepSession(place, TOKEN)
  await writeFile(elsewhere, await readFile(place.file), { mode: 0o600 })
  await rm(place.file)
  await symlink(elsewhere, place.file)
  await expect(readSession(place)).rejects.toThrow('is a symbolic link')
  await keepSession(place, 'l'.repeat(43))
  expect((await lstat(place.file)).isFile()).toBe(true)
  expect(await readFile(elsewhere, 'utf8')).toContain(TOKEN)
})

test('a folder that is a link, or that others can write to, is refused', async () => {
  const elsewhere = join(home, 'elsewhere')
  await mkdir(elsewhere, { mode: 0o700 })
  await symlink(elsewhere, place.folder)
  await expect(keepSession(place, TOKEN)).rejects.toThrow('is not a plain folder')
  await expect(readSession(place)).rejects.toThrow('is not a plain folder')
  await rm(place.folder)
  await keepSession(place, TOKEN)
  await chmod(place.folder, 0o777)
  await expect(readSession(place)).rejects.toThrow('can be changed by others')
  await expect(keepSession(place, TOKEN)).rejects.toThrow('can be changed by others')
})

test.each(['', '{', '{}', `{"database":"db.example:5432/trilho","token":"short"}`, '[]', 'null'])(
  'a file without a session is reported, and its content not quoted: %s',
  async (text) => {
    await mkdir(place.folder, { mode: 0o700 })
    await writeFile(place.file, text, { mode: 0o600 })
    await expect(readSession(place)).rejects.toThrow(
      `${place.file} does not hold a session. Remove it, then run: trilho login`,
    )
  },
)

test('a relative XDG_CONFIG_HOME is ignored', () => {
  expect(sessionPlace(settings(url), { XDG_CONFIG_HOME: 'here' }).folder).toMatch(/\/\.config\/trilho$/)
})

test.each(['', 'here'])(
  'without an absolute HOME no folder is used, not even the current one: HOME=%s',
  (HOME) => {
    expect(() => sessionPlace(settings(url), { HOME })).toThrow(/^HOME is .*Set HOME to your home folder/)
    expect(sessionPlace(settings(url), { HOME, XDG_CONFIG_HOME: home }).folder).toBe(join(home, 'trilho'))
  },
)
