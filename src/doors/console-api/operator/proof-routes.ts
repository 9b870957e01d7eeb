import { type AuditProof, latestProofs } from '../../../control/audit/proofs.ts'
import { auditState } from '../../../control/audit/state.ts'
import { act } from '../../../control/operator/act.ts'
import { parseTime } from '../../../http/page.ts'
import type { World } from '../../../world.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { getProof, noteStatement, startProof } from './proof-contract.ts'
import { openProver, type Prover } from './prover.ts'
import { factsOf, renderActed, renderHoldings } from './shared-schemas.ts'

export function proofRoutes(parts: ConsoleParts): ConsoleHandler[] {
  const prover = openProver(parts)
  return [
    answer(getProof, ({ world }) => stateOf(world, prover)),

    answer(startProof, async ({ world, actor }) => {
      prover.start(world.environment, actor.email)
      return stateOf(world, prover)
    }),

    answer(noteStatement, async ({ world, actor, body }) => {
      const { environment } = world
      const details = { ...body, as_of: parseTime(body.as_of, 'as_of').toISOString() }
      return renderActed(await act(parts.office, actor, { name: 'note_statement', environment, details }))
    }),
  ]
}

async function stateOf(world: World, prover: Prover) {
  // Read first, so that a run that ends meanwhile is among the proofs.
  const running = prover.running(world.environment)
  const [proofs, audit] = await Promise.all([latestProofs(world.db), auditState(world)])
  const { last_finished_at, findings, stage } = audit
  const [latest] = proofs
  return {
    latest: latest ? renderProof(latest) : null,
    holdings: latest ? await renderHoldings(world.reads, latest) : [],
    earlier: proofs.map(({ by, finished_at, found, entries }) => ({
      by,
      finished_at: finished_at.toISOString(),
      found,
      entries: entries.toString(),
    })),
    running: running ? { ...running, started_at: running.started_at.toISOString() } : null,
    failure: prover.failure(world.environment) ?? null,
    background: { last_finished_at: last_finished_at?.toISOString() ?? null, findings, stage },
  }
}

function renderProof(proof: AuditProof) {
  const { by, started_at, finished_at, entries, customers, checks, sums, found, findings } = proof
  return {
    by,
    started_at: started_at.toISOString(),
    finished_at: finished_at.toISOString(),
    entries: entries.toString(),
    customers: customers.toString(),
    checks: [...checks],
    sums: Object.fromEntries(Object.entries(sums).map(([asset, of]) => [asset, factsOf(of)])),
    found,
    findings: findings.map(({ check, found, examples }) => ({
      check,
      found,
      examples: examples.map(({ object_id, ...row }) => ({
        object_id: String(object_id),
        facts: factsOf(row),
      })),
    })),
  }
}
