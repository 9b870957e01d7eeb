import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dumpTablesWith } from '../../test/chains/secrets.ts'
import { type KeyForms, keyForms } from './keys.ts'
import type { Stage } from './stage.ts'

/** How much was searched for the keys of the signer. */
export type KeySearch = { readonly files: number; readonly megabytes: number }

/** Searches everything that an intruder on the service's side could copy. Throws when a key is in it. */
export async function searchForKeys(stage: Stage): Promise<KeySearch> {
  const { env, nodes, cluster, folder, signer, keys } = stage
  const keysIn = searchFor(keyForms(keys))
  const found: string[] = []
  const search = (name: string, place: Buffer) => {
    for (const key of keysIn(place)) found.push(`${key} is in ${name}`)
  }
  search('the settings of the services', Buffer.from(JSON.stringify(env)))
  for (const [index, pid] of nodes.pids().entries())
    search(`the environment of node ${index + 1}`, await readFile(`/proc/${pid}/environ`))
  for (const [index, text] of nodes.printed().entries())
    search(`the log of process ${index + 1}`, Buffer.from(text))
  search('a dump of the database', Buffer.from(await dumpTablesWith(cluster.sql)))
  // The files of both database servers and of the backup are there, and the services' own.
  const files = await filesIn(folder, signer.home)
  let bytes = 0
  for (const file of files) {
    const content = await contentOf(file)
    bytes += content.length
    search(file, content)
  }
  if (found.length > 0)
    throw new Error(`a key of the signer is on the side of the service: ${found.join('; ')}`)
  await checkSearch(signer.home, keyForms(keys))
  return { files: files.length, megabytes: Math.round(bytes / 1e6) }
}

type Search = (place: Buffer) => readonly string[]

/** Looks for all forms in one pass: hundreds of megabytes are searched for a hundred forms. */
function searchFor(keys: readonly KeyForms[]): Search {
  const wanted = keys.flatMap(({ key, forms }) => forms.map((form) => ({ key, form })))
  // By their first two bytes.
  const byStart = new Map<number, typeof wanted>()
  const is_start = new Uint8Array(65_536)
  for (const one of wanted) {
    const start = one.form.readUInt16BE(0)
    byStart.set(start, [...(byStart.get(start) ?? []), one])
    is_start[start] = 1
  }
  return (place) => {
    const found = new Set<string>()
    for (let at = 0; at + 1 < place.length; at++) {
      const start = (place[at]! << 8) | place[at + 1]!
      if (is_start[start] === 0) continue
      for (const { key, form } of byStart.get(start)!)
        if (place.subarray(at, at + form.length).equals(form)) found.add(key)
    }
    return [...found]
  }
}

/** Proves that the search works: it must find every key in the folder of the signer. */
async function checkSearch(home: string, forms: readonly KeyForms[]): Promise<void> {
  const keysIn = searchFor(forms)
  const contents = await Promise.all((await filesIn(home)).map(contentOf))
  const found = new Set(contents.flatMap((content) => keysIn(content)))
  const missed = forms.filter(({ key, is_derived }) => !is_derived && !found.has(key))
  if (missed.length > 0)
    throw new Error(`the search misses what is there: ${missed.map(({ key }) => key).join(', ')}`)
}

async function filesIn(folder: string, except?: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      if (path === except) return []
      if (entry.isDirectory()) return filesIn(path, except)
      return entry.isFile() ? [path] : []
    }),
  )
  return found.flat()
}

/** PostgreSQL removes files while they are listed. */
const contentOf = (file: string): Promise<Buffer> => readFile(file).catch(() => Buffer.alloc(0))
