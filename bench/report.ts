import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Measure } from './load.ts'
import type { Stage } from './stage.ts'

/** The rows of one run, what they amount to, and the file that keeps them. Figures are ratios of medians of one run. */
export type Report = {
  measure(name: string, stage: Stage | undefined, work: () => Promise<Measure>): Promise<void>
  ratio(a: string, b: string, field: 'per_second' | 'p50'): number
  write(summary: { ratios: Record<string, number>; server_rss_mb: number; audit_ok: boolean }): void
}

type Row = Measure & {
  readonly name: string
  readonly server_cpu_ms?: number
  readonly database_cpu_ms?: number
}

export function openReport(bench: string, settings: Record<string, unknown>): Report {
  const rows: Row[] = []

  function median(name: string, field: 'per_second' | 'p50'): number {
    const all = rows.filter((row) => row.name === name).map((row) => row[field])
    return all.sort((a, b) => a - b)[all.length >> 1] ?? 0
  }

  return {
    async measure(name, stage, work) {
      const before = await stage?.usage()
      const measure = await work()
      const after = await stage?.usage()
      const each = (cpu: number) => Math.round((cpu / measure.count) * 1_000_000) / 1000
      const cpu =
        before && after
          ? {
              server_cpu_ms: each(after.server_cpu - before.server_cpu),
              database_cpu_ms: each(after.database_cpu - before.database_cpu),
            }
          : {}
      if (name !== 'warm-up') rows.push({ name, ...measure, ...cpu })
    },
    ratio: (a, b, field) => Math.round((median(a, field) / median(b, field)) * 100) / 100,
    write(summary) {
      console.table(rows)
      console.table({
        ...summary.ratios,
        'server memory, MB': summary.server_rss_mb,
        'audit holds': summary.audit_ok,
      })
      mkdirSync('bench/results', { recursive: true })
      const machine = { at: new Date().toISOString(), node: process.versions.node, cores: cpus().length }
      writeFileSync(
        `bench/results/${bench}.json`,
        `${JSON.stringify({ bench, ...machine, ...settings, ...summary, rows }, null, 2)}\n`,
      )
    },
  }
}
