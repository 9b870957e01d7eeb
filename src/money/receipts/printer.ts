import { Refusal } from '../../core/errors.ts'
import { openFairSemaphore, QueueFull } from '../../core/fair-semaphore.ts'
import type { ReceiptPage } from './page.ts'
import { type PrintThread, startPrintThread } from './print-thread.ts'

/** Prints receipts as PDF, one at a time per node, in a thread of its own. */
export type ReceiptPrinter = {
  /** Partners take turns. Refuses when too many receipts of the partner, or of all partners, wait. */
  print(partner_id: string, page: ReceiptPage): Promise<Uint8Array>
  stop(): Promise<void>
}

/** Receipts that may wait: of one partner, and in all. */
const WAITING_PER_PARTNER = 10
const WAITING_MAX = 200
/** A caller without a turn by then would soon get a 503. */
const WAIT_MS = 5000
/** An idle thread ends, because it holds the memory of the library and the fonts. */
const IDLE_MS = 60_000
const RETRY_SECONDS = 1

export function openReceiptPrinter({ idle_ms = IDLE_MS, wait_ms = WAIT_MS } = {}): ReceiptPrinter {
  const turns = openFairSemaphore({
    at_once: 1,
    per_name: 1,
    waiting_per_name: WAITING_PER_PARTNER,
    waiting_max: WAITING_MAX,
    wait_ms,
  })
  let thread: PrintThread | undefined
  let idle: NodeJS.Timeout | undefined

  async function end(): Promise<void> {
    clearTimeout(idle)
    const ending = thread
    thread = undefined
    await ending?.end()
  }

  async function run(page: ReceiptPage): Promise<Uint8Array> {
    clearTimeout(idle)
    if (thread?.hasEnded()) thread = undefined
    thread ??= startPrintThread()
    try {
      return await thread.print(page)
    } finally {
      idle = setTimeout(() => void end(), idle_ms).unref()
    }
  }

  return {
    async print(partner_id, page) {
      const leave = await turns.take(partner_id).catch(refuseCrowd)
      try {
        return await run(page)
      } finally {
        leave()
      }
    },
    stop: end,
  }
}

function refuseCrowd(error: unknown): never {
  if (!(error instanceof QueueFull)) throw error
  throw new Refusal('rate_limit_exceeded', {
    message: `Too many receipts at once: ${WAITING_PER_PARTNER} of yours may wait. Wait for some of them, then try again.`,
    retry_after_seconds: RETRY_SECONDS,
    details: { limit: WAITING_PER_PARTNER, retry_after_seconds: RETRY_SECONDS },
  })
}
