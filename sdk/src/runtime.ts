/** Globals that differ between runtimes. */
type Globals = {
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly version?: string
  }
  readonly navigator?: { readonly userAgent?: string; readonly product?: string }
  readonly document?: unknown
}
const globals = globalThis as unknown as Globals

/** Web pages, their workers and mobile apps: their users could read the API key. */
export function isOnUsersDevice({ navigator, document }: Globals = globals): boolean {
  return (
    document !== undefined ||
    navigator?.product === 'ReactNative' ||
    /^Mozilla\//.test(navigator?.userAgent ?? '')
  )
}

export function env(name: string): string | undefined {
  try {
    return globals.process?.env?.[name] || undefined
  } catch {
    return undefined // Deno, without the permission to read it
  }
}

export const runtimeName = (): string =>
  // Libraries for browsers define an empty one in Node.
  globals.navigator?.userAgent || `Node.js/${globals.process?.version?.slice(1)}`

export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}

/** Error codes of Node and Bun for a failed connection: nothing was sent. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
  'FailedToOpenSocket',
])

/** Whether an error of `fetch` proves that the request was never sent. When in doubt, false. */
export function isUnsent(error: unknown): boolean {
  const { code, cause, message } = (error ?? {}) as { code?: unknown; cause?: unknown; message?: unknown }
  if (typeof code === 'string' && UNSENT.has(code)) return true
  // Deno has no code, but its message names the failed step.
  if (typeof message === 'string' && message.includes('client error (Connect)')) return true
  return cause instanceof Error && isUnsent(cause)
}

/** A timer with a longer delay fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const leave = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }, ms)
    signal?.addEventListener('abort', leave, { once: true })
  })
}
