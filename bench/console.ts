import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { consoleEndpoints } from '../src/doors/console-api/endpoints.ts'
import { partnerPermits } from '../src/doors/console-api/permits.ts'
import { methodAndPath } from '../src/http/endpoint.ts'
import { machineCpu } from './processes.ts'
import { openStage, type Stage } from './stage.ts'

/**
 * Measures the response times of the console over a million payouts of one partner: every list and the overview, from a few
 * browsers at once, over loopback. CPU use by other processes is reported beside each figure.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    payouts: { type: 'string', default: '1000000' },
    readers: { type: 'string', default: '4' },
  },
})
const payouts = Number(values.payouts)
const AT_ONCE = 50_000

/** Fills in payouts spread over the last ninety days; one in 250 failed, and twenty are in transit. */
async function fill(stage: Stage): Promise<void> {
  const { partner_id, api_key_id, customers } = stage
  const db = new pg.Client({ connectionString: stage.database_url })
  await db.connect()
  await db.query(
    `SET search_path = sandbox; SET session_replication_role = replica; SET synchronous_commit = off`,
  )
  for (let from = 0; from < payouts; from += AT_ONCE)
    await db.query(
      `INSERT INTO payouts (id, partner_id, customer_id, api_key_id, idempotency_key, amount, fee, status, counterparty, send_id,
         end_to_end_id, failure_code, attempts, next_attempt_at, sequence, created_at, completed_at)
       SELECT 'po_01m7' || lpad(to_hex(n), 22, '0'), $1, ($2::text[])[1 + n % $3], $4, 'bench-' || n, 100 + n % 90000, 0, s.status,
         json_build_object('type', 'pix_key', 'pix_key', 'ana@example.com', 'name', 'Ana', 'document', '52998224725'), 'send' || n,
         CASE s.status WHEN 'completed' THEN 'E' || n END, CASE s.status WHEN 'failed' THEN 'invalid_account' END, 2, now() + interval '1 day',
         CASE s.status WHEN 'processing' THEN 2 ELSE 3 END, t.at, CASE WHEN s.status <> 'processing' THEN t.at + interval '1200 ms' END
       FROM generate_series($5::int, $6::int) n, LATERAL (SELECT now() - ($7 - n) * (interval '90 days' / $7) AS at) t,
         LATERAL (SELECT CASE WHEN n % 250 = 0 THEN 'failed' WHEN n > $7 - 20 THEN 'processing' ELSE 'completed' END AS status) s`,
      [
        partner_id,
        customers,
        customers.length,
        api_key_id,
        from + 1,
        Math.min(payouts, from + AT_ONCE),
        payouts,
      ],
    )
  await db.query(
    `INSERT INTO daily SELECT partner_id, (completed_at AT TIME ZONE 'America/Sao_Paulo')::date, 'pix', 'BRL', '', count(*) FILTER (WHERE status = 'completed'),
       count(*) FILTER (WHERE status = 'failed'), coalesce(sum(amount) FILTER (WHERE status = 'completed'), 0),
       coalesce(sum(amount) FILTER (WHERE status = 'failed'), 0), 0, array_fill(0::bigint, ARRAY[40]) || count(*)
     FROM payouts WHERE completed_at IS NOT NULL GROUP BY 1, 2`,
  )
  await db.query(
    `INSERT INTO requests (id, partner_id, api_key_id, method, route, status, duration_ms, address, object_id, created_at)
     SELECT 'req_01m7' || lpad(to_hex(n), 22, '0'), $1, $2, 'POST', '/v1/pix/payouts', 201, 12, '127.0.0.1', NULL, now() - n * interval '10 seconds'
     FROM generate_series(1, 200000) n`,
    [partner_id, api_key_id],
  )
  await db.query('ANALYZE')
  await db.end()
}

async function signIn(stage: Stage): Promise<string> {
  const email = 'bench@console.example'
  const { password } = stage.trilho('users', 'create', '--email', email, '--partner', stage.partner_id)
  const response = await fetch(`${stage.url}/console/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: stage.url },
    body: JSON.stringify({ email, password }),
  })
  if (response.status !== 200) throw new Error(`sign-in: ${response.status} ${await response.text()}`)
  return response.headers.get('set-cookie')!.split(';')[0]!
}

/** Paths of every declared list and the overview, and of payouts by each filter. */
function pathsOf(stage: Stage): string[] {
  const lists = consoleEndpoints.flatMap((endpoint) => {
    const { method, path } = methodAndPath(endpoint)
    const read = method === 'GET' && endpoint.reply.type === undefined && endpoint.permit in partnerPermits
    const whole = path.replace('{environment}', 'sandbox')
    if (!read || whole.includes('{')) return []
    return path.endsWith('/search') ? [`${whole}?q=Customer`, `${whole}?q=E4711`] : [whole]
  })
  const own = '/console/api/sandbox'
  const filters = ['status=failed', 'status=open', 'status=no_answer', `customer_id=${stage.customers[7]}`]
  return [
    ...lists,
    ...['24h', '7d', '90d'].map((period) => `${own}/overview?period=${period}`),
    ...filters.map((filter) => `${own}/payouts?${filter}`),
  ]
}

type Row = { path: string; p50: number; p95: number; count: number; others_cores: number }

async function measure(stage: Stage, cookie: string, path: string): Promise<Row> {
  const [machine, own, started] = [machineCpu(), stage.usage(), performance.now()]
  const end = started + Number(values.seconds) * 1000
  const times: number[] = []
  const read = async () => {
    while (performance.now() < end) {
      const from = performance.now()
      const response = await fetch(stage.url + path, { headers: { cookie } })
      const text = await response.text()
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
      times.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: Number(values.readers) }, read))
  const after = stage.usage()
  const used = after.server_cpu + after.database_cpu - own.server_cpu - own.database_cpu
  const others = (machineCpu() - machine - used) / ((performance.now() - started) / 1000)
  times.sort((a, b) => a - b)
  const at = (share: number) => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10
  return {
    path,
    p50: at(0.5),
    p95: at(0.95),
    count: times.length,
    others_cores: Math.round(others * 100) / 100,
  }
}

// One person reads thousands of times a minute here.
const env = { CONSOLE_READS_PER_MINUTE: '1000000' }
const stage = await openStage({ customers: 50, balance: '100000', env })
try {
  await fill(stage)
  const cookie = await signIn(stage)
  const rows: Row[] = []
  for (const path of pathsOf(stage)) {
    // The first request includes the planning of its statements, so it is not measured.
    await fetch(stage.url + path, { headers: { cookie } }).then((response) => response.text())
    rows.push(await measure(stage, cookie, path))
  }
  const worst = Math.max(...rows.map(({ p95 }) => p95))
  console.table(rows)
  console.log(`slowest p95: ${worst} ms over ${payouts} payouts`)
  mkdirSync('bench/results', { recursive: true })
  const machine = { at: new Date().toISOString(), node: process.versions.node, cores: cpus().length }
  writeFileSync(
    'bench/results/console.json',
    `${JSON.stringify({ bench: 'console', ...machine, payouts, readers: Number(values.readers), worst_p95: worst, rows }, null, 2)}\n`,
  )
} finally {
  await stage.stop()
}
