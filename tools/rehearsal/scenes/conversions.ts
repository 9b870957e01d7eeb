import { checkBalances, checkOutside } from '../checks.ts'
import { convert } from '../orders.ts'
import { type Stage, shown } from '../stage.ts'

const KINDS = [
  { from_asset: 'BRL', to_asset: 'USDT', amount: 500_00n * 2n },
  { from_asset: 'BRL', to_asset: 'BTC', amount: 300_00n },
  { from_asset: 'USDT', to_asset: 'BRL', amount: 40_000_000n },
  { from_asset: 'BTC', to_asset: 'BRL', amount: 300_000n },
] as const

/** What the exchanges of the stub say, in BRL. */
const PRICES = { USDT: 5.4, BTC: 540_000 }
/** How far a quote may be from them: the order book of the stub is 0.02 % wide, and the price of BTC is the product of two. */
const DISTANCE_MOST = 0.001

export async function convertMoney(stage: Stage): Promise<void> {
  const { customers, size, exchanges, book, tell, checked } = stage
  exchanges.become('kraken', { factor_bps: 10_500 })
  exchanges.become('bitso', 'failing')
  tell('one exchange tells prices that are 5 % too high, another one answers with errors')
  for (let round = 0; round < size.rounds; round++)
    for (const [index, customer] of customers.entries()) {
      const trade = await convert(stage, customer, KINDS[(index + round) % KINDS.length]!)
      const coin = trade.from_asset === 'BRL' ? trade.to_asset : trade.from_asset
      const distance = Math.abs(Number(trade.market_price) / PRICES[coin as keyof typeof PRICES] - 1)
      if (distance > DISTANCE_MOST) throw new Error(`trade ${trade.id} has the price ${trade.market_price}`)
    }
  exchanges.become('kraken', undefined)
  exchanges.become('bitso', undefined)
  tell(`${stage.counts.conversions} quotes are executed, each twice: the second time returns the same trade`)
  await checkBalances(stage)
  await checkOutside(stage)
  const { partner, service } = book.tradeFees('BRL')
  checked(
    `the price of every trade is within 0.1 % of the honest exchanges; nothing moved outside; fees on BRL: partner ${shown('BRL', partner)}, service ${shown('BRL', service)}`,
  )
}
