import type { LogLine } from './line.ts'

/** What the verified lines of a log say about one proposal. */
export type History = {
  /** Author and digest of the `propose` line, if that is the first line about the proposal. */
  readonly proposed: { readonly by: string | null; readonly digest: string } | undefined
  /** The operator of the first `approve` line. */
  readonly approved_by: string | null
  /** Action of the last line. */
  readonly step: string
  readonly step_by: string | null
  /** Digest of the proposal's row after the last line. */
  readonly last: string
  /** Whether there is a line after the end of the proposal. */
  readonly went_on: boolean
}

const ENDS = new Set(['complete', 'reject', 'withdraw', 'expire', 'supersede'])

export function addToHistories(line: LogLine, histories: Map<string, History>): void {
  const { after, proposal_id } = line
  const said = after === null ? {} : JSON.parse(after)
  if (proposal_id !== null && said.proposal)
    histories.set(proposal_id, following(histories.get(proposal_id), line, said.proposal))
}

function following(before: History | undefined, line: LogLine, digest: string): History {
  const { action, actor_email } = line
  const step = { step: action, step_by: actor_email, last: digest }
  if (!before) {
    const proposed = action === 'propose' ? { by: actor_email, digest } : undefined
    return { ...step, proposed, approved_by: null, went_on: false }
  }
  return {
    ...before,
    approved_by: before.approved_by ?? (action === 'approve' ? actor_email : null),
    ...step,
    went_on: before.went_on || ENDS.has(before.step) || action === 'propose',
  }
}
