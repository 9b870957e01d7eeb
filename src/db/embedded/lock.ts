import { createHash, randomUUID } from 'node:crypto'
import { link, rename, rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode, readIfThere } from './files.ts'
import { startOf } from './process.ts'

export type Lock = { release(): Promise<void> }

/** Takes the lock file, or tells which live process holds it. A lock left by a dead process is taken over. */
export async function takeLock(path: string): Promise<Lock | { held_by: number }> {
  const token = randomUUID()
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid), token })
  const draft = `${path}.${token}`
  const lock = {
    release: async () => {
      if ((await readIfThere(path)) === mine) await rm(path)
    },
  }
  await writeFile(draft, mine, { flag: 'wx', mode: 0o600 })
  try {
    for (;;) {
      // A link makes the lock appear whole or not at all, so nobody reads a half-written one.
      if (await linked(draft, path)) return lock
      const theirs = await readIfThere(path)
      if (theirs === undefined) continue
      const pid = liveHolder(theirs)
      if (pid !== undefined) return { held_by: pid }
      // Between reading a dead lock and replacing it, another process may have done the same. So whoever
      // replaces this very lock first needs a lock named after its content, and then looks again.
      const turn = await takeLock(`${path}.${createHash('sha256').update(theirs).digest('hex').slice(0, 16)}`)
      if ('held_by' in turn) {
        await sleep(20)
        continue
      }
      try {
        if ((await readIfThere(path)) !== theirs) continue
        await rename(draft, path)
        return lock
      } finally {
        await turn.release()
      }
    }
  } finally {
    await rm(draft, { force: true })
  }
}

/** The pid of the live process that holds the lock file, if there is one. */
export async function lockHolder(path: string): Promise<number | undefined> {
  const text = await readIfThere(path)
  return text === undefined ? undefined : liveHolder(text)
}

function liveHolder(text: string): number | undefined {
  try {
    const { pid, started } = JSON.parse(text)
    return startOf(pid) === started ? pid : undefined
  } catch {
    return undefined // a power cut can leave an empty file
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}
