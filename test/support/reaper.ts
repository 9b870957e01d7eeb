import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

/** Starts the process that cleans up after this run, also when it is killed. Returns the id that the processes of the run carry. */
export function startReaper(...folders: readonly string[]): string {
  const id = randomUUID()
  const script = fileURLToPath(new URL('reaper.mjs', import.meta.url))
  const reaper = spawn(process.execPath, [script, id, ...folders], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  reaper.unref()
  ;(reaper.stdin as Socket).unref()
  return id
}
