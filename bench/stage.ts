import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCpf } from '../src/core/document.ts'

/** A server as it runs in production, compiled, over an embedded PostgreSQL in a folder of its own. */
export type Stage = {
  readonly url: string
  readonly database_url: string
  readonly key: string
  readonly partner_id: string
  readonly api_key_id: string
  readonly customers: readonly string[]
  trilho(...args: string[]): Record<string, any>
  /** CPU seconds used so far, and memory, of the server and of all processes of its database. */
  usage(): Promise<{ server_cpu: number; database_cpu: number; server_rss_mb: number }>
  stop(): Promise<void>
}

/** `root`: another checkout, compiled, to be held against this one. */
export async function openStage(options: {
  customers: number
  balance: string
  root?: string
}): Promise<Stage> {
  const program = join(options.root ?? '.', 'bin/trilho.js')
  const data_dir = await mkdtemp(join(tmpdir(), 'trilho-bench-'))
  const env = { ...process.env, DATA_DIR: data_dir, PORT: '0', LOG_LEVEL: 'warn' }
  const server = spawn(process.execPath, [program, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await readyUrl(server)
  server.stdout!.resume()
  const trilho = (...args: string[]) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args, '--json'], {
      env,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`trilho ${args.join(' ')} ended with ${status}\n${stderr}${stdout}`)
    return JSON.parse(stdout)
  }
  const made = trilho('keys', 'create', '--environment', 'sandbox', '--name', 'bench')
  // Only this key: what is measured is the server as everybody else meets it.
  const lifted = String(100_000_000)
  trilho(
    'keys',
    'set-limits',
    made.id,
    '--per-minute',
    lifted,
    '--per-day',
    lifted,
    '--endpoint-per-minute',
    lifted,
    '--lookup-per-minute',
    lifted,
  )
  const connection = () => JSON.parse(readFileSync(join(data_dir, 'connection.json'), 'utf8'))
  const customers = await createCustomers(url, made.key, options)
  return {
    url,
    database_url: connection().url,
    key: made.key,
    partner_id: made.partner_id,
    api_key_id: made.id,
    customers,
    trilho,
    usage: async () => {
      const postmaster = connection().pid
      const children = await childrenOf(postmaster)
      return {
        server_cpu: cpuSeconds(server.pid!),
        // Of processes that have ended, too.
        database_cpu: children.reduce((sum, pid) => sum + cpuSeconds(pid), cpuSeconds(postmaster, true)),
        server_rss_mb: rssMb(server.pid!),
      }
    },
    async stop() {
      const gone = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGTERM')
      await gone
      await rm(data_dir, { recursive: true, force: true })
    },
  }
}

function readyUrl(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    server.stdout!.on('data', (chunk) => {
      text += chunk
      const ready = /Trilho is ready at (\S+)/.exec(text)
      if (ready) resolve(ready[1]!)
    })
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}\n${text}`)))
  })
}

async function createCustomers(
  url: string,
  key: string,
  { customers, balance }: { customers: number; balance: string },
): Promise<string[]> {
  const base = randomInt(100_000_000, 900_000_000)
  const post = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (response.status !== 201) throw new Error(await response.text())
    return (await response.json()) as { id: string }
  }
  const ids: string[] = []
  for (let i = 0; i < customers; i++) {
    const { id } = await post('/v1/customers', { name: `Customer ${i}`, document: makeCpf(String(base + i)) })
    if (balance !== '0')
      await post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: balance })
    ids.push(id)
  }
  return ids
}

const TICKS_PER_SECOND = 100

function cpuSeconds(pid: number, with_ended_children = false): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    const ticks = fields.slice(11, with_ended_children ? 15 : 13)
    return ticks.reduce((sum, each) => sum + Number(each), 0) / TICKS_PER_SECOND
  } catch {
    return 0
  }
}

function rssMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
  } catch {
    return 0
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const found: number[] = []
  for (const entry of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(entry)) continue
    try {
      if (Number(readFileSync(`/proc/${entry}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]) === pid)
        found.push(Number(entry))
    } catch {}
  }
  return found
}
