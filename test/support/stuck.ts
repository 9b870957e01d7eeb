import { money } from '../../src/core/money.ts'
import { claimOf } from '../../src/ledger/once.ts'
import { acceptPayout } from '../../src/money/pix/payouts.ts'
import type { Payout } from '../../src/money/pix/store.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { createKey } from '../../src/parties/keys/keys.ts'
import { hashKeyValue } from '../../src/parties/keys/value.ts'
import { noteProductionKey } from './key-lines.ts'
import { openDesk } from './operators.ts'
import { moveIntoThePast } from './past.ts'
import { someCpf, type TestService } from './service.ts'

/**
 * A payout of production that nobody knows the end of. There is no rail of production to lose an answer, so it is accepted
 * past the one that refuses: whoever asks about it from now on hears nothing.
 */
export async function stuckPayout(
  { worlds, office, database }: TestService,
  options: { partner_id: string; name?: string; amount?: bigint; ago?: string },
): Promise<Payout> {
  const { partner_id, name = 'Carla Mendes Ltda', amount = 1_890_040n, ago = '14 minutes' } = options
  const world = worlds.production
  const document = someCpf()
  const { id: customer_id } = await addCustomer(world, { partner_id, name, document })
  const desk = openDesk(() => office)
  const credit = {
    name: 'credit',
    details: {
      partner_id,
      customer_id,
      asset: 'BRL',
      amount: (amount * 2n).toString(),
      reason: 'wire',
      reference: `wire-${customer_id}`,
    },
  } as const
  const { id } = await desk.propose(world, credit, 'maria@operator.example')
  await desk.approve(world, id, 'joao@operator.example')
  const { key, value } = await createKey(world, { partner_id, name: 'payroll' })
  await noteProductionKey(office, 'create_key', { key, value })
  const pix_key = 'carla@example.com'
  const accepted = await world.commit(
    acceptPayout(
      world,
      {
        kind: 'api_key',
        key_id: key.id,
        key_hash: hashKeyValue(value).toString('hex'),
        partner_id,
        scopes: key.scopes,
        terms: { pix_fee: 0n, third_party_payouts: false, service_fee_bps: 0, partner_fee_share_pct: 0 },
      },
      {
        order: {
          customer_id,
          amount: money('BRL', amount),
          to: { pix_key },
          description: null,
          idempotency_key: customer_id,
          metadata: {},
        },
        claim: claimOf(key.id, 'pix.payout', { idempotency_key: customer_id }),
        counterparty: { type: 'pix_key', pix_key, name, document },
        bodyOf: () => '',
      },
    ),
  )
  if (accepted.kind !== 'made') throw new Error(`the payout was ${accepted.kind}`)
  await moveIntoThePast(database.url, { table: 'payouts', id: accepted.made.id, by: ago, schema: 'live' })
  return accepted.made
}
