import { Type as T, type TProperties } from 'typebox'
import { type IdKind, idPrefixes } from '../core/ids.ts'
import { AMOUNT_PATTERN, assetNames } from '../core/money.ts'
import { isCleanText } from '../core/text.ts'

/** The pieces that every contract.ts is made of. A misspelt field is refused, so it can never move money. */
export const Fields = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}) =>
  T.Object(properties, { additionalProperties: false, ...options })

/** An amount as a caller sends it. Whatever else comes in its place is `invalid_amount`. */
export const Amount = T.String({
  pattern: AMOUNT_PATTERN,
  'x-error': 'invalid_amount',
  description: 'Whole number of the smallest unit, as a string',
  examples: ['1050'],
})

/** An amount as the service tells it: zero is possible. */
export const Units = T.String({
  pattern: '^(0|[1-9][0-9]{0,18})$',
  description: 'Whole number of the smallest unit',
  examples: ['1050'],
})

export const SignedUnits = T.String({
  pattern: '^-?[1-9][0-9]{0,17}$',
  description: 'Whole number of the smallest unit; negative when it left the balance',
  examples: ['-1050'],
})

export const AssetName = T.Enum(assetNames, { description: 'BRL, USDT or BTC' })

export const Timestamp = T.String({
  format: 'date-time',
  description: 'ISO 8601, UTC, milliseconds',
  examples: ['2026-11-15T12:00:00.000Z'],
})

export const Id = (kind: IdKind) =>
  T.String({
    minLength: 1,
    maxLength: 64,
    description: `Starts with ${idPrefixes[kind]}_`,
    examples: [`${idPrefixes[kind]}_01kc3v4x9zq8rj5m2t7w6y0ahb`],
  })

/** Contract §7: 1 to 255 printable ASCII characters. */
export const IdempotencyKey = T.String({
  pattern: '^[\\x20-\\x7e]{1,255}$',
  'x-must-be': '1 to 255 printable ASCII characters',
  description: 'Yours; the same key with the same body is one operation, for 24 hours',
  examples: ['invoice-1042'],
})

/** Text of people: well formed, no control characters, counted in code points. */
export const Text = (max: number, description: string, options: Record<string, unknown> = {}) =>
  T.String({ minLength: 1, maxLength: max, format: 'clean-text', description, ...options })

/** Formats that schemas may name, beside those of JSON Schema. */
export const formats = {
  'clean-text': (text: string) => isCleanText(text) && text.trim().length > 0,
  'clean-or-empty-text': isCleanText,
}

/** A list's answer (contract §2). */
export const Page = <P extends TProperties>(item: ReturnType<typeof T.Object<P>>) =>
  T.Object({
    data: T.Array(item),
    has_more: T.Boolean(),
    next_cursor: T.Union([T.String(), T.Null()], { description: 'Send it as ?cursor= for the next page' }),
  })

/** Query fields of every list; they are text, as a query string is. */
export const pageQuery = {
  limit: T.Optional(
    T.String({
      pattern: '^([1-9][0-9]?|100)$',
      'x-must-be': 'a whole number from 1 to 100',
      description: 'How many, 1 to 100; 20 when absent',
      examples: ['20'],
    }),
  ),
  cursor: T.Optional(
    T.String({ minLength: 1, maxLength: 512, description: 'next_cursor of the page before' }),
  ),
}

export const timeQuery = {
  created_after: T.Optional(T.String({ format: 'date-time', description: 'Created at this time or later' })),
  created_before: T.Optional(T.String({ format: 'date-time', description: 'Created before this time' })),
}
