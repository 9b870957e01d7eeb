import type { Clock } from '../../core/clock.ts'
import type { PriceFeed } from './feed.ts'

/** Contract §14. Prices are fixed, so that examples stay true; a partner may set its own (sandbox/prices.ts). */
export function simulatedPrices({ clock }: { clock: Clock }): PriceFeed<'sandbox'> {
  return {
    environment: 'sandbox',
    async latest() {
      const seen = { at: new Date(clock.now()), source: 'fixed' }
      return {
        'USDT/BRL': { price: 5_40000000n, ...seen },
        'BTC/USDT': { price: 100_000_00000000n, ...seen },
      }
    },
  }
}
