import { readFile } from 'node:fs/promises'
import type { Logger } from 'pino'
import { parsePrice } from '../../core/price.ts'
import { ETHER, type FedPrice, type FedPrices, fedPairs, type MarketFeed, type PriceFeed } from './feed.ts'

/**
 * Prices from a file that the operator's own price feed replaces (by renaming a new one over it):
 * {"USDT/BRL": {"price": "5.4012", "at": "2026-11-15T12:00:00.000Z", "source": "…"}, "BTC/USDT": {…}}.
 * A price that is missing or unreadable is unknown: there are no quotes from it. "ETH/USDT" is for the fee on ethereum only.
 */
export function filePrices(options: { path: string; log: Pick<Logger, 'warn'> }): MarketFeed {
  const { path, log } = options
  let kept: { prices: PricesInFile; read_at: number } | undefined
  let reading: Promise<PricesInFile> | undefined

  async function read(): Promise<PricesInFile> {
    try {
      const prices = pricesOf(JSON.parse(await readFile(path, 'utf8')))
      kept = { prices, read_at: performance.now() }
      return prices
    } catch (error) {
      log.warn({ err: error }, `prices: PRICES_FILE ${path} cannot be read; quotes are refused until it can`)
      return {}
    } finally {
      reading = undefined
    }
  }

  async function all(): Promise<PricesInFile> {
    if (kept && performance.now() - kept.read_at < READ_AGAIN_MS) return kept.prices
    reading ??= read()
    return reading
  }

  return {
    environment: 'production',
    async latest() {
      const { [ETHER]: _, ...prices } = await all()
      return prices
    },
    ether: async () => (await all())[ETHER],
  }
}

type PricesInFile = FedPrices & { readonly [ETHER]?: FedPrice }

const READ_AGAIN_MS = 250

function pricesOf(content: unknown): PricesInFile {
  const prices: Partial<Record<string, FedPrice>> = {}
  for (const pair of [...fedPairs, ETHER]) {
    const { price, at, source } = ((content as Record<string, unknown>)?.[pair] ?? {}) as Record<
      string,
      unknown
    >
    const units = typeof price === 'string' ? parsePrice(price) : undefined
    const seen = new Date(typeof at === 'string' ? at : Number.NaN)
    if (units !== undefined && !Number.isNaN(seen.getTime()) && typeof source === 'string')
      prices[pair] = { price: units, at: seen, source }
  }
  return prices
}

/** Production without a price file and without exchanges: there are no quotes. */
export const noPrices: PriceFeed<'production'> = {
  environment: 'production',
  latest: async () => ({}),
}
