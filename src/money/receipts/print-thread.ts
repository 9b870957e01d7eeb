import { Worker } from 'node:worker_threads'
import { Refusal } from '../../core/errors.ts'
import type { ReceiptPage } from './page.ts'

/** A thread that draws one receipt at a time. A process may end while the thread is idle. */
export type PrintThread = {
  /** Rejects when the receipt cannot be drawn. One that takes too long is refused, and the thread has ended. */
  print(page: ReceiptPage): Promise<Uint8Array>
  hasEnded(): boolean
  end(): Promise<void>
}

/** What the thread returns for a page. */
export type Printed = { readonly bytes: Uint8Array } | { readonly failure: string }

/**
 * A receipt takes a few dozen milliseconds, the first one also loads the library and the fonts. A caller that waits too long
 * gets a 503 before this time; only a thread that hangs is ended, because a new one would have to load everything again.
 */
const PRINT_MS = 60_000
const HEAP_MB = 128

/** Starts the module beside this one. From the sources, in tests and `npm run dev`, a thread reads TypeScript through tsx. */
function startWorker(): Worker {
  const options = { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } }
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./print-job.js', import.meta.url), options)
  const program = JSON.stringify(new URL('./print-job.ts', import.meta.url))
  const load = `import('tsx/esm/api').then(({ tsImport }) => tsImport(${program}, ${program}))`
  return new Worker(load, { ...options, eval: true, execArgv: [] })
}

type Waiting = { resolve(bytes: Uint8Array): void; reject(error: Error): void }

export function startPrintThread(): PrintThread {
  const worker = startWorker()
  let waiting: Waiting | undefined
  let has_ended = false

  function answer(tell: (one: Waiting) => void): void {
    const one = waiting
    waiting = undefined
    worker.unref()
    if (one) tell(one)
  }
  function fail(error: Error): void {
    has_ended = true
    answer(({ reject }) => reject(error))
  }

  worker.on('message', (printed: Printed) =>
    answer(({ resolve, reject }) => {
      if ('bytes' in printed) resolve(printed.bytes)
      else reject(new Error(`receipts: ${printed.failure}`))
    }),
  )
  worker.on('error', (error) => fail(new Error(`receipts: ${error}`)))
  worker.on('exit', (code) => fail(new Error(`receipts: the printing thread ended with code ${code}`)))

  return {
    print(page) {
      worker.ref()
      const result = new Promise<Uint8Array>((resolve, reject) => (waiting = { resolve, reject }))
      const late = setTimeout(() => {
        fail(new Refusal('service_unavailable'))
        void worker.terminate()
      }, PRINT_MS)
      worker.postMessage(page)
      return result.finally(() => clearTimeout(late))
    },
    hasEnded: () => has_ended,
    async end() {
      await worker.terminate()
    },
  }
}
