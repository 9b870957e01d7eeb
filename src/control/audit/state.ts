import type { World, Worlds } from '../../world.ts'
import { type AuditProgress, readProgress } from './progress.ts'

/** The state of the background audit, for operators and monitoring. */
type AuditState = {
  readonly last_finished_at: Date | null
  /** Since the end of the last whole pass; before the first one ends, since it began. Null: none has begun. */
  readonly age_seconds: number | null
  /** The larger count of the last whole pass and the current one. */
  readonly findings: number
  /** Null between two passes. */
  readonly stage: string | null
}

function stateOf(progress: AuditProgress): AuditState {
  const { started_at, last_finished_at, last_findings, findings, stage, now } = progress
  const since = last_finished_at ?? started_at
  return {
    last_finished_at,
    age_seconds: since && (now.getTime() - since.getTime()) / 1000,
    findings: Math.max(last_findings ?? 0, findings),
    stage,
  }
}

const DETAILS_MS = 500

/** For /readyz: informs only, and does not decide whether the node is ready. Empty when the database is slow. */
export async function auditDetails(worlds: Worlds): Promise<Record<string, unknown>> {
  const late = new Promise<Record<string, never>>((resolve) => setTimeout(resolve, DETAILS_MS, {}).unref())
  return Promise.race([statesOf(worlds), late])
}

async function statesOf(worlds: Worlds): Promise<{ audit: Record<string, AuditState> }> {
  const states = await Promise.all(
    Object.values<World>(worlds).map(async (world) => [world.environment, await auditState(world)]),
  )
  return { audit: Object.fromEntries(states) }
}

export async function auditState({ db }: World): Promise<AuditState> {
  return stateOf(await readProgress(db))
}
