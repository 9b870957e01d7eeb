import { type Language, parseAmount, typedAmount } from '../../format/amount.ts'

/** The form fields of all kinds of orders, so that switching between kinds loses nothing. */
export type Draft = {
  readonly kind: 'payout' | 'charge' | 'transfer' | 'quote'
  readonly customer_id: string
  readonly pix_key: string
  readonly own_key: string
  readonly network: string
  readonly address: string
  readonly ending: string
  readonly from: DraftAsset
  readonly to: DraftAsset
  readonly amounts: Readonly<Record<Draft['kind'], string>>
  readonly idempotency_key: string
}

export type DraftAsset = 'BRL' | 'USDT' | 'BTC'

export const networks: Readonly<Record<string, DraftAsset>> = {
  polygon: 'USDT',
  ethereum: 'USDT',
  arbitrum: 'USDT',
  optimism: 'USDT',
  tron: 'USDT',
  bitcoin: 'BTC',
}

/** Sample addresses; transfers in the sandbox never reach a chain. */
const addresses: Readonly<Record<string, string>> = {
  tron: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  bitcoin: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
}
export const addressOn = (network: string): string =>
  addresses[network] ?? '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

export const newKey = (): string => `play-${crypto.randomUUID().slice(0, 13)}`

export const firstDraft = (customer_id: string, language: Language): Draft => ({
  kind: 'payout',
  customer_id,
  pix_key: 'ok@sandbox.test',
  own_key: '',
  network: 'polygon',
  address: addressOn('polygon'),
  ending: '',
  from: 'BRL',
  to: 'USDT',
  amounts: {
    payout: typedAmount('1050', 'BRL', language),
    charge: typedAmount('1050', 'BRL', language),
    transfer: typedAmount('5000000', 'USDT', language),
    quote: typedAmount('10000', 'BRL', language),
  },
  idempotency_key: newKey(),
})

/** The asset of the amount in the form. */
export const assetOf = ({ kind, network, from }: Draft): DraftAsset =>
  kind === 'payout' || kind === 'charge' ? 'BRL' : kind === 'transfer' ? networks[network]! : from

const ENDING = /\d{4}$/

/** The request body; undefined while the amount is not valid. */
export function bodyOf(draft: Draft, language: Language) {
  const { kind, customer_id, idempotency_key } = draft
  const typed = parseAmount(draft.amounts[kind], assetOf(draft), language)
  if (typed === undefined || typed === '0') return undefined
  if (kind === 'quote') {
    const { from: from_asset, to: to_asset } = draft
    return { customer_id, from_asset, to_asset, amount: typed }
  }
  if (kind === 'charge') return { customer_id, amount: typed, idempotency_key }
  if (kind === 'payout') {
    const pix_key = draft.pix_key === '' ? draft.own_key.trim() : draft.pix_key
    return { customer_id, amount: typed, counterparty: { type: 'pix_key', pix_key }, idempotency_key }
  }
  return {
    customer_id,
    asset: networks[draft.network],
    network: draft.network,
    amount: draft.ending === '' ? typed : typed.padStart(4, '0').replace(ENDING, draft.ending),
    destination_address: draft.address.trim(),
    idempotency_key,
  }
}

export const paths = {
  payout: '/v1/pix/payouts',
  charge: '/v1/pix/charges',
  transfer: '/v1/onchain/transfers',
  quote: '/v1/quotes',
} as const

/** A curl command to paste into a terminal, with the key in a variable. */
export function curlOf(url: string, path: string, body: unknown): string {
  const lines = [`curl ${url}${path}`, '-H "Authorization: Bearer $TRILHO_KEY"']
  if (body !== undefined) {
    lines.push("-H 'Content-Type: application/json'")
    lines.push(`-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`)
  } else lines.push('-X POST')
  return lines.join(' \\\n  ')
}
