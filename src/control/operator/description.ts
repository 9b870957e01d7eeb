import { maskDocument } from '../../core/document.ts'
import { type Asset, formatMoney, money } from '../../core/money.ts'
import { reversalOf } from '../../money/adjustments/store.ts'
import { selectControls } from '../../money/custody/controls-store.ts'
import { depositById } from '../../money/deposits/store.ts'
import { transferById } from '../../money/onchain/store.ts'
import { payoutById } from '../../money/pix/store.ts'
import { customerById } from '../../parties/customers/store.ts'
import { partnerById } from '../../parties/partners/store.ts'
import { openExceptionOf } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import type { MoneyAction } from './actions.ts'
import { type PeopleAction, peopleChanges } from './people.ts'
import type { Proposable, Proposal, ProposalEnd } from './store.ts'

/** Everything that an operator must see before deciding on a proposal. */
export type Described = Proposal & {
  readonly state: 'open' | 'approved' | ProposalEnd
  /** One sentence: what an approval brings about. */
  readonly what: string
  readonly partner: { readonly id: string; readonly name: string } | null
  readonly customer: {
    readonly id: string
    readonly name: string
    /** Masked. */
    readonly document: string
    readonly status: string
  } | null
  readonly asset: Asset | null
  readonly amount: bigint | null
  /** Formatted for people. */
  readonly amount_text: string | null
  /** The reason of a booking, or the evidence of a resolution. */
  readonly reason: string
  readonly reference: string | null
}

type Subject = {
  readonly what: string
  readonly partner_id: string | null
  readonly customer_id: string | null
  readonly money: { readonly asset: Asset; readonly units: bigint } | null
}

export async function describeProposal(world: World, proposal: Proposal): Promise<Described> {
  const asked = { name: proposal.action, details: proposal.details } as Proposable
  return isAboutPeople(asked) ? describePerson(proposal, asked) : describeMoney(world, proposal, asked)
}

const stateOf = ({ ended, approved_by }: Proposal): Described['state'] =>
  ended ?? (approved_by === null ? 'open' : 'approved')

const isAboutPeople = (action: Proposable): action is PeopleAction => action.name in peopleChanges

function describePerson(proposal: Proposal, action: PeopleAction): Described {
  const nothing = { partner: null, customer: null, asset: null, amount: null, amount_text: null }
  const what = whatOf(action)
  return { ...proposal, state: stateOf(proposal), what, ...nothing, reason: '', reference: null }
}

function whatOf({ name, details }: PeopleAction): string {
  switch (name) {
    case 'create_user':
      return `Make ${details.email} ${details.partner_id === null ? 'an operator' : `a user of ${details.partner_id}`} with the role ${details.role}; the password is shown to whoever approves`
    case 'reset_password':
      return `Give ${details.email} a new password, shown to whoever approves`
    case 'set_role':
      return `Give ${details.email} the role ${details.role}`
    case 'reset_factor':
      return `Take the second factor of ${details.email} away`
    case 'remove_user':
      return `Remove ${details.email}`
  }
}

async function describeMoney(world: World, proposal: Proposal, action: MoneyAction): Promise<Described> {
  const subject = await subjectOf(world, action)
  const customer =
    subject.customer_id === null ? undefined : await customerById(world.db, subject.customer_id)
  const partner_id = subject.partner_id ?? customer?.partner_id
  const partner = partner_id === undefined ? undefined : await partnerById(world.db, partner_id)
  const { details } = action
  return {
    ...proposal,
    state: stateOf(proposal),
    what: subject.what,
    partner: partner ? { id: partner.id, name: partner.name } : null,
    customer: customer
      ? {
          id: customer.id,
          name: customer.name,
          document: maskDocument(customer.document),
          status: customer.status,
        }
      : null,
    asset: subject.money?.asset ?? null,
    amount: subject.money?.units ?? null,
    amount_text: subject.money ? formatMoney(subject.money) : null,
    reason: 'evidence' in details ? details.evidence : details.reason,
    reference: 'reference' in details ? details.reference : null,
  }
}

function subjectOf(world: World, action: MoneyAction): Promise<Subject> | Subject {
  switch (action.name) {
    case 'credit':
    case 'debit': {
      const { partner_id, customer_id, asset, amount } = action.details
      const booked = money(asset, BigInt(amount))
      const [verb, to] = action.name === 'credit' ? ['Credit', 'to'] : ['Debit', 'from']
      const what = `${verb} ${formatMoney(booked)} ${to} ${customer_id}`
      return { what, partner_id, customer_id, money: booked }
    }
    case 'pay_fees': {
      const { partner_id, customer_id, asset, amount } = action.details
      const paid = money(asset, BigInt(amount))
      const where = customer_id === null ? 'outside' : `to ${customer_id}`
      return {
        what: `Pay ${partner_id} ${formatMoney(paid)} of its fees, ${where}`,
        partner_id,
        customer_id,
        money: paid,
      }
    }
    case 'move_custody': {
      const { rail, direction, asset, amount } = action.details
      const moved = money(asset, BigInt(amount))
      const way =
        direction === 'to_rail'
          ? `from the operator's account to ${rail}`
          : `from ${rail} to the operator's account`
      return { what: `Book ${formatMoney(moved)} ${way}`, partner_id: null, customer_id: null, money: moved }
    }
    case 'reverse_credit':
      return reversal(world, action.details.deposit_id)
    case 'resolve_payout':
      return payoutEnd(world, action.details)
    case 'resolve_transfer':
      return transferEnd(world, action.details)
    case 'resume_rail':
      return resume(world, action.details)
    case 'cancel_transfer':
      return transferCancel(world, action.details.transfer_id)
  }
}

const unknown = (what: string): Subject => ({ what, partner_id: null, customer_id: null, money: null })

async function resume(
  world: World,
  { rail, paused_at: expected }: Extract<MoneyAction, { name: 'resume_rail' }>['details'],
): Promise<Subject> {
  const control = (await selectControls(world.db)).find((one) => one.rail === rail)
  if (!control?.paused_at) return unknown(`Resume the rail ${rail}, which is not paused`)
  const { paused_at, paused_by, paused_reason } = control
  const since = `paused at ${paused_at.toISOString()} by ${paused_by} ("${paused_reason}")`
  if (expected !== undefined && expected !== paused_at.toISOString())
    return unknown(`Resume the rail ${rail}, which was resumed meanwhile and is ${since} now`)
  const foreign = await openExceptionOf(world.db, { kind: 'foreign_transactions', rail })
  const danger = foreign
    ? `. ${foreign.details.problem} Look up each of them first: an open transfer that one of them paid is paid again`
    : ''
  return unknown(
    `Resume the rail ${rail}, ${since}: what waits on it is sent, and new orders are accepted${danger}`,
  )
}

async function reversal(world: World, deposit_id: string): Promise<Subject> {
  const deposit = await depositById(world.db, deposit_id)
  if (!deposit) return unknown(`Reverse the credit ${deposit_id}, which does not exist`)
  const { partner_id, customer_id, created_at, reason } = deposit
  const before = await reversalOf(world.db, deposit_id)
  const given = money(deposit.asset, deposit.amount)
  const made = `made ${created_at.toISOString()}${reason === null ? '' : ` for "${reason}"`}`
  const what = `Reverse the credit ${deposit_id} of ${formatMoney(given)} to ${customer_id}, ${made}`
  return { what: before ? `${what}; reversed by ${before}` : what, partner_id, customer_id, money: given }
}

async function payoutEnd(
  world: World,
  details: Extract<MoneyAction, { name: 'resolve_payout' }>['details'],
): Promise<Subject> {
  const { payout_id, outcome, end_to_end_id, despite_acceptance } = details
  const payout = await payoutById(world.db, payout_id)
  if (!payout) return unknown(`Set the payout ${payout_id} to ${outcome}, which does not exist`)
  const { partner_id, customer_id, amount, fee, status, send_id, counterparty, accepted_at } = payout
  const although = despite_acceptance
    ? `, although the network accepted it at ${accepted_at?.toISOString()}`
    : ''
  const gross = money('BRL', amount + fee)
  const does =
    outcome === 'completed'
      ? `it was paid as ${end_to_end_id}`
      : `${formatMoney(gross)} go back to ${customer_id}${although}`
  const what = `Set the payout ${payout_id} (${status}, sent as ${send_id} to ${counterparty.name}, ${maskDocument(counterparty.document)}) to ${outcome}: ${does}`
  return { what, partner_id, customer_id, money: gross }
}

async function transferEnd(
  world: World,
  { transfer_id, outcome }: Extract<MoneyAction, { name: 'resolve_transfer' }>['details'],
): Promise<Subject> {
  const transfer = await transferById(world.db, transfer_id)
  if (!transfer) return unknown(`Set the transfer ${transfer_id} to ${outcome}, which does not exist`)
  const { partner_id, customer_id, asset, amount_net, fee, status, network, destination_address, tx_hash } =
    transfer
  const gross = money(asset, amount_net + fee)
  const does =
    outcome === 'confirmed' ? `it was paid by ${tx_hash}` : `${formatMoney(gross)} go back to ${customer_id}`
  const what = `Set the transfer ${transfer_id} (${status}, on ${network} to ${destination_address}) to ${outcome}: ${does}`
  return { what, partner_id, customer_id, money: gross }
}

async function transferCancel(world: World, transfer_id: string): Promise<Subject> {
  const transfer = await transferById(world.db, transfer_id)
  if (!transfer) return unknown(`Cancel the transfer ${transfer_id}, which does not exist`)
  const { partner_id, customer_id, asset, amount_net, fee, status, network, destination_address } = transfer
  const gross = money(asset, amount_net + fee)
  const does =
    transfer.nonce === null
      ? `nothing was signed, and ${formatMoney(gross)} go back to ${customer_id}`
      : `a transaction that pays nobody takes its nonce; ${formatMoney(gross)} go back to ${customer_id} unless the payment is mined first`
  const what = `Cancel the transfer ${transfer_id} (${status}, on ${network} to ${destination_address}): ${does}`
  return { what, partner_id, customer_id, money: gross }
}
