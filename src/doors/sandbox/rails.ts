import type { AnyoneOfPartner } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { addWallet } from '../../money/custody/wallets.ts'
import { stepTransfer, type TransferStep } from '../../money/onchain/settle.ts'
import { isFinalTransfer, type Transfer } from '../../money/onchain/store.ts'
import { reserveNonce } from '../../money/onchain/transactions.ts'
import { findTransfer } from '../../money/onchain/transfers.ts'
import { findPayout } from '../../money/pix/payouts.ts'
import { type FinalOutcome, settlePayout } from '../../money/pix/settle.ts'
import type { Payout } from '../../money/pix/store.ts'
import { onBehalfOf } from '../../parties/keys/keys.ts'
import { simulatedTransaction } from '../../rails/chain/simulated.ts'
import { endToEndId } from '../../rails/pix/simulated.ts'
import type { World } from '../../world.ts'

/** In the sandbox a partner plays the rail and decides how a payout or transfer ends. A repeated call changes nothing. */
export async function completePayout(
  world: World,
  actor: AnyoneOfPartner,
  payout_id: string,
): Promise<Payout> {
  const payout = await findPayout(world, actor, payout_id)
  const end_to_end_id = endToEndId({ send_id: payout.send_id, sent_at: payout.created_at })
  return endPayout(world, actor, payout, { kind: 'settled', end_to_end_id })
}

export async function failPayout(world: World, actor: AnyoneOfPartner, payout_id: string): Promise<Payout> {
  const payout = await findPayout(world, actor, payout_id)
  return endPayout(world, actor, payout, { kind: 'refused', rail_code: 'DS04' })
}

async function endPayout(
  world: World,
  actor: AnyoneOfPartner,
  payout: Payout,
  outcome: FinalOutcome,
): Promise<Payout> {
  const command = settlePayout(world, payout, outcome, { by: 'caller' })
  const { payout: now } = await world.commit(onBehalfOf(actor, command))
  return endedAs(outcome.kind === 'settled' ? 'completed' : 'failed', 'payout', now)
}

export async function confirmTransfer(
  world: World,
  actor: AnyoneOfPartner,
  transfer_id: string,
): Promise<Transfer> {
  const transfer = await findTransfer(world, actor, transfer_id)
  return endTransfer(world, actor, transfer, 'confirmed', [
    ...(await sent(world, actor, transfer)),
    { kind: 'confirmed' },
  ])
}

export async function failTransfer(
  world: World,
  actor: AnyoneOfPartner,
  transfer_id: string,
): Promise<Transfer> {
  const transfer = await findTransfer(world, actor, transfer_id)
  // A transfer without a nonce is refused; any other must be broadcast before the network can fail it.
  if (transfer.nonce === null) {
    const refused = { kind: 'refused', rail_code: 'refused_before_broadcast' } as const
    const command = stepTransfer(world, transfer, refused, { by: 'caller' })
    const { transfer: now } = await world.commit(onBehalfOf(actor, command))
    if (isFinalTransfer(now)) return endedAs('failed', 'transfer', now)
  }
  const steps = [...(await sent(world, actor, transfer)), { kind: 'failed', rail_code: 'reverted' } as const]
  return endTransfer(world, actor, transfer, 'failed', steps)
}

/**
 * Reserves a nonce if the transfer has none. Returns the steps up to the broadcast of the transaction that the simulated network
 * would sign; steps that do not apply are skipped.
 */
async function sent(
  world: World,
  actor: AnyoneOfPartner,
  transfer: Transfer,
): Promise<readonly TransferStep[]> {
  const wallet = await world.chains[transfer.network].wallet()
  await addWallet(world.db, transfer.network, wallet)
  // The caller plays the network, so a pause of the rail does not matter.
  const reserve = reserveNonce(transfer, wallet, Number.POSITIVE_INFINITY, { although_paused: true })
  await world.commit(onBehalfOf(actor, reserve))
  return [{ kind: 'signed', attempt: 1, ...simulatedTransaction(transfer) }, { kind: 'broadcast' }]
}

/** Takes the missing steps up to the end. */
async function endTransfer(
  world: World,
  actor: AnyoneOfPartner,
  transfer: Transfer,
  end: 'confirmed' | 'failed',
  steps: readonly TransferStep[],
): Promise<Transfer> {
  let now = transfer
  for (const step of steps) {
    if (isFinalTransfer(now)) break
    now = (await world.commit(onBehalfOf(actor, stepTransfer(world, now, step, { by: 'caller' })))).transfer
  }
  return endedAs(end, 'transfer', now)
}

function endedAs<Row extends { status: string }>(end: Row['status'], noun: string, row: Row): Row {
  if (row.status === end) return row
  return refuse('already_final', {
    message: `This ${noun} is ${row.status} already; a final state never changes.`,
  })
}
