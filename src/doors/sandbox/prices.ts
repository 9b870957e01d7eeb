import type { AnyoneOfPartner } from '../../core/actor.ts'
import { worldOf } from '../../parties/keys/keys.ts'
import { type FedPair, type FedPrice, type FedPrices, fedPairs } from '../../rails/prices/feed.ts'
import type { SetPrices, World } from '../../world.ts'
import { type SetPrice, savePrice, setPriceId, setPriceRows, setPricesOf } from './store.ts'

export const setPrices: SetPrices<'sandbox'> = {
  environment: 'sandbox',
  reads: (partner_id) => fedPairs.map((pair) => ({ source: setPriceRows, id: setPriceId(partner_id, pair) })),
  held: (held, partner_id) =>
    pricesOf((pair) => held.row(setPriceRows, setPriceId(partner_id, pair)), held.now),
  async current(db, partner_id, now) {
    const rows = await setPricesOf(db, partner_id)
    return pricesOf((pair) => rows.get(setPriceId(partner_id, pair)), now)
  },
}

function pricesOf(find: (pair: FedPair) => SetPrice | undefined, now: Date): FedPrices {
  const prices: Partial<Record<FedPair, FedPrice>> = {}
  for (const pair of fedPairs) {
    const set = find(pair)
    if (set) prices[pair] = { price: set.price, at: set.observed_at ?? now, source: 'set' }
  }
  return prices
}

type PriceOrder = { readonly pair: FedPair; readonly price: bigint; readonly age_seconds: number }

/** A price without an age always counts as observed now. */
export async function setPrice(world: World, actor: AnyoneOfPartner, order: PriceOrder): Promise<void> {
  const { pair, price, age_seconds } = order
  const observed_at = age_seconds === 0 ? null : new Date(world.clock.now() - age_seconds * 1000)
  await savePrice(worldOf(actor, world).db, { id: setPriceId(actor.partner_id, pair), price, observed_at })
}
