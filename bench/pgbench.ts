import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Measure } from './load.ts'

export const pgbenchFound = (): boolean => spawnSync('pgbench', ['--version']).status === 0

/** The same rows by pgbench, where one is installed: what the database alone can do, driven by C. */
export function runPgbench(options: {
  database_url: string
  partner_id: string
  customers: readonly string[]
  clients: number
  seconds: number
}): Measure {
  const { customers, partner_id } = options
  const folder = mkdtempSync(join(tmpdir(), 'trilho-pgbench-'))
  // pgbench would take what follows a colon for a variable: the time's colons are put in by the server.
  const created_at = `to_char(now()::timestamptz(3) AT TIME ZONE 'UTC', replace('YYYY-MM-DD"T"HH24_MI_SS.MS"Z"', '_', chr(58)))`
  const id = `'dep_bench_' || :r::text || '_' || :client_id::text`
  const data = `json_build_object('id', ${id}, 'customer_id', :customer::text, 'asset', 'BRL', 'amount', '100', 'decimals', 2, 'status', 'completed', 'created_at', ${created_at})`
  const script = `
\\set n random(1, ${customers.length})
\\set r random(1, 9000000000000000)
BEGIN;
SELECT id FROM sandbox.api_keys WHERE partner_id = '${partner_id}' LIMIT 1;
SELECT balance AS balance, seq AS seq, customer_id AS customer FROM sandbox.balances WHERE customer_id = (ARRAY['${customers.join("','")}'])[:n::int] AND asset = 'BRL' FOR NO KEY UPDATE \\gset
INSERT INTO sandbox.deposits (id, partner_id, customer_id, asset, amount, rail, created_at) VALUES (${id}, '${partner_id}', :customer::text, 'BRL', 100, 'sandbox', now());
INSERT INTO sandbox.entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at) VALUES (${id}, 'credited', 0, '${partner_id}', 'external' || chr(58) || 'sandbox', '', 'BRL', -100, NULL, NULL, now()), (${id}, 'credited', 1, '${partner_id}', 'customer', :customer::text, 'BRL', 100, :seq::bigint + 1, :balance::bigint + 100, now());
UPDATE sandbox.balances SET balance = balance + 100, seq = seq + 1 WHERE customer_id = :customer::text AND asset = 'BRL';
INSERT INTO sandbox.events (id, partner_id, type, object_id, sequence, data, created_at) VALUES ('evt_bench_' || :r::text || '_' || :client_id::text, '${partner_id}', 'deposit.completed', ${id}, 1, ${data}, now());
COMMIT;
`
  const file = join(folder, 'deposit.sql')
  writeFileSync(file, script)
  try {
    const { stdout, stderr, status } = spawnSync(
      'pgbench',
      [
        '-n',
        '-M',
        'prepared',
        '-c',
        String(options.clients),
        '-j',
        '2',
        '-T',
        String(options.seconds),
        '-f',
        file,
        options.database_url,
      ],
      { encoding: 'utf8' },
    )
    if (status !== 0) throw new Error(stderr)
    const number = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? 0)
    return {
      per_second: Math.round(number(/tps = ([\d.]+)/)),
      p50: number(/latency average = ([\d.]+)/),
      p99: 0,
      errors: number(/number of failed transactions: (\d+)/),
      count: number(/actually processed: (\d+)/),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
