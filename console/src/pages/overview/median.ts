import type { Language } from '../../format/amount.ts'
import { durationText } from '../../format/time.ts'

type Ended = { readonly kind: string; readonly completed: number; readonly median_ms: number | null }

/** How long half of them took at most: a conversion no time; where nothing succeeded there is none to tell. */
export function medianText(
  { kind, completed, median_ms }: Ended,
  at_once: string,
  language: Language,
): string {
  if (completed === 0) return '—'
  if (kind === 'conversions') return at_once
  return median_ms === null ? '—' : durationText(median_ms, language)
}
