import {
  keepPreviousData,
  QueryClient,
  type UseMutationOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { type CallInput, type CallInputArgs, call, callUntil, type Name, type Reply } from './client.ts'
import { ApiError, isPassing } from './errors.ts'

/**
 * By default the library queues a call while the browser is offline and sends it later: a payout could run long after the
 * person gave it up. With `always` a call is made now or fails now.
 */
const networkMode = 'always'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode,
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
      // A refusal is final; only a missing response and an overload are retried.
      retry: (failures, error) => failures < 2 && navigator.onLine && isPassing(error),
      retryDelay: (failures, error) =>
        1000 * Math.max(2 ** failures, (error instanceof ApiError && error.retry_after) || 0),
    },
    mutations: { networkMode, retry: false },
  },
})

type CallOptions<N extends Name> = {
  /** Kinds of hints that make this answer stale: `['payout']`; `['*']` for any. */
  readonly live?: readonly string[]
  /** False delays the call until it becomes true. */
  readonly when?: boolean
  /** Polling interval in milliseconds, for data that no hint announces; paused in a hidden tab. */
  readonly every?: number | ((seen: Reply<N> | undefined) => number | false)
  /** Shows the rows of the previous page while the next one loads. */
  readonly keep?: boolean
}

/** Reads: `useCall('console.keys.list', { params: { environment } }, { live: ['key'] })`. */
export function useCall<N extends Name>(
  name: N,
  input: CallInput<N>,
  { live = [], when = true, keep = false, every }: CallOptions<N> = {},
): UseQueryResult<Reply<N>> {
  return useQuery<Reply<N>>({
    queryKey: [name, input],
    queryFn: ({ signal }) => callUntil(name, input, signal),
    enabled: when,
    meta: { live },
    ...(every === undefined ? {} : { refetchInterval: askingEvery(every) }),
    ...(keep ? { placeholderData: keepPreviousData as never } : {}),
  })
}

const askingEvery = <R>(every: number | ((seen: R | undefined) => number | false)) =>
  typeof every === 'number' ? every : ({ state }: { state: { data: R | undefined } }) => every(state.data)

type ActOptions<N extends Name> = Pick<
  UseMutationOptions<Reply<N>, Error, CallInput<N>>,
  'onSuccess' | 'onError'
> & {
  /** Names, or prefixes of names, of the calls to read again afterwards: `['console.keys.']`. */
  readonly stale?: readonly string[]
}

/** Writes: `const create = useAct('console.keys.create', { stale: ['console.keys.'] }); create.mutate({…})`. */
export function useAct<N extends Name>(name: N, { stale = [], ...options }: ActOptions<N> = {}) {
  const queries = useQueryClient()
  const mutation = useMutation<Reply<N>, Error, CallInput<N>>({
    // A response may hold a secret: it is dropped with the component that shows it.
    gcTime: 0,
    mutationFn: (input) => call(name, ...([input] as CallInputArgs<N>)),
    ...options,
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey }) => stale.some((start) => String(queryKey[0]).startsWith(start)),
      }),
  })
  const mutateAsync = useOnce(mutation.mutateAsync as (input: CallInput<N>) => Promise<Reply<N>>)
  const mutate = useCallback((input: CallInput<N>) => void mutateAsync(input).catch(() => {}), [mutateAsync])
  return { ...mutation, mutate, mutateAsync }
}

/** A double click fires before the button is drawn as busy: the second call returns the promise of the first. */
function useOnce<I, R>(act: (input: I) => Promise<R>): (input: I) => Promise<R> {
  const under_way = useRef(new Map<string, Promise<R>>())
  return useCallback(
    (input) => {
      const key = JSON.stringify(input)
      const before = under_way.current.get(key)
      if (before !== undefined) return before
      const answer = act(input).finally(() => under_way.current.delete(key))
      under_way.current.set(key, answer)
      return answer
    },
    [act],
  )
}
