import type { HandlerParts } from '../api/handlers.ts'
import type { Environment } from '../core/environment.ts'
import type { Sealer } from '../core/seal.ts'
import type { AnsweredRequest } from '../http/answered-request.ts'
import type { Check } from '../ledger/audit.ts'
import type { Office } from '../operator/office.ts'

/** What the handlers of the console call, beside the world that a call is about. */
export type ConsoleParts = {
  /** Both worlds, what they share, and the log of acts. */
  readonly office: Office
  readonly sealer: Sealer
  /** What works in each environment, as the handlers of the API get it. */
  readonly runtimes: Readonly<Record<Environment, HandlerParts>>
  /** What the audit checks beyond the ledger itself. */
  readonly checks: readonly Check[]
  readonly node: { readonly role: string; readonly version: string }
  /** Aborted when the node stops, after the drain. */
  readonly stopping: AbortSignal
  /** Writes down what was asked under a key. */
  readonly record: (answered: AnsweredRequest) => void
  /** Where browsers find this node. */
  readonly public_url: () => string
}
