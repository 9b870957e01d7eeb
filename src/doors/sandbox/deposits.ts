import type { AnyoneOfPartner } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { isId } from '../../core/ids.ts'
import type { Money } from '../../core/money.ts'
import { deposit } from '../../money/deposits/deposits.ts'
import type { Deposit } from '../../money/deposits/store.ts'
import { onBehalfOf } from '../../parties/keys/keys.ts'
import type { World } from '../../world.ts'

type TestMoney = { readonly customer_id: string; readonly money: Money }

/** Credits test money without a limit; each call credits again. */
export async function depositTestMoney(
  world: World,
  actor: AnyoneOfPartner,
  { customer_id, money }: TestMoney,
): Promise<Deposit> {
  if (!isId('customer', customer_id)) refuse('customer_not_found', { param: 'customer_id' })
  const order = { partner_id: actor.partner_id, customer_id, money, rail: 'sandbox' } as const
  return world.commit(onBehalfOf(actor, deposit(world, order)))
}
