import { act, placeOfProposal, rolesThatApprove } from '../../../control/operator/act.ts'
import { type Described, describeProposal } from '../../../control/operator/description.ts'
import type { Office } from '../../../control/operator/office.ts'
import { findProposal, listProposals } from '../../../control/operator/proposals.ts'
import { refuse } from '../../../core/errors.ts'
import type { StoragePlace } from '../../../db/sealing.ts'
import { personRoleOf } from '../../../parties/team/people.ts'
import { selectOperators } from '../../../parties/team/store.ts'
import { linesAbout } from '../../../records/acts/store.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import {
  approveProposal,
  getProposalForOperator,
  listProposalsForOperator,
  rejectProposal,
  withdrawProposal,
} from './proposals-contract.ts'
import { factsOf, renderActed, renderLineRef } from './shared-schemas.ts'

/** Where the objects of a proposal are. Proposals about people have none. */
const worldOfProposal = ({ worlds }: Office, place: StoragePlace) =>
  worlds[place === 'shared' ? 'production' : place]

export const proposalsRoutes = ({ office }: ConsoleParts): ConsoleHandler[] => [
  answer(listProposalsForOperator, async ({ world, actor }) => ({
    data: await proposalsIn(office, world.environment, actor.email),
  })),

  answer(getProposalForOperator, async ({ world, actor, params }) => {
    const place = await placeIn(office, world.environment, params.proposal_id)
    const { db, pen } = await reading(office, place)
    const proposal = await findProposal({ db }, params.proposal_id, pen)
    const described = await describeProposal(worldOfProposal(office, place), proposal)
    const [lines, operators, approvers] = await Promise.all([
      linesAbout(db, proposal.id),
      selectOperators(office.shared.db),
      rolesThatApprove(office, proposal, place),
    ])
    return {
      proposal: render(described, place, actor.email),
      others: operators
        .filter((user) => user.email !== proposal.proposed_by && approvers.includes(personRoleOf(user)))
        .map((user) => ({ email: user.email, name: user.name, role: personRoleOf(user) })),
      lines: lines
        .filter((line) => line.proposal_id === proposal.id)
        .map(({ seq, hash, at, action, actor_email }) => ({
          ...renderLineRef({ place, seq, hash })!,
          at: at.toISOString(),
          action,
          by: actor_email,
        })),
    }
  }),

  answer(approveProposal, async ({ actor, world, params }) => {
    await placeIn(office, world.environment, params.proposal_id)
    const acted = await act(office, actor, { name: 'approve', details: params })
    const password = 'done' in acted ? acted.done.person?.password : undefined
    return {
      ...renderActed(acted),
      proposal_id: params.proposal_id,
      ...(password === undefined ? {} : { password }),
    }
  }),

  answer(rejectProposal, async ({ actor, world, params, body }) => {
    await placeIn(office, world.environment, params.proposal_id)
    const details = { ...params, reason: body.reason }
    return renderActed(await act(office, actor, { name: 'reject', details }))
  }),

  answer(withdrawProposal, async ({ actor, world, params, body }) => {
    await placeIn(office, world.environment, params.proposal_id)
    const details = { ...params, reason: body.reason ?? null }
    return renderActed(await act(office, actor, { name: 'withdraw', details }))
  }),
]

/** The proposals of the world and those about people, which are stored in `shared`: open ones first. */
export async function proposalsIn(
  office: Office,
  environment: Exclude<StoragePlace, 'shared'>,
  email: string,
) {
  const places = [environment, 'shared'] as const
  const lists = await Promise.all(
    places.map(async (place) => {
      const { db, pen } = await reading(office, place)
      const found = await listProposals({ db }, pen)
      return Promise.all(
        found.map(async (proposal) =>
          render(await describeProposal(worldOfProposal(office, place), proposal), place, email),
        ),
      )
    }),
  )
  const isOpen = ({ state }: { state: string }) => Number(state === 'open')
  return lists.flat().sort((a, b) => isOpen(b) - isOpen(a) || (a.proposed_at < b.proposed_at ? 1 : -1))
}

async function reading(office: Office, place: StoragePlace) {
  return { db: office.log.pools[place], pen: await office.log.pen(place, { kind: 'service' }) }
}

/** A proposal of the other world counts as not found. */
async function placeIn(office: Office, environment: StoragePlace, id: string): Promise<StoragePlace> {
  const place = await placeOfProposal(office, id)
  if (place !== environment && place !== 'shared') refuse('object_not_found')
  return place
}

/** Leaves out the hash of the activation code. */
function orderOf({ details }: Described): Record<string, string> {
  const { activation_hash: _, ...order } = factsOf(details)
  return order
}

const textOf = (time: Date | null) => time?.toISOString() ?? null

function render(described: Described, place: StoragePlace, email: string) {
  const { id, action, state, what, partner, customer, asset, amount, reason, reference } = described
  const { proposed_by, approved_by, ended_by, ended_reason, resource_id } = described
  return {
    id,
    place,
    action,
    state,
    what,
    details: orderOf(described),
    partner,
    customer,
    asset,
    amount: amount?.toString() ?? null,
    reason,
    reference,
    proposed_by,
    proposed_at: described.proposed_at.toISOString(),
    expires_at: described.expires_at.toISOString(),
    approved_by,
    approved_at: textOf(described.approved_at),
    ended_by,
    ended_at: textOf(described.ended_at),
    ended_reason,
    resource_id,
    mine: proposed_by === email,
  }
}
