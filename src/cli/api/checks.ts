import { isPixKey } from '#sdk'
import { type IdKind, idPrefixes } from '../../core/ids.ts'
import { usage } from '../command.ts'

/** Mistakes that are found before anything is sent, so that the message can say what to type instead. */

const nouns: Readonly<Partial<Record<IdKind, string>>> = {
  customer: 'customers',
  payout: 'payouts',
  charge: 'charges',
  transfer: 'transfers',
  quote: 'quotes',
  trade: 'trades',
  deposit: 'deposits',
  event: 'events',
  webhook_endpoint: 'webhooks',
  request: 'requests',
}

const named = (kind: IdKind) => kind.replaceAll('_', ' ')

/** An id of another kind is a mistake of the caller: the API could only say that there is no such object. */
export function assertIdOf(kind: IdKind, id: string): string {
  const [given] = (Object.entries(idPrefixes) as [IdKind, string][]).find(([, prefix]) =>
    id.startsWith(`${prefix}_`),
  ) ?? [undefined]
  if (given === undefined || given === kind) return id
  const instead = nouns[given] ? ` See: trilho ${nouns[given]} get ${id}` : ''
  return usage(
    `${id} is the id of a ${named(given)}. The id of a ${named(kind)} starts with ${idPrefixes[kind]}_.${instead}`,
  )
}

const CPF = /^(?:\d{11}|\d{3}\.\d{3}\.\d{3}-\d{2})$/
const CNPJ = /^(?:[0-9A-Za-z]{12}\d{2}|[0-9A-Za-z]{2}\.[0-9A-Za-z]{3}\.[0-9A-Za-z]{3}\/[0-9A-Za-z]{4}-\d{2})$/

/** A CPF or CNPJ that was mistyped: its check digits do not fit. */
export function assertCheckDigits(option: string, text: string): string {
  const kind = CPF.test(text) ? 'CPF' : CNPJ.test(text) ? 'CNPJ' : undefined
  if (kind === undefined || isPixKey(text)) return text
  const phone = option === 'to' && /^\d{11}$/.test(text) ? ` A phone number begins with +55: +55${text}` : ''
  return usage(
    `--${option} ${text} has the form of a ${kind}, but its check digits are wrong: a digit is mistyped.${phone}`,
  )
}

/** Whether this is an amount of an event's object. */
const AMOUNT = /^(?:(?:from_|to_)?amount|amount_(?:gross|net)|fee)$/

/** In events, amounts are whole numbers of the smallest unit, unlike --amount. */
export function assertUnits(field: string, text: string): string {
  if (!AMOUNT.test(field) || !/^-?\d*[.,]\d*$/.test(text)) return text
  const digits = text.replace(/[^0-9]/g, '').replace(/^0+(?=\d)/, '')
  return usage(
    `--override ${field} takes a whole number of the smallest unit: for ${text.replace(',', '.')} in an asset with ${text.split(/[.,]/)[1]!.length} decimals, ${field}=${digits}`,
  )
}
