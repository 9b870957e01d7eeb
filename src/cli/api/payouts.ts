import { decimal, randomKey } from '#sdk'
import { type Input, type Output, requiredOption } from '../command.ts'
import { amountOption } from './amount.ts'
import { assertCheckDigits, assertIdOf } from './checks.ts'
import { openApiClient } from './client.ts'
import { metadataOf } from './metadata.ts'
import { assertMeant, idempotencyKey } from './order.ts'
import { fieldsOf, shown } from './show.ts'

const orderOf = (input: Input) => ({
  customer_id: assertIdOf('customer', requiredOption(input, 'customer')),
  amount: amountOption(input, 'BRL'),
  counterparty: { type: 'pix_key', pix_key: assertCheckDigits('to', requiredOption(input, 'to')) } as const,
  ...fieldsOf(input, ['description']),
  ...metadataOf(input),
})

export async function payoutsCreate(input: Input): Promise<Output> {
  const order = orderOf(input)
  const client = await openApiClient(input)
  const what = `Pay ${decimal(order.amount, 'BRL')} BRL to ${order.counterparty.pix_key}`
  await assertMeant(input, client, what)
  const idempotency_key = idempotencyKey(input)
  return shown(await client.trilho.pix.payouts.create({ ...order, idempotency_key }))
}

/** A dry run does not claim its idempotency key, so a random one will do. */
export async function payoutsCheck(input: Input): Promise<Output> {
  const order = orderOf(input)
  const { trilho } = await openApiClient(input)
  return shown(await trilho.pix.payouts.dryRun({ ...order, idempotency_key: randomKey() }))
}
