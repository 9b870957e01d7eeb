import assert from 'node:assert/strict'
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { drawReceipt } from './drawing.ts'
import type { ReceiptPage } from './page.ts'
import type { Printed } from './print-thread.ts'

/** The program of the printing thread. */

/**
 * Linux gives each thread its own priority. 5 below that of the process, the thread gets about a quarter of a core that something
 * else keeps busy, and all of an idle one: payouts go first.
 */
const NICENESS = 5

if (process.platform === 'linux') {
  try {
    setPriority(0, Math.min(19, getPriority(0) + NICENESS))
  } catch {
    // Some containers do not allow it. The thread then competes like any other.
  }
}

assert(parentPort, 'print-job.ts runs in a thread')
const port = parentPort

port.on('message', async (page: ReceiptPage) => {
  try {
    const bytes = await drawReceipt(page)
    port.postMessage({ bytes } satisfies Printed, [bytes.buffer as ArrayBuffer])
  } catch (error) {
    port.postMessage({ failure: String(error) } satisfies Printed)
  }
})
