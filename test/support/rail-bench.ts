import { pino } from 'pino'
import type { PartnerActor } from '../../src/core/actor.ts'
import { systemClock } from '../../src/core/clock.ts'
import { type Asset, money } from '../../src/core/money.ts'
import { addCustomer } from '../../src/customers/customers.ts'
import { openPool } from '../../src/db/pool.ts'
import { deposit } from '../../src/deposits/deposits.ts'
import { createKey } from '../../src/keys/keys.ts'
import { hashKeyValue } from '../../src/keys/value.ts'
import { audit } from '../../src/ledger/audit.ts'
import { openDoor } from '../../src/ledger/commit.ts'
import { claimOf } from '../../src/ledger/once.ts'
import { sliceChecks } from '../../src/node/worlds.ts'
import { type Transfer, transferById } from '../../src/onchain/store.ts'
import { acceptTransfer } from '../../src/onchain/transfers.ts'
import { createPartner, openShared } from '../../src/partners/partners.ts'
import { acceptPayout } from '../../src/pix/payouts.ts'
import { type Payout, payoutById } from '../../src/pix/store.ts'
import type { ChainRail } from '../../src/rails/chain/rail.ts'
import { simulatedChain } from '../../src/rails/chain/simulated.ts'
import { openJournal } from '../../src/rails/journal.ts'
import type { PixRail } from '../../src/rails/pix/rail.ts'
import { simulatedPix } from '../../src/rails/pix/simulated.ts'
import { simulatedPrices } from '../../src/rails/prices/simulated.ts'
import { setPrices } from '../../src/sandbox/prices.ts'
import { createWorld, type World } from '../../src/world.ts'
import { asAdmin, createDatabase, seatAt } from './database.ts'
import { moveIntoThePast } from './past.ts'
import { someCpf } from './service.ts'

/**
 * Worlds over one database with rails that a test has in its hands: each world is a node without its HTTP. What a rail
 * does, and when it answers, is up to the test.
 */
export type Bench = Awaited<ReturnType<typeof openBench>>

export const silent = pino({ level: 'silent' })

export type BenchOptions = {
  readonly pix?: PixRail<'sandbox'>
  readonly chain?: ChainRail<'sandbox'>
  readonly lease_ms?: number
  readonly rail_timeout_ms?: number
  readonly stuck_after_ms?: number
  readonly pix_wait_ms?: number
}

export async function openBench(options: BenchOptions = {}) {
  const database = await createDatabase()
  const clock = systemClock()
  const closing: (() => Promise<void>)[] = []
  const journal = openJournal(undefined)
  const simulated = {
    pix: simulatedPix({ clock, journal }),
    chain: simulatedChain({ clock, journal, broadcast_ms: 1000, confirm_ms: 3000 }),
  }

  /** One more node, with rails of its own if it is given some. */
  function openNode(more: BenchOptions = {}): World<'sandbox'> {
    const given = { ...simulated, ...options, ...more }
    const seat = seatAt(database.url, 'sandbox', 'bench')
    const db = openPool({ ...seat, max: 8 })
    const door = openDoor({ seat, lanes: 1, log: silent })
    closing.push(door.stop, () => db.end())
    return createWorld({
      environment: 'sandbox',
      db,
      reads: db,
      keys: db,
      clock,
      commit: door.commit,
      preview: door.preview,
      pix: given.pix,
      chain: given.chain,
      prices: simulatedPrices({ clock }),
      set_prices: setPrices,
      quoting: { spread_bps: 0, partner_fee_max_bps: 1000, price_max_age_ms: 30_000 },
      treasury_limits: false,
      plain_http_webhooks: true,
      require_address_checksum: false,
      pix_wait_ms: given.pix_wait_ms ?? 2000,
      lease_ms: given.lease_ms ?? 15_000,
      rail_timeout_ms: given.rail_timeout_ms ?? 5000,
      stuck_after_ms: given.stuck_after_ms ?? 900_000,
    })
  }

  const world = openNode()
  const sharedDb = openPool({ ...seatAt(database.url, 'shared', 'bench'), max: 1 })
  closing.push(() => sharedDb.end())

  async function openActor(): Promise<PartnerActor> {
    const partner = await createPartner(openShared(sharedDb), 'Bench')
    const { key, value } = await createKey(world, { partner_id: partner.id, name: 'bench' })
    return {
      kind: 'api_key',
      key_id: key.id,
      key_hash: hashKeyValue(value).toString('hex'),
      partner_id: partner.id,
      scopes: [],
      terms: { pix_fee: 0n, third_party_payouts: true, service_fee_bps: 0, partner_fee_share_pct: 0 },
    }
  }
  const actor = await openActor()

  let keys = 0
  const bodyOf = () => ''

  return {
    database,
    world,
    actor,
    openNode,
    openActor,
    async customer(balances: Partial<Record<Asset, bigint>>, of: PartnerActor = actor): Promise<string> {
      const { partner_id } = of
      const { id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document: someCpf() })
      for (const [asset, units] of Object.entries(balances) as [Asset, bigint][]) {
        const order = { partner_id, customer_id: id, rail: 'sandbox' as const, money: money(asset, units) }
        await world.commit(deposit(world, order))
      }
      return id
    },
    async payout(
      customer_id: string,
      { by = actor, description = null, node = world, key = `p${++keys}` }: PayoutParts = {},
    ): Promise<Payout> {
      const pix_key = 'ana@example.com'
      const done = await node.commit(
        acceptPayout(node, by, {
          order: {
            customer_id,
            amount: money('BRL', 700n),
            to: { pix_key },
            description,
            idempotency_key: key,
          },
          claim: claimOf(by.key_id, 'pix.payout', { idempotency_key: key }),
          counterparty: { type: 'pix_key', pix_key, name: 'Ana Souza', document: '52998224725' },
          bodyOf,
        }),
      )
      if (done.kind !== 'made') throw new Error(`the payout was ${done.kind}`)
      return done.made
    },
    async transfer(
      customer_id: string,
      { by = actor, amount = 10_000_000n }: { by?: PartnerActor; amount?: bigint } = {},
    ): Promise<Transfer> {
      const key = `t${++keys}`
      const done = await world.commit(
        acceptTransfer(world, by, {
          order: {
            customer_id,
            asset: 'USDT',
            network: 'tron',
            amount_net: amount,
            destination_address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
            idempotency_key: key,
          },
          claim: claimOf(by.key_id, 'onchain.transfer', { idempotency_key: key }),
          fee: 1_000_000n,
          bodyOf,
        }),
      )
      if (done.kind !== 'made') throw new Error(`the transfer was ${done.kind}`)
      return done.made
    },
    payoutNow: async (id: string): Promise<Payout> => (await payoutById(world.db, id))!,
    transferNow: async (id: string): Promise<Transfer> => (await transferById(world.db, id))!,
    async balance(customer_id: string, asset: Asset): Promise<{ balance: bigint; in_transit: bigint }> {
      const { rows } = await world.db.query(
        'SELECT balance, in_transit FROM balances WHERE customer_id = $1 AND asset = $2',
        [customer_id, asset],
      )
      return rows[0]
    },
    /** Past all rights, in the schema of the sandbox. */
    admin: (...statements: string[]) => asAdmin(database.url, ['SET search_path = sandbox', ...statements]),
    /** As if it had been accepted so long ago, with everything that tells of it. */
    past: (payout: Payout, by = '1 hour') =>
      moveIntoThePast(database.url, { table: 'payouts', id: payout.id, by }),
    findings: async () => (await audit(world.db, sliceChecks)).findings,
    async stop() {
      for (const close of closing) await close()
      await database.drop()
    },
  }
}

type PayoutParts = { by?: PartnerActor; description?: string | null; node?: World<'sandbox'>; key?: string }

/** A moment that a test waits for, and a door that it holds shut. */
export function openGate(): { readonly reached: Promise<void>; arrive(): Promise<void>; open(): void } {
  let reach = () => {}
  let open = () => {}
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return {
    reached,
    arrive() {
      reach()
      return opened
    },
    open,
  }
}
