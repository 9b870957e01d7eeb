import type { Logger } from 'pino'
import { refuse } from '../../core/errors.ts'
import { EndpointsDisagree, EndpointsUnavailable, type Rpc } from './rpc.ts'
import { EndpointFailure } from './rpc-endpoint.ts'
import type { RpcNode } from './rpc-health.ts'

/** Part of the set-up that a check found to be wrong. */
export type CheckedPart = 'endpoint' | 'chain' | 'sync' | 'contract' | 'decimals' | 'wallet'

/** The message says which part of which endpoint is wrong, and never has its URL. */
export class ChainCheckFailed extends Error {
  readonly part: CheckedPart

  constructor(part: CheckedPart, problem: string) {
    super(problem)
    this.part = part
  }
}

/** An endpoint that is down for now is tolerated while another one answers; one that is wrong never is. */
export async function checkEndpoints(
  network: string,
  rpc: Rpc,
  checkNode: (node: RpcNode) => Promise<void>,
): Promise<void> {
  const inspected = await rpc.inspect()
  const failures = inspected.flatMap(({ failure }) => failure ?? [])
  const wrong = failures.find(({ kind }) => kind === 'wrong_chain')
  if (wrong) throw new ChainCheckFailed('chain', `${network}: ${wrong.message}.`)
  if (failures.length === inspected.length)
    throw new ChainCheckFailed('endpoint', `${network}: no endpoint is usable. ${failures[0]!.message}.`)
  try {
    await rpc.all(checkNode)
  } catch (error) {
    if (error instanceof EndpointsUnavailable) throw new ChainCheckFailed('endpoint', `${error.message}.`)
    throw error
  }
}

/**
 * Nothing is accepted or signed before the set-up was found right once: a token with other decimals, for example, would pay other
 * amounts. A failed check is logged, and made again for a later call.
 */
export function openCheck(check: () => Promise<void>, log?: Pick<Logger, 'warn'>): () => Promise<void> {
  let passed = false
  let checking: Promise<void> | undefined
  return async () => {
    if (passed) return
    checking ??= check().then(
      () => {
        passed = true
        checking = undefined
      },
      (error: unknown) => {
        checking = undefined
        if (error instanceof ChainCheckFailed) log?.warn(`chain: ${error.message}`)
        throw error
      },
    )
    await checking
  }
}

/** Orders that come together share one answer. A failure is not remembered. */
export function remembered<Answer>(fresh_ms: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let kept: { readonly answer: Promise<Answer>; readonly until: number } | undefined
  return () => {
    if (kept && performance.now() < kept.until) return kept.answer
    const answer = ask()
    kept = { answer, until: performance.now() + fresh_ms }
    answer.catch(() => {
      kept = undefined
    })
    return answer
  }
}

export const unavailable = (
  facts: Omit<NonNullable<Parameters<typeof refuse>[1]>, 'retry_after_seconds'> = {},
): never => refuse('rail_unavailable', { ...facts, retry_after_seconds: RETRY_AFTER_SECONDS })

/** The endpoints do not answer or do not agree, or the set-up is wrong: to be tried again later. */
export const isOutage = (error: unknown): boolean =>
  error instanceof EndpointsUnavailable ||
  error instanceof EndpointsDisagree ||
  error instanceof EndpointFailure ||
  error instanceof ChainCheckFailed

/** Before an order is accepted, an outage is a reason to refuse it. */
export async function orUnavailable<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (isOutage(error)) return unavailable()
    throw error
  }
}

/** Undefined during an outage, and while the set-up is wrong. */
export async function orNone<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (isOutage(error)) return undefined
    throw error
  }
}

const RETRY_AFTER_SECONDS = 5
