import { EndpointFailure } from './rpc-endpoint.ts'
import {
  type EndpointFacts,
  type HealthOptions,
  type RpcNode,
  type WatchedEndpoint,
  watchEndpoint,
} from './rpc-health.ts'

/**
 * JSON-RPC over several endpoints of one network. A node may be down, behind, of another chain, or lie: reads come from the first
 * healthy endpoint, and what is final must be the same from two endpoints where two are configured.
 */
export type Rpc = {
  /** How many endpoints must agree on what is final: two, or one where only one is configured. */
  readonly quorum: number
  /** Runs the work on the first healthy endpoint, and on the next one if that endpoint fails. */
  read<Answer>(work: Work<Answer>, signal?: AbortSignal): Promise<Answer>
  /** Runs the work on every healthy endpoint. Returns the answers of those that did not fail, at least one. */
  all<Answer>(work: Work<Answer>, signal?: AbortSignal): Promise<readonly Heard<Answer>[]>
  /** The answer that a quorum shares and no endpoint contradicts. Undefined if there is none. */
  agree<Answer>(
    work: Work<Answer>,
    keyOf: (answer: Answer) => string,
    signal?: AbortSignal,
  ): Promise<Answer | undefined>
  /** Inspects every endpoint now, resting ones too. */
  inspect(): Promise<readonly Inspected[]>
  /** For metrics. */
  facts(): readonly EndpointFacts[]
  stop(): Promise<void>
}

type Work<Answer> = (node: RpcNode) => Promise<Answer>
export type Heard<Answer> = { readonly endpoint: number; readonly answer: Answer }
export type Inspected = { readonly endpoint: number; readonly failure?: EndpointFailure }
export type RpcOptions = HealthOptions & { readonly urls: readonly string[] }

/** No endpoint is healthy, or each one failed; or fewer answer than must agree. */
export class EndpointsUnavailable extends Error {
  constructor(network: string, last: EndpointFailure | 'too_few' | undefined) {
    super(`${network}: ${outageOf(last)}`)
  }
}

function outageOf(last: EndpointFailure | 'too_few' | undefined): string {
  if (last === 'too_few') return 'only one endpoint answers, and two must agree'
  return `no endpoint answers${last ? `; the last failure: ${last.message}` : ': all of them rest'}`
}

/** Endpoints tell different things about what must be the same for all of them. */
export class EndpointsDisagree extends Error {
  constructor(network: string, about: string) {
    super(`${network}: the endpoints disagree about ${about}`)
  }
}

export function openRpc(options: RpcOptions): Rpc {
  const { network, urls } = options
  checkUrls(network, urls)
  const endpoints: readonly WatchedEndpoint[] = urls.map((url, index) => {
    const number = index + 1
    return watchEndpoint({ url, number, bestHead: () => bestHead(endpoints, number) }, options)
  })
  const quorum = Math.min(2, endpoints.length)
  const healthy = () => endpoints.filter((endpoint) => endpoint.isHealthy())

  async function read<Answer>(work: Work<Answer>, signal?: AbortSignal): Promise<Answer> {
    let last: EndpointFailure | undefined
    for (const endpoint of healthy()) {
      signal?.throwIfAborted()
      try {
        return await use(endpoint, work, signal)
      } catch (error) {
        if (!(error instanceof EndpointFailure)) throw error
        last = error
      }
    }
    throw new EndpointsUnavailable(network, last)
  }

  async function all<Answer>(work: Work<Answer>, signal?: AbortSignal): Promise<readonly Heard<Answer>[]> {
    signal?.throwIfAborted()
    const asked = healthy()
    const settled = await Promise.allSettled(asked.map((endpoint) => use(endpoint, work, signal)))
    let last: EndpointFailure | undefined
    const heard = settled.flatMap((one, index) => {
      if (one.status === 'fulfilled') return [{ endpoint: asked[index]!.number, answer: one.value }]
      if (!(one.reason instanceof EndpointFailure)) throw one.reason
      last = one.reason
      return []
    })
    if (heard.length === 0) throw new EndpointsUnavailable(network, last)
    return heard
  }

  return {
    quorum,
    read,
    all,
    async agree(work, keyOf, signal) {
      const answers = (await all(work, signal)).map(({ answer }) => answer)
      const is_one = new Set(answers.map(keyOf)).size === 1
      return is_one && answers.length >= quorum ? answers[0] : undefined
    },
    inspect: () => Promise.all(endpoints.map(inspectOne)),
    facts: () => endpoints.map((endpoint) => endpoint.facts()),
    async stop() {
      await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
    },
  }
}

/** The answer does not count if the endpoint fails its inspection. */
async function use<Answer>(
  endpoint: WatchedEndpoint,
  work: Work<Answer>,
  signal?: AbortSignal,
): Promise<Answer> {
  const [, answer] = await Promise.all([endpoint.inspectIfDue(), work(endpoint.node(signal))])
  return answer
}

async function inspectOne(endpoint: WatchedEndpoint): Promise<Inspected> {
  try {
    await endpoint.inspect()
    return { endpoint: endpoint.number }
  } catch (error) {
    if (error instanceof EndpointFailure) return { endpoint: endpoint.number, failure: error }
    throw error
  }
}

/**
 * The highest head of the other endpoints; with three endpoints or more their second highest, so that one endpoint with an invented
 * height cannot make all others rest.
 */
function bestHead(endpoints: readonly WatchedEndpoint[], asked: number): bigint {
  const others = endpoints.filter((one) => one.number !== asked && one.isHealthy())
  const heads = others.flatMap((one) => one.head() ?? []).sort((a, b) => (a < b ? 1 : -1))
  return heads[endpoints.length > 2 ? 1 : 0] ?? 0n
}

/** Two equal endpoints would confirm each other. */
function checkUrls(network: string, urls: readonly string[]): void {
  if (urls.length === 0) throw new Error(`${network}: no endpoint is configured.`)
  const known: string[] = []
  for (const [index, url] of urls.entries()) {
    const { protocol, href } = URL.canParse(url) ? new URL(url) : { protocol: undefined, href: url }
    if (protocol !== 'http:' && protocol !== 'https:')
      throw new Error(`${network}: endpoint ${index + 1} is not a URL with http or https.`)
    const first = known.indexOf(href)
    if (first >= 0) throw new Error(`${network}: endpoints ${first + 1} and ${index + 1} have the same URL.`)
    known.push(href)
  }
}
