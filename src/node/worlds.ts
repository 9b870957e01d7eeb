import type { Logger } from 'pino'
import { timeChecks } from '../control/audit/time-checks.ts'
import { approvalChecks } from '../control/operator/proposals-audit.ts'
import type { Clock } from '../core/clock.ts'
import type { Environment } from '../core/environment.ts'
import { openPool, schemas } from '../db/pool.ts'
import type { Seats } from '../db/seat.ts'
import { setPrices } from '../doors/sandbox/prices.ts'
import { type Check, type Template, templateChecks, transitCheck } from '../ledger/audit.ts'
import { refusalCheck } from '../ledger/claims-audit.ts'
import { type DoorFacts, type DoorOptions, openDoor } from '../ledger/commit.ts'
import { adjustmentChecks, adjustmentTemplate } from '../money/adjustments/store.ts'
import { chargeChecks } from '../money/charges/audit.ts'
import { controlChecks } from '../money/custody/controls-store.ts'
import { custodyChecks, moveTemplate } from '../money/custody/store.ts'
import { addressChecks } from '../money/deposits/addresses-store.ts'
import { depositChecks, depositTemplate } from '../money/deposits/store.ts'
import { coinChecks } from '../money/onchain/coins/audit.ts'
import { openTransfers, transferChecks, transferTemplate } from '../money/onchain/store.ts'
import { signedWithinAnHour } from '../money/onchain/transactions.ts'
import { tronChecks } from '../money/onchain/tron/audit.ts'
import { returnChecks, returnTemplate } from '../money/pix/returns-store.ts'
import { openPayouts, payoutChecks, payoutTemplate } from '../money/pix/store.ts'
import { noSetPrices } from '../money/quotes/prices.ts'
import { tradeChecks, tradeTemplate } from '../money/quotes/store.ts'
import { sweepChecks } from '../money/sweeps/audit.ts'
import { replayCheck } from '../money/treasury/replay.ts'
import { feePayoutTemplate, treasuryChecks } from '../money/treasury/store.ts'
import { customerChecks } from '../parties/customers/store.ts'
import { keyChecks } from '../parties/keys/keys-audit.ts'
import { sandboxAddresses } from '../rails/chain/deposit-addresses.ts'
import { chainsOf } from '../rails/chain/rail.ts'
import { simulatedChain } from '../rails/chain/simulated.ts'
import { openJournal } from '../rails/journal.ts'
import { simulatedPix } from '../rails/pix/simulated.ts'
import { simulatedPrices } from '../rails/prices/simulated.ts'
import { deskChecks } from '../records/desk/desk-audit.ts'
import { openInvalidAnswers } from '../records/desk/invalid-answers.ts'
import { eventChecks } from '../records/events/store.ts'
import { webhookChecks } from '../webhooks/store.ts'
import { createWorld, type World, type Worlds } from '../world.ts'
import type { Config } from './config.ts'
import { openProductionRails, type ProductionRails, type RailOptions } from './rails.ts'

/** One connection is reserved for keys that exist; the other one looks up unknown key values. */
const KEY_CONNECTIONS = 2

/** The exact entries of each kind of cause. Entries of a kind that has no template here are findings of the audit. */
const templates: readonly Template[] = [
  adjustmentTemplate,
  depositTemplate,
  payoutTemplate,
  returnTemplate,
  transferTemplate,
  tradeTemplate,
  feePayoutTemplate,
  moveTemplate,
]

/** The checks of the audit beyond those of the ledger itself. */
export const sliceChecks: readonly Check[] = [
  ...templateChecks(templates),
  transitCheck([openPayouts, openTransfers]),
  ...customerChecks,
  ...keyChecks,
  ...depositChecks,
  ...addressChecks,
  ...chargeChecks,
  ...adjustmentChecks,
  ...payoutChecks,
  ...returnChecks,
  ...transferChecks,
  ...coinChecks,
  ...tronChecks,
  ...tradeChecks,
  ...treasuryChecks,
  ...custodyChecks,
  replayCheck,
  ...controlChecks,
  ...sweepChecks,
  ...approvalChecks,
  ...eventChecks,
  ...webhookChecks,
  refusalCheck,
  ...deskChecks,
  ...timeChecks,
]

export type OpenWorlds = {
  readonly worlds: Worlds
  readonly followers: ProductionRails['followers']
  readonly sweepers: ProductionRails['sweepers']
  readonly remote_signer: ProductionRails['remote_signer']
  /** Facts about the door of each world, for the metrics. */
  readonly doors: Readonly<Record<Environment, () => DoorFacts>>
  /** Calls the listener for every batch of money that this process committed in a world. */
  onBatch(environment: Environment, listener: (batch: Batch) => void): void
  /** Calls the listener after this process committed events outside the door of a world. */
  onEventsCommitted(environment: Environment, listener: () => void): void
  stop(): Promise<void>
}

/** The properties that differ between the two worlds. */
type Own =
  | 'pix'
  | 'chains'
  | 'deposit_addresses'
  | 'transferSeals'
  | 'prices'
  | 'set_prices'
  | 'quoting'
  | 'treasury_limits'
  | 'plain_http_webhooks'
  | 'receipts_have_value'

type Batch = Parameters<NonNullable<DoorOptions['onBatch']>>[0]

/** Settings that both worlds have in common. */
const settingsOf = ({
  pix_wait_ms,
  lease_ms,
  rail_timeout_ms,
  stuck_after_ms,
  require_address_checksum,
}: Pick<
  Config,
  'pix_wait_ms' | 'lease_ms' | 'rail_timeout_ms' | 'stuck_after_ms' | 'require_address_checksum'
>) => ({ pix_wait_ms, lease_ms, rail_timeout_ms, stuck_after_ms, require_address_checksum })

/** Builds the two worlds from one database. Nothing made for the one can be handed to the other. */
export function openWorlds(options: {
  seats: Seats
  clock: Clock
  log: Logger
  config: Pick<
    Config,
    | 'pix_wait_ms'
    | 'lease_ms'
    | 'rail_timeout_ms'
    | 'stuck_after_ms'
    | 'sandbox'
    | 'lanes'
    | 'quoting'
    | 'prices_from'
    | 'prices_file'
    | 'exchange_urls'
    | 'efi'
    | 'starkbank'
    | 'chains'
    | 'require_address_checksum'
    | 'database_wait_ms'
  >
  pool: number
  /** The key of the act log; `openLogKey` reads it. */
  logKey: () => Promise<Buffer>
  onSignerCall?: NonNullable<RailOptions['onSignerCall']>
}): OpenWorlds {
  const closing: (() => Promise<unknown>)[] = []
  const doors: Partial<Record<Environment, () => DoorFacts>> = {}
  const listeners: Record<Environment, ((batch: Batch) => void)[]> = { production: [], sandbox: [] }
  const event_listeners: Record<Environment, (() => void)[]> = { production: [], sandbox: [] }

  function open<E extends Environment>(environment: E, own: Pick<World<E>, Own>): World<E> {
    const seat = options.seats(schemas[environment], `trilho ${environment}`)
    const { clock, config } = options
    const { database_wait_ms: wait_ms } = config
    const db = openPool({ ...seat, max: options.pool, wait_ms })
    const reads = openPool({ ...seat, max: Math.max(2, Math.ceil(options.pool / 2)), wait_ms })
    const keys = openPool({ ...seat, max: KEY_CONNECTIONS, wait_ms })
    const door = openDoor({
      seat,
      lanes: config.lanes,
      log: options.log,
      onBatch(batch) {
        for (const listener of listeners[environment]) listener(batch)
      },
    })
    doors[environment] = door.facts
    closing.push(door.stop, () => Promise.all([db.end(), reads.end(), keys.end()]))
    const { commit, preview } = door
    const wakeEventReaders = () => {
      for (const listener of event_listeners[environment]) listener()
    }
    return createWorld({
      environment,
      db,
      reads,
      keys,
      clock,
      commit,
      preview,
      wakeEventReaders,
      onInvalidAnswer: openInvalidAnswers({ db, clock }, options.log),
      ...own,
      ...settingsOf(config),
    })
  }

  const { clock, config } = options
  // Asked when the world exists.
  const db = () => worlds.production.db
  const rails = openProductionRails({ ...options, db, signedBefore: () => signedWithinAnHour(db()) })
  closing.push(rails.stop)
  const journal = openJournal(config.sandbox.journal)
  const worlds: Worlds = {
    production: open('production', {
      pix: rails.pix,
      chains: rails.chains,
      deposit_addresses: rails.deposit_addresses,
      transferSeals: rails.transferSeals,
      prices: rails.prices,
      set_prices: noSetPrices,
      quoting: config.quoting,
      treasury_limits: true,
      plain_http_webhooks: false,
      receipts_have_value: true,
    }),
    sandbox: open('sandbox', {
      pix: simulatedPix({ clock, journal }),
      chains: chainsOf((network) => simulatedChain({ network, clock, ...config.sandbox, journal })),
      deposit_addresses: sandboxAddresses(),
      transferSeals: async () => () => null,
      prices: simulatedPrices({ clock }),
      set_prices: setPrices,
      // Contract §14: no spread and an endless treasury, so that examples stay true.
      quoting: { ...config.quoting, spread_bps: 0 },
      treasury_limits: false,
      plain_http_webhooks: true,
      receipts_have_value: false,
    }),
  }
  return {
    worlds,
    ...{ followers: rails.followers, sweepers: rails.sweepers, remote_signer: rails.remote_signer },
    doors: doors as OpenWorlds['doors'],
    onBatch: (environment, listener) => void listeners[environment].push(listener),
    onEventsCommitted: (environment, listener) => void event_listeners[environment].push(listener),
    async stop() {
      for (const close of closing) await close()
    },
  }
}
