import { Value } from 'typebox/value'
import { InvalidAnswer, problemOf } from '../../answers.ts'
import type { PixAccount, SentPix, UnreadEntry } from '../rail.ts'
import { unreadEntry } from '../unread.ts'
import { idsOf, readBalance, readPage, sentOf, type Transfer, TransferBody } from './bodies.ts'
import { describeAnswer, type StarkClient } from './client.ts'

const LIST_MOST_BYTES = 4 * 1024 * 1024
const PAGES_MOST = 10_000
const DAY_MS = 86_400_000

/** The account at Stark Bank: what it holds, and what was sent from it. It does not tell of returns in its list. */
export function starkAccount(client: StarkClient): PixAccount {
  return {
    async balance(signal) {
      const answer = await client.call({ method: 'GET', path: '/v2/balance', signal })
      const body = answer.http === 200 ? readBalance(answer.body) : undefined
      if (!body) throw invalid('balance', describeAnswer(answer))
      return { available: BigInt(body.balances[0]!.amount), blocked: 0n }
    },
    async *sent(from, to, signal) {
      // The list is filtered by days, of which zone is not said: one day more on both sides, and the time itself is compared here.
      const query = { after: dayOf(from.getTime() - DAY_MS), before: dayOf(to.getTime() + DAY_MS) }
      for await (const entry of readTransfers(client, query, signal)) {
        const one = entryOf(entry)
        if ('is_unread' in one) yield one
        else if (isWithin(entry as Transfer, from, to)) yield one
      }
    },
  }
}

const dayOf = (time: number) => new Date(Math.max(0, time)).toISOString().slice(0, 10)

const isWithin = ({ created }: Transfer, from: Date, to: Date): boolean =>
  Date.parse(created) >= from.getTime() && Date.parse(created) <= to.getTime()

function entryOf(entry: unknown): SentPix | UnreadEntry {
  if (Value.Check(TransferBody, entry)) return sentOf(entry as Transfer)
  return unreadEntry(entry, problemOf(TransferBody, entry), idsOf(entry))
}

/** Reads a list page by page. Each page names the next one by a cursor. */
export async function* readTransfers(
  client: StarkClient,
  query: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): AsyncGenerator<unknown> {
  let cursor = ''
  for (let page = 0; page < PAGES_MOST; page++) {
    const asked = new URLSearchParams({ ...query, limit: '100', ...(cursor === '' ? {} : { cursor }) })
    const bounds = { most_bytes: LIST_MOST_BYTES, signal }
    const answer = await client.call({ method: 'GET', path: `/v2/transfer?${asked}`, ...bounds })
    const body = answer.http === 200 ? readPage(answer.body) : undefined
    if (!body) throw invalid('list', describeAnswer(answer))
    yield* body.transfers
    if (!body.cursor) return
    // A list without end would keep its reader busy for ever.
    if (body.cursor === cursor || body.transfers.length === 0) throw invalid('list', 'it has no end')
    cursor = body.cursor
  }
  throw invalid('list', 'it has no end')
}

const invalid = (call: string, problem: string) => new InvalidAnswer({ rail: 'pix', call, problem })
