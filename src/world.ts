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
import type { DepositAddresses } from './rails/chain/deposit-addresses.ts'
import { type Chains, chainsOf } from './rails/chain/rail.ts'
import { withChainDeadline, withDeadline } from './rails/deadline.ts'
import type { PixRail } from './rails/pix/rail.ts'
import type { FedPrices, PriceFeed } from './rails/prices/feed.ts'
import type { SealTransfer } from './rails/signer/seal.ts'

/**
 * Everything a rule may touch in one environment. A rule cannot reach anything else: the database connections may use
 * one schema only, and the rails belong to the same environment.
 */
export type World<E extends Environment = Environment> = {
  readonly environment: E
  /**
   * For writes that move no money, and for reads before money moves. A partner's read-only call gets `reads` in its
   * place.
   */
  readonly db: Pool
  /** For read-only calls: a partner's slow lists must not keep payouts waiting for a connection. */
  readonly reads: Pool
  /** For looking up API keys, and nothing else. */
  readonly keys: Pool
  readonly clock: Clock
  readonly commit: Door['commit']
  /** A dry run: decides like `commit`, returns the result and rolls everything back. */
  readonly preview: Door['preview']
  /** The rails. The type of a simulated rail names the sandbox, so handing one to production does not compile. */
  readonly pix: PixRail<E>
  readonly chains: Chains<E>
  readonly deposit_addresses: DepositAddresses<E>
  /** Returns the function that seals a transfer's order at acceptance; rejects while the seal key cannot be read. */
  readonly transferSeals: () => Promise<SealTransfer>
  readonly prices: PriceFeed<E>
  readonly set_prices: SetPrices<E>
  readonly quoting: Quoting
  /** Whether the limits of the treasury may refuse a trade. */
  readonly treasury_limits: boolean
  /** Webhooks may also go to plain `http` addresses. */
  readonly plain_http_webhooks: boolean
  /** Money of this world is real: a receipt proves a payment. */
  readonly receipts_have_value: boolean
  /** An EVM address without a checksum (all lower case) is refused. */
  readonly require_address_checksum: boolean
  /** How long the call that creates a payout waits for the network's outcome. */
  readonly pix_wait_ms: number
  /** Length of the lease on a payout or transfer. */
  readonly lease_ms: number
  /** Timeout of a rail call; well below the lease. */
  readonly rail_timeout_ms: number
  /** How long a payout or transfer may stay open before an exception is recorded. */
  readonly stuck_after_ms: number
  newId(kind: IdKind): string
  /** Wakes the readers of the event log after the commit of an event that moves no money. */
  wakeEventReaders(): void
}

/** Prices that a partner set override those of the feed. Like a rail, they belong to one environment by their type. */
export type SetPrices<E extends Environment = Environment> = {
  readonly environment: E
  /** The rows that a quote must read. */
  reads(partner_id: string): readonly RowRef[]
  /** The partner's prices, from the rows that the command read. */
  held(held: Held, partner_id: string): FedPrices
  current(db: Db, partner_id: string, now: Date): Promise<FedPrices>
}

/** Settings of the operator for all conversions. */
type Quoting = {
  /** Basis points by which every price moves against the customer. */
  readonly spread_bps: number
  readonly partner_fee_max_bps: number
  /** A quote needs a price that is at most this old. */
  readonly price_max_age_ms: number
}

export type Worlds = { readonly [E in Environment]: World<E> }

type Parts<E extends Environment> = Omit<World<E>, 'newId'> & {
  /** Called with an invalid answer of a rail that belongs to no order. */
  readonly onInvalidAnswer: ReportInvalid
}

export function createWorld<E extends Environment>({ onInvalidAnswer, ...parts }: Parts<E>): World<E> {
  const { rail_timeout_ms } = parts
  return {
    ...parts,
    pix: withDeadline(withValidAnswers(parts.pix, onInvalidAnswer), rail_timeout_ms),
    chains: chainsOf((network) =>
      withChainDeadline(withValidChainAnswers(parts.chains[network], onInvalidAnswer), rail_timeout_ms),
    ),
    prices: withValidPrices(parts.prices, onInvalidAnswer),
    newId: (kind) => newId(kind, parts.clock.now()),
  }
}
