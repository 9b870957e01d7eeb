import type { Logger } from 'pino'
import {
  EndpointFailure,
  type FailureKind,
  openRpcEndpoint,
  type RpcCall,
  type RpcDialect,
} from './rpc-endpoint.ts'

/**
 * An endpoint with its health. An endpoint rests after three failures in a row, or if an inspection finds that its node is of
 * another chain or behind.
 */
export type WatchedEndpoint = {
  readonly number: number
  isHealthy(): boolean
  node(signal?: AbortSignal): RpcNode
  /** Height of the newest block, when the endpoint was last inspected. */
  head(): bigint | undefined
  /** Throws `EndpointFailure`. */
  inspect(): Promise<void>
  /** Undefined if the last inspection is recent. The calls of an inspection share the batch of other calls. */
  inspectIfDue(): Promise<void> | undefined
  facts(): EndpointFacts
  stop(): Promise<void>
}

/** One endpoint, so that several questions are answered by the same node. */
export type RpcNode = { readonly endpoint: number; ask<Answer>(call: RpcCall<Answer>): Promise<Answer> }

export type EndpointFacts = {
  readonly endpoint: number
  readonly state: 'healthy' | 'resting'
  readonly head?: bigint
  /** Of the newest HTTP request. */
  readonly latency_ms?: number
  readonly failures_in_row: number
  /** Stays after the endpoint has recovered. */
  readonly last_failure?: FailureKind
}

/** What an endpoint says about its chain. `chain` is the chain id, or another name that no other chain has. */
export type ChainHead = {
  readonly chain: string
  readonly height: bigint
  readonly at_ms: number
  /** Of the newest final block, where nodes tell it. */
  readonly final_at_ms?: number
}

export type HealthOptions = {
  /** For messages. */
  readonly network: string
  readonly chain: string
  inspect(node: RpcNode): Promise<ChainHead>
  /** An endpoint may be this many blocks behind the others. */
  readonly behind_most: bigint
  /** The newest block of an endpoint may be this old. */
  readonly head_age_most_ms: number
  /** The newest final block of an endpoint may be this old. Undefined: its age is not checked. */
  readonly final_age_most_ms?: number
  readonly inspect_after_ms?: number
  readonly rest_ms?: number
  readonly timeout_ms?: number
  readonly answer_most_bytes?: number
  readonly batch_most?: number
  readonly dialect?: RpcDialect
  readonly clock?: { now(): number }
  readonly log?: Pick<Logger, 'warn'>
}

const INSPECT_AFTER_MS = 5000
const REST_MS = 30_000
const TIMEOUT_MS = 5000
const ANSWER_MOST_BYTES = 2 * 1024 * 1024
const BATCH_MOST = 50
const FAILURES_MOST = 3

/** `bestHead`: the height that the other endpoints have reached. */
export function watchEndpoint(
  { url, number, bestHead }: { url: string; number: number; bestHead: () => bigint },
  options: HealthOptions,
): WatchedEndpoint {
  const { network, log, rest_ms = REST_MS, inspect_after_ms = INSPECT_AFTER_MS } = options
  const endpoint = openRpcEndpoint({ number, url, report, ...transportOf(options) })
  // Times are those of performance.now().
  let rests_until = 0
  let inspected_at = -Infinity
  let inspecting: Promise<void> | undefined
  let head: bigint | undefined
  let latency_ms: number | undefined
  let failures_in_row = 0
  let last_failure: FailureKind | undefined

  const isHealthy = () => performance.now() >= rests_until

  function report(outcome: { readonly latency_ms: number; readonly failure?: EndpointFailure }): void {
    latency_ms = outcome.latency_ms
    if (!outcome.failure) return void (failures_in_row = 0)
    failures_in_row++
    last_failure = outcome.failure.kind
    if (failures_in_row >= FAILURES_MOST) rest(outcome.failure)
  }

  /** Does not reset `failures_in_row`: after the rest, a single failure makes the endpoint rest again. */
  function rest(failure: EndpointFailure): void {
    if (isHealthy())
      log?.warn(
        { network, endpoint: number, failure: failure.kind },
        `rpc: ${network} ${failure.message}; it rests for ${rest_ms / 1000} s`,
      )
    last_failure = failure.kind
    rests_until = performance.now() + rest_ms
    inspected_at = -Infinity
  }

  const node = (signal?: AbortSignal): RpcNode => ({
    endpoint: number,
    ask: (call) => endpoint.ask(call, signal),
  })

  async function inspect(): Promise<void> {
    const found = await options.inspect(node())
    const problem = problemOf(found, bestHead(), options)
    // The height of another chain says nothing about this one.
    head = problem?.kind === 'wrong_chain' ? undefined : found.height
    if (!problem) return void (inspected_at = performance.now())
    const failure = new EndpointFailure({ endpoint: number, ...problem })
    rest(failure)
    throw failure
  }

  return {
    number,
    isHealthy,
    node,
    head: () => head,
    inspect,
    inspectIfDue() {
      if (performance.now() - inspected_at < inspect_after_ms) return undefined
      inspecting ??= inspect().finally(() => {
        inspecting = undefined
      })
      return inspecting
    },
    facts: () => ({
      endpoint: number,
      state: isHealthy() ? 'healthy' : 'resting',
      failures_in_row,
      ...(head !== undefined && { head }),
      ...(latency_ms !== undefined && { latency_ms }),
      ...(last_failure && { last_failure }),
    }),
    stop: endpoint.stop,
  }
}

const transportOf = (options: HealthOptions) => ({
  timeout_ms: options.timeout_ms ?? TIMEOUT_MS,
  answer_most_bytes: options.answer_most_bytes ?? ANSWER_MOST_BYTES,
  batch_most: options.batch_most ?? BATCH_MOST,
  ...(options.dialect && { dialect: options.dialect }),
})

function problemOf(found: ChainHead, best_head: bigint, options: HealthOptions) {
  const { chain, height, at_ms, final_at_ms } = found
  if (chain !== options.chain)
    return { kind: 'wrong_chain', problem: `the node is of chain ${chain}, not ${options.chain}` } as const
  const now = options.clock?.now() ?? Date.now()
  const age_ms = now - at_ms
  if (age_ms > options.head_age_most_ms)
    return { kind: 'old_head', problem: `the newest block is ${Math.round(age_ms / 1000)} s old` } as const
  const final_age_ms = final_at_ms === undefined ? 0 : now - final_at_ms
  if (final_age_ms > (options.final_age_most_ms ?? Infinity))
    return {
      kind: 'old_head',
      problem: `the newest final block is ${Math.round(final_age_ms / 1000)} s old`,
    } as const
  const behind = best_head - height
  if (behind > options.behind_most)
    return { kind: 'old_head', problem: `the node is ${behind} blocks behind` } as const
  return undefined
}
