import type { FoundOut } from '../../control/golive/facts.ts'
import { messageOf } from '../../core/error-report.ts'

/** A fact that takes longer is not known. All facts are asked at once, so this bounds the whole list. */
const FACT_MS = 6000
const REASON_MOST = 200

/** Finds one fact out. A failure and a late answer are reasons, never exceptions: the other facts are told all the same. */
export async function findOut<T>(
  work: (signal: AbortSignal) => Promise<T>,
  ms = FACT_MS,
): Promise<FoundOut<T>> {
  const given_up = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<FoundOut<T>>((resolve) => {
    timer = setTimeout(() => resolve({ unknown: `no answer within ${ms / 1000} seconds` }), ms)
  })
  try {
    const asked = Promise.resolve()
      .then(() => work(given_up.signal))
      .then(
        (known): FoundOut<T> => ({ known }),
        (error: unknown): FoundOut<T> => ({ unknown: reasonOf(error) }),
      )
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
    given_up.abort()
  }
}

/** One line without its full stop. A failed `fetch` says why in its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed'
  const { cause } = error
  const text = messageOf((cause instanceof Error ? cause : error) as never)
  return text.replaceAll(/\s+/g, ' ').slice(0, REASON_MOST).replace(/\.$/, '')
}
