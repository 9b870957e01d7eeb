import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** PostgreSQL refuses to run as root. Started by root, it runs as the user nobody: in a user namespace, or really. */
export type RunAs = 'self' | 'unshare' | 'nobody'

export const NOBODY = 65534

type ProcessEnd = { ok: boolean; how: string; output: string }

export type Running = {
  readonly pid: number | undefined
  /** Never rejects. */
  readonly ended: Promise<ProcessEnd>
  hasEnded(): boolean
  signal(name: NodeJS.Signals): void
}

type Options = {
  log?: (line: string) => void
  env?: Record<string, string>
  /** An open file that the command and its children keep open for as long as they live. */
  keep?: number | undefined
}

const STOP_SERVER = `
  kill -INT $$ || exit
  for second in 1 2 3 4 5 6 7 8; do sleep 1; kill -0 $$ || exit; done
  kill -QUIT $$`

const STOP_GROUP = 'kill -s KILL -- -$$'

/** The PostgreSQL server: shut down in good order when this process dies. */
export function startServer(run_as: RunAs, argv: string[], options: Options): Running {
  return start(run_as, STOP_SERVER, argv, options)
}

/** A command that runs to its end: killed with all its children when this process dies. */
export function run(run_as: RunAs, argv: string[]): Promise<ProcessEnd> {
  return start(run_as, STOP_GROUP, argv, {}).ended
}

/**
 * The shell forks a watcher and then turns into the command itself. The watcher reads a pipe that only this
 * process holds open: a line means that the command has ended, end-of-file that this process was killed.
 * It is forked twice, so that PostgreSQL does not find an unknown process among its children.
 */
function guard(when_orphaned: string): string {
  return `
exec 4<&0 </dev/null
( (
  trap '' HUP INT TERM QUIT
  read -r line <&4 && exit
  ${when_orphaned}
) 3>&- >/dev/null 2>&1 & )
exec 4<&-
exec "$@"`
}

function start(run_as: RunAs, when_orphaned: string, argv: string[], options: Options): Running {
  const shell = ['/bin/sh', '-c', guard(when_orphaned), 'sh', ...argv]
  const namespace = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, '--']
  const [file = '', ...args] = run_as === 'unshare' ? [...namespace, ...shell] : shell
  const child = spawn(file, args, {
    cwd: '/',
    // Its own session: Ctrl-C in a terminal must reach this process only.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe', ...(options.keep === undefined ? [] : [options.keep])],
    // Nothing else of the environment: no secrets, no PG* variables that change what PostgreSQL does.
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...options.env },
    ...(run_as === 'nobody' ? { uid: NOBODY, gid: NOBODY } : {}),
  }) as ChildProcessByStdio<Writable, null, Readable>
  child.stdin.on('error', () => {}) // the watcher may be gone before us

  const last_lines: string[] = []
  const lines = createInterface({ input: child.stderr })
  lines.on('line', (line) => {
    last_lines.push(line)
    if (last_lines.length > 20) last_lines.shift()
    options.log?.(line)
  })
  const drained = new Promise<void>((resolve) => lines.once('close', resolve))

  let has_ended = false
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.on('error', (error) => {
      if (child.pid !== undefined) return
      has_ended = true
      resolve({ ok: false, how: error.message, output: '' })
    })
    child.on('exit', async (code, signal) => {
      has_ended = true
      child.stdin.end('\n')
      // The last lines may still be in the pipe; but children of a killed server can hold the pipe open for long.
      await Promise.race([drained, sleep(200, undefined, { ref: false })])
      const how = signal ? `signal ${signal}` : `exit code ${code}`
      resolve({ ok: code === 0, how, output: last_lines.join('\n') })
    })
  })

  return {
    pid: child.pid,
    ended,
    hasEnded: () => has_ended,
    signal: (name) => void child.kill(name),
  }
}

/** The error for a command that failed, with its last lines of output. */
export function failure(what: string, { how, output }: ProcessEnd): Error {
  const advice = /No space left|free disk space/.test(output)
    ? 'The disk is full. '
    : /could not look up effective user/.test(output)
      ? 'Its user needs an entry in /etc/passwd; without one, set DATABASE_URL instead. '
      : ''
  return new Error(`${what} (${how}). ${advice}It says:\n${output}`)
}

/** Distinguishes processes that reuse a pid. Undefined when no such process runs; a zombie does not run. */
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

/** Whether this process runs and was started with the given argument. */
export function hasArgument(pid: number, argument: string): boolean {
  try {
    if (process.platform !== 'linux') return ps(pid, 'command=').includes(argument)
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)
  } catch {
    return false
  }
}

/** Whether that process and this one have the same network, and so the same 127.0.0.1. */
export function sharesNetwork(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`) === readlinkSync('/proc/self/ns/net')
  } catch {
    return true
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
