import { maskDocument } from '../../../core/document.ts'
import { renderPayout } from '../../../money/pix/contract.ts'
import { stepsOfPayout } from '../../../money/pix/exchanges.ts'
import { findPayout } from '../../../money/pix/payouts.ts'
import { claimOfPayout } from '../../../money/pix/settle.ts'
import { countOpenPayouts, isLatePayout, type Payout, payoutList } from '../../../money/pix/store.ts'
import { findPayoutReceipt } from '../../../money/receipts/receipts.ts'
import { receiptFile } from '../../../money/receipts/routes.ts'
import type { ActEntry } from '../../../records/acts/line.ts'
import { completePayout, failPayout } from '../../sandbox/rails.ts'
import { actWithMoney } from '../act.ts'
import { type Column, decimalOf, metadataCell } from '../csv.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import { silentSince } from '../lists.ts'
import type { ConsoleParts } from '../parts.ts'
import { redeliverObject } from '../redeliver.ts'
import * as contract from './contract.ts'
import {
  exportOrders,
  listOrders,
  type Orders,
  orderPage,
  sentMetadata,
  totalOrders,
  type WithCustomer,
} from './orders.ts'

export const payoutRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(contract.listPayoutsInConsole, (call) =>
    listOrders(payouts, contract.listPayoutsInConsole, call, (row) => ({ payout: renderPayout(row) })),
  ),

  answer(contract.exportPayouts, (call) => exportOrders(parts, payouts, contract.exportPayouts, call)),

  answer(contract.totalPayouts, (call) => totalOrders(payouts, call)),

  answer(contract.getPayoutInConsole, async ({ world, actor, params }) => {
    const payout = await findPayout({ ...world, db: world.reads }, actor, params.payout_id)
    const page = await orderPage(world, payout, {
      route: 'POST /v1/pix/payouts',
      body: requestOf(payout),
      claim: claimOfPayout(payout),
      name: payout.end_to_end_id,
      isLate: isLatePayout(payout, silentSince(world)),
      stepsIn: (db) => stepsOfPayout(db, payout),
    })
    return { payout: renderPayout(payout), send_id: payout.send_id, ...page }
  }),

  answer(contract.getPayoutReceiptInConsole, async ({ world, actor, params, query }) => {
    const asked = { id: params.payout_id, language: query.lang ?? 'pt' } as const
    const receipt = await findPayoutReceipt({ ...world, db: world.reads }, actor, asked)
    return receiptFile(parts.runtimes[world.environment].receipts, actor, receipt)
  }),

  answer(contract.redeliverPayout, async ({ world, actor, params }) => {
    const { id } = await findPayout(world, actor, params.payout_id)
    return redeliverObject(parts, { world, actor }, id)
  }),

  // Sandbox only, like the next one: the user decides the outcome that the simulated rail would report.
  answer(contract.completePayoutInConsole, async ({ world, actor, params }) => {
    const entry: ActEntry = {
      action: 'complete_payout',
      object_id: params.payout_id,
      before: null,
      after: null,
    }
    const complete = (here: typeof world) => completePayout(here, actor, params.payout_id)
    return renderPayout(await actWithMoney(parts.office, actor, world, complete, entry))
  }),

  answer(contract.failPayoutInConsole, async ({ world, actor, params }) => {
    const entry: ActEntry = { action: 'fail_payout', object_id: params.payout_id, before: null, after: null }
    const fail = (here: typeof world) => failPayout(here, actor, params.payout_id)
    return renderPayout(await actWithMoney(parts.office, actor, world, fail, entry))
  }),
]

/** The body of the request that created the payout, rebuilt from the payout's row. The document is masked. */
function requestOf({ customer_id, amount, counterparty, description, idempotency_key, metadata }: Payout) {
  const { document, name, ...to } = counterparty
  return {
    customer_id,
    amount: amount.toString(),
    counterparty: to.type === 'pix_key' ? to : { ...to, name, document: maskDocument(document) },
    ...(description === null ? {} : { description }),
    idempotency_key,
    ...sentMetadata(metadata),
  }
}

const columns: readonly Column<WithCustomer<Payout>>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'created_at', cell: ({ created_at }) => created_at.toISOString() },
  { name: 'status', cell: ({ status }) => status },
  { name: 'customer_id', cell: ({ customer_id }) => customer_id },
  { name: 'customer_name', cell: ({ customer }) => customer.name },
  { name: 'asset', cell: () => 'BRL' },
  { name: 'amount', cell: ({ amount }) => ({ number: amount.toString() }) },
  { name: 'amount_decimal', cell: ({ amount }) => decimalOf('BRL', amount) },
  { name: 'fee', cell: ({ fee }) => ({ number: fee.toString() }) },
  { name: 'fee_decimal', cell: ({ fee }) => decimalOf('BRL', fee) },
  { name: 'to_name', cell: ({ counterparty }) => counterparty.name },
  { name: 'to_document', cell: ({ counterparty }) => maskDocument(counterparty.document) },
  { name: 'to', cell: ({ counterparty }) => destinationOf(counterparty) },
  { name: 'description', cell: ({ description }) => description },
  { name: 'idempotency_key', cell: ({ idempotency_key }) => idempotency_key },
  { name: 'end_to_end_id', cell: ({ end_to_end_id }) => end_to_end_id },
  { name: 'failure_code', cell: ({ failure_code }) => failure_code },
  { name: 'rail_code', cell: ({ rail_code }) => rail_code },
  { name: 'ended_at', cell: ({ completed_at }) => completed_at?.toISOString() ?? null },
  {
    name: 'amount_returned',
    cell: ({ amount_returned }) => ({ number: amount_returned.toString() }),
  },
  { name: 'metadata', cell: ({ metadata }) => metadataCell(metadata) },
]

const destinationOf = (to: Payout['counterparty']): string =>
  to.type === 'pix_key' ? to.pix_key : `${to.ispb} ${to.branch} ${to.account_number}`

const payouts: Orders<Payout, { readonly end_to_end_id?: string }> = {
  noun: 'payouts',
  prefix: 'po',
  source: payoutList,
  filters: ({ end_to_end_id }) => ({ end_to_end_id }),
  columns,
  totals: {
    group: ['status'],
    sums: ['amount'],
    as: ({ status, amount }) => ({ status: String(status), asset: 'BRL', amount: String(amount) }),
  },
  isLate: isLatePayout,
  countOpen: countOpenPayouts,
}
