import { pino } from 'pino'
import type { PartnerActor } from '../../src/core/actor.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Refusal } from '../../src/core/errors.ts'
import { type Asset, money } from '../../src/core/money.ts'
import { addCustomer } from '../../src/customers/customers.ts'
import { openPool } from '../../src/db/pool.ts'
import { deposit } from '../../src/deposits/deposits.ts'
import { createKey } from '../../src/keys/keys.ts'
import { hashKeyValue } from '../../src/keys/value.ts'
import { openDoor } from '../../src/ledger/commit.ts'
import { claimOf } from '../../src/ledger/once.ts'
import { acceptTransfer, OPERATION as TRANSFER } from '../../src/onchain/transfers.ts'
import { createPartner, openShared } from '../../src/partners/partners.ts'
import { acceptPayout } from '../../src/pix/payouts.ts'
import { OPERATION as PAYOUT } from '../../src/pix/settle.ts'
import { lockQuote } from '../../src/quotes/quotes.ts'
import { simulatedChain } from '../../src/rails/chain/simulated.ts'
import { openJournal } from '../../src/rails/journal.ts'
import { simulatedPix } from '../../src/rails/pix/simulated.ts'
import { simulatedPrices } from '../../src/rails/prices/simulated.ts'
import { setPrices } from '../../src/sandbox/prices.ts'
import { createWorld, type World } from '../../src/world.ts'
import { seatAt } from './database.ts'
import { someCpf } from './service.ts'

/**
 * One sandbox world without a server around it, for what goes wrong between the ledger and its database or its rails. Its
 * money goes through `door_url`, which may be a wire that is cut; everything else takes the straight way.
 */
export async function openTestWorld(options: {
  url: string
  door_url?: string
  wait_ms?: number
  parts?: Partial<Pick<World<'sandbox'>, 'pix' | 'chain' | 'lease_ms' | 'pix_wait_ms'>>
}) {
  const { url, door_url = url, wait_ms = 8000 } = options
  const clock = systemClock()
  const journal = openJournal(undefined)
  const log = pino({ level: 'silent' })
  const seat = seatAt(url, 'sandbox', 'test world')
  const db = openPool({ ...seat, max: 8 })
  const sharedDb = openPool({ ...seatAt(url, 'shared', 'test world'), max: 2 })
  const door = openDoor({ seat: { ...seat, url: door_url }, lanes: 1, log, wait_ms })
  const world: World<'sandbox'> = createWorld({
    environment: 'sandbox',
    db,
    reads: db,
    keys: db,
    clock,
    commit: door.commit,
    preview: door.preview,
    pix: simulatedPix({ clock, journal }),
    chain: simulatedChain({ clock, journal, broadcast_ms: 1000, confirm_ms: 3000 }),
    prices: simulatedPrices({ clock }),
    set_prices: setPrices,
    quoting: { spread_bps: 0, partner_fee_max_bps: 1000, price_max_age_ms: 30_000 },
    treasury_limits: false,
    plain_http_webhooks: true,
    require_address_checksum: false,
    pix_wait_ms: 2000,
    lease_ms: 15_000,
    rail_timeout_ms: 5000,
    stuck_after_ms: 900_000,
    ...options.parts,
  })
  const { id: partner_id } = await createPartner(openShared(sharedDb), 'Test')
  const { key, value } = await createKey(world, { partner_id, name: 'test' })
  const actor: PartnerActor = {
    kind: 'api_key',
    key_id: key.id,
    key_hash: hashKeyValue(value).toString('hex'),
    partner_id,
    scopes: key.scopes,
    terms: { pix_fee: 0n, third_party_payouts: false, service_fee_bps: 50, partner_fee_share_pct: 0 },
  }
  const bodyOf = (refusal: Refusal) => refusal.code
  let keys = 0

  return {
    world,
    db,
    actor,
    log,
    async customer(balances: Partial<Record<Asset, bigint>> = {}) {
      const customer = await addCustomer(world, { partner_id, name: 'Ana', document: someCpf() })
      for (const [asset, units] of Object.entries(balances) as [Asset, bigint][])
        await world.commit(this.depositTo(customer.id, asset, units))
      return customer
    },
    depositTo: (customer_id: string, asset: Asset, units: bigint) =>
      deposit(world, { partner_id, customer_id, rail: 'sandbox', money: money(asset, units) }),
    payout(
      customer: { id: string; name: string; document: string },
      units: bigint,
      idempotency_key = `payout ${++keys}`,
    ) {
      const counterparty = {
        type: 'pix_key',
        pix_key: 'a@b.co',
        name: customer.name,
        document: customer.document,
      } as const
      const order = {
        customer_id: customer.id,
        amount: money('BRL', units),
        to: { pix_key: 'a@b.co' },
        description: null,
        idempotency_key,
      }
      const claim = claimOf(key.id, PAYOUT, { idempotency_key })
      return acceptPayout(world, actor, { order, claim, counterparty, bodyOf })
    },
    transfer(customer_id: string, units: bigint, idempotency_key = `transfer ${++keys}`) {
      const order = {
        customer_id,
        asset: 'USDT',
        network: 'polygon',
        amount_net: units,
        destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
        idempotency_key,
      } as const
      const claim = claimOf(key.id, TRANSFER, { idempotency_key })
      return acceptTransfer(world, actor, { order, claim, fee: 1_000_000n, bodyOf })
    },
    quote: async (customer_id: string) =>
      lockQuote(
        world,
        actor,
        {
          customer_id,
          from_asset: 'BRL',
          to_asset: 'USDT',
          pair: 'USDT/BRL',
          side: 'buy',
          amount: 100_000n,
          amount_asset: 'BRL',
          amount_type: 'gross',
          partner_fee_bps: 10,
        },
        await world.prices.latest(),
      ),
    async stop() {
      await door.stop()
      await db.end()
      await sharedDb.end()
    },
  }
}

export type TestWorld = Awaited<ReturnType<typeof openTestWorld>>
