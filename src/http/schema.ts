import { Type as T, type TProperties } from 'typebox'
import { type IdKind, idPrefixes } from '../core/ids.ts'
import { AMOUNT_PATTERN, assetNames } from '../core/money.ts'
import { CLEAN_PATTERN, CLEAN_TEXT_PATTERN, isCleanText } from '../core/text.ts'

/**
 * Custom keywords. `x-error` is the code for a wrong value, where it is not invalid_request. The others tell openapi.json
 * what the validator leaves to the rules: `x-held` is the form that a rule demands, `x-id` the kind of object that an id
 * names, `x-must-be` what to send instead, in words, `x-read` the type that the text of a query parameter stands for.
 */
export const ownKeywords = ['x-error', 'x-held', 'x-id', 'x-must-be', 'x-read']

/** An object that refuses unknown fields, and so misspelt ones (contract §2). */
export const Fields = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}) =>
  T.Object(properties, { additionalProperties: false, ...options })

/**
 * Undeclared fields must never reach a rule. So every query and body is declared with `Fields`, including nested objects;
 * this throws at start for a declaration that is not.
 */
export function assertNamed(schema: unknown, where: string): void {
  if (schema === undefined) return
  const { type, properties, additionalProperties, items, anyOf } = schema as Record<string, unknown>
  if (type === 'object' && properties && additionalProperties !== false)
    throw new Error(`${where} must be declared with Fields(): it accepts undeclared fields`)
  for (const [name, part] of Object.entries(properties ?? {})) assertNamed(part, `${name} of ${where}`)
  for (const part of [items, ...((anyOf as unknown[] | undefined) ?? [])]) assertNamed(part, where)
}

/** An amount in a request. Any other value is refused as `invalid_amount`. */
export const Amount = T.String({
  pattern: AMOUNT_PATTERN,
  'x-error': 'invalid_amount',
  description: 'Whole number of the smallest unit, as a string',
  examples: ['1050'],
})

/** An amount in a response: zero is possible. */
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
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$',
  description: 'ISO 8601, UTC, milliseconds',
  examples: ['2026-11-15T12:00:00.000Z'],
})

/** A time in a response, with an example that fits the other fields of its object. */
export const TimestampOf = (description: string, example: string) =>
  T.String({ ...Timestamp, description, examples: [example] })

/** A time in a request: any offset is allowed. */
export const TimeText = (options: Record<string, unknown> = {}) =>
  T.String({
    format: 'date-time',
    'x-held': { pattern: '^(19[7-9][0-9]|[2-9][0-9]{3})-' },
    examples: ['2026-11-15T12:00:00.000Z'],
    ...options,
  })

/** Texts of the partner's own on a customer or an order, in a request. */
export const Metadata = T.Record(T.String(), T.String({ maxLength: 500, format: 'clean-or-empty-text' }), {
  maxProperties: 20,
  propertyNames: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,40}$' },
  description: 'Up to 20 texts of your own',
  examples: [{ segment: 'retail' }],
})

/** The texts of an order, in a response. Events of earlier versions do not have the field. */
export const OrderMetadata = T.Optional(
  T.Record(T.String(), T.String(), {
    description: 'Your own texts, as the request had them',
    examples: [{}],
  }),
)

export const Id = (kind: IdKind) =>
  T.String({
    minLength: 1,
    maxLength: 64,
    // No pattern: other text gets the answer of an id that does not exist, not of a malformed request.
    'x-id': kind,
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

/** An idempotency key as a list filter. It may match several rows: keys can be reused after 24 hours, and per API key. */
export const IdempotencyKeyFilter = T.String({
  pattern: '^[\\x20-\\x7e]{1,255}$',
  description: 'Made under this idempotency key: 1 to 255 printable ASCII characters',
  examples: ['invoice-1042'],
})

/** Text written by people: well formed, no control characters, length in code points. */
export const Text = (max: number, description: string, options: Record<string, unknown> = {}) =>
  T.String({ minLength: 1, maxLength: max, format: 'clean-text', description, ...options })

/** The patterns that replace custom formats in openapi.json. */
export const formatPatterns: Readonly<Record<keyof typeof formats, string>> = {
  'clean-text': CLEAN_TEXT_PATTERN,
  'clean-or-empty-text': CLEAN_PATTERN,
}

/** Custom formats, in addition to those of JSON Schema. */
export const formats = {
  'clean-text': (text: string) => isCleanText(text) && text.trim().length > 0,
  'clean-or-empty-text': isCleanText,
}

/** A cursor: a position and the tag of its list, each base64url. Cursors that work for every filter have no tag. */
export const CURSOR_PATTERN = '^[A-Za-z0-9_-]+(=[A-Za-z0-9_-]+)?$'

/** A page of a list (contract §2). */
export const Page = <P extends TProperties>(item: ReturnType<typeof T.Object<P>>) =>
  T.Object({
    data: T.Array(item),
    has_more: T.Boolean({
      description: 'Request further pages until has_more is false; a page may be short or empty before that',
    }),
    next_cursor: T.Union([T.String({ pattern: CURSOR_PATTERN, maxLength: 512 }), T.Null()], {
      description: 'Send it as ?cursor= with the same filters for the next page',
    }),
  })

/** Query fields of every list; all are strings, as in any query string. */
export const pageQuery = {
  limit: T.Optional(
    T.String({
      pattern: '^([1-9][0-9]?|100)$',
      'x-read': { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      'x-must-be': 'a whole number from 1 to 100',
      description: 'How many, 1 to 100; 20 when absent',
      examples: ['20'],
    }),
  ),
  cursor: T.Optional(
    T.String({
      pattern: CURSOR_PATTERN,
      minLength: 1,
      maxLength: 512,
      description: 'next_cursor of the page before, with the same filters',
    }),
  ),
}

export const timeQuery = {
  created_after: T.Optional(TimeText({ description: 'Created at this time or later' })),
  created_before: T.Optional(
    TimeText({ description: 'Created before this time', examples: ['2026-11-16T00:00:00.000Z'] }),
  ),
}
