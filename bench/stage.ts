import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { makeCpf } from '../src/core/document.ts'
import { realDisk } from './disk.ts'
import { cpuOf, familyCpu, residentMb } from './processes.ts'

/** A compiled server as in production, on an embedded PostgreSQL in its own folder. */
export type Stage = {
  readonly url: string
  readonly database_url: string
  readonly key: string
  readonly partner_id: string
  readonly api_key_id: string
  readonly customers: readonly string[]
  /** Runs SQL as the owner of the database, on one kept connection. */
  sql(text: string, values?: unknown[]): Promise<any[]>
  trilho(...args: string[]): Record<string, any>
  /** Runs the audit: true if the ledger is correct, otherwise prints the findings. */
  audit(): boolean
  /** Calls the API as the partner. */
  call(method: string, path: string, body?: unknown, key?: string): Promise<any>
  /** Makes a deposit for every customer through the API. */
  credit(amount: string): Promise<void>
  usage(): Usage
  stop(): Promise<void>
}

/** CPU seconds so far, and memory, of the server and of its database processes. */
type Usage = {
  readonly server_cpu: number
  readonly database_cpu: number
  readonly server_mb: number
}

/** `root`: another compiled checkout, to compare with this one. */
export async function openStage(options: {
  customers: number
  balance: string
  root?: string
  env?: Record<string, string>
}): Promise<Stage> {
  const program = join(options.root ?? '.', 'bin/trilho.js')
  const data_dir = await mkdtemp(join(realDisk(), 'trilho-bench-'))
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    DRAIN_MS: '0',
    ...options.env,
    DATA_DIR: data_dir,
    PORT: '0',
  }
  // The service is measured with its default logging; the output is discarded.
  delete env.LOG_LEVEL
  const server = spawn(process.execPath, [program, 'serve'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  // An aborted benchmark stops its servers.
  const end = () => server.kill('SIGTERM')
  process.once('exit', end)
  const url = await readyUrl(server)
  server.stdout!.resume()
  const trilho = (...args: string[]) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args, '--json'], {
      env,
      encoding: 'utf8',
    })
    if (status !== 0 && args[0] !== 'audit')
      throw new Error(`trilho ${args.join(' ')} ended with ${status}\n${stderr}${stdout}`)
    return JSON.parse(stdout)
  }
  const made = trilho('keys', 'create', '--environment', 'sandbox', '--name', 'bench')
  liftLimits(trilho, made.id)
  const call = async (method: string, path: string, body?: unknown, key = made.key) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url + path, { method, headers, ...sent })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return response.status === 204 ? undefined : response.json()
  }
  const { url: database_url, pid } = JSON.parse(readFileSync(join(data_dir, 'connection.json'), 'utf8'))
  const db = new pg.Client({ connectionString: database_url, options: '-c search_path=sandbox' })
  await db.connect()
  const customers = await createCustomers(call, options.customers)
  const credit = async (amount: string) => {
    await someAtOnce(customers, (customer_id) =>
      call('POST', '/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount }),
    )
  }
  if (options.balance !== '0') await credit(options.balance)
  return {
    url,
    database_url,
    key: made.key,
    partner_id: made.partner_id,
    api_key_id: made.id,
    customers,
    credit,
    trilho,
    audit() {
      const { ok, ...found } = trilho('audit', '--environment', 'sandbox')
      if (!ok) console.log(JSON.stringify(found))
      return ok
    },
    call,
    sql: async (text, values) => (await db.query(text, values)).rows,
    usage: () => ({
      server_cpu: cpuOf(server.pid!),
      database_cpu: familyCpu(pid),
      server_mb: residentMb(server.pid!),
    }),
    async stop() {
      await db.end()
      const gone = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGTERM')
      await gone
      process.off('exit', end)
      await rm(data_dir, { recursive: true, force: true })
    },
  }
}

/** Lifts the limits of this key only, so that the server keeps its defaults otherwise. */
export function liftLimits(trilho: Stage['trilho'], key_id: string): void {
  const lifted = String(100_000_000)
  const limits = ['per-minute', 'per-day', 'endpoint-per-minute', 'lookup-per-minute']
  trilho('keys', 'set-limits', key_id, ...limits.flatMap((limit) => [`--${limit}`, lifted]))
}

function readyUrl(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (chunk: Buffer) => {
      text += chunk
      const ready = /Trilho is ready at (\S+)/.exec(text)
      if (!ready) return
      // Stops reading the log: the text would only grow.
      server.stdout!.off('data', read)
      resolve(ready[1]!)
    }
    server.stdout!.on('data', read)
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}\n${text}`)))
  })
}

async function createCustomers(call: Stage['call'], count: number): Promise<string[]> {
  const base = randomInt(100_000_000, 900_000_000)
  const create = async (i: number): Promise<string> => {
    const body = { name: `Customer ${i}`, document: makeCpf(String(base + i)) }
    return (await call('POST', '/v1/customers', body)).id
  }
  return someAtOnce(
    Array.from({ length: count }, (_, i) => i),
    create,
  )
}

const AT_ONCE = 16

async function someAtOnce<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const done: Out[] = []
  for (let from = 0; from < items.length; from += AT_ONCE)
    done.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(work))))
  return done
}
