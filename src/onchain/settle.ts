import { refuse } from '../core/errors.ts'
import { eventWrite } from '../events/events.ts'
import { customerAccount, externalAccount, inTransitAccount, networkFeesAccount } from '../ledger/accounts.ts'
import type { Claim, Command, Decision } from '../ledger/command.ts'
import type { SignedTransaction } from '../rails/chain/rail.ts'
import type { World } from '../world.ts'
import { type FailureCode, failureMessages, renderTransfer } from './contract.ts'
import { type Transfer, transferRows, updateTransfers } from './store.ts'
import { OPERATION } from './transfers.ts'

/** A step of a transfer's life. Each is taken once; telling it again changes nothing. */
export type Step =
  | ({ readonly kind: 'signed' } & SignedTransaction)
  /** Before anything was signed: nothing can have left. Of no weight once there is a signature, whoever says it. */
  | { readonly kind: 'refused'; readonly rail_code: string }
  | { readonly kind: 'broadcast' }
  | { readonly kind: 'confirmed' }
  /** The chain's own word about what was broadcast. */
  | { readonly kind: 'failed'; readonly rail_code: string }

export type Stepped = { readonly transfer: Transfer; readonly changed: boolean }

export function stepTransfer(world: World, transfer: Transfer, step: Step): Command<Stepped> {
  const { id, partner_id, customer_id, asset } = transfer
  const claim: Claim = {
    scope: transfer.api_key_id,
    operation: OPERATION,
    key: transfer.idempotency_key,
    fingerprint: '',
  }
  const ends = step.kind === 'confirmed' || step.kind === 'failed' || step.kind === 'refused'
  return {
    partner_id,
    locks: {
      ...(ends ? { claim, accounts: [{ customer_id, asset }] } : {}),
      rows: [{ source: transferRows, id }],
    },
    decide(held): Decision<Stepped> {
      const before = held.row(transferRows, id) ?? refuse('service_unavailable')
      const after = afterStep(before, step, held.now)
      if (!after) return { result: { transfer: before, changed: false } }
      const claimed = ends ? held.claimed(claim) : undefined
      const told = after.status === before.status ? undefined : after.status
      return {
        movements: ends ? [movementOf(after)] : [],
        writes: [
          { target: updateTransfers, row: after },
          ...(told && told !== 'pending'
            ? [
                eventWrite(
                  world,
                  {
                    partner_id,
                    type: `onchain.transfer.${told}`,
                    object: renderTransfer(after),
                    sequence: after.sequence,
                  },
                  held.now,
                ),
              ]
            : []),
        ],
        ...(claimed ? { claims: { ...claimed, final: true } } : {}),
        result: { transfer: after, changed: true },
      }
    },
  }
}

/** The transfer after the step; undefined when it was taken before, or cannot be taken any more. */
function afterStep(before: Transfer, step: Step, now: Date): Transfer | undefined {
  if (before.status === 'confirmed' || before.status === 'failed') return undefined
  switch (step.kind) {
    case 'signed':
      return before.tx_hash === null
        ? { ...before, tx_hash: step.tx_hash, signed_transaction: step.signed }
        : undefined
    case 'broadcast':
      return before.status === 'pending' && before.tx_hash !== null
        ? { ...before, status: 'processing', sequence: before.sequence + 1 }
        : undefined
    case 'confirmed':
      return before.status === 'processing'
        ? { ...before, status: 'confirmed', sequence: before.sequence + 1, completed_at: now }
        : undefined
    case 'refused':
      return before.tx_hash === null
        ? failedWith(before, step.rail_code, 'refused_before_broadcast', now)
        : undefined
    case 'failed':
      return before.status === 'processing' ? failedWith(before, step.rail_code, 'reverted', now) : undefined
  }
}

function failedWith(before: Transfer, rail_code: string, otherwise: FailureCode, now: Date): Transfer {
  const known = Object.hasOwn(failureMessages, rail_code)
  return {
    ...before,
    status: 'failed',
    failure_code: known ? (rail_code as FailureCode) : otherwise,
    rail_code,
    sequence: before.sequence + 1,
    completed_at: now,
  }
}

function movementOf({ id, partner_id, customer_id, asset, network, amount_net, fee, status }: Transfer) {
  const gross = amount_net + fee
  const transit = { account: inTransitAccount(network, customer_id), asset, amount: -gross }
  return status === 'confirmed'
    ? {
        cause_id: id,
        name: 'completed' as const,
        partner_id,
        lines: [
          transit,
          { account: externalAccount(network), asset, amount: amount_net },
          { account: networkFeesAccount, asset, amount: fee },
        ],
      }
    : {
        cause_id: id,
        name: 'returned' as const,
        partner_id,
        lines: [transit, { account: customerAccount(customer_id), asset, amount: gross }],
      }
}
