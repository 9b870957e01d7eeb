import type { Logger } from 'pino'
import type { Network } from '../../core/networks.ts'
import type { Db } from '../../db/pool.ts'
import { isOutage } from '../../rails/chain/check.ts'
import type { PaymentSource } from '../../rails/chain/rail.ts'
import type { World } from '../../world.ts'
import { addressesAfter } from './addresses-store.ts'
import { scanOf } from './scans-store.ts'
import { storeTokenScan, storeUnknownTokens, type TokenScan, tokenScanFrom } from './unknown-tokens-store.ts'

/**
 * Notes transfers of other tokens than USDT to deposit addresses, for operators (decision 0060). Blocks are read after the finder of
 * deposits has read them for good, with a position of their own: this reading may lag, fail and leave out blocks, and no deposit depends on it.
 */
export type TokenReader = {
  readonly network: Network
  /** One run, with a bounded number of questions. `db` is one connection in no transaction. One node at a time calls it. */
  read(db: Db, shouldContinue?: () => boolean): Promise<void>
}

export const READ_TOKENS_EVERY_MS = 5 * 60_000

export const tokenReaders = (world: World, log: Logger): TokenReader[] =>
  Object.values(world.chains).flatMap(({ network, payments }) =>
    payments?.otherTokens ? [openTokenReader({ network, otherTokens: payments.otherTokens, log })] : [],
  )

type ReaderOptions = {
  readonly network: Network
  readonly otherTokens: NonNullable<PaymentSource['otherTokens']>
  readonly log: Pick<Logger, 'warn'>
}

type Addresses = Awaited<ReturnType<typeof addressesAfter>>

const ADDRESSES_AT_ONCE = 100
const ASKED_MOST = 50
const SPAN = { first: 500n, most: 2000n }
const TOLD_EVERY_MS = 3_600_000

export function openTokenReader({ network, otherTokens, log }: ReaderOptions): TokenReader {
  /** How many blocks are asked for at once: halved when the endpoints refuse, doubled when they do not. */
  let span = SPAN.first
  let told_at = -Infinity

  /** Logs a problem, at most once an hour. */
  function warn(problem: string): void {
    if (performance.now() - told_at < TOLD_EVERY_MS) return
    told_at = performance.now()
    log.warn({ network }, `unknown tokens: ${problem}; deposits are not affected`)
  }

  function nextRange({ upto }: TokenScan, final: bigint): TokenScan {
    const last = upto + span
    return { height: upto, upto: last < final ? last : final, after_index: -1 }
  }

  /** Reads the range for some addresses. `skipped`: the endpoints refuse even this one block. */
  async function readSome(db: Db, at: TokenScan, some: Addresses): Promise<TokenScan | 'skipped'> {
    const { height, upto, after_index } = at
    const addresses = some.map(({ address }) => address)
    const found = await otherTokens({ addresses, from: height + 1n, to: upto })
    if (found !== 'refused') {
      await storeUnknownTokens(db, network, found)
      return { height, upto, after_index: some.at(-1)!.address_index }
    }
    if (upto === height + 1n) {
      warn(`the endpoints of ${network} refuse block ${upto}, which is left out`)
      return 'skipped'
    }
    // The addresses that were read already saw the longer range. They are read again for its end, which does no harm.
    span = (upto - height) / 2n
    return { height, upto: height + span, after_index }
  }

  async function readOn(db: Db, final: bigint, shouldContinue: () => boolean): Promise<void> {
    let at = await tokenScanFrom(db, network, final)
    for (let asked = 0; asked < ASKED_MOST && shouldContinue(); ) {
      if (at.height === at.upto) at = nextRange(at, final)
      const { height, upto, after_index } = at
      if (height >= upto) return
      const some = await addressesAfter(db, network, { after_index, most: ADDRESSES_AT_ONCE })
      if (some.length === 0) {
        span = span * 2n < SPAN.most ? span * 2n : SPAN.most
        at = { height: upto, upto, after_index: -1 }
      } else {
        asked++
        const next = await readSome(db, at, some)
        at = next === 'skipped' ? { ...at, after_index: some.at(-1)!.address_index } : next
        // The run ends after one skipped block, so that endpoints that refuse everything are not asked fifty times.
        if (next === 'skipped') asked = ASKED_MOST
      }
      await storeTokenScan(db, network, at)
    }
  }

  return {
    network,
    async read(db, shouldContinue = () => true) {
      const scan = await scanOf(db, network)
      if (!scan) return
      try {
        await readOn(db, scan.final_height, shouldContinue)
      } catch (error) {
        if (!isOutage(error)) throw error
        warn(`${(error as Error).message}; read again in ${READ_TOKENS_EVERY_MS / 60_000} minutes`)
      }
    },
  }
}
