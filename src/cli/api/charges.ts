import { type Input, integerOption, type Output, requiredOption } from '../command.ts'
import { amountOption } from './amount.ts'
import { assertIdOf } from './checks.ts'
import { openApiClient } from './client.ts'
import { metadataOf } from './metadata.ts'
import { idempotencyKey } from './order.ts'
import { fieldsOf, shown } from './show.ts'

/** The API validates the time; its error names the bounds. */
export async function chargesCreate(input: Input): Promise<Output> {
  const expires_in_seconds = integerOption(input, 'expires-in', 1, Number.MAX_SAFE_INTEGER)
  const order = {
    customer_id: assertIdOf('customer', requiredOption(input, 'customer')),
    amount: amountOption(input, 'BRL'),
    ...fieldsOf(input, ['description']),
    ...(expires_in_seconds === undefined ? {} : { expires_in_seconds }),
    ...metadataOf(input),
  }
  const { trilho } = await openApiClient(input)
  return shown(await trilho.pix.charges.create({ ...order, idempotency_key: idempotencyKey(input) }))
}
