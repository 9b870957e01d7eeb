import { Type as T } from 'typebox'
import { AssetName, Fields, Text, Timestamp } from '../../../http/schema.ts'
import { railNames } from '../../../money/custody/controls-store.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { ActedObject, inWorld, Maybe, Sum } from './shared-schemas.ts'

/** Endpoints that pause, resume and limit a rail, and the state of a rail that the overview and the page of rails show. */
const base = '/console/api/operator/{environment}/rails' as const

export const RailState = T.Object({
  rail: T.String({ description: 'pix, or the name of a network' }),
  asset: AssetName,
  simulated: T.Boolean(),
  configured: T.Boolean({
    description: 'A provider, or nodes of the network, are in the settings of this node',
  }),
  message: Maybe(T.String({ description: 'Why the rail accepts none; null when it does' })),
  paused: Maybe(
    T.Object({
      at: Timestamp,
      by: T.String({ description: 'The e-mail of an operator, shell, or service' }),
      reason: T.String(),
    }),
  ),
  limits: T.Object({
    order_most: Maybe(Sum),
    day_most: Maybe(Sum),
    floor: Maybe(Sum),
    gas_floor: Maybe(Sum),
    sweep_from: Maybe(Sum),
    sweep_fee_max: Maybe(Sum),
  }),
  pending: T.Integer(),
  processing: T.Integer(),
  open_amount: T.String({ ...Sum, description: 'What is open, with its fees' }),
  oldest_seconds: T.Number(),
  oldest_id: Maybe(T.String({ description: 'The payout or transfer that is open for the longest time' })),
  last_failure: Maybe(T.Object({ id: T.String(), at: Timestamp, code: T.String() })),
  exceptions: T.Integer(),
  custody: Maybe(
    T.Object(
      {
        gas_coin: T.String({
          description:
            'The coin that pays for gas; 18 decimals, TRX 6. Empty where the asset itself pays, as on bitcoin',
        }),
        held: Maybe(
          T.Object(
            {
              wallet: T.String(),
              amount: Sum,
              gas_amount: T.String({
                ...Sum,
                description: 'In smallest units of the coin: wei, sun; 0 without such a coin',
              }),
              block_height: T.String(),
              age_seconds: Maybe(T.Number({ description: 'Null if the clock was set back since' })),
            },
            { description: 'What the wallet holds; null until a worker has asked the chain' },
          ),
        ),
        reconciled: Maybe(
          T.Object(
            { difference: Sum, block_height: Maybe(T.String()), at: Timestamp },
            { description: 'The newest comparison of the books with the chain' },
          ),
        ),
        endpoints: T.Array(
          T.Object({
            endpoint: T.Integer({ description: 'Its number in the setting; the URL is a secret' }),
            healthy: T.Boolean(),
            head: Maybe(T.String({ description: 'Height of its newest block' })),
            latency_ms: Maybe(T.Number()),
            last_failure: Maybe(T.String()),
          }),
          { description: 'As this node sees them' },
        ),
        sweeps: Maybe(
          T.Object(
            {
              gas_account: T.String({ description: 'The account that pays for gas' }),
              gas_amount: T.String({ ...Sum, description: 'What it has, in wei' }),
              unswept: T.String({
                ...Sum,
                description: 'Credited at deposit addresses, and not swept for good',
              }),
              addresses: T.Integer({ description: 'At how many addresses' }),
              under_way: T.Integer(),
              under_way_amount: Sum,
              read_at: Timestamp,
            },
            { description: 'Deposits that are swept into the wallet; null where none are' },
          ),
        ),
        unknown_tokens: Maybe(
          T.Object(
            {
              count: T.Integer({ description: 'How many transfers are kept: the newest 2,000' }),
              newest: T.Array(
                T.Object({
                  contract: T.String(),
                  address: T.String({ description: 'The deposit address, in lower case' }),
                  amount: T.String({ description: 'In the smallest unit of the token' }),
                  tx_hash: T.String(),
                  log_index: T.Integer(),
                  seen_at: Timestamp,
                }),
              ),
            },
            {
              description:
                'Transfers of other tokens than the asset to deposit addresses. They are not credited; null where there are none',
            },
          ),
        ),
      },
      { description: 'Null for a rail without a wallet on a real chain' },
    ),
  ),
})

const params = T.Object({ ...inWorld, rail: T.Enum([...railNames]) })
const reason = Text(200, 'Why')

export const pauseRailByOperator = consoleEndpoint({
  name: 'console.operator.rails.pause',
  route: `POST ${base}/{rail}/pause`,
  summary: 'Pause a rail: no orders are accepted on it, and nothing new is sent; what is out goes on',
  permit: 'operator.pause',
  params,
  body: Fields({ reason }),
  reply: { status: 200, schema: ActedObject },
})

export const resumeRailByOperator = consoleEndpoint({
  name: 'console.operator.rails.resume',
  route: `POST ${base}/{rail}/resume`,
  summary: 'Propose to resume a paused rail; in the sandbox it is resumed at once',
  permit: 'operator.decide',
  params,
  body: Fields({
    reason,
    rehearsed: T.Optional(
      T.Boolean({ description: 'In the sandbox: propose it to another operator, as in production' }),
    ),
  }),
  reply: { status: 200, schema: ActedObject },
  errors: ['not_possible', 'second_person_needed'],
})

const Figure = (digits: number) =>
  T.Optional(
    Maybe(
      T.String({
        pattern: `^(0|[1-9][0-9]{0,${digits - 1}})$`,
        'x-must-be': 'a whole number, or null',
        examples: ['500'],
      }),
    ),
  )

export const limitRailByOperator = consoleEndpoint({
  name: 'console.operator.rails.limit',
  route: `PATCH ${base}/{rail}`,
  summary: 'Set how much may leave on a rail, for all partners together; null removes a limit',
  permit: 'operator.rule',
  params,
  body: Fields(
    {
      ...{ order_most: Figure(18), day_most: Figure(18), floor: Figure(18), gas_floor: Figure(30) },
      ...{ sweep_from: Figure(18), sweep_fee_max: Figure(30), reason },
    },
    { minProperties: 2 },
  ),
  reply: { status: 200, schema: ActedObject },
})

export const railsEndpoints: readonly ConsoleEndpoint[] = [
  pauseRailByOperator,
  resumeRailByOperator,
  limitRailByOperator,
]
