import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
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

const root = fileURLToPath(new URL('../../', import.meta.url))
let compiled: Promise<string> | undefined
const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

/** The command line as it is installed: compiled. Started from its sources, each run would take three times as long. */
export function compiledCli(): Promise<string> {
  compiled ??= compile()
  return compiled
}

async function compile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-cli-'))
  folders.push(folder)
  const dist = join(folder, 'dist')
  const options = ['--noCheck', '--incremental', 'false', '--tsBuildInfoFile', 'null', '--outDir', dist]
  execFileSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...options],
    {
      cwd: root,
    },
  )
  for (const folder of ['db/migrations', 'db/functions'])
    await cp(join(root, 'src', folder), join(dist, folder), { recursive: true })
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return join(dist, 'cli/trilho.js')
}

/** Starts `trilho …` with nothing in its environment but what is given. */
export async function startCli(args: readonly string[], env: Record<string, string>): Promise<Started> {
  const child = spawn(process.execPath, [await compiledCli(), ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
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
    child.once('close', (code, signal) =>
      resolve({
        code,
        signal,
        out,
        err,
        json: args.includes('--json') && out !== '' ? JSON.parse(out) : undefined,
      }),
    ),
  )
  return { process: child, ended, out: () => out }
}

/** Runs `trilho …` to its end. */
export async function runCli(args: readonly string[], env: Record<string, string>): Promise<Ran> {
  return (await startCli(args, env)).ended
}

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
