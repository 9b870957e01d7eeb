/** Contract §12. An event is stored in the transaction that causes it, with the object exactly as GET shows it. */
export const eventTypes = [
  'customer.created',
  'customer.updated',
  'customer.blocked',
  'customer.unblocked',
  'deposit.pending',
  'deposit.completed',
  'deposit.dropped',
  'deposit.returned',
  'pix.payout.created',
  'pix.payout.processing',
  'pix.payout.completed',
  'pix.payout.failed',
  'pix.payout.returned',
  'pix.charge.open',
  'pix.charge.paid',
  'pix.charge.expired',
  'pix.charge.failed',
  'onchain.transfer.created',
  'onchain.transfer.processing',
  'onchain.transfer.confirmed',
  'onchain.transfer.failed',
  'trade.completed',
  'trade.failed',
  'fee_payout.completed',
  'api_key.created',
  'api_key.rotated',
  'api_key.revoked',
  'webhook_endpoint.disabled',
] as const
export type EventType = (typeof eventTypes)[number]

/** Sent to one webhook endpoint, when its owner asks for a test. Endpoints cannot subscribe to it. */
export const TEST_TYPE = 'webhook_endpoint.test'

/** The sequence number for a sample of this type: the place of its state in the life of the object. */
export function sequenceOf(type: EventType | typeof TEST_TYPE): number {
  const about = type.slice(0, type.lastIndexOf('.'))
  if (about === 'deposit') return type.endsWith('.dropped') || type.endsWith('.returned') ? 2 : 1
  if (about === 'pix.charge') return type.endsWith('.paid') || type.endsWith('.expired') ? 2 : 1
  const has = (word: string) => (eventTypes as readonly string[]).includes(`${about}.${word}`)
  if (!has('created') || type.endsWith('.created')) return 1
  if (type.endsWith('.returned')) return 4
  return has('processing') && !type.endsWith('.processing') ? 3 : 2
}
