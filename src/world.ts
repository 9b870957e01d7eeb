import type { Clock } from './core/clock.ts'
import type { Environment } from './core/environment.ts'
import { type IdKind, newId } from './core/ids.ts'
import type { Db, Pool } from './db/pool.ts'
import type { Held, RowRef } from './ledger/command.ts'
import type { Door } from './ledger/commit.ts'
import {
  type ReportInvalid,
  withValidAnswers,
  withValidChainAnswers,
  withValidPrices,
} from './rails/answers.ts'
import type { ChainRail } from './rails/chain/rail.ts'
import { withChainDeadline, withDeadline } from './rails/deadline.ts'
import type { PixRail } from './rails/pix/rail.ts'
import type { FedPrices, PriceFeed } from './rails/prices/feed.ts'

/**
 * Everything a rule may touch in one environment. What a rule is not handed, it cannot reach: its database connections
 * may enter one schema only, and the rails are those of its own environment.
 */
export type World<E extends Environment = Environment> = {
  readonly environment: E
  /** For what moves no money, and for what money needs to know. A partner that only reads is handed `reads` in its place. */
  readonly db: Pool
  /** For calls that only read: a partner's slow lists must not keep anybody's payouts waiting for a connection. */
  readonly reads: Pool
  /** For finding out whose key it is, and nothing else. */
  readonly keys: Pool
  readonly clock: Clock
  readonly commit: Door['commit']
  /** For a dry run: what `commit` would come to, and nothing of it stays. */
  readonly preview: Door['preview']
  /** The outside. A simulated rail is of the sandbox, so it cannot be handed to production: that does not compile. */
  readonly pix: PixRail<E>
  readonly chain: ChainRail<E>
  readonly prices: PriceFeed<E>
  readonly set_prices: SetPrices<E>
  readonly quoting: Quoting
  /** Whether a trade may be turned down because of what the treasury holds. */
  readonly treasury_limits: boolean
  /** Webhooks may also go out without TLS. */
  readonly plain_http_webhooks: boolean
  /** EVM addresses in lower case only are refused. */
  readonly require_address_checksum: boolean
  /** How long a payout's create call waits for the network. */
  readonly pix_wait_ms: number
  /** How long whoever took a payout or transfer has it for itself. */
  readonly lease_ms: number
  /** How long a rail may take to answer; well inside the lease. */
  readonly rail_timeout_ms: number
  /** How long a payout or transfer may be on its way before somebody is told. */
  readonly stuck_after_ms: number
  newId(kind: IdKind): string
  /** An event that moves no money was committed: whoever waits for events is woken. */
  told(): void
}

/** Prices that a partner set itself stand before those of the feed. Like a rail, they are of one environment by their type. */
export type SetPrices<E extends Environment = Environment> = {
  readonly environment: E
  /** What a quote must read to know them. */
  reads(partner_id: string): readonly RowRef[]
  /** Those that were read, as they are at that moment. */
  held(held: Held, partner_id: string): FedPrices
  current(db: Db, partner_id: string, now: Date): Promise<FedPrices>
}

/** What the operator set for all conversions. */
export type Quoting = {
  /** Moves every price against the customer. */
  readonly spread_bps: number
  readonly partner_fee_max_bps: number
  /** Nobody is quoted from an older price. */
  readonly price_max_age_ms: number
}

export type Worlds = { readonly [E in Environment]: World<E> }

type Parts<E extends Environment> = Omit<World<E>, 'newId'> & {
  /** Told of answers of rails that are not valid and belong to no order. */
  readonly onInvalidAnswer: ReportInvalid
}

export function createWorld<E extends Environment>({ onInvalidAnswer, ...parts }: Parts<E>): World<E> {
  const { rail_timeout_ms } = parts
  return {
    ...parts,
    pix: withDeadline(withValidAnswers(parts.pix, onInvalidAnswer), rail_timeout_ms),
    chain: withChainDeadline(withValidChainAnswers(parts.chain, onInvalidAnswer), rail_timeout_ms),
    prices: withValidPrices(parts.prices, onInvalidAnswer),
    newId: (kind) => newId(kind, parts.clock.now()),
  }
}
