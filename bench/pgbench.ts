import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Measure, summarize } from './load.ts'

/** A pgbench script, run by several clients at once. */
export type ScriptJob = {
  readonly database_url: string
  readonly schema: string
  readonly file: string
  /** The number of customers that the script picks from. */
  readonly customers: number
  readonly clients: number
  readonly seconds: number
}

const DEBIAN = '/usr/lib/postgresql'

/** pgbench on the PATH or in Debian's folder per version; undefined if it is not installed. */
export const pgbench: string | undefined = [
  'pgbench',
  ...(existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => `${DEBIAN}/${version}/bin/pgbench`) : []),
].find((program) => spawnSync(program, ['--version']).status === 0)

export const sessionOf = (schema: string) =>
  `-c search_path=${schema} -c jit=off -c plan_cache_mode=force_generic_plan`

/** The latency of one run of the script is the time from its first statement to its last commit. */
export async function runPgbench(program: string, job: ScriptJob): Promise<Measure> {
  const folder = mkdtempSync(join(tmpdir(), 'trilho-pgbench-'))
  try {
    const clients = ['-c', String(job.clients), '-j', job.clients > 1 ? '2' : '1']
    const log = ['--log', `--log-prefix=${join(folder, 'log')}`]
    const variables = ['-D', `customers=${job.customers}`]
    const args = ['-n', '-M', 'prepared', '-T', String(job.seconds), '-f', job.file]
    const text = await output(program, [...args, ...clients, ...log, ...variables, job.database_url], {
      ...process.env,
      PGOPTIONS: sessionOf(job.schema),
    })
    const failed = Number(/number of failed transactions: (\d+)/.exec(text)?.[1] ?? 0)
    return summarize(latenciesIn(folder), job.seconds, failed)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A line holds client, transaction number, microseconds, script and time. */
function latenciesIn(folder: string): number[] {
  return readdirSync(folder)
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => Number(line.split(' ')[2]) / 1000)
    .filter((milliseconds) => milliseconds > 0)
}

function output(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  let complaint = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  child.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  return new Promise((resolve, reject) =>
    child.once('close', (code) => {
      if (code === 0 && !/aborted/.test(complaint)) resolve(said)
      else reject(new Error(`pgbench ended with ${code}\n${complaint}`))
    }),
  )
}
