import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { openIo } from '../../src/cli/io.ts'
import { main } from '../../src/cli/main.ts'
import { compiledCli } from './compiled.ts'
import { testRun } from './test-run.ts'
import { until } from './wait.ts'

export type Ran = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
  readonly json: any
}

export type Started = {
  readonly process: ChildProcess
  readonly ended: Promise<Ran>
  /** What it has printed until now. */
  out(): string
  err(): string
}

const envOf = (env: Record<string, string>) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  ...testRun(),
  ...env,
})

/** Starts `trilho …` in a process of its own, with nothing in its environment but what is given. */
export async function startCli(args: readonly string[], env: Record<string, string>): Promise<Started> {
  const child = spawn(process.execPath, [await compiledCli(), ...args], {
    // Suites stop hundreds of services, and nearly none of them stands behind a load balancer.
    env: envOf({ DRAIN_MS: '0', ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const ended = new Promise<Ran>((resolve) =>
    child.once('close', (code, signal) => resolve(ranOf(args, { code, signal, out, err }))),
  )
  return { process: child, ended, out: () => out, err: () => err }
}

/** Runs `trilho …` to its end: in this process, but where a process of its own is the point. */
export async function runCli(
  args: readonly string[],
  env: Record<string, string>,
  typed: Typed = {},
): Promise<Ran> {
  if (needsProcess(args, env)) return (await startCli(args, env)).ended
  const printed = { out: '', err: '' }
  const code = await main(args, ioOf(env, printed, typed))
  return ranOf(args, { ...printed, code, signal: null })
}

type Typed = {
  /** What comes in on standard input. */
  readonly input?: string
  readonly terminal?: boolean
  readonly signal?: AbortSignal
}

/** What a command gets in place of the process's own: nothing but what is given. */
export function ioOf(env: Record<string, string>, printed = { out: '', err: '' }, typed: Typed = {}) {
  const isTTY = typed.terminal === true
  const writer = (stream: 'out' | 'err') => ({
    isTTY,
    write: (text: string) => {
      printed[stream] += text
    },
  })
  return openIo({
    env: envOf(env),
    stdin: Object.assign(Readable.from(typed.input === undefined ? [] : [typed.input]), { isTTY }),
    stdout: writer('out'),
    stderr: writer('err'),
    stopped: () => typed.signal ?? new AbortController().signal,
    shown: async () => {},
  })
}

/** A server, and what a process reads of its environment when it starts. */
const needsProcess = ([command]: readonly string[], env: Record<string, string>): boolean =>
  command === 'serve' || Object.keys(env).some((name) => name === 'CRASH_AT' || name.startsWith('NODE_'))

const ranOf = (args: readonly string[], printed: Omit<Ran, 'json'>): Ran => ({
  ...printed,
  json: args.includes('--json') && printed.out !== '' ? JSON.parse(printed.out) : undefined,
})

/** A folder for an embedded database, and its end. Others may enter it, as PostgreSQL may run as another user. */
export async function tempDataDir(): Promise<{ data_dir: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-data-'))
  await chmod(folder, 0o755)
  return {
    data_dir: join(folder, 'data'),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** No process works on this folder any more: neither PostgreSQL nor whoever watches over it. */
export async function nobodyOn(folder: string, within_ms = 15_000): Promise<void> {
  await until(() => processesOn(folder).length === 0, within_ms).catch(() => {
    throw new Error(`still there: ${processesOn(folder).join('\n')}`)
  })
}

/** The commands of the processes that have this folder on their command line. */
function processesOn(folder: string): string[] {
  const commands = existsSync('/proc/self/cmdline')
    ? readdirSync('/proc')
        .filter((name) => /^[0-9]+$/.test(name))
        .map(commandOf)
    : execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' }).split('\n')
  return commands.filter((command) => command.includes(folder))
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return '' // it has ended meanwhile
  }
}
