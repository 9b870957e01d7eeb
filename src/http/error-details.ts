import { Type as T, type TObject } from 'typebox'
import type { ErrorCode } from '../core/errors.ts'
import { AssetName, Id, Timestamp, Units } from './schema.ts'

/** The schema of `error.details`, for codes that have details. */
export const errorDetails: Partial<Record<ErrorCode, TObject>> = {
  insufficient_balance: T.Object(
    { asset: AssetName, needed: Units, available: Units },
    { examples: [{ asset: 'BRL', needed: '1050', available: '900' }] },
  ),
  customer_exists: T.Object({ customer_id: Id('customer') }),
  limit_exceeded: T.Object(
    {
      limit: T.Enum(['payout_order', 'payout_day', 'payout_night', 'transfer_order', 'transfer_day']),
      asset: AssetName,
      allowed: Units,
      used: Units,
      resets_at: T.Union([Timestamp, T.Null()], { description: 'Null for the limit of a single order' }),
    },
    {
      examples: [
        {
          limit: 'payout_day',
          asset: 'BRL',
          allowed: '500000',
          used: '499500',
          resets_at: '2026-11-16T03:00:00.000Z',
        },
      ],
    },
  ),
  rate_limit_exceeded: T.Object(
    {
      window: T.Optional(
        T.Enum(['minute', 'day', 'endpoint', 'lookups', 'address', 'waits'], {
          description: 'Absent where too many requests or connections were open at once',
        }),
      ),
      limit: T.Integer(),
      retry_after_seconds: T.Integer(),
    },
    { examples: [{ window: 'minute', limit: 100, retry_after_seconds: 12 }] },
  ),
}
