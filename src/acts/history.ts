import type { Line } from './line.ts'

/** What our own lines say of one proposal. */
export type History = {
  /** How it came into the log: proposed, or vouched for as it was, when the log began or later. Undefined: it did not. */
  readonly came: 'propose' | 'begin' | 'adopt' | undefined
  readonly proposed_by: string | null
  /** What its row was when it came. */
  readonly first: string | undefined
  /** Of the first line that approves it, after it came. */
  readonly approved_by: string | null
  readonly step: string
  readonly step_by: string | null
  /** What its row is since the last step. */
  readonly last: string
  /** A step after its end. */
  readonly went_on: boolean
}

const ENDS = new Set(['complete', 'reject', 'withdraw', 'expire'])

/** The first line of a log tells of all proposals that it found, each later one of its own. */
export function addToHistories(line: Line, histories: Map<string, History>): void {
  const { action, after, proposal_id } = line
  const said = after === null ? {} : JSON.parse(after)
  if (action === 'begin') {
    for (const [id, digest] of Object.entries<string>(said.found ?? {}))
      histories.set(id, arrival('begin', line, digest))
  } else if (proposal_id !== null && said.proposal)
    histories.set(proposal_id, following(histories.get(proposal_id), line, said.proposal))
}

const arrival = (came: History['came'], { action, actor_email }: Line, digest: string): History => ({
  came,
  proposed_by: came === 'propose' ? actor_email : null,
  first: came && digest,
  approved_by: null,
  step: action,
  step_by: actor_email,
  last: digest,
  went_on: false,
})

function following(before: History | undefined, line: Line, digest: string): History {
  const { action, actor_email } = line
  if (action === 'adopt') return arrival('adopt', line, digest)
  if (!before) return arrival(action === 'propose' ? 'propose' : undefined, line, digest)
  return {
    ...before,
    approved_by: before.approved_by ?? (action === 'approve' ? actor_email : null),
    step: action,
    step_by: actor_email,
    last: digest,
    went_on: before.went_on || ENDS.has(before.step) || action === 'propose',
  }
}
