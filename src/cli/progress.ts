import type { OnProgress } from '../core/progress.ts'

const EVERY_MS = 100

/** Shows how far long work has come: in one line on a terminal's stderr, which is gone at the end. Elsewhere nothing. */
export async function watched<T>(work: (onProgress: OnProgress) => Promise<T>): Promise<T> {
  const { stderr } = process
  if (!stderr.isTTY) return work(() => {})
  let shown_at = 0
  try {
    return await work(({ what, done, of }) => {
      const now = performance.now()
      if (now - shown_at < EVERY_MS && done !== of) return
      shown_at = now
      stderr.write(`\r\x1b[K${what} ${done} of ${of}`)
    })
  } finally {
    stderr.write('\r\x1b[K')
  }
}
