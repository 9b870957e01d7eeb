import { renderTransfer } from '../../../money/onchain/contract.ts'
import {
  countOpenTransfers,
  isLateTransfer,
  type Transfer,
  transferList,
} from '../../../money/onchain/store.ts'
import { findTransfer, TRANSFER_OPERATION } from '../../../money/onchain/transfers.ts'
import { findTransferReceipt } from '../../../money/receipts/receipts.ts'
import { receiptFile } from '../../../money/receipts/routes.ts'
import type { ActEntry } from '../../../records/acts/line.ts'
import { stepsOf } from '../../../records/steps/store.ts'
import { confirmTransfer, failTransfer } from '../../sandbox/rails.ts'
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

export const transferRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(contract.listTransfersInConsole, (call) =>
    listOrders(transfers, contract.listTransfersInConsole, call, (row) => ({
      transfer: renderTransfer(row),
    })),
  ),

  answer(contract.exportTransfers, (call) => exportOrders(parts, transfers, contract.exportTransfers, call)),

  answer(contract.totalTransfers, (call) => totalOrders(transfers, call)),

  answer(contract.getTransferInConsole, async ({ world, actor, params }) => {
    const transfer = await findTransfer({ ...world, db: world.reads }, actor, params.transfer_id)
    const shown = renderTransfer(transfer)
    const { api_key_id: scope, idempotency_key: key } = transfer
    const page = await orderPage(world, transfer, {
      route: 'POST /v1/onchain/transfers',
      body: requestOf(transfer),
      claim: { scope, operation: TRANSFER_OPERATION, key, fingerprint: '' },
      name: shown.tx_hash,
      isLate: isLateTransfer(transfer, silentSince(world)),
      stepsIn: (db) => stepsOf(db, transfer.id),
    })
    return { transfer: shown, ...page }
  }),

  answer(contract.getTransferReceiptInConsole, async ({ world, actor, params, query }) => {
    const asked = { id: params.transfer_id, language: query.lang ?? 'pt' } as const
    const receipt = await findTransferReceipt({ ...world, db: world.reads }, actor, asked)
    return receiptFile(parts.runtimes[world.environment].receipts, actor, receipt)
  }),

  answer(contract.redeliverTransfer, async ({ world, actor, params }) => {
    const { id } = await findTransfer(world, actor, params.transfer_id)
    return redeliverObject(parts, { world, actor }, id)
  }),

  answer(contract.confirmTransferInConsole, async ({ world, actor, params }) => {
    const entry: ActEntry = {
      action: 'confirm_transfer',
      object_id: params.transfer_id,
      before: null,
      after: null,
    }
    const end = (here: typeof world) => confirmTransfer(here, actor, params.transfer_id)
    return renderTransfer(await actWithMoney(parts.office, actor, world, end, entry))
  }),

  answer(contract.failTransferInConsole, async ({ world, actor, params }) => {
    const entry: ActEntry = {
      action: 'fail_transfer',
      object_id: params.transfer_id,
      before: null,
      after: null,
    }
    const end = (here: typeof world) => failTransfer(here, actor, params.transfer_id)
    return renderTransfer(await actWithMoney(parts.office, actor, world, end, entry))
  }),
]

const requestOf = (transfer: Transfer) => ({
  customer_id: transfer.customer_id,
  asset: transfer.asset,
  network: transfer.network,
  amount: transfer.amount_net.toString(),
  destination_address: transfer.destination_address,
  idempotency_key: transfer.idempotency_key,
  ...sentMetadata(transfer.metadata),
})

const columns: readonly Column<WithCustomer<Transfer>>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'created_at', cell: ({ created_at }) => created_at.toISOString() },
  { name: 'status', cell: ({ status }) => status },
  { name: 'customer_id', cell: ({ customer_id }) => customer_id },
  { name: 'customer_name', cell: ({ customer }) => customer.name },
  { name: 'asset', cell: ({ asset }) => asset },
  { name: 'network', cell: ({ network }) => network },
  { name: 'amount', cell: ({ amount_net }) => ({ number: amount_net.toString() }) },
  { name: 'amount_decimal', cell: ({ asset, amount_net }) => decimalOf(asset, amount_net) },
  { name: 'fee', cell: ({ fee }) => ({ number: fee.toString() }) },
  { name: 'fee_decimal', cell: ({ asset, fee }) => decimalOf(asset, fee) },
  { name: 'destination_address', cell: ({ destination_address }) => destination_address },
  { name: 'tx_hash', cell: (transfer) => renderTransfer(transfer).tx_hash },
  { name: 'idempotency_key', cell: ({ idempotency_key }) => idempotency_key },
  { name: 'failure_code', cell: ({ failure_code }) => failure_code },
  { name: 'rail_code', cell: ({ rail_code }) => rail_code },
  { name: 'ended_at', cell: ({ completed_at }) => completed_at?.toISOString() ?? null },
  { name: 'metadata', cell: ({ metadata }) => metadataCell(metadata) },
]

type OwnQuery = { readonly asset?: string; readonly network?: string; readonly tx_hash?: string }

const transfers: Orders<Transfer, OwnQuery> = {
  noun: 'transfers',
  prefix: 'tr',
  source: transferList,
  filters: ({ asset, network, tx_hash }) => ({
    asset,
    network,
    // Hashes are hexadecimal and stored in lower case.
    tx_hash: tx_hash?.toLowerCase(),
  }),
  columns,
  totals: {
    group: ['status', 'asset'],
    sums: ['amount_net'],
    as: ({ status, asset, amount_net }) => ({
      status: String(status),
      asset: String(asset),
      amount: String(amount_net),
    }),
  },
  isLate: isLateTransfer,
  countOpen: countOpenTransfers,
}
