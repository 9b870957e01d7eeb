import { Type as T } from 'typebox'
import { AssetName, Fields, Id, Timestamp } from '../../../http/schema.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { RailState } from './rails-contract.ts'
import { ActedObject, AmountOf, HoldingObject, inWorld, Maybe, Sum } from './shared-schemas.ts'

/** Endpoints about the service itself, not about one partner: the overview for operators, the treasury, and the rails. */
const base = '/console/api/operator/{environment}' as const

const PriceState = T.Object({
  pair: T.String(),
  price: T.String({ description: 'As a decimal number' }),
  at: Timestamp,
  source: T.String(),
  fresh: T.Boolean({ description: 'Recent enough for a quote' }),
})

const MarketState = T.Object({
  pair: T.String(),
  state: T.String({ description: '`good`, or the guard that refuses a price: `too_few` or `jump`' }),
  sources: T.Array(
    T.Object({
      source: T.String(),
      state: T.String({ description: '`good`, the guard that refuses the source, or why its answer failed' }),
      price: Maybe(T.String({ description: 'The middle of bid and ask, as a decimal number' })),
      age_seconds: Maybe(T.Number()),
      problem: Maybe(T.String()),
    }),
  ),
})

export const getOperatorOverview = consoleEndpoint({
  name: 'console.operator.overview.get',
  route: `GET ${base}/overview`,
  summary: 'Counts of what waits for an operator, and the state of audit and rails',
  permit: 'operator.read',
  params: T.Object(inWorld),
  reply: {
    status: 200,
    schema: T.Object({
      desk: T.Object({
        open: T.Integer(),
        waiting: T.Integer({ description: 'How many of the open items have an open proposal' }),
        oldest_at: Maybe(Timestamp),
      }),
      proposals: T.Object({
        open: T.Integer(),
        for_me: T.Integer({ description: 'How many of the open proposals another operator made' }),
      }),
      exceptions: T.Array(
        T.Object({ rail: T.String(), kind: T.String(), count: T.Integer(), oldest_seconds: T.Number() }),
      ),
      audit: T.Object({
        last_finished_at: Maybe(Timestamp),
        age_seconds: Maybe(T.Number()),
        findings: T.Integer(),
        stage: Maybe(T.String()),
      }),
      money: T.Object({
        proved_at: Maybe(Timestamp),
        found: T.Integer({ description: 'Errors that the latest proof found' }),
        holdings: T.Array(HoldingObject, { description: 'By the sums of the latest proof; none before it' }),
        in_transit: T.Array(
          T.Object({ rail: T.String(), asset: AssetName, count: T.Integer(), amount: Sum }),
          { description: 'Open payouts and transfers, now' },
        ),
        /** The payout or transfer that is open for the longest time. */
        oldest: Maybe(
          T.Object({
            id: T.String(),
            rail: T.String(),
            partner: T.Object({ id: Id('partner'), name: T.String() }),
            created_at: Timestamp,
          }),
        ),
        paid_out: T.Array(
          T.Object({
            day: T.String({ description: 'As in Brazil' }),
            rail: T.String(),
            asset: AssetName,
            amount: Sum,
            completed: T.Integer(),
            failed: T.Integer(),
          }),
          { description: 'Payouts and transfers that ended in the last fourteen days, of all partners' },
        ),
      }),
      rails: T.Array(RailState),
      operators: T.Object({ all: T.Integer(), deciding: T.Integer() }),
      partners: T.Integer(),
    }),
  },
})

export const getTreasury = consoleEndpoint({
  name: 'console.operator.treasury.get',
  route: `GET ${base}/treasury`,
  summary: 'The positions of the treasury and their value, and the fees owed to partners',
  permit: 'operator.read',
  params: T.Object(inWorld),
  reply: {
    status: 200,
    schema: T.Object({
      limited: T.Boolean({ description: 'Whether the limits of the treasury apply in this environment' }),
      positions: T.Array(
        T.Object({
          asset: AssetName,
          position: Sum,
          lowest: Maybe(Sum),
          highest: Maybe(Sum),
          average_cost: Maybe(T.String()),
          price: Maybe(T.String()),
          cost: Sum,
          worth: Maybe(Sum),
          unrealised: Maybe(Sum),
          realised: Sum,
        }),
      ),
      fees: T.Array(
        T.Object({ partner: T.Object({ id: Id('partner'), name: T.String() }), owed: T.Array(AmountOf) }),
      ),
      charges: T.Array(
        T.Object({
          network: T.String(),
          asset: AssetName,
          transfers: T.Integer(),
          fees: Sum,
          charged: Sum,
        }),
        {
          description:
            'Sums over the newest transfers: fees that customers paid, and fees that the network charged',
        },
      ),
      payouts: T.Array(
        T.Object({
          id: T.String(),
          partner_id: T.String(),
          asset: AssetName,
          amount: Sum,
          customer_id: Maybe(T.String()),
          reason: T.String(),
          reference: T.String(),
          created_at: Timestamp,
        }),
      ),
    }),
  },
})

const Bound = Maybe(
  T.String({ pattern: '^-?[0-9]{1,18}$', 'x-must-be': 'a whole number, or null', examples: ['500'] }),
)

export const limitTreasury = consoleEndpoint({
  name: 'console.operator.treasury.limit',
  route: `PATCH ${base}/treasury/{asset}`,
  summary:
    'Set the lowest and highest position of the treasury in an asset; a trade beyond a limit fails and moves nothing',
  permit: 'operator.rule',
  params: T.Object({ ...inWorld, asset: AssetName }),
  body: Fields({ lowest: T.Optional(Bound), highest: T.Optional(Bound) }, { minProperties: 1 }),
  reply: { status: 200, schema: ActedObject },
})

export const getRails = consoleEndpoint({
  name: 'console.operator.rails.get',
  route: `GET ${base}/rails`,
  summary: 'The state of the rails, the prices, the queues, the audit, the mail and this node',
  permit: 'operator.read',
  params: T.Object(inWorld),
  reply: {
    status: 200,
    schema: T.Object({
      rails: T.Array(RailState),
      prices: T.Array(PriceState),
      markets: T.Array(MarketState, {
        description: 'What each exchange said to this node; none unless prices come from exchanges',
      }),
      price_max_age_ms: T.Integer(),
      queues: T.Object({
        events_fresh: T.Integer(),
        events_oldest_seconds: T.Number(),
        webhooks_pending: T.Integer(),
        webhooks_oldest_due_seconds: T.Number(),
        trades_oldest_unfolded_seconds: T.Number(),
      }),
      audit: T.Object({
        last_finished_at: Maybe(Timestamp),
        age_seconds: Maybe(T.Number()),
        findings: T.Integer(),
        stage: Maybe(T.String()),
      }),
      mail: T.Object({
        configured: T.Boolean({ description: 'A node with SMTP_URL is at work' }),
        sent_at: Maybe(Timestamp),
        failed_at: Maybe(Timestamp),
        error: Maybe(T.String({ description: 'Why the last failure happened' })),
        waiting: T.Integer(),
        oldest_waiting_seconds: T.Number(),
        given_up: T.Integer({ description: 'In the last seven days' }),
      }),
      node: T.Object({
        role: T.String(),
        version: T.String(),
        up_seconds: T.Integer(),
        connections: T.Integer(),
        waiting: T.Integer({ description: 'Callers that wait for a connection' }),
      }),
    }),
  },
})

export const houseEndpoints: readonly ConsoleEndpoint[] = [
  getOperatorOverview,
  getTreasury,
  limitTreasury,
  getRails,
]
