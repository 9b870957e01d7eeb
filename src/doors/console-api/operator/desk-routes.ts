import { act } from '../../../control/operator/act.ts'
import type { Looks } from '../../../control/operator/looks.ts'
import { openResolutions, type Proposal } from '../../../control/operator/store.ts'
import { maskDocument } from '../../../core/document.ts'
import { refuse } from '../../../core/errors.ts'
import { networks } from '../../../core/networks.ts'
import { countOpen, overdue } from '../../../db/due.ts'
import type { Db } from '../../../db/pool.ts'
import { isFinalTransfer, type Transfer, transferById } from '../../../money/onchain/store.ts'
import { attemptsOf, type StoredAttempt } from '../../../money/onchain/transactions.ts'
import { stepsOfPayout } from '../../../money/pix/exchanges.ts'
import { RAIL } from '../../../money/pix/settle.ts'
import { type Payout, payoutById } from '../../../money/pix/store.ts'
import { customerById } from '../../../parties/customers/store.ts'
import { partnerById } from '../../../parties/partners/store.ts'
import { newestResolutions } from '../../../records/desk/resolutions.ts'
import { listExceptions } from '../../../records/exceptions/exceptions.ts'
import { type Exception, exceptionsAbout } from '../../../records/exceptions/store.ts'
import { type RailStep, stepsOf } from '../../../records/steps/store.ts'
import type { World } from '../../../world.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import {
  cancelByOperator,
  closeExceptionByOperator,
  getDeskItem,
  listDesk,
  listExceptionsForOperator,
  resolveByHand,
} from './desk-contract.ts'
import { factsOf, renderActed } from './shared-schemas.ts'

/** The same as on the command line; `overdueOrders` uses `stuck_after_ms` if that is shorter. */
const DESK_AFTER_MS = 60_000
const RESOLVED = 50

export const deskRoutes = ({ office }: ConsoleParts, looks: Looks): ConsoleHandler[] => [
  answer(listDesk, async ({ world, actor }) => ({
    open: await openItems(world, actor.email),
    under_way: await underWay(world),
    resolved: (await newestResolutions(world.reads, RESOLVED)).map(
      ({ resource_id, resolved_at, ...one }) => ({
        id: resource_id,
        kind: kindOf(resource_id),
        ...one,
        resolved_at: resolved_at.toISOString(),
      }),
    ),
  })),

  answer(getDeskItem, async ({ world, actor, params }) => {
    const found = await orderOf(world, params.id)
    const [proposal] = await openResolutions(world.db, [params.id])
    const [steps, exceptions, transactions] = await Promise.all([
      stepsAbout(world.reads, found),
      exceptionsAbout(world.reads, params.id),
      attemptsOf(world.reads, params.id),
    ])
    const { id: object_id, partner_id } = found
    await looks.note(world, actor, { object_id, partner_id, what: kindOf(object_id) })
    return {
      item: await itemOf(world, found, { proposal, email: actor.email }),
      ...detailsOf(found),
      transactions: transactions.map(renderTransaction),
      steps: steps.map(renderStep),
      exceptions: exceptions.map(renderException),
    }
  }),

  answer(resolveByHand, async ({ actor, world, params, body }) => {
    const found = await orderOf(world, params.id)
    const { environment } = world
    const { paid, end_to_end_id, evidence, despite_acceptance = false, rehearsed = false } = body
    if ('send_id' in found) {
      if (paid && end_to_end_id === undefined)
        refuse('invalid_request', {
          param: 'end_to_end_id',
          message: 'A payout that was paid has an end-to-end id: give it, as the statement names it.',
        })
      const details = {
        payout_id: found.id,
        outcome: paid ? 'completed' : 'failed',
        evidence,
        ...(paid ? { end_to_end_id: end_to_end_id! } : {}),
        ...(despite_acceptance ? { despite_acceptance } : {}),
      } as const
      return renderActed(
        await act(office, actor, { name: 'resolve_payout', environment, rehearsed, details }),
      )
    }
    const details = { transfer_id: found.id, outcome: paid ? 'confirmed' : 'failed', evidence } as const
    return renderActed(
      await act(office, actor, { name: 'resolve_transfer', environment, rehearsed, details }),
    )
  }),

  answer(cancelByOperator, async ({ actor, world, params, body }) => {
    const { environment } = world
    const { reason, rehearsed = false } = body
    const details = { transfer_id: params.id, reason }
    return renderActed(await act(office, actor, { name: 'cancel_transfer', environment, rehearsed, details }))
  }),

  answer(listExceptionsForOperator, async ({ world, query }) => {
    const found = await listExceptions({ ...world, db: world.reads }, { closed_too: query.closed === 'true' })
    return { data: found.map(renderException) }
  }),

  answer(closeExceptionByOperator, async ({ actor, world, params, body }) => {
    const { environment } = world
    const details = { exception_id: params.exception_id, reason: body.reason }
    return renderActed(await act(office, actor, { name: 'close_exception', environment, details }))
  }),
]

type Order = Payout | Transfer

const kindOf = (id: string): 'payout' | 'transfer' => (id.startsWith('po_') ? 'payout' : 'transfer')

/** Payouts and transfers that are open for too long, oldest first. */
async function overdueOrders(world: World): Promise<Order[]> {
  const after_ms = Math.min(DESK_AFTER_MS, world.stuck_after_ms)
  const [payouts, transfers] = await Promise.all([
    overdue<Payout>(world.reads, 'payouts', after_ms),
    overdue<Transfer>(world.reads, 'transfers', after_ms),
  ])
  const now = world.clock.now()
  // Transfers get the extra time of their network.
  const late = transfers.filter(
    ({ network, created_at }) => now - created_at.getTime() > after_ms + networks[network].patience_ms,
  )
  return [...payouts, ...late].sort((a, b) => a.created_at.getTime() - b.created_at.getTime())
}

/** How many payouts and transfers are open on each rail, late or not. */
async function underWay({ reads }: World): Promise<{ rail: string; count: number }[]> {
  const counts = await Promise.all([
    countOpen(reads, 'payouts', `'${RAIL}'`),
    countOpen(reads, 'transfers', 'network'),
  ])
  const rails = new Map<string, number>()
  for (const { rail, count } of counts.flat()) rails.set(rail, (rails.get(rail) ?? 0) + count)
  return [...rails].map(([rail, count]) => ({ rail, count }))
}

export async function openItems(world: World, email: string) {
  const orders = await overdueOrders(world)
  const proposals = await openResolutions(
    world.db,
    orders.map(({ id }) => id),
  )
  const about = new Map(proposals.map((proposal) => [resourceOf(proposal), proposal]))
  return Promise.all(orders.map((order) => itemOf(world, order, { proposal: about.get(order.id), email })))
}

async function orderOf(world: World, id: string): Promise<Order> {
  if (kindOf(id) === 'payout') return (await payoutById(world.db, id)) ?? refuse('payout_not_found')
  return (await transferById(world.db, id)) ?? refuse('transfer_not_found')
}

const stepsAbout = (db: Db, order: Order): Promise<RailStep[]> =>
  'send_id' in order ? stepsOfPayout(db, order) : stepsOf(db, order.id)

async function itemOf(
  world: World,
  order: Order,
  { proposal, email }: { proposal: Proposal | undefined; email: string },
) {
  const customer = await customerById(world.db, order.customer_id)
  const partner = await partnerById(world.db, order.partner_id)
  const steps = await stepsAbout(world.reads, order)
  const [rail, asset, amount] =
    'send_id' in order
      ? ([RAIL, 'BRL', order.amount] as const)
      : ([order.network, order.asset, order.amount_net] as const)
  return {
    id: order.id,
    kind: kindOf(order.id),
    rail,
    partner: { id: partner.id, name: partner.name },
    customer: { id: order.customer_id, name: customer?.name ?? order.customer_id },
    to: recipientOf(order),
    asset,
    in_transit: (amount + order.fee).toString(),
    status: order.status,
    created_at: order.created_at.toISOString(),
    asked: steps.reduce((sum, { kind, times }) => sum + (kind === 'asked' ? times : 0), 0),
    next_at: order.next_attempt_at.toISOString(),
    last_word: lastWord(steps),
    accepted_at: ('send_id' in order ? order.accepted_at : null)?.toISOString() ?? null,
    proposal: proposal ? renderWaiting(proposal, email) : null,
  }
}

/** The details of a proposal that holds a payout or transfer. One that cancels a transfer has a reason, and no outcome. */
type Resolution = {
  payout_id?: string
  transfer_id?: string
  outcome?: 'completed' | 'confirmed' | 'failed'
  evidence?: string
  reason?: string
  end_to_end_id?: string
  despite_acceptance?: boolean
}

function resourceOf({ details }: Proposal): string {
  const { payout_id, transfer_id } = details as Resolution
  return payout_id ?? transfer_id ?? ''
}

function renderWaiting({ id, details, proposed_by, proposed_at }: Proposal, email: string) {
  const { reason = '', ...resolution } = details as Resolution
  const { outcome = 'canceled' as const, evidence = reason } = resolution
  const { end_to_end_id = null, despite_acceptance = false } = resolution
  return {
    id,
    outcome,
    evidence,
    end_to_end_id,
    despite_acceptance,
    proposed_by,
    proposed_at: proposed_at.toISOString(),
    mine: proposed_by === email,
  }
}

const recipientOf = (order: Order): string =>
  'send_id' in order
    ? `${order.counterparty.name}, ${maskDocument(order.counterparty.document)}`
    : order.destination_address

function detailsOf(order: Order) {
  if ('send_id' in order) {
    const { send_id, end_to_end_id } = order
    return { send_id, end_to_end_id, tx_hash: null, cancel_requested_at: null, cancelable: false }
  }
  const { tx_hash, cancel_requested_at } = order
  return {
    send_id: null,
    end_to_end_id: null,
    tx_hash,
    cancel_requested_at: cancel_requested_at?.toISOString() ?? null,
    cancelable: cancel_requested_at === null && !isFinalTransfer(order),
  }
}

const renderTransaction = ({
  attempt,
  purpose,
  tx_hash,
  terms,
  created_at,
  block_height,
  gas_paid_wei,
}: StoredAttempt) => ({
  attempt,
  purpose,
  tx_hash,
  terms,
  signed_at: created_at.toISOString(),
  block_height: block_height?.toString() ?? null,
  gas_paid_wei: gas_paid_wei?.toString() ?? null,
})

const renderStep = ({ kind, by, said, at, last_at, times }: RailStep) => ({
  kind,
  by,
  said,
  at: at.toISOString(),
  last_at: last_at.toISOString(),
  times,
})

/** The last answer of the rail, if there was one. */
const lastWord = (steps: readonly RailStep[]): string | null =>
  steps.findLast(({ said, by, kind }) => said !== null || by === 'rail' || kind === 'asked')?.said ?? null

const renderException = ({ details, opened_at, closed_at, ...exception }: Exception) => ({
  ...exception,
  details: factsOf(details),
  opened_at: opened_at.toISOString(),
  closed_at: closed_at?.toISOString() ?? null,
})
