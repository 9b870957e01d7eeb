import type { Logger } from 'pino'
import type { PartnerActor } from '../../src/core/actor.ts'
import { systemClock } from '../../src/core/clock.ts'
import { openPool } from '../../src/db/pool.ts'
import { setPrices } from '../../src/doors/sandbox/prices.ts'
import { openDoor } from '../../src/ledger/commit.ts'
import { createKey } from '../../src/parties/keys/keys.ts'
import { hashKeyValue } from '../../src/parties/keys/value.ts'
import { createPartner, editPartner, openShared } from '../../src/parties/partners/partners.ts'
import { sandboxAddresses } from '../../src/rails/chain/deposit-addresses.ts'
import { type ChainRail, chainsOf } from '../../src/rails/chain/rail.ts'
import { simulatedChain } from '../../src/rails/chain/simulated.ts'
import { openJournal } from '../../src/rails/journal.ts'
import { simulatedPix } from '../../src/rails/pix/simulated.ts'
import { simulatedPrices } from '../../src/rails/prices/simulated.ts'
import { openInvalidAnswers } from '../../src/records/desk/invalid-answers.ts'
import { createWorld, type World } from '../../src/world.ts'
import { seatAt } from './database.ts'

/** What a test may bring along, or set otherwise. */
export type WorldParts = Partial<
  Pick<
    World<'sandbox'>,
    'pix' | 'prices' | 'transferSeals' | 'lease_ms' | 'pix_wait_ms' | 'rail_timeout_ms' | 'stuck_after_ms'
  >
> & {
  /** One rail that plays every network, or a part of it. */
  readonly chain?: Partial<ChainRail<'sandbox'>>
}

/**
 * A sandbox world without a server around it: a node without its HTTP. Its money goes through `door_url`, which may be a
 * wire that is cut; everything else takes the straight way.
 */
export function openBareWorld(options: {
  readonly url: string
  readonly log: Logger
  readonly door_url?: string
  readonly wait_ms?: number
  readonly parts?: WorldParts
}): { readonly world: World<'sandbox'>; stop(): Promise<void> } {
  const { chain, ...parts } = options.parts ?? {}
  const clock = systemClock()
  const journal = openJournal(undefined)
  const seat = seatAt(options.url, 'sandbox', 'test world')
  const db = openPool({ ...seat, max: 8 })
  const door = openDoor({
    seat: { ...seat, url: options.door_url ?? options.url },
    lanes: 1,
    log: options.log,
    ...(options.wait_ms === undefined ? {} : { wait_ms: options.wait_ms }),
  })
  const world: World<'sandbox'> = createWorld({
    transferSeals: async () => () => null,
    environment: 'sandbox',
    db,
    reads: db,
    keys: db,
    clock,
    commit: door.commit,
    preview: door.preview,
    wakeEventReaders: () => {},
    onInvalidAnswer: openInvalidAnswers({ db, clock }, options.log),
    pix: simulatedPix({ clock, journal }),
    chains: chainsOf((network) => ({
      ...simulatedChain({ network, clock, journal, broadcast_ms: 1000, confirm_ms: 3000 }),
      ...chain,
      network,
    })),
    deposit_addresses: sandboxAddresses(),
    prices: simulatedPrices({ clock }),
    set_prices: setPrices,
    quoting: { spread_bps: 0, partner_fee_max_bps: 1000, price_max_age_ms: 30_000 },
    treasury_limits: false,
    plain_http_webhooks: true,
    receipts_have_value: false,
    require_address_checksum: false,
    pix_wait_ms: 2000,
    lease_ms: 15_000,
    rail_timeout_ms: 5000,
    stuck_after_ms: 900_000,
    ...parts,
  })
  return {
    world,
    async stop() {
      await door.stop()
      await db.end()
    },
  }
}

/** A new partner, and who acts for it with a key of its own. */
export async function openActor(
  url: string,
  world: World<'sandbox'>,
  terms: Partial<PartnerActor['terms']> = {},
): Promise<PartnerActor> {
  const db = openPool({ ...seatAt(url, 'shared', 'test world'), max: 1 })
  try {
    const shared = openShared(db)
    const { id: partner_id } = await createPartner(shared, 'Test')
    const { third_party_payouts } = terms
    if (third_party_payouts) await editPartner(shared, partner_id, { third_party_payouts })
    const { key, value } = await createKey(world, { partner_id, name: 'test' })
    return {
      kind: 'api_key',
      key_id: key.id,
      key_hash: hashKeyValue(value).toString('hex'),
      partner_id,
      scopes: key.scopes,
      terms: {
        pix_fee: 0n,
        third_party_payouts: false,
        service_fee_bps: 0,
        partner_fee_share_pct: 0,
        ...terms,
      },
    }
  } finally {
    await db.end()
  }
}
