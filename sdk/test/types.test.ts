import { expect, expectTypeOf, test } from 'vitest'
import {
  ApiError,
  type Call,
  type Customer,
  type ErrorCode,
  type Event,
  type InsufficientBalanceDetails,
  type Listing,
  type OtherEvent,
  type PixPayout,
  type PixPayoutDryRun,
  type Trade,
  type Trilho,
  units,
} from '../dist/index.js'

/** Held by the compiler, as part of `npm run check`: nothing here is run. */
async function payouts(trilho: Trilho): Promise<void> {
  const counterparty = { type: 'pix_key', pix_key: '52998224725' } as const
  const order = { customer_id: 'cus_1', counterparty, idempotency_key: 'invoice-1' }
  trilho.pix.payouts.create({ ...order, amount: units('10.50', 'BRL') })
  trilho.pix.payouts.create({ ...order, amount: '1050', description: undefined })
  // @ts-expect-error a number would lose digits
  trilho.pix.payouts.create({ ...order, amount: 1050 })
  // @ts-expect-error the key is the caller's own
  trilho.pix.payouts.create({ customer_id: 'cus_1', amount: 1050n, counterparty })
  // @ts-expect-error a field that there is not
  trilho.pix.payouts.create({ ...order, amount: 1050n, ammount: 1n })
  // @ts-expect-error enumerations are closed in what is sent
  trilho.pix.payouts.list({ status: 'done' })
  // @ts-expect-error a type that there is not
  trilho.webhookEndpoints.create({ url: 'https://a.b', events: ['pix.payout.complete'] })
  // @ts-expect-error an id is needed
  trilho.customers.get()
  // @ts-expect-error something to change is needed
  trilho.customers.update('cus_1')
  trilho.customers.get('cus_1', { timeout: 1000, signal: new AbortController().signal })
  expectTypeOf(trilho.pix.payouts.create).returns.toEqualTypeOf<Call<PixPayout>>()
  expectTypeOf(trilho.customers.list()).toEqualTypeOf<Listing<Customer>>()
  const payout = await trilho.pix.payouts.get('po_1')
  // Open in what is received: a status of a later version is a text.
  expectTypeOf<'completed'>().toExtend<typeof payout.status>()
  expectTypeOf<string>().toExtend<typeof payout.status>()
  expectTypeOf(await trilho.webhookEndpoints.delete('whe_1')).toEqualTypeOf<void>()
}

/** As a client that is generated from openapi.json gets them: the responses 200 and 201 of one operation. */
function eitherResponse(answer: PixPayout | PixPayoutDryRun): string {
  if (!('dry_run' in answer)) return answer.id
  expectTypeOf(answer).toEqualTypeOf<PixPayoutDryRun>()
  // @ts-expect-error nothing was made
  answer.id
  return answer.balance_after
}

function events(event: Event): string | null {
  if (event.type === 'pix.payout.completed') {
    expectTypeOf(event.data.object).toEqualTypeOf<PixPayout>()
    return event.data.object.end_to_end_id
  }
  switch (event.type) {
    case 'trade.completed':
    case 'trade.failed':
      expectTypeOf(event.data.object).toEqualTypeOf<Trade>()
      return null
    // @ts-expect-error a type that there is not
    case 'trade.complete':
      return null
    default: {
      expectTypeOf<OtherEvent>().toExtend<typeof event>()
      const type: string = event.type
      return type
    }
  }
}

async function streams(trilho: Trilho): Promise<void> {
  for await (const event of trilho.events.stream()) expectTypeOf(event).toEqualTypeOf<Event>()
  for await (const event of trilho.events.stream({ types: ['trade.failed'] }))
    expectTypeOf(event.data.object).toEqualTypeOf<Trade>()
}

function errors(error: unknown): void {
  if (!(error instanceof ApiError)) return
  expectTypeOf<ErrorCode>().toExtend<typeof error.code>()
  expectTypeOf<string>().toExtend<typeof error.code>()
  // @ts-expect-error what is in it depends on the code
  error.details.available
  // @ts-expect-error a code that there is not
  error.is('insufficient_balances')
  if (error.is('insufficient_balance')) {
    expectTypeOf(error.details).toEqualTypeOf<InsufficientBalanceDetails>()
    expectTypeOf(error.code).toEqualTypeOf<'insufficient_balance'>()
    return
  }
  if (error.is('quote_expired', 'already_final'))
    expectTypeOf(error.code).toEqualTypeOf<'quote_expired' | 'already_final'>()
  else expectTypeOf(error.message).toEqualTypeOf<string>()
}

test('types are held by the compiler', () => {
  expect([payouts, eitherResponse, events, streams, errors]).toHaveLength(5)
})
