import { Gauge, type Registry } from 'prom-client'
import type { World, Worlds } from '../world.ts'
import { type Progress, readProgress } from './progress.ts'

/** What operators and their machines want to know of the audit in the background. */
export type AuditState = {
  readonly last_finished_at: Date | null
  /** Since the last whole pass ended. */
  readonly age_seconds: number | null
  /** Of the last whole pass and the one that runs. */
  readonly findings: number
  /** Null between two passes. */
  readonly stage: string | null
}

function stateOf({ last_finished_at, last_findings, findings, stage, now }: Progress): AuditState {
  return {
    last_finished_at,
    age_seconds: last_finished_at && (now.getTime() - last_finished_at.getTime()) / 1000,
    findings: Math.max(last_findings ?? 0, findings),
    stage,
  }
}

const DETAILS_MS = 500

/** For /readyz: it tells, and plays no part in whether the server is ready. Nothing when the database is slow to answer. */
export async function auditDetails(worlds: Worlds): Promise<Record<string, unknown>> {
  const late = new Promise<Record<string, never>>((resolve) => setTimeout(resolve, DETAILS_MS, {}).unref())
  return Promise.race([statesOf(worlds), late])
}

async function statesOf(worlds: Worlds): Promise<{ audit: Record<string, AuditState> }> {
  const states = await Promise.all(
    Object.values<World>(worlds).map(async ({ environment, db }) => [
      environment,
      stateOf(await readProgress(db)),
    ]),
  )
  return { audit: Object.fromEntries(states) }
}

/** Asked whenever the metrics are read. A world whose database is away shows none. */
export function registerAuditMetrics(registry: Registry, worlds: Worlds): void {
  const gauge = (name: string, help: string, figureOf: (state: AuditState) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['environment'],
      registers: [registry],
      async collect() {
        for (const { environment, db } of Object.values<World>(worlds)) {
          const progress = await readProgress(db).catch(() => undefined)
          const value = progress && figureOf(stateOf(progress))
          if (value === null || value === undefined) this.remove({ environment })
          else this.set({ environment }, value)
        }
      },
    })
  gauge(
    'trilho_audit_age_seconds',
    'Since the audit in the background last ended a whole pass',
    (s) => s.age_seconds,
  )
  gauge('trilho_audit_findings', 'What the audit found that must not exist', (s) => s.findings)
}
