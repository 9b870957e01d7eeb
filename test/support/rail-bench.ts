import { pino } from 'pino'
import type { PartnerActor } from '../../src/core/actor.ts'
import { type Asset, money } from '../../src/core/money.ts'
import { networks } from '../../src/core/networks.ts'
import { audit } from '../../src/ledger/audit.ts'
import { claimOf } from '../../src/ledger/once.ts'
import { deposit } from '../../src/money/deposits/deposits.ts'
import { type Transfer, transferById } from '../../src/money/onchain/store.ts'
import { acceptTransfer } from '../../src/money/onchain/transfers.ts'
import { acceptPayout } from '../../src/money/pix/payouts.ts'
import { type Payout, payoutById } from '../../src/money/pix/store.ts'
import { sliceChecks } from '../../src/node/worlds.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import type { World } from '../../src/world.ts'
import { openActor, openBareWorld, type WorldParts } from './bare-world.ts'
import { asAdmin, createDatabase } from './database.ts'
import { moveIntoThePast } from './past.ts'
import { someCpf } from './service.ts'

export const silent = pino({ level: 'silent' })

export type BenchOptions = WorldParts

/**
 * Bare worlds over one database with rails that a test has in its hands: what a rail does, and when it answers, is up to
 * the test.
 */
export type Bench = Awaited<ReturnType<typeof openBench>>

export async function openBench(options: BenchOptions = {}) {
  const database = await createDatabase()
  const closing: (() => Promise<void>)[] = []

  /** One more node, with rails of its own if it is given some. */
  function openNode(more: BenchOptions = {}): World<'sandbox'> {
    const { world, stop } = openBareWorld({ url: database.url, log: silent, parts: { ...options, ...more } })
    closing.push(stop)
    return world
  }
  const world = openNode()
  const newActor = () => openActor(database.url, world, { third_party_payouts: true })
  const actor = await newActor()

  return {
    database,
    world,
    actor,
    openNode,
    openActor: newActor,
    ...ordersOf(world, actor),
    ...sightsOf(database.url, world),
    async stop() {
      for (const close of closing) await close()
      await database.drop()
    },
  }
}

type PayoutParts = { by?: PartnerActor; description?: string | null; node?: World<'sandbox'>; key?: string }

type TransferParts = {
  by?: PartnerActor
  amount?: bigint
  network?: Transfer['network']
  node?: World<'sandbox'>
  destination_address?: string
}

/** What is ordered, for the first partner unless another one is named. */
function ordersOf(world: World<'sandbox'>, actor: PartnerActor) {
  let keys = 0
  const bodyOf = () => ''
  return {
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
            metadata: {},
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
      {
        by = actor,
        amount = 10_000_000n,
        network = 'tron',
        node = world,
        destination_address = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
      }: TransferParts = {},
    ): Promise<Transfer> {
      const key = `t${++keys}`
      const done = await node.commit(
        acceptTransfer(node, by, {
          order: {
            customer_id,
            asset: networks[network].asset,
            network,
            amount_net: amount,
            destination_address,
            idempotency_key: key,
            metadata: {},
          },
          claim: claimOf(by.key_id, 'onchain.transfer', { idempotency_key: key }),
          fee: 1_000_000n,
          seal: await world.transferSeals(),
          bodyOf,
        }),
      )
      if (done.kind !== 'made') throw new Error(`the transfer was ${done.kind}`)
      return done.made
    },
  }
}

/** What became of it, and a way to put it otherwise. */
function sightsOf(url: string, world: World<'sandbox'>) {
  return {
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
    admin: (...statements: string[]) => asAdmin(url, ['SET search_path = sandbox', ...statements]),
    /** As if it had been accepted so long ago, with everything that tells of it. */
    past: (payout: Payout, by = '1 hour') => moveIntoThePast(url, { table: 'payouts', id: payout.id, by }),
    findings: async () => (await audit(world.db, sliceChecks)).findings,
  }
}

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
