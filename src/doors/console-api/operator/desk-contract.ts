import { Type as T } from 'typebox'
import { AssetName, Fields, Id, Text, Timestamp } from '../../../http/schema.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { ActedObject, inWorld, Maybe, Sum } from './shared-schemas.ts'

const base = '/console/api/operator/{environment}' as const

/** The open proposal about a payout or transfer. */
const Waiting = T.Object({
  id: T.String(),
  outcome: T.Enum(['completed', 'confirmed', 'failed', 'canceled']),
  evidence: T.String({ description: 'How the outcome is known, or why the transfer is canceled' }),
  end_to_end_id: Maybe(T.String()),
  despite_acceptance: T.Boolean({ description: 'Given back although the network had accepted it' }),
  proposed_by: T.String(),
  proposed_at: Timestamp,
  mine: T.Boolean({ description: 'Proposed by whoever asks, who therefore cannot approve it' }),
})

const OpenItem = T.Object({
  id: T.String(),
  kind: T.Enum(['payout', 'transfer']),
  rail: T.String({ description: 'pix, or the network' }),
  partner: T.Object({ id: Id('partner'), name: T.String() }),
  customer: T.Object({ id: Id('customer'), name: T.String() }),
  to: T.String({ description: 'To whom, with a masked document, or the address' }),
  asset: AssetName,
  in_transit: Sum,
  status: T.String(),
  created_at: Timestamp,
  /** Number of status queries to the rail. */
  asked: T.Integer(),
  next_at: Timestamp,
  last_word: Maybe(T.String()),
  accepted_at: Maybe(Timestamp),
  proposal: Maybe(Waiting),
})

const ResolvedItem = T.Object({
  id: T.String(),
  kind: T.Enum(['payout', 'transfer']),
  outcome: T.String(),
  evidence: T.String(),
  proposal_id: Maybe(T.String()),
  resolved_by: T.String(),
  resolved_at: Timestamp,
})

const Step = T.Object({
  kind: T.Enum(['sent', 'asked', 'unknown', 'answered']),
  by: T.Enum(['service', 'rail']),
  said: Maybe(T.String({ description: 'What the rail said, masked' })),
  at: Timestamp,
  last_at: Timestamp,
  times: T.Integer(),
})

/** A transaction that was signed for a transfer. Only operators see cancels, and payments that others replaced. */
const Transaction = T.Object({
  attempt: T.Integer(),
  purpose: T.Enum(['pay', 'cancel']),
  tx_hash: T.String(),
  terms: T.Record(T.String(), T.String(), { description: 'Fees and limits that it offers the network' }),
  signed_at: Timestamp,
  block_height: Maybe(T.String({ description: 'The block in which it is final' })),
  gas_paid_wei: Maybe(
    T.String({
      description: 'What the network charged, in wei of the coin that pays for gas; null if no node told it',
    }),
  ),
})

const ExceptionObject = T.Object({
  id: T.String(),
  kind: T.Enum([
    'contradiction',
    'late_success',
    'accepted_then_absent',
    'invalid_answer',
    'superseded',
    'stuck',
    'audit',
    'rail_paused',
    'foreign_transactions',
    'reconciliation',
    'holdings_old',
    'deposit_unclear',
    'payout_returned',
    'return_uncovered',
    'unknown_payment',
  ]),
  rail: T.String(),
  object_id: T.String(),
  partner_id: Maybe(T.String()),
  details: T.Record(T.String(), T.String()),
  opened_at: Timestamp,
  closed_at: Maybe(Timestamp),
  closed_by: Maybe(T.String()),
  closed_reason: Maybe(T.String()),
})

export const listDesk = consoleEndpoint({
  name: 'console.operator.desk.list',
  route: `GET ${base}/desk`,
  summary: 'Payouts and transfers whose outcome the rail has not told, and what was resolved by hand',
  permit: 'operator.read',
  params: T.Object(inWorld),
  reply: {
    status: 200,
    schema: T.Object({
      open: T.Array(OpenItem),
      resolved: T.Array(ResolvedItem),
      under_way: T.Array(T.Object({ rail: T.String(), count: T.Integer() }), {
        description: 'All open payouts and transfers per rail, also those that are not late',
      }),
    }),
  },
})

export const getDeskItem = consoleEndpoint({
  name: 'console.operator.desk.get',
  route: `GET ${base}/desk/{id}`,
  summary: 'One of them with its evidence',
  permit: 'operator.read',
  params: T.Object({ ...inWorld, id: T.String({ minLength: 1, maxLength: 64 }) }),
  reply: {
    status: 200,
    schema: T.Object({
      item: OpenItem,
      send_id: Maybe(T.String()),
      end_to_end_id: Maybe(T.String()),
      tx_hash: Maybe(T.String()),
      transactions: T.Array(Transaction, { description: 'Of a transfer, oldest first' }),
      cancel_requested_at: Maybe(Timestamp),
      cancelable: T.Boolean({ description: 'A transfer that is neither final nor being canceled' }),
      steps: T.Array(Step),
      exceptions: T.Array(ExceptionObject),
    }),
  },
  errors: ['payout_not_found', 'transfer_not_found'],
})

export const resolveByHand = consoleEndpoint({
  name: 'console.operator.desk.resolve',
  route: `POST ${base}/desk/{id}/resolution`,
  summary: 'Say what became of it, and how that is known',
  permit: 'operator.decide',
  params: T.Object({ ...inWorld, id: T.String({ minLength: 1, maxLength: 64 }) }),
  body: Fields({
    paid: T.Boolean({ description: 'It was paid, or it was never paid and never can be' }),
    end_to_end_id: T.Optional(
      T.String({
        pattern: '^E[0-9A-Z]{8}[0-9]{12}[A-Za-z0-9]{11}$',
        'x-must-be': 'E, eight letters or digits, twelve digits, eleven letters or digits',
        description: 'Its id in the Pix network; of a payout that was paid',
        examples: ['E18236120202611151226p0Xk2mQv71Z'],
      }),
    ),
    evidence: Text(1000, 'How it is known'),
    rehearsed: T.Optional(
      T.Boolean({ description: 'In the sandbox: propose it to another operator, as in production' }),
    ),
    despite_acceptance: T.Optional(
      T.Boolean({
        description:
          'Of a payout that was never paid: the network had accepted it, and the money goes back all the same',
      }),
    ),
  }),
  reply: { status: 200, schema: ActedObject },
  errors: [
    'payout_not_found',
    'transfer_not_found',
    'already_final',
    'not_possible',
    'second_person_needed',
    'rail_unavailable',
  ],
})

export const cancelByOperator = consoleEndpoint({
  name: 'console.operator.desk.cancel',
  route: `POST ${base}/desk/{id}/cancel`,
  summary:
    'Cancel a transfer that is not mined; the chain decides whether the cancel or the payment is mined',
  permit: 'operator.decide',
  params: T.Object({ ...inWorld, id: Id('transfer') }),
  body: Fields({
    reason: Text(500, 'Why it is canceled'),
    rehearsed: T.Optional(
      T.Boolean({ description: 'In the sandbox: propose it to another operator, as in production' }),
    ),
  }),
  reply: { status: 200, schema: ActedObject },
  errors: ['transfer_not_found', 'already_final', 'not_possible', 'second_person_needed'],
})

export const listExceptionsForOperator = consoleEndpoint({
  name: 'console.operator.exceptions.list',
  route: `GET ${base}/exceptions`,
  summary: 'What may be wrong with money and waits for somebody to look',
  permit: 'operator.read',
  params: T.Object(inWorld),
  query: Fields({ closed: T.Optional(T.Enum(['true'])) }),
  reply: { status: 200, schema: T.Object({ data: T.Array(ExceptionObject) }) },
})

export const closeExceptionByOperator = consoleEndpoint({
  name: 'console.operator.exceptions.close',
  route: `POST ${base}/exceptions/{exception_id}/close`,
  summary: 'Close an exception; who did it and why stay with it',
  permit: 'operator.decide',
  params: T.Object({ ...inWorld, exception_id: Id('exception') }),
  body: Fields({ reason: Text(1000, 'What was found and done') }),
  reply: { status: 200, schema: ActedObject },
  errors: ['object_not_found', 'already_final'],
})

export const deskEndpoints: readonly ConsoleEndpoint[] = [
  listDesk,
  getDeskItem,
  resolveByHand,
  cancelByOperator,
  listExceptionsForOperator,
  closeExceptionByOperator,
]
