import { createHash } from 'node:crypto'
import type { UnreadEntry } from './rail.ts'

const DIGITS = 32

/** What is told of an entry that cannot be read: its ids, a digest of the whole, and what is wrong. Nothing else of it is kept. */
export function unreadEntry(
  entry: unknown,
  problem: string,
  ids: Pick<UnreadEntry, 'end_to_end_id' | 'send_id'> = {},
): UnreadEntry {
  const text = JSON.stringify(entry, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
  const hash = createHash('sha256').update(text ?? '')
  return { is_unread: true, ...ids, digest: `sha256:${hash.digest('hex').slice(0, DIGITS)}`, problem }
}
