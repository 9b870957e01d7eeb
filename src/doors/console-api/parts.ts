import type { GoliveReport } from '../../control/golive/report.ts'
import type { Office } from '../../control/operator/office.ts'
import type { Environment } from '../../core/environment.ts'
import type { Sealer } from '../../core/seal.ts'
import type { AnsweredRequest } from '../../http/answered-request.ts'
import type { Check } from '../../ledger/audit.ts'
import type { HandlerParts } from '../api/handlers.ts'

/** What the handlers of the console use beside the world of a call. */
export type ConsoleParts = {
  /** Both worlds, the shared schema and the act log. */
  readonly office: Office
  readonly sealer: Sealer
  /** The running parts of each environment, as the API's handlers get them. */
  readonly runtimes: Readonly<Record<Environment, HandlerParts>>
  /** The checks of the audit beyond those of the ledger. */
  readonly checks: readonly Check[]
  readonly node: { readonly role: string; readonly version: string }
  /** Gathers the facts of going live on this node, and judges them. Takes up to some 20 seconds. */
  readonly walkGolive: () => Promise<GoliveReport>
  /** Aborted when the node stops, after the drain. */
  readonly stopping: AbortSignal
  /** Adds a request under an API key to the log of requests. */
  readonly record: (answered: AnsweredRequest) => void
  /** The address of this node for browsers. */
  readonly public_url: () => string
}
