/** A program as others write it: type-checked against the packed types, with the oldest TypeScript that is supported. */
import { ApiError, ConnectionError, type Event, Trilho, units, verifyWebhook } from '@trilho/sdk'
import { verifyWebhook as verifyAlone } from '@trilho/sdk/webhooks'

const trilho = new Trilho({ key: () => 'svc_test_sk_…', timeout: 5000 })

export async function pay(customer_id: string, invoice: string): Promise<string | null> {
  try {
    const payout = await trilho.pix.payouts.create({
      customer_id,
      amount: units('10.50', 'BRL'),
      counterparty: { type: 'pix_key', pix_key: '529.982.247-25' },
      idempotency_key: `invoice-${invoice}`,
    })
    return payout.end_to_end_id
  } catch (error) {
    if (error instanceof ApiError && error.is('insufficient_balance')) return error.details.available
    if (error instanceof ConnectionError && error.outcome === 'none') return null
    throw error
  }
}

export function paid(event: Event): string | null {
  // @ts-expect-error which object it is depends on the type
  event.data.object.end_to_end_id
  return event.type === 'pix.payout.completed' ? event.data.object.end_to_end_id : null
}

export async function receive(request: Request, secret: string): Promise<(string | null)[]> {
  const body = await request.text()
  const events = [
    await verifyWebhook(body, request.headers, secret),
    await verifyAlone(body, request.headers, [secret]),
  ]
  return events.map(paid)
}

export async function follow(load: () => Promise<string | null>, save: (cursor: string) => Promise<void>) {
  for await (const event of trilho.events.stream({ load, save, types: ['trade.failed'] }))
    console.log(event.data.object.quote_id)
}
