import { pino } from 'pino'
import type { PartnerActor } from '../../src/core/actor.ts'
import type { Refusal } from '../../src/core/errors.ts'
import { type Asset, money } from '../../src/core/money.ts'
import { claimOf } from '../../src/ledger/once.ts'
import { deposit } from '../../src/money/deposits/deposits.ts'
import { acceptTransfer, TRANSFER_OPERATION } from '../../src/money/onchain/transfers.ts'
import { acceptPayout } from '../../src/money/pix/payouts.ts'
import { PAYOUT_OPERATION } from '../../src/money/pix/settle.ts'
import { lockQuote } from '../../src/money/quotes/quotes.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import type { World } from '../../src/world.ts'
import { openActor, openBareWorld } from './bare-world.ts'
import { someCpf } from './service.ts'

/** A bare world and one partner in it, for what goes wrong between the ledger and its database or its rails. */
export async function openTestWorld(options: Omit<Parameters<typeof openBareWorld>[0], 'log'>) {
  const log = pino({ level: 'silent' })
  const { world, stop } = openBareWorld({ ...options, log })
  const actor = await openActor(options.url, world, { service_fee_bps: 50 })
  return { world, db: world.db, actor, log, ...commandsOf(world, actor), stop }
}

export type TestWorld = Awaited<ReturnType<typeof openTestWorld>>

const bodyOf = (refusal: Refusal) => refusal.code

/** The commands that a test hands to the door, made out for one partner. */
function commandsOf(world: World<'sandbox'>, actor: PartnerActor) {
  const { partner_id, key_id } = actor
  let keys = 0
  return {
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
        metadata: {},
      }
      const claim = claimOf(key_id, PAYOUT_OPERATION, { idempotency_key })
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
        metadata: {},
      } as const
      const claim = claimOf(key_id, TRANSFER_OPERATION, { idempotency_key })
      return acceptTransfer(world, actor, { order, claim, fee: 1_000_000n, seal: () => null, bodyOf })
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
          metadata: {},
        },
        await world.prices.latest(),
      ),
  }
}
