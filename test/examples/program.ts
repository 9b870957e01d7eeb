import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { testRun } from '../support/test-run.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
const beforeIt = (file: string) => ['--import', new URL(file, import.meta.url).href]

export type Running = {
  readonly process: ChildProcess
  /** How it ended: its exit code, or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>
  hasEnded(): boolean
  printed(): string
}

/** What goes wrong: it is killed at a step (kill-at.mjs), or its disk has room for so many bytes (full-disk.mjs). */
export type Trouble = { readonly kill_at?: number | undefined; readonly room?: number | undefined }

/** Starts an example as a person does: with node alone, and these variables. */
export function start(
  path: string,
  options: { args?: readonly string[]; env: Record<string, string>; cwd: string } & Trouble,
): Running {
  const { args = [], env, cwd, kill_at, room } = options
  const killing = kill_at === undefined ? [] : beforeIt('kill-at.mjs')
  const filling = room === undefined ? [] : beforeIt('full-disk.mjs')
  const child = spawn(process.execPath, [...killing, ...filling, examples + path, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...testRun(), ...env, KILL_AT: String(kill_at), ROOM: String(room) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk) => {
      text += chunk
    })
  let over = false
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => {
      over = true
      resolve(signal ?? code!)
    }),
  )
  return { process: child, ended, hasEnded: () => over, printed: () => text }
}

export async function stop({ process: child, ended }: Running): Promise<void> {
  child.kill('SIGKILL')
  await ended
}
