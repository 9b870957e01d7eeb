import { createHash, randomUUID } from 'node:crypto'
import { link, rename, rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode, readIfThere } from './files.ts'
import { close, isAnswered, listenIfAble } from './presence.ts'
import { startOf } from './process.ts'

export type Lock = {
  /** Whether the file still contains this lock. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

/** The pid of the process that holds a lock; `elsewhere`: it lives but is not visible here, as in another container. */
export type LockHolder = number | 'elsewhere'

type Options = {
  /** Called when the file system supports no sockets: then locks of other containers cannot be checked. */
  onBlind?: (() => void) | undefined
  listen?: ((path: string) => Promise<Server>) | undefined
}

/**
 * Takes the lock file, or returns who holds it. The lock of a dead process is taken over. The holder of a lock listens on a
 * socket beside the file, named after the lock's token: while the socket accepts connections, the holder lives.
 */
export async function takeLock(path: string, options: Options = {}): Promise<Lock | { held_by: LockHolder }> {
  const token = randomUUID()
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid), token })
  const draft = `${path}.${token}`
  const isHeld = async () => (await readIfThere(path)) === mine
  let presence: Server | undefined
  const leave = async () => {
    if (presence) await close(presence, socketOf(path, token))
  }
  const lock: Lock = {
    isHeld,
    release: async () => {
      if (await isHeld()) await rm(path)
      await leave()
    },
  }
  let taken = false
  await writeFile(draft, mine, { flag: 'wx', mode: 0o600 })
  try {
    // The socket exists before the lock can be read, so a lock whose socket refuses connections is dead.
    presence = await listenIfAble(socketOf(path, token), options.listen)
    if (!presence) options.onBlind?.()
    for (;;) {
      // A link makes the lock appear whole or not at all: no process reads a half-written lock.
      taken = await linked(draft, path)
      if (taken) return lock
      const theirs = await readIfThere(path)
      if (theirs === undefined) continue
      const held_by = await liveHolder(path, theirs)
      if (held_by !== undefined) return { held_by }
      // Between reading a dead lock and replacing it, another process may replace it too. So a process that
      // replaces it first takes a second lock, named after the dead lock's content, and reads the file again.
      const name = createHash('sha256').update(theirs).digest('hex').slice(0, 16)
      const turn = await takeLock(`${path}.${name}`, { listen: options.listen })
      if ('held_by' in turn) {
        await sleep(20)
        continue
      }
      try {
        if ((await readIfThere(path)) !== theirs) continue
        await rename(draft, path)
        taken = true
        const left = tokenOf(theirs)
        if (left) await rm(socketOf(path, left), { force: true })
        return lock
      } finally {
        await turn.release()
      }
    }
  } finally {
    await rm(draft, { force: true })
    if (!taken) await leave()
  }
}

/** The living holder of the lock file, if there is one. */
export async function lockHolder(path: string): Promise<LockHolder | undefined> {
  const text = await readIfThere(path)
  return text === undefined ? undefined : liveHolder(path, text)
}

async function liveHolder(path: string, text: string): Promise<LockHolder | undefined> {
  const { pid, started } = parse(text)
  if (pid !== undefined && startOf(pid) === started) return pid
  const token = tokenOf(text)
  return token && (await isAnswered(socketOf(path, token))) ? 'elsewhere' : undefined
}

function parse(text: string): { pid?: number; started?: string; token?: string } {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {} // a power cut can leave an empty file
  }
}

/** Validated, because the token becomes part of a path. */
function tokenOf(text: string): string | undefined {
  const { token } = parse(text)
  return typeof token === 'string' && /^[0-9a-f-]{36}$/.test(token) ? token : undefined
}

const socketOf = (path: string, token: string) => `${path}.${token}.sock`

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}
