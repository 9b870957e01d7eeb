import { setTimeout as sleep } from 'node:timers/promises'
import type { ProxyMode, RpcProxy, RpcRequest } from './rpc-proxy.ts'

/** What an endpoint of Bitcoin can do wrong. */
export type EndpointFault = {
  readonly name: string
  readonly mode: ProxyMode
  /** Whether the fault shows in the answer to this call. */
  readonly shows: (call: RpcRequest) => boolean
  /** Reads come from the first endpoint that is healthy: a fault in an answer to a read is of that one. */
  readonly of_first?: true
}

const UNKNOWN_HASH = 'cd'.repeat(32)

const at =
  (method: string, fits: (params: readonly any[]) => boolean = () => true) =>
  (call: RpcRequest): boolean =>
    call.method === method && fits(call.params)

const rewriting = (shows: EndpointFault['shows'], rewrite: (result: any) => unknown): ProxyMode => ({
  rewrite: (call, reply) =>
    shows(call) && !reply.error ? { ...reply, result: rewrite(reply.result) } : reply,
})

const answering = (
  shows: EndpointFault['shows'],
  answer: { result: unknown } | { error: { code: number; message: string } },
): ProxyMode => ({ answer: (call) => (shows(call) ? answer : undefined) })

const outage = (name: string, mode: ProxyMode): EndpointFault => ({ name, mode, shows: () => true })

const lie = (
  name: string,
  shows: EndpointFault['shows'],
  modeOf: (shows: EndpointFault['shows']) => ProxyMode,
  options: Pick<EndpointFault, 'of_first'> = {},
): EndpointFault => ({ name, shows, mode: modeOf(shows), ...options })

/**
 * The first four are those of the reduced form. An endpoint that calls coins spent is not among them: the rail is then paused until two
 * operators resume it, because the coins may be spent by another program (custody/guard.ts).
 */
export const endpointFaults: readonly EndpointFault[] = [
  outage('cut', { cut: true }),
  lie(
    'of another chain',
    at('getblockhash', ([height]) => height === 0),
    (shows) => rewriting(shows, () => UNKNOWN_HASH),
  ),
  lie(
    'another block at each height',
    at('getblockhash', ([height]) => height > 0),
    (shows) => rewriting(shows, () => UNKNOWN_HASH),
  ),
  lie(
    'blocks pruned',
    at('getblock'),
    (shows) => answering(shows, { error: { code: -1, message: 'Block not available (pruned data)' } }),
    { of_first: true },
  ),
  outage('answers lost', { lose_answers: true }),
  lie('payments swallowed', at('sendrawtransaction'), (shows) => answering(shows, { result: UNKNOWN_HASH })),
  outage('late', { delay_ms: 3000 }),
  outage('bad gateway', { raw: { status: 502, body: '<html>Bad gateway</html>' } }),
  lie('a longer chain', at('getblockchaininfo'), (shows) =>
    rewriting(shows, (info) => ({ ...info, blocks: info.blocks + 100 })),
  ),
  lie('no payment known', at('getmempoolentry'), (shows) =>
    answering(shows, { error: { code: -5, message: 'Transaction not in mempool' } }),
  ),
  lie('every payment known', at('getmempoolentry'), (shows) => answering(shows, { result: { vsize: 141 } })),
  lie('changed blocks', at('getblock'), (shows) => rewriting(shows, (hex) => `${hex.slice(0, -2)}ff`), {
    of_first: true,
  }),
  lie(
    'a fee above all caps',
    at('estimatesmartfee'),
    (shows) => answering(shows, { result: { feerate: 1, blocks: 3 } }),
    { of_first: true },
  ),
]

/** An endpoint that rests is asked again after half a minute. */
const ASKED_MOST_MS = 45_000

/** The endpoint has the fault until an answer showed it, and a little longer. False if nothing asked for such an answer. */
export async function playFault(
  endpoint: RpcProxy,
  { mode, shows }: EndpointFault,
  longer_ms: number,
): Promise<boolean> {
  endpoint.taken()
  endpoint.become(mode)
  const until = performance.now() + ASKED_MOST_MS
  let has_shown = false
  while (!has_shown && performance.now() < until) {
    has_shown = endpoint.taken().calls.some(shows)
    await sleep(50)
  }
  if (has_shown) await sleep(longer_ms)
  endpoint.become({})
  return has_shown
}
