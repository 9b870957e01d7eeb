import type { SentPayment } from './bank.ts'

/**
 * The bodies of Stark Bank, in the fields of its SDKs (github.com/starkbank/sdk-python: starkbank/transfer/__transfer.py,
 * starkbank/transfer/metadata/__metadata.py; github.com/starkbank/sdk-node: sdk/balance/balance.js, sdk/dictKey/dictKey.js;
 * github.com/starkinfra/core-node: starkcore/utils/rest.js, starkcore/error.js). Read in November 2026; no live account was asked.
 */
export type TransferOrder = {
  readonly amount: number
  readonly name: string
  readonly taxId: string
  readonly bankCode: string
  readonly branchCode: string
  readonly accountNumber: string
  readonly accountType: string
  readonly externalId: string
  readonly tags: readonly string[]
  readonly description?: string
}

/** The examples of those files: an end-to-end id, ids of transfers, and the states that they name. */
export const examples = {
  authentication: 'E200181832023031715008Scr7tD63TS',
  id: '5656565656565656',
  states: ['created', 'processing', 'success', 'failed', 'canceled'],
} as const

/** Assumed: `metadata` is there once the transfer succeeded. */
export function transferAnswer(payment: SentPayment, number: number) {
  const order = payment.order as TransferOrder
  const { end } = payment
  const status = typeof end === 'string' ? (end === 'settled' ? 'success' : 'processing') : end.refused
  return {
    ...order,
    id: String(5_656_565_656_560_000 + number),
    fee: 0,
    transactionIds: [String(19_827_356_981_000 + number)],
    status,
    created: new Date(payment.taken_at).toISOString().replace('Z', '000+00:00'),
    updated: new Date(payment.taken_at).toISOString().replace('Z', '000+00:00'),
    ...(end === 'settled' ? { metadata: { authentication: payment.end_to_end_id } } : {}),
  }
}

export const balanceAnswer = (available: bigint) => ({
  cursor: null,
  balances: [
    { ...{ id: examples.id, amount: Number(available), currency: 'BRL' }, updated: new Date().toISOString() },
  ],
})

/** A CPF is masked there. */
export const dictKeyAnswer = (id: string, document: string) => ({
  key: {
    ...{ id, type: 'email', name: 'Ana Souza', ownerType: 'naturalPerson', status: 'registered' },
    ...{ bankName: 'Banco', ispb: '60701190', branchCode: '0001', accountNumber: `k-${id}` },
    accountType: 'checking',
    taxId: document.length === 11 ? `***.${document.slice(3, 6)}.${document.slice(6, 9)}-**` : document,
  },
})

export const errorsAnswer = (code: string) => ({ errors: [{ code, message: 'x' }] })
