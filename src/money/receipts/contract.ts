import { Type as T } from 'typebox'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { Fields, Id } from '../../http/schema.ts'
import { receiptLanguages } from './page.ts'

export const receiptQuery = Fields({
  lang: T.Optional(
    T.Enum(receiptLanguages, {
      description: 'The language: pt (Brazilian Portuguese) or en; pt when absent',
      examples: ['pt'],
    }),
  ),
})

/** Printing costs CPU time on a node that moves money. */
const PER_MINUTE = 60

const about = (ended: string) =>
  `A PDF of one page, with masked documents and times of São Paulo. It exists once the ${ended}; until then the call returns \`receipt_not_available\`. The same order gives the same bytes, unless the customer’s name was changed: send \`ETag\` of the last response as \`If-None-Match\`, and 304 says that it is unchanged. A sandbox receipt says that it has no value.`

export const getPayoutReceipt = endpoint({
  name: 'pix.payouts.receipt',
  route: 'GET /v1/pix/payouts/{payout_id}/receipt',
  summary: 'Download the receipt (comprovante) of a payout',
  description: about('payout is completed'),
  scopes: { any: ['read', 'payouts'] },
  params: T.Object({ payout_id: Id('payout') }),
  query: receiptQuery,
  reply: { status: 200, file: 'application/pdf' },
  errors: ['payout_not_found', 'receipt_not_available'],
  limit_per_minute: PER_MINUTE,
})

export const getTransferReceipt = endpoint({
  name: 'onchain.transfers.receipt',
  route: 'GET /v1/onchain/transfers/{transfer_id}/receipt',
  summary: 'Download the receipt of a transfer',
  description: about('transfer is confirmed'),
  scopes: { any: ['read', 'transfers'] },
  params: T.Object({ transfer_id: Id('transfer') }),
  query: receiptQuery,
  reply: { status: 200, file: 'application/pdf' },
  errors: ['transfer_not_found', 'receipt_not_available'],
  limit_per_minute: PER_MINUTE,
})

export const receiptEndpoints = {
  payouts: [getPayoutReceipt],
  transfers: [getTransferReceipt],
} as const satisfies Record<string, readonly Endpoint[]>
