import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import type { RowsJob } from './deposit-rows.ts'
import type { HttpJob } from './http-load.ts'
import { inChild, type Measure } from './load.ts'
import { runPgbench } from './pgbench.ts'
import { openStage } from './stage.ts'

/**
 * Sandbox deposits over HTTP, each one committing entries, balance and event, beside the same rows written without HTTP.
 * Figures are ratios of one run: the machine may be busy, but it is equally busy for both.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    soak: { type: 'string', default: '60' },
  },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)

type Row = Measure & {
  readonly name: string
  readonly server_cpu_ms?: number
  readonly database_cpu_ms?: number
}

const stage = await openStage({ customers: 200 })
const bodies = stage.customers.map((customer_id) =>
  JSON.stringify({ customer_id, asset: 'BRL', amount: '100' }),
)
const rows: Row[] = []

async function http(connections: number, duration = seconds): Promise<void> {
  const before = await stage.usage()
  const job: HttpJob = {
    url: stage.url,
    path: '/v1/sandbox/deposits',
    key: stage.key,
    connections,
    seconds: duration,
    bodies,
    expect: 201,
  }
  const measure = await inChild('./http-load.ts', job)
  const after = await stage.usage()
  const each = (cpu: number) => Math.round((cpu / measure.count) * 1_000_000) / 1000
  rows.push({
    name: `http ${connections}`,
    ...measure,
    server_cpu_ms: each(after.server_cpu - before.server_cpu),
    database_cpu_ms: each(after.database_cpu - before.database_cpu),
  })
}

async function plain(connections: number): Promise<void> {
  const job: RowsJob = {
    database_url: stage.database_url,
    partner_id: stage.partner_id,
    customers: stage.customers,
    connections,
    seconds,
  }
  rows.push({ name: `rows ${connections}`, ...(await inChild('./deposit-rows.ts', job)) })
}

try {
  await http(64, 3)
  rows.length = 0
  // In turns, so that what else the machine does falls on all of them alike.
  for (let round = 0; round < rounds; round++) {
    await plain(1)
    await http(1)
    await plain(16)
    await http(64)
    await http(256)
    const c = runPgbench({ ...stage, clients: 16, seconds })
    if (c) rows.push({ name: 'pgbench 16', ...c })
  }
  const soak = Number(values.soak)
  if (soak > 0) await http(256, soak)
  const memory = (await stage.usage()).server_rss_mb
  const { ok } = stage.trilho('audit', '--environment', 'sandbox')
  report(memory, ok)
} finally {
  await stage.stop()
}

function report(server_rss_mb: number, audit_ok: boolean): void {
  const median = (name: string, field: 'per_second' | 'p50' | 'p99') => {
    const all = rows.filter((row) => row.name === name).map((row) => row[field])
    return all.sort((a, b) => a - b)[all.length >> 1] ?? 0
  }
  const ratio = (a: number, b: number) => Math.round((a / b) * 100) / 100
  const ratios = {
    'http 64 ÷ rows 16': ratio(median('http 64', 'per_second'), median('rows 16', 'per_second')),
    'http 256 ÷ rows 16': ratio(median('http 256', 'per_second'), median('rows 16', 'per_second')),
    'p50 of http 1 ÷ p50 of rows 1': ratio(median('http 1', 'p50'), median('rows 1', 'p50')),
    ...(rows.some(({ name }) => name === 'pgbench 16')
      ? { 'http 64 ÷ pgbench 16': ratio(median('http 64', 'per_second'), median('pgbench 16', 'per_second')) }
      : {}),
  }
  console.table(
    rows.map(({ name, per_second, p50, p99, errors, server_cpu_ms, database_cpu_ms }) => ({
      name,
      per_second,
      p50,
      p99,
      errors,
      server_cpu_ms,
      database_cpu_ms,
    })),
  )
  console.table({
    ...ratios,
    'server memory at the end, MB': Math.round(server_rss_mb),
    'audit holds': audit_ok,
  })
  mkdirSync('bench/results', { recursive: true })
  const result = {
    bench: 'deposits',
    at: new Date().toISOString(),
    node: process.versions.node,
    cores: cpus().length,
    seconds,
    ratios,
    server_rss_mb: Math.round(server_rss_mb),
    audit_ok,
    rows,
  }
  writeFileSync('bench/results/deposits.json', `${JSON.stringify(result, null, 2)}\n`)
}
