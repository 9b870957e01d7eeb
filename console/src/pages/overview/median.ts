import type { Language } from '../../format/amount.ts'
import { durationText } from '../../format/time.ts'

type Ended = { readonly kind: string; readonly completed: number; readonly median_ms: number | null }

/** The median duration of completed orders. A conversion takes no time; without a completed order there is no median. */
export function medianText(
  { kind, completed, median_ms }: Ended,
  at_once: string,
  language: Language,
): string {
  if (completed === 0) return '—'
  if (kind === 'conversions') return at_once
  return median_ms === null ? '—' : durationText(median_ms, language)
}
