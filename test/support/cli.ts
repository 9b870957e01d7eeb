import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Printed, runInHost } from './cli-hosts.ts'
import { compiledCli } from './compiled.ts'
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
}

const envOf = (env: Record<string, string>) => ({ PATH: process.env.PATH, HOME: process.env.HOME, ...env })

/** Starts `trilho …` in a process of its own, with nothing in its environment but what is given. */
export async function startCli(args: readonly string[], env: Record<string, string>): Promise<Started> {
  const child = spawn(process.execPath, [await compiledCli(), ...args], {
    env: envOf(env),
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
  return { process: child, ended, out: () => out }
}

/** Runs `trilho …` to its end, where it can be in a process that others ran in before. */
export async function runCli(args: readonly string[], env: Record<string, string>): Promise<Ran> {
  if (needsProcess(args, env)) return (await startCli(args, env)).ended
  return ranOf(args, { ...(await runInHost(await compiledCli(), args, envOf(env))), signal: null })
}

/** A server, and what a process reads of its environment when it starts. */
const needsProcess = ([command]: readonly string[], env: Record<string, string>): boolean =>
  command === 'serve' || Object.keys(env).some((name) => name === 'CRASH_AT' || name.startsWith('NODE_'))

const ranOf = (
  args: readonly string[],
  printed: Pick<Ran, 'code' | 'signal'> & Omit<Printed, 'code'>,
): Ran => ({
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
export async function nobodyOn(folder: string, within_ms = 2000): Promise<void> {
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
