import type { OnProgress } from '../backup/progress.ts'

const EVERY_MS = 100

/** One line on a terminal's stderr, which is gone at the end. Elsewhere nothing. */
export function showProgress(): { readonly on: OnProgress; end(): void } {
  const { stderr } = process
  if (!stderr.isTTY) return { on: () => {}, end: () => {} }
  let shown_at = 0
  return {
    on({ what, done, of }) {
      const now = performance.now()
      if (now - shown_at < EVERY_MS && done !== of) return
      shown_at = now
      stderr.write(`\r\x1b[K${what} ${done} of ${of}`)
    },
    end: () => void stderr.write('\r\x1b[K'),
  }
}
