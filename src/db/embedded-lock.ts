import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

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

/** Tells processes that got the same pid apart. Undefined when no such process runs; a zombie does not run. */
export function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      const [state, ...start] = ps(pid, 'state=,lstart=').split(/\s+/)
      return !state || state.startsWith('Z') ? undefined : start.join(' ')
    }
    // The command name comes in parentheses and may hold anything, so count fields from its end.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    return `${bootId()} ${fields[19]}`
  } catch {
    return undefined
  }
}

/** Whether this live process was started with the given argument. */
export function hasArgument(pid: number, argument: string): boolean {
  if (startOf(pid) === undefined) return false
  try {
    if (process.platform !== 'linux') return ps(pid, 'command=').includes(argument)
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)
  } catch {
    return false
  }
}

export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
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

function liveHolder(text: string): number | undefined {
  try {
    const { pid, started } = JSON.parse(text)
    return startOf(pid) === started ? pid : undefined
  } catch {
    return undefined // a power cut can leave an empty file
  }
}

/** Start times count from boot, so they repeat after a reboot. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}

function ps(pid: number, format: string): string {
  return execFileSync('ps', ['-p', String(pid), '-o', format], { encoding: 'utf8', stdio: 'pipe' }).trim()
}
