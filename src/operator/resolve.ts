import { orderOf, signedOf } from '../onchain/order.ts'
import { stepTransfer } from '../onchain/settle.ts'
import { type Transfer, transferById } from '../onchain/store.ts'
import { settlePayout } from '../pix/settle.ts'
import { payoutById } from '../pix/store.ts'
import type { ChainStatus } from '../rails/chain/rail.ts'
import type { World } from '../world.ts'
import type { DetailsOf, Done } from './actions.ts'

export async function resolvePayout(
  world: World,
  { payout_id, outcome, end_to_end_id }: DetailsOf<'resolve_payout'>,
): Promise<Done> {
  const payout = await payoutById(world.db, payout_id)
  if (!payout) throw new Error(`No payout ${payout_id} in ${world.environment}.`)
  const settled = await world.commit(
    settlePayout(
      world,
      payout,
      outcome === 'completed'
        ? { kind: 'settled', end_to_end_id: end_to_end_id! }
        : { kind: 'refused', rail_code: 'resolved_by_operator' },
    ),
  )
  if (settled.payout.status !== outcome)
    throw new Error(`${payout_id} is ${settled.payout.status} already; a final state never changes.`)
  return { id: payout_id, text: `is ${outcome}` }
}

/** What the chain says, in words that an operator can act on. */
const words: Readonly<Record<ChainStatus['kind'], string>> = {
  waiting: 'that it is waiting to be mined, or to be deep enough',
  confirmed: 'that it is confirmed',
  failed: 'that it failed',
  absent: 'that no node knows it, but the signed bytes exist and can still be mined',
}

export async function resolveTransfer(
  world: World,
  { transfer_id, outcome }: DetailsOf<'resolve_transfer'>,
): Promise<Done> {
  const transfer = await transferById(world.db, transfer_id)
  if (!transfer) throw new Error(`No transfer ${transfer_id} in ${world.environment}.`)
  const stepped =
    outcome === 'confirmed' ? await confirm(world, transfer) : await failUnlessItMayBeMined(world, transfer)
  if (stepped.status !== outcome)
    throw new Error(`${transfer_id} is ${stepped.status} already; a final state never changes.`)
  return { id: transfer_id, text: `is ${outcome}` }
}

async function confirm(world: World, transfer: Transfer): Promise<Transfer> {
  if (transfer.tx_hash === null)
    throw new Error(`${transfer.id} was never signed, so it cannot have been confirmed.`)
  await world.commit(stepTransfer(world, transfer, { kind: 'broadcast' }))
  return (await world.commit(stepTransfer(world, transfer, { kind: 'confirmed' }))).transfer
}

/** Unsigned, nothing can have left. Signed, an operator's word is not enough: the chain is asked, now. */
async function failUnlessItMayBeMined(world: World, transfer: Transfer): Promise<Transfer> {
  const refused = { kind: 'refused', rail_code: 'resolved_by_operator' } as const
  const { transfer: before } = await world.commit(stepTransfer(world, transfer, refused))
  if (before.status === 'confirmed' || before.status === 'failed') return before
  const status = await world.chain.status(orderOf(before), signedOf(before)).catch(() => undefined)
  if (status?.kind !== 'failed') {
    const said = status ? `the chain says ${words[status.kind]}` : 'the chain gives no answer'
    throw new Error(
      `${before.id} was signed (${before.tx_hash}), so it can fail only when the chain itself says for good that it was reverted or replaced. Right now ${said}. Nothing was changed; the money stays in transit.`,
    )
  }
  await world.commit(stepTransfer(world, before, { kind: 'broadcast' }))
  return (await world.commit(stepTransfer(world, before, status))).transfer
}
