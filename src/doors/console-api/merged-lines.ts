import type { ListOrder } from '../../db/newest.ts'
import type { StoragePlace } from '../../db/sealing.ts'
import { type LogLine, logPlaces } from '../../records/acts/line.ts'

export type PlacedLine = LogLine & { readonly place: StoragePlace }

const SEQ = /^[0-9]{1,18}$/
/** How far each log was read; part of the cursor. */
export const readUpTo = { production: SEQ, sandbox: SEQ, shared: SEQ } satisfies Record<StoragePlace, RegExp>

/**
 * Merges several logs into one list by time. The lines of one log keep their order even if a clock went back:
 * the cursor continues after the last shown line of each log, so a line shown too early would skip the lines before
 * it.
 */
export async function newestOf(
  read: (place: StoragePlace, position: bigint | undefined, limit: number) => Promise<readonly LogLine[]>,
  {
    limit,
    after = {},
    of = logPlaces,
    order = 'newest',
  }: {
    limit: number
    after?: Partial<Record<StoragePlace, string>> | undefined
    of?: readonly StoragePlace[]
    order?: ListOrder
  },
): Promise<{ lines: PlacedLine[]; next: Record<string, string> | null }> {
  const logs = await Promise.all(
    of.map(async (place) => {
      const position = after[place] === undefined ? undefined : BigInt(after[place])
      const lines = await read(place, position, limit + 1)
      return lines.map((line): PlacedLine => ({ ...line, place }))
    }),
  )
  const lines: PlacedLine[] = []
  while (lines.length < limit) {
    const first = nextOf(logs, order)?.shift()
    if (!first) break
    lines.push(first)
  }
  const has_more = logs.some((rest) => rest.length > 0)
  const shown = Object.fromEntries(lines.map(({ place, seq }) => [place, String(seq)]))
  return { lines, next: has_more ? { ...after, ...shown } : null }
}

/** The log whose first line comes next. */
function nextOf(logs: readonly PlacedLine[][], order: ListOrder): PlacedLine[] | undefined {
  const sign = order === 'newest' ? -1 : 1
  const [next] = logs
    .filter(({ length }) => length > 0)
    .sort(([a], [b]) => sign * (a!.at.getTime() - b!.at.getTime()))
  return next
}
