import { createHash } from 'node:crypto'
import type { AnyoneOfPartner } from '../../core/actor.ts'
import { maskDocument } from '../../core/document.ts'
import { refuse } from '../../core/errors.ts'
import { explorerLink, networks } from '../../core/networks.ts'
import { customerById } from '../../parties/customers/store.ts'
import { partnerById } from '../../parties/partners/store.ts'
import type { World } from '../../world.ts'
import type { Transfer } from '../onchain/store.ts'
import { findTransfer } from '../onchain/transfers.ts'
import { findPayout } from '../pix/payouts.ts'
import type { Counterparty, Payout } from '../pix/store.ts'
import { receiptAmount, receiptTime } from './format.ts'
import type { ReceiptLanguage, ReceiptPage, ReceiptRow, ReceiptSection } from './page.ts'
import { maskPixKey } from './pix-key-mask.ts'
import { type ReceiptWords, receiptWords } from './words.ts'

/** A receipt before it is printed. */
export type Receipt = {
  readonly page: ReceiptPage
  readonly filename: string
  /** Identifies the bytes that the page is printed to. */
  readonly etag: string
}

type Asked = { readonly id: string; readonly language: ReceiptLanguage }

/** The receipt of a completed payout. */
export async function findPayoutReceipt(
  world: World,
  actor: AnyoneOfPartner,
  { id, language }: Asked,
): Promise<Receipt> {
  const payout = await findPayout(world, actor, id)
  if (payout.status !== 'completed') refuseReceipt('payout', payout.status)
  return receiptOf(id, payoutPage(payout, await readParties(world, payout), language))
}

/** The receipt of a confirmed transfer. */
export async function findTransferReceipt(
  world: World,
  actor: AnyoneOfPartner,
  { id, language }: Asked,
): Promise<Receipt> {
  const transfer = await findTransfer(world, actor, id)
  if (transfer.status !== 'confirmed') refuseReceipt('transfer', transfer.status)
  return receiptOf(id, transferPage(transfer, await readParties(world, transfer), language))
}

const ends = { payout: 'completed', transfer: 'confirmed' } as const

function refuseReceipt(kind: keyof typeof ends, status: string): never {
  const message =
    status === 'failed'
      ? `This ${kind} failed, and the money was given back: there is no receipt. Read the ${kind} to see why.`
      : `This ${kind} is ${status}: a receipt exists once it is ${ends[kind]}. Wait for the event, then try again.`
  return refuse('receipt_not_available', { message })
}

/** Who pays, and whether money moved: what the row of the order does not say. */
type Parties = {
  readonly payer: { readonly name: string; readonly document: string }
  readonly partner: string
  readonly is_sandbox: boolean
}

async function readParties(
  { db, receipts_have_value }: World,
  { customer_id, partner_id }: { readonly customer_id: string; readonly partner_id: string },
): Promise<Parties> {
  const [customer, partner] = await Promise.all([customerById(db, customer_id), partnerById(db, partner_id)])
  return { payer: customer!, partner: partner.name, is_sandbox: !receipts_have_value }
}

/** Raised when the same page is printed to other bytes: after a change of the layout, a font or the PDF library. */
export const RECEIPT_EDITION = 1

const prefixes: Readonly<Record<ReceiptLanguage, string>> = { pt: 'comprovante', en: 'receipt' }

function receiptOf(id: string, page: ReceiptPage): Receipt {
  const digest = createHash('sha256')
    .update(JSON.stringify([RECEIPT_EDITION, page]))
    .digest('base64url')
  return { page, filename: `${prefixes[page.language]}-${id}.pdf`, etag: `"${digest}"` }
}

/** What both kinds of receipts share. */
function pageOf(
  kind: 'payout' | 'transfer',
  order: Payout | Transfer,
  { partner, is_sandbox }: Parties,
  language: ReceiptLanguage,
) {
  const words = receiptWords[language]
  const { title, status, note, masked } = words[kind]
  const ended_at = order.completed_at!
  return {
    language,
    title,
    partner: words.partner(partner),
    status,
    ended: receiptTime(ended_at, language),
    // In the sandbox nothing was paid or sent.
    notes: [...(is_sandbox ? [] : [note]), masked, words.time_note],
    substitute_note: words.substitute,
    ...(is_sandbox ? { sandbox: words.sandbox } : {}),
    dated: ended_at.toISOString(),
  }
}

export function payoutPage(payout: Payout, parties: Parties, language: ReceiptLanguage): ReceiptPage {
  const words = receiptWords[language]
  const amount = receiptAmount('BRL', payout.amount, language)
  const { end_to_end_id } = payout
  return {
    ...pageOf('payout', payout, parties, language),
    amount,
    sections: [
      { title: words.recipient, rows: recipientRows(payout.counterparty, words) },
      {
        title: words.payer,
        rows: [
          ...personRows(parties.payer, words),
          // An end-to-end id begins with E and the ISPB of the payer's institution.
          { label: words.institution, value: words.ispb(end_to_end_id!.slice(1, 9)) },
        ],
      },
      {
        title: words.payment,
        rows: [
          { label: words.amount, value: amount },
          { label: words.fee, value: receiptAmount('BRL', payout.fee, language) },
          { label: words.total, value: receiptAmount('BRL', payout.amount + payout.fee, language) },
          ...(payout.amount_returned === 0n
            ? []
            : [{ label: words.returned, value: receiptAmount('BRL', payout.amount_returned, language) }]),
          ...(payout.description === null ? [] : [{ label: words.description, value: payout.description }]),
          ...timeRows('payout', payout, language),
          { label: words.end_to_end_id, value: end_to_end_id!, is_code: true },
        ],
      },
      identification('payout', payout, words),
    ],
  }
}

export function transferPage(transfer: Transfer, parties: Parties, language: ReceiptLanguage): ReceiptPage {
  const words = receiptWords[language]
  const { asset, network, amount_net, fee, destination_address } = transfer
  const net = receiptAmount(asset, amount_net, language)
  return {
    ...pageOf('transfer', transfer, parties, language),
    amount: net,
    sections: [
      {
        title: words.recipient,
        rows: [
          { label: words.asset, value: asset },
          { label: words.network, value: networks[network].title },
          { label: words.address, value: destination_address, is_code: true },
        ],
      },
      { title: words.sender, rows: personRows(parties.payer, words) },
      {
        title: words.amounts,
        rows: [
          { label: words.net, value: net },
          { label: words.network_fee, value: receiptAmount(asset, fee, language) },
          { label: words.gross, value: receiptAmount(asset, amount_net + fee, language) },
        ],
      },
      {
        title: words.transaction,
        rows: [...timeRows('transfer', transfer, language), ...hashRows(transfer, parties, words)],
      },
      identification('transfer', transfer, words),
    ],
  }
}

/** A transfer that an operator resolved may have no hash. */
function hashRows(
  { network, tx_hash }: Transfer,
  { is_sandbox }: Parties,
  words: ReceiptWords,
): readonly ReceiptRow[] {
  if (tx_hash === null) return []
  const link = explorerLink(network, tx_hash)
  return [
    { label: words.tx_hash, value: tx_hash, is_code: true },
    is_sandbox
      ? { label: words.explorer, value: words.simulated_explorer }
      : { label: words.explorer, value: link, link, is_code: true },
  ]
}

function recipientRows(to: Counterparty, words: ReceiptWords): readonly ReceiptRow[] {
  if (to.type === 'pix_key') {
    const { type, shown } = maskPixKey(to.pix_key)
    return [
      ...personRows(to, words),
      { label: words.institution, value: words.unknown_institution },
      { label: words.pix_key(words.pix_key_types[type]), value: shown },
    ]
  }
  const { ispb, branch, account_number, account_type } = to
  return [
    ...personRows(to, words),
    { label: words.institution, value: words.ispb(ispb) },
    { label: words.branch, value: branch },
    { label: words.account, value: `${account_number} (${words.account_types[account_type]})` },
  ]
}

const personRows = (
  { name, document }: { readonly name: string; readonly document: string },
  words: ReceiptWords,
): readonly ReceiptRow[] => [
  { label: words.name, value: name },
  { label: document.length === 14 ? 'CNPJ' : 'CPF', value: maskDocument(document) },
]

const timeRows = (
  kind: 'payout' | 'transfer',
  { created_at, completed_at }: Payout | Transfer,
  language: ReceiptLanguage,
): readonly ReceiptRow[] => {
  const { requested, ended } = receiptWords[language][kind]
  return [
    { label: requested, value: receiptTime(created_at, language) },
    { label: ended, value: receiptTime(completed_at!, language) },
  ]
}

const identification = (
  kind: 'payout' | 'transfer',
  { id, idempotency_key }: Payout | Transfer,
  words: ReceiptWords,
): ReceiptSection => ({
  title: words.identification,
  rows: [
    { label: words[kind].id, value: id, is_code: true },
    { label: words.idempotency_key, value: idempotency_key, is_code: true },
  ],
})
