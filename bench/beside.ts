import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { payouts } from './payouts.ts'
import { machineCpu, ownCpu } from './processes.ts'
import { middle, rounded } from './slices.ts'
import { openStage, type Stage } from './stage.ts'

/**
 * Compares payouts on this checkout and on others (`--beside before=/a/folder`, compiled; repeatable), in turns on one machine.
 * The figure that counts is the CPU time per payout of server and database: on a shared machine throughput says little. CPU use
 * by other processes is reported, and turns with much of it are dropped if enough remain.
 */
const { values } = parseArgs({
  options: {
    beside: { type: 'string', multiple: true },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '14' },
  },
})
const folders = (values.beside ?? []).map((said) => said.split('=') as [name: string, root: string])
if (folders.length === 0) throw new Error('--beside name=folder must name a checkout to compare with')

type Turn = { readonly per_second: number; readonly cpu_ms: number; readonly others_cores: number }

/** Writes after the response, such as the sums, belong to the cost of a payout; they follow within three seconds. */
const BEHIND_MS = 4000

async function measure(stage: Stage, seconds: number): Promise<Turn> {
  const [before, started] = [stage.usage(), performance.now()]
  const others = -machineCpu() + ownCpu()
  const { per_second, count } = await payouts(stage, { connections: 64, seconds })
  const used = (now: typeof before) =>
    now.server_cpu + now.database_cpu - before.server_cpu - before.database_cpu
  const by_others = others + machineCpu() - ownCpu() - used(stage.usage())
  const elapsed = (performance.now() - started) / 1000
  await sleep(BEHIND_MS)
  return {
    per_second,
    cpu_ms: Math.round((used(stage.usage()) / count) * 1e6) / 1000,
    others_cores: Math.round((by_others / elapsed) * 100) / 100,
  }
}

const QUIET_CORES = 0.5
const ENOUGH = 7

/** Compares turn by turn, so that a drift of the machine affects both sides of a pair. */
function compare(now: readonly Turn[], other: readonly Turn[]) {
  const pairs = now.map((turn, i) => [turn, other[i]!] as const)
  const quiet = pairs.filter((pair) => pair.every(({ others_cores }) => others_cores < QUIET_CORES))
  const counted = quiet.length >= ENOUGH ? quiet : pairs
  const ratios = counted.map(([a, b]) => a.cpu_ms / b.cpu_ms).sort((a, b) => a - b)
  return {
    'CPU of a payout, this ÷ other': middle(ratios),
    'middle half': [ratios[ratios.length >> 2]!, ratios.at(-1 - (ratios.length >> 2))!].map((ratio) =>
      rounded(ratio, 3),
    ),
    'payouts a second, this ÷ other': middle(counted.map(([a, b]) => a.per_second / b.per_second)),
    pairs: counted.length,
    quiet: counted === quiet,
    'cores used by others': middle(counted.flatMap((pair) => pair.map(({ others_cores }) => others_cores))),
  }
}

const options = { customers: 200, balance: '100000000000' }
const stages = new Map<string, Stage>()
const turns = new Map<string, Turn[]>()
try {
  stages.set('this', await openStage(options))
  for (const [name, root] of folders) stages.set(name, await openStage({ ...options, root }))
  for (const [name, stage] of stages) {
    turns.set(name, [])
    await measure(stage, 3)
  }
  for (let round = 0; round < Number(values.rounds); round++) {
    // The order alternates between rounds.
    const order = [...stages]
    for (const [name, stage] of round % 2 === 0 ? order : order.reverse()) {
      const turn = await measure(stage, Number(values.seconds))
      turns.get(name)!.push(turn)
      console.log(round, name, JSON.stringify(turn))
    }
  }
  const summary = {
    bench: 'beside',
    at: new Date().toISOString(),
    cores: cpus().length,
    beside: Object.fromEntries(
      folders.map(([name]) => [name, compare(turns.get('this')!, turns.get(name)!)]),
    ),
    audit_ok: stages.get('this')!.audit(),
    turns: Object.fromEntries(turns),
  }
  console.log(summary.beside)
  mkdirSync('bench/results', { recursive: true })
  writeFileSync('bench/results/beside.json', `${JSON.stringify(summary, null, 2)}\n`)
} finally {
  for (const stage of stages.values()) await stage.stop()
}
