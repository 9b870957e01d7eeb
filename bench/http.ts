import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inChild, type Measure } from './load.ts'

/** POST requests over a fixed number of keep-alive connections; each waits for the response before the next request. */
export type HttpJob = {
  readonly url: string
  readonly path: string
  /** A file with one line per request, which replaces `{{line}}` in the path. */
  readonly lines?: string
  readonly key: string
  readonly connections: number
  readonly seconds: number
  /** `{{unique}}` becomes a random text that no other request has, so that idempotency keys arrive in no order. */
  readonly bodies: readonly string[]
  readonly expect: number
}

/** The baseline rows are written by pgbench, a client in C, so wrk makes the HTTP calls if it is installed. */
const hasWrk = /^wrk /.test(spawnSync('wrk', ['--version'], { encoding: 'utf8' }).stdout ?? '')

export const caller = hasWrk ? 'wrk' : 'node'

export const post = (job: HttpJob): Promise<Measure> =>
  hasWrk ? runWrk(job) : inChild('./http-load.ts', job)

async function runWrk(job: HttpJob): Promise<Measure> {
  const folder = mkdtempSync(join(tmpdir(), 'trilho-wrk-'))
  const bodies = join(folder, 'bodies')
  writeFileSync(bodies, `${job.bodies.join('\n')}\n`)
  const script = fileURLToPath(new URL('./http-load.lua', import.meta.url))
  const load = ['-t', '1', '-c', String(job.connections), '-d', `${job.seconds}s`, '--timeout', '30s']
  const given = [job.path, job.key, bodies, ...(job.lines === undefined ? [] : [job.lines])]
  try {
    const said = await output('wrk', [...load, '-s', script, job.url, '--', ...given])
    return JSON.parse(said.trim().split('\n').at(-1)!)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function output(program: string, args: string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  return new Promise((resolve, reject) =>
    child.once('close', (code) => (code === 0 ? resolve(said) : reject(new Error(`wrk ended with ${code}`)))),
  )
}
