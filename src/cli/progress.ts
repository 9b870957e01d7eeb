import type { OnProgress } from '../core/progress.ts'
import type { Io } from './io.ts'

const EVERY_MS = 100

/** Shows the progress of long work a few times a second, and clears the line at the end. */
export async function watched<T>(io: Io, work: (onProgress: OnProgress) => Promise<T>): Promise<T> {
  let shown_at = 0
  try {
    return await work(({ what, done, of }) => {
      const now = performance.now()
      if (now - shown_at < EVERY_MS && done !== of) return
      shown_at = now
      io.progress(`${what} ${done} of ${of}`)
    })
  } finally {
    io.progress('')
  }
}
