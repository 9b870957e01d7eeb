import { ApiError, errorOf, Unreachable } from './errors.ts'
import { noteReachable } from './live.ts'
import { type Calls, routes } from './types.ts'

export type Name = keyof Calls
export type Reply<N extends Name> = Calls[N]['reply']

type Part<N extends Name, K extends 'params' | 'query' | 'body'> = undefined extends Calls[N][K]
  ? { readonly [P in K]?: Calls[N][K] }
  : { readonly [P in K]: Calls[N][K] }

export type CallInput<N extends Name> = Part<N, 'params'> & Part<N, 'query'> & Part<N, 'body'>
/** `input` may be omitted for a call that takes no params, query or body. */
export type CallInputArgs<N extends Name> =
  Record<string, never> extends CallInput<N> ? [input?: CallInput<N>] : [input: CallInput<N>]

type AnyInput = {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** Handles refusals that the person can resolve: a missing proof, an ended session. Set once, by the session. */
type RefusalHandlers = {
  /** Resolves when the person has proven their identity, rejects when they cancel. */
  readonly prove: (needed: ApiError) => Promise<void>
  /**
   * Resolves when the same person is signed in again; rejects when nobody is, or another person. `acting`: the call was a
   * write.
   */
  readonly signIn: (needed: ApiError, acting: boolean) => Promise<void>
}

let refusal_handlers: RefusalHandlers | undefined
let csrf_token: string | undefined

export const setRefusalHandlers = (next: RefusalHandlers | undefined): void => {
  refusal_handlers = next
}
export const keepCsrf = (token: string | undefined): void => {
  csrf_token = token
}

/** The address of a call; also used for links, such as those to CSV files. */
export const callAddress = <N extends Name>(name: N, input: Pick<CallInput<N>, 'params' | 'query'>): string =>
  placeOf(routes[name], input as AnyInput)

function placeOf(route: string, input: AnyInput): string {
  const path = route.split(' ')[1]!.replaceAll(/\{(\w+)\}/g, (_, part: string) => {
    const value = input.params?.[part]
    if (value === undefined) throw new Error(`${route} needs ${part}`)
    return encodeURIComponent(String(value))
  })
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(input.query ?? {})) {
    if (value === undefined || value === null || value === '') continue
    for (const one of Array.isArray(value) ? value : [value]) query.append(key, String(one))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/** Time of the person's last input. Background reads long after it must not keep the session alive. */
let touched = Date.now()
for (const sign of ['pointerdown', 'keydown', 'wheel'])
  addEventListener(sign, () => void (touched = Date.now()), { passive: true, capture: true })

const UNATTENDED_MS = 60_000

async function send(route: string, input: AnyInput, signal: AbortSignal | undefined): Promise<unknown> {
  const method = route.split(' ')[0]!
  if (!navigator.onLine) {
    noteReachable(false)
    throw new Unreachable(method, undefined, false)
  }
  const headers: Record<string, string> = { accept: 'application/json' }
  if (Date.now() - touched > UNATTENDED_MS) headers['x-unattended'] = 'true'
  if (method !== 'GET') {
    headers['content-type'] = 'application/json'
    if (csrf_token !== undefined) headers['x-csrf-token'] = csrf_token
  }
  const response = await fetch(placeOf(route, input), {
    method,
    headers,
    credentials: 'same-origin',
    cache: 'no-store',
    ...(method === 'GET' ? {} : { body: JSON.stringify(input.body ?? {}) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause
    noteReachable(false)
    throw new Unreachable(method, cause)
  })
  noteReachable(true)
  if (!response.ok) throw await errorOf(response)
  if (response.status === 204) return undefined
  return response.json().catch((cause: unknown) => {
    throw new Unreachable(method, cause)
  })
}

/** A 401 of the sign-in call itself is shown on its form. */
const isSigningIn = (route: string) => / \/console\/api\/session\b/.test(route)

/** Repeats the call after the person has signed in or given a proof, once for each. */
async function answered(
  route: string,
  input: AnyInput,
  signal?: AbortSignal,
  asked: readonly string[] = [],
): Promise<unknown> {
  try {
    return await send(route, input, signal)
  } catch (error) {
    if (!(error instanceof ApiError) || refusal_handlers === undefined || isSigningIn(route)) throw error
    const { code } = error
    if (asked.includes(code)) throw error
    // If another tab signed in again, the CSRF token of this page belongs to the old session.
    if (code === 'not_signed_in' || code === 'cross_site_request')
      await refusal_handlers.signIn(error, !route.startsWith('GET '))
    else if (code === 'proof_needed') await refusal_handlers.prove(error)
    else throw error
    return answered(route, input, signal, [...asked, code])
  }
}

/** One call of the console's API: `call('console.keys.list', { params: { environment } })`. */
export const call = <N extends Name>(name: N, ...[input]: CallInputArgs<N>): Promise<Reply<N>> =>
  answered(routes[name], (input ?? {}) as unknown as AnyInput) as Promise<Reply<N>>

/** Like `call`, with a signal that cancels it. */
export const callUntil = <N extends Name>(
  name: N,
  input: CallInput<N>,
  signal: AbortSignal,
): Promise<Reply<N>> => answered(routes[name], input as unknown as AnyInput, signal) as Promise<Reply<N>>
