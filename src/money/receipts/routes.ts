import { type Handler, handle } from '../../http/endpoint.ts'
import { FileReply } from '../../http/file-reply.ts'
import * as contract from './contract.ts'
import type { ReceiptPrinter } from './printer.ts'
import { findPayoutReceipt, findTransferReceipt, type Receipt } from './receipts.ts'

export const receiptsRoutes = (printer: ReceiptPrinter): Handler[] => [
  handle(contract.getPayoutReceipt, async ({ world, actor, params, query }) => {
    const asked = { id: params.payout_id, language: query.lang ?? 'pt' } as const
    return receiptFile(printer, actor, await findPayoutReceipt(world, actor, asked))
  }),

  handle(contract.getTransferReceipt, async ({ world, actor, params, query }) => {
    const asked = { id: params.transfer_id, language: query.lang ?? 'pt' } as const
    return receiptFile(printer, actor, await findTransferReceipt(world, actor, asked))
  }),
]

export const receiptFile = (
  printer: ReceiptPrinter,
  { partner_id }: { readonly partner_id: string },
  { page, filename, etag }: Receipt,
): FileReply =>
  new FileReply({ type: 'application/pdf', filename, etag, read: () => printer.print(partner_id, page) })
