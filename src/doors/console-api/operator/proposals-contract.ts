import { Type as T } from 'typebox'
import { AssetName, Fields, Id, Text, Timestamp } from '../../../http/schema.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { ActedObject, inWorld, LineRef, Maybe, PlaceName, Sum } from './shared-schemas.ts'

const base = '/console/api/operator/{environment}' as const
const params = T.Object({ ...inWorld, proposal_id: Id('proposal') })

const ProposalObject = T.Object({
  id: T.String(),
  place: PlaceName,
  action: T.String(),
  state: T.Enum(['open', 'approved', 'done', 'rejected', 'withdrawn', 'expired', 'superseded']),
  what: T.String({ description: 'What happens when it is approved' }),
  details: T.Record(T.String(), T.String(), { description: 'What was ordered, as the log has it' }),
  partner: Maybe(T.Object({ id: T.String(), name: T.String() })),
  customer: Maybe(T.Object({ id: T.String(), name: T.String(), document: T.String(), status: T.String() })),
  asset: Maybe(AssetName),
  amount: Maybe(Sum),
  reason: T.String(),
  reference: Maybe(T.String()),
  proposed_by: T.String(),
  proposed_at: Timestamp,
  expires_at: Timestamp,
  approved_by: Maybe(T.String()),
  approved_at: Maybe(Timestamp),
  ended_by: Maybe(T.String()),
  ended_at: Maybe(Timestamp),
  ended_reason: Maybe(T.String()),
  resource_id: Maybe(T.String()),
  mine: T.Boolean({ description: 'Proposed by whoever asks, who therefore cannot approve it' }),
})

export const listProposalsForOperator = consoleEndpoint({
  name: 'console.operator.proposals.list',
  route: `GET ${base}/proposals`,
  summary: 'What waits for a second person, then what became of the others',
  permit: 'operator.read',
  params: T.Object(inWorld),
  reply: { status: 200, schema: T.Object({ data: T.Array(ProposalObject) }) },
})

export const getProposalForOperator = consoleEndpoint({
  name: 'console.operator.proposals.get',
  route: `GET ${base}/proposals/{proposal_id}`,
  summary: 'One proposal: what it will do, who proposed it, and its lines in the log',
  permit: 'operator.read',
  params,
  reply: {
    status: 200,
    schema: T.Object({
      proposal: ProposalObject,
      /** The operators who may decide on the proposal. */
      others: T.Array(T.Object({ email: T.String(), name: T.String(), role: T.String() })),
      lines: T.Array(
        T.Intersect([LineRef, T.Object({ at: Timestamp, action: T.String(), by: Maybe(T.String()) })]),
      ),
    }),
  },
  errors: ['object_not_found'],
})

const decision = (verb: 'approve' | 'reject' | 'withdraw', summary: string) =>
  ({
    name: `console.operator.proposals.${verb}`,
    route: `POST ${base}/proposals/{proposal_id}/${verb}`,
    summary,
    permit: 'operator.decide',
    params,
    reply: { status: 200, schema: ActedObject },
    errors: ['object_not_found', 'second_person_needed', 'already_final', 'not_possible'],
  }) as const

export const approveProposal = consoleEndpoint({
  ...decision('approve', 'Approve what another operator proposed: it happens now'),
  name: 'console.operator.proposals.approve',
  route: `POST ${base}/proposals/{proposal_id}/approve`,
})

export const rejectProposal = consoleEndpoint({
  ...decision('reject', 'Refuse what another operator proposed'),
  name: 'console.operator.proposals.reject',
  route: `POST ${base}/proposals/{proposal_id}/reject`,
  body: Fields({ reason: Text(200, 'Why') }),
})

export const withdrawProposal = consoleEndpoint({
  ...decision('withdraw', 'Take back what one proposed'),
  name: 'console.operator.proposals.withdraw',
  route: `POST ${base}/proposals/{proposal_id}/withdraw`,
  body: Fields({ reason: T.Optional(Text(200, 'Why')) }),
})

export const proposalsEndpoints: readonly ConsoleEndpoint[] = [
  listProposalsForOperator,
  getProposalForOperator,
  approveProposal,
  rejectProposal,
  withdrawProposal,
]
