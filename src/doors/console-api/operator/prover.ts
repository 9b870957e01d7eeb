import { prove } from '../../../control/audit/proofs.ts'
import type { Office } from '../../../control/operator/office.ts'
import { logChecks } from '../../../control/operator/verify.ts'
import type { Environment } from '../../../core/environment.ts'
import { describeError } from '../../../core/error-report.ts'
import { refuse } from '../../../core/errors.ts'
import { type Check, checkNames } from '../../../ledger/audit.ts'

/** A full audit that an operator started: every check over one snapshot, in the background. */
type Proving = {
  readonly by: string
  readonly started_at: Date
  readonly done: number
  readonly of: number
}

export type Prover = {
  /** Refuses if this node is running one already. */
  start(environment: Environment, by: string): void
  running(environment: Environment): Proving | undefined
  /** Why the last run failed. */
  failure(environment: Environment): string | undefined
}

type ProverOptions = {
  readonly office: Office
  readonly checks: readonly Check[]
  readonly stopping: AbortSignal
}

/** A run reads the whole database, so a node runs one at a time. */
export function openProver({ office, checks, stopping }: ProverOptions): Prover {
  let current: { environment: Environment; proving: Proving } | undefined
  const failures = new Map<Environment, string>()

  async function run(environment: Environment, by: string): Promise<void> {
    const all = [...checks, ...logChecks(office, environment)]
    const started_at = new Date()
    const onCheck = (done: number, of: number) => {
      stopping.throwIfAborted()
      current = { environment, proving: { by, started_at, done, of } }
    }
    onCheck(0, checkNames(all).length)
    await prove(office.worlds[environment], { checks: all, by, onCheck })
  }

  return {
    start(environment, by) {
      if (current)
        refuse('not_possible', {
          message: `A proof of ${current.environment} runs on this node already, asked for by ${current.proving.by}. Wait for its end.`,
          details: { reason: 'proof_running' },
        })
      failures.delete(environment)
      void run(environment, by)
        .catch((error: unknown) => void failures.set(environment, describeError(error)))
        .finally(() => {
          current = undefined
        })
    },
    running: (environment) => (current?.environment === environment ? current.proving : undefined),
    failure: (environment) => failures.get(environment),
  }
}
