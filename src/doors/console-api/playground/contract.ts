import { Type as T } from 'typebox'
import { Fields, Id } from '../../../http/schema.ts'
import { createCharge } from '../../../money/charges/contract.ts'
import { createTransfer } from '../../../money/onchain/contract.ts'
import { createPayout } from '../../../money/pix/contract.ts'
import { createQuote } from '../../../money/quotes/contract.ts'
import { BalanceObject } from '../../../parties/customers/contract.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'

const params = T.Object({ environment: T.Enum(['production', 'sandbox']) })

const Payer = T.Object({
  id: Id('customer'),
  name: T.String(),
  document: T.String({ description: 'Masked' }),
  balances: T.Array(BalanceObject),
})

export const getPlayground = consoleEndpoint({
  name: 'console.playground.get',
  route: 'GET /console/api/{environment}/playground',
  summary: 'What the playground plays with: the newest customers, and the key that it acts under',
  permit: 'sandbox.act',
  sandbox_only: true,
  params,
  reply: {
    status: 200,
    schema: T.Object({
      url: T.String({ description: 'Where the API is' }),
      key: T.Union([T.Object({ id: Id('key'), name: T.String() }), T.Null()], {
        description: 'Null until it is used for the first time',
      }),
      customers: T.Array(Payer),
    }),
  },
})

/** The request and the response, as a program with a key would see them. */
const Exchange = T.Object(
  {
    request_id: Id('request'),
    status: T.Integer(),
    headers: T.Record(T.String(), T.String()),
    body: T.Unknown(),
    duration_ms: T.Integer(),
    object_id: T.Union([T.String(), T.Null()], { description: 'What it made or was about' }),
  },
  { $id: 'Exchange' },
)

const play = {
  permit: 'sandbox.act',
  sandbox_only: true,
  params,
  reply: { status: 200, schema: Exchange },
} as const

export const playPayout = consoleEndpoint({
  name: 'console.playground.payout',
  route: 'POST /console/api/{environment}/playground/payouts',
  summary: 'Send a payout as a program would',
  ...play,
  body: createPayout.body,
})

export const playCharge = consoleEndpoint({
  name: 'console.playground.charge',
  route: 'POST /console/api/{environment}/playground/charges',
  summary: 'Create a charge as a program would',
  ...play,
  body: createCharge.body,
})

export const playTransfer = consoleEndpoint({
  name: 'console.playground.transfer',
  route: 'POST /console/api/{environment}/playground/transfers',
  summary: 'Send a transfer as a program would',
  ...play,
  body: createTransfer.body,
})

export const playQuote = consoleEndpoint({
  name: 'console.playground.quote',
  route: 'POST /console/api/{environment}/playground/quotes',
  summary: 'Ask for a quote as a program would',
  ...play,
  body: createQuote.body,
})

export const playExecute = consoleEndpoint({
  name: 'console.playground.execute',
  route: 'POST /console/api/{environment}/playground/quotes/{quote_id}/execute',
  summary: 'Execute a quote as a program would',
  ...play,
  params: T.Object({ ...params.properties, quote_id: Id('quote') }),
  body: Fields({}),
})

export const playgroundEndpoints: readonly ConsoleEndpoint[] = [
  getPlayground,
  playPayout,
  playCharge,
  playTransfer,
  playQuote,
  playExecute,
]
