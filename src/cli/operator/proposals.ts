import { act, assertMayApprove, placeOfProposal } from '../../control/operator/act.ts'
import { type Described, describeProposal } from '../../control/operator/description.ts'
import type { Office } from '../../control/operator/office.ts'
import { findProposal, listProposals } from '../../control/operator/proposals.ts'
import type { DecidedOn } from '../../control/operator/registry.ts'
import type { Proposal } from '../../control/operator/store.ts'
import { agrees } from '../ask.ts'
import { argument, type Input, listed, type Output, option, type Reach } from '../command.ts'
import { isTerminal } from '../io.ts'
import { actOutput } from './act-output.ts'
import { actorOf } from './actor.ts'
import { plainText } from './open-orders.ts'
import { shownOnce } from './people.ts'

/** Places that have proposals: money of production, and the operators themselves (shared). */
const decided = ['production', 'shared'] as const

/** Every field of a proposal, one per line. */
function card(proposal: Described): string {
  const { customer, partner, state, ended, ended_by, ended_reason } = proposal
  const fields: [string, string | null][] = [
    ['proposal', proposal.id],
    ['what', proposal.what],
    ['customer', customer && `${customer.id}  ${customer.name}  ${customer.document}  (${customer.status})`],
    ['partner', partner && `${partner.id}  ${partner.name}`],
    ['amount', proposal.amount_text],
    ['reason', proposal.reason],
    ['reference', proposal.reference],
    ['proposed', `by ${proposal.proposed_by} at ${proposal.proposed_at.toISOString()}`],
    ['state', state],
    ['expires', state === 'open' ? proposal.expires_at.toISOString() : null],
    [
      'approved',
      proposal.approved_by && `by ${proposal.approved_by} at ${proposal.approved_at?.toISOString()}`,
    ],
    ['ended', ended === null || ended === 'done' ? null : endOf(proposal)],
    ['why', ended === 'done' ? null : ended_reason],
    ['made', proposal.resource_id],
  ]
  function endOf({ ended_at }: Described): string {
    return `${ended_by === null ? '' : `by ${ended_by} `}at ${ended_at?.toISOString()}`
  }
  return fields
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name.padEnd(10)} ${value}\n`)
    .join('')
}

const describe = ({ worlds }: Office, proposal: Proposal) => describeProposal(worlds.production, proposal)

async function find(office: Office, id: string): Promise<Described> {
  const place = await placeOfProposal(office, id)
  const pen = await office.log.pen(place, { kind: 'service' })
  return describe(office, await findProposal({ db: office.log.pools[place] }, id, pen))
}

async function decide(
  input: Input,
  { office, shared }: Reach,
  name: 'reject' | 'withdraw',
  reason: string | null,
): Promise<Output> {
  const details = { proposal_id: argument(input, 0, 'PROPOSAL'), reason }
  const acted = await act(office, await actorOf(input, shared), { name, details })
  const json = 'done' in acted ? await describe(office, acted.done.proposal) : undefined
  return actOutput(acted, () => ({ json, text: card(json!) }))
}

/** Shows the proposal before it is approved. A person at a terminal is asked; a script is not. */
async function confirm({ io, format, options }: Input, proposal: Described): Promise<boolean> {
  if (format !== 'table' || proposal.state === 'done') return true
  io.stdout.write(`About to do this in production:\n${card(proposal)}`)
  return options.yes === true || !isTerminal(io) || agrees(io, 'Approve it?')
}

function approved({ proposal, person }: DecidedOn) {
  const { id, resource_id } = proposal
  const made =
    person?.password === undefined ? undefined : shownOnce({ ...person, password: person.password })
  return {
    json: { id: resource_id, proposal_id: id, status: 'completed', ...(made ? { user: made.json } : {}) },
    text: `Done: ${resource_id}\n${made ? `\n${made.text}` : ''}`,
  }
}

export async function proposalsList(_: Input, { office }: Reach): Promise<Output> {
  const lists = await Promise.all(
    decided.map(async (place) => {
      const pen = await office.log.pen(place, { kind: 'service' })
      return listProposals({ db: office.log.pools[place] }, pen)
    }),
  )
  const data = await Promise.all(lists.flat().map((proposal) => describe(office, proposal)))
  data.sort((a, b) => Number(b.state === 'open') - Number(a.state === 'open'))
  const rows = data.map(
    ({ id, state, action, amount_text, customer, what, proposed_by, proposed_at, resource_id }) => ({
      id,
      state,
      action,
      amount: amount_text,
      customer: customer ? `${customer.id} ${customer.name}` : amount_text === null ? what : null,
      proposed_by,
      proposed_at,
      made: resource_id,
    }),
  )
  return listed({ data }, rows)
}

export async function proposalsShow(input: Input, { office }: Reach): Promise<Output> {
  const json = await find(office, argument(input, 0, 'PROPOSAL'))
  return { json, text: card(json) }
}

export async function proposalsApprove(input: Input, { office, shared }: Reach): Promise<Output> {
  const actor = await actorOf(input, shared)
  const wanted = await find(office, argument(input, 0, 'PROPOSAL'))
  // Checks the permit first, so that nobody confirms an approval that would then be refused.
  await assertMayApprove(office, actor, wanted)
  if (!(await confirm(input, wanted))) throw new Error('Not approved; nothing was done.')
  const details = { proposal_id: wanted.id }
  return actOutput(await act(office, actor, { name: 'approve', details }), approved)
}

export async function proposalsReject(input: Input, reach: Reach): Promise<Output> {
  return decide(input, reach, 'reject', plainText(input, 'reason', 200))
}

export async function proposalsWithdraw(input: Input, reach: Reach): Promise<Output> {
  return decide(
    input,
    reach,
    'withdraw',
    option(input, 'reason') === undefined ? null : plainText(input, 'reason', 200),
  )
}
