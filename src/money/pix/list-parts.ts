import type { ShouldContinue } from '../../db/chore.ts'

/** A part of a provider's list, by time. */
export type ListPart = { readonly from: Date; readonly to: Date; readonly shouldContinue: ShouldContinue }

type PartReader = {
  /** Reads one part. False: the run ended before the part did. */
  read(part: ListPart): Promise<boolean>
  /** All up to this time was read. */
  onRead(until: Date): unknown
}

type ReadParts = (
  stretch: { readonly from: number; readonly to: number; readonly shouldContinue: ShouldContinue },
  reader: PartReader,
) => Promise<void>

const LEAST_MS = 1000

/**
 * Reads a stretch of a provider's list in parts, the oldest first. A part that one run cannot read to its end is halved, and doubled again
 * once it can: however slowly a provider answers, some part is read whole, and the next run goes on after it.
 */
export function openParts(most_ms: number): ReadParts {
  let part_ms = most_ms
  return async ({ from, to, shouldContinue }, { read, onRead }) => {
    let at = from
    while (at < to && shouldContinue()) {
      const end = Math.min(to, at + part_ms)
      const is_whole = await read({ from: new Date(at), to: new Date(end), shouldContinue }).catch(
        (error: unknown) => {
          // The provider may be too slow for so long a part.
          part_ms = Math.max(LEAST_MS, part_ms / 2)
          throw error
        },
      )
      part_ms = is_whole ? Math.min(most_ms, part_ms * 2) : Math.max(LEAST_MS, part_ms / 2)
      if (!is_whole) return
      await onRead(new Date(end))
      at = end
    }
  }
}
