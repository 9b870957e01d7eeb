import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type Bench, openBench } from './bench.ts'
import { compile } from './compile.ts'
import { measureDeposits } from './parts/deposits.ts'
import { measureExecutions } from './parts/executions.ts'
import { measureIdle } from './parts/idle.ts'
import { measureLists } from './parts/lists.ts'
import { measurePayouts } from './parts/payouts.ts'
import { measureTransfers } from './parts/transfers.ts'
import { measureWebhooks } from './parts/webhooks.ts'
import { quick } from './quick.ts'
import { writeReport } from './report/page.ts'

/**
 * `npm run bench` runs everything and writes bench/results and docs/benchmarks.md. `-- payouts lists` runs only these parts.
 * `-- --quick` prints the main figures of payouts after about ninety seconds and stores nothing.
 */
const parts: Readonly<Record<string, (bench: Bench) => Promise<object>>> = {
  payouts: measurePayouts,
  lists: measureLists,
  deposits: measureDeposits,
  executions: measureExecutions,
  transfers: measureTransfers,
  webhooks: measureWebhooks,
  idle: measureIdle,
}

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    build: { type: 'boolean', default: true },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    soak: { type: 'string', default: '60' },
    entries: { type: 'string', default: '3000000' },
    results: { type: 'string', default: 'bench/results' },
  },
  allowNegative: true,
  allowPositionals: true,
})

async function run(names: readonly string[]): Promise<void> {
  const unknown = names.find((name) => !(name in parts))
  if (unknown) throw new Error(`There is no part ${unknown}: ${Object.keys(parts).join(', ')}`)
  const bench = openBench({
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    small_entries: 10_000,
    large_entries: Number(values.entries),
    soak_seconds: Number(values.soak),
  })
  try {
    mkdirSync(values.results, { recursive: true })
    for (const name of names) {
      console.log(`\n${name}`)
      const about = {
        bench: name,
        at: new Date().toISOString(),
        node: process.versions.node,
        cores: cpus().length,
      }
      const result = { ...about, settings: bench.settings, ...(await parts[name]!(bench)) }
      writeFileSync(`${values.results}/${name}.json`, `${JSON.stringify(result, null, 1)}\n`)
    }
  } finally {
    await bench.close()
  }
  writeReport(values.results)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
if (values.build) compile()
if (values.quick) await quick()
else await run(positionals.length > 0 ? positionals : Object.keys(parts))
