/** What a receipt says: text in the language of the receipt, without its layout. */
export type ReceiptPage = {
  readonly language: ReceiptLanguage
  readonly title: string
  /** The partner, under whose name the customer has the account. */
  readonly partner: string
  readonly amount: string
  readonly status: string
  /** When the payout was completed or the transfer confirmed. */
  readonly ended: string
  readonly sections: readonly ReceiptSection[]
  readonly notes: readonly string[]
  /** Explains the substitute character; printed if one is drawn. */
  readonly substitute_note: string
  readonly sandbox?: { readonly banner: string; readonly explanation: string; readonly watermark: string }
  /** The date in the file's properties: ISO 8601. */
  readonly dated: string
}

export const receiptLanguages = ['pt', 'en'] as const
export type ReceiptLanguage = (typeof receiptLanguages)[number]

export type ReceiptSection = { readonly title: string; readonly rows: readonly ReceiptRow[] }

export type ReceiptRow = {
  readonly label: string
  readonly value: string
  /** An id, hash or address: drawn in the monospaced font. */
  readonly is_code?: true
  /** The web address that the value links to. */
  readonly link?: string
}
