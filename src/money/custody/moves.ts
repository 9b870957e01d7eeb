import assert from 'node:assert/strict'
import { refuse } from '../../core/errors.ts'
import type { Money } from '../../core/money.ts'
import { externalAccount } from '../../ledger/accounts.ts'
import { type Claim, type Command, writeTo } from '../../ledger/command.ts'
import { type Referenced, underReference } from '../../ledger/once.ts'
import type { World } from '../../world.ts'
import { assetOfRail } from './controls.ts'
import { type CustodyMove, insertMoves } from './store.ts'

/**
 * Books that operators moved money between their own account and a rail. The money itself moves outside the service: a custody move
 * tells the ledger where it is.
 */
export type MoveOrder = Pick<CustodyMove, 'rail' | 'direction' | 'reason' | 'reference'> & {
  readonly money: Money
}

export function moveCustody(world: World, order: MoveOrder): Command<Referenced> {
  const { rail, direction, money, reason, reference } = order
  const carried = assetOfRail(rail)
  if (carried !== money.asset)
    refuse('unsupported_network', { message: `${rail} carries ${carried}, not ${money.asset}.` })
  const claim: Claim = {
    scope: 'operator',
    operation: 'custody move',
    key: reference,
    fingerprint: JSON.stringify([rail, direction, money.asset, money.units.toString(), reason]),
  }
  return underReference(booking(world, order), claim)
}

function booking(
  world: World,
  { rail, direction, money, reason, reference }: MoveOrder,
): Command<CustodyMove> {
  const { asset, units } = money
  assert(units > 0n, 'a custody move moves something')
  const id = world.newId('custody_move')
  const operator = externalAccount('operator')
  const [from, to] =
    direction === 'to_rail' ? [operator, externalAccount(rail)] : [externalAccount(rail), operator]
  return {
    partner_id: NO_PARTNER,
    locks: {},
    decide(held) {
      const made: CustodyMove = {
        id,
        rail,
        asset,
        direction,
        amount: units,
        reason,
        reference,
        created_at: held.now,
      }
      return {
        movements: [
          {
            cause_id: id,
            name: 'moved',
            partner_id: NO_PARTNER,
            // What an outside account holds is the negative of its sum.
            lines: [
              { account: from, asset, amount: units },
              { account: to, asset, amount: -units },
            ],
          },
        ],
        writes: [writeTo(insertMoves, made)],
        result: made,
      }
    },
  }
}

/** Custody moves belong to no partner. */
const NO_PARTNER = ''
