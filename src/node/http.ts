import type { AddressInfo, Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { auditDetails } from '../control/audit/state.ts'
import { type GoliveReport, judgeGolive } from '../control/golive/report.ts'
import type { Office } from '../control/operator/office.ts'
import { endpoints } from '../doors/api/endpoints.ts'
import { registerConsolePages } from '../doors/console-api/pages.ts'
import { registerConsoleApi } from '../doors/console-api/server.ts'
import { registerDocs } from '../doors/reference/docs.ts'
import { buildOpenApi } from '../doors/reference/openapi.ts'
import { eventSamples } from '../doors/sandbox/samples.ts'
import { buildServer } from '../http/server.ts'
import type { RemoteSigner } from '../rails/signer/remote.ts'
import type { Worlds } from '../world.ts'
import type { Closing } from './closing.ts'
import type { Config } from './config.ts'
import type { Front } from './front.ts'
import { gatherGolive } from './golive/gather.ts'
import { registerHealth } from './health.ts'
import type { Metrics } from './metrics.ts'
import { registerMetrics, startMetricsServer } from './metrics-page.ts'
import { registerNotices } from './notices.ts'
import type { AssertReady } from './readiness.ts'
import { answersCalls } from './role.ts'
import { version } from './version.ts'

/** Every request is answered within this time, whatever happens to the database. */
const ANSWER_MS = 9500
const ANSWER_AFTER_WAIT_MS = 5000
/** How long requests under way may take after the listener has closed: longer than any response that is not a stream. */
const finishMs = (answer_ms: number) => answer_ms + 500

type HttpOptions = {
  readonly config: Config
  readonly front: Front
  readonly worlds: Worlds
  readonly office: Office
  readonly assertReady: AssertReady
  /** Wakes the workers of production that have backed off. */
  readonly wakeWorkers: () => void
  /** The signer in a process of its own, with SIGNER_URL. */
  readonly remote_signer: Pick<RemoteSigner, 'state' | 'check'> | undefined
  readonly metrics: Metrics
  readonly log: Logger
  readonly closing: Closing
  /** The owner's address of the database. */
  readonly database_url: string
}

type Http = {
  /** Begins to listen. Returns the URL under which this machine reaches the server. */
  listen(): Promise<string>
  /** Requests that are not answered yet. */
  underWay(): number
  /** From now on responses say `Connection: close`, and streams of hints end. The listener stays open. */
  drain(): void
}

/** The HTTP server with everything it serves: the API, the console, health and metrics. */
export async function openHttp(options: HttpOptions): Promise<Http> {
  const { config, front, worlds, assertReady, metrics, log, closing } = options
  let url = config.public_url ?? ''
  let local_url: string | undefined
  const public_url = () => url
  const draining = new AbortController()
  const answer_ms = Math.max(ANSWER_MS, config.pix_wait_ms + ANSWER_AFTER_WAIT_MS)
  const app = buildServer({
    ...front,
    public_url,
    log,
    onAnswer: metrics.answered,
    answer_ms,
    sockets: config.connections,
    isDraining: () => draining.signal.aborted,
  })
  const streaming = new AbortController()
  registerHealth(app, {
    ...{ role: config.role, assertReady },
    details: async () => ({ ...(await auditDetails(worlds)), ...signerDetails(options.remote_signer) }),
  })
  if (answersCalls(config.role)) {
    registerReference(app, options, public_url)
    registerNotices(app, {
      token: config.efi.notice_token,
      world: worlds.production,
      wakeWorkers: options.wakeWorkers,
      log,
    })
    registerConsole(app, options, {
      public_url,
      walkGolive: async () => judgeGolive(await gatherGolive({ ...options, ...options.office, local_url })),
      draining: draining.signal,
      stopping: streaming.signal,
    })
  }
  await serveMetrics(app, options)
  const underWay = countRequests(app)
  closing.add({ 'requests under way': closerOf(app, finishMs(answer_ms)) })
  // Before the server waits for requests under way: a stream does not end by itself.
  closing.add({
    'streams to the console': async () => {
      draining.abort()
      streaming.abort()
    },
  })
  return {
    underWay,
    drain: () => draining.abort(),
    async listen() {
      const { host, port } = config
      await app.listen({ host, port })
      const { port: bound } = app.server.address() as AddressInfo
      const local = urlAt(loopbacks[host] ?? host, bound)
      url ||= local
      local_url = local
      if (config.public_url === undefined && host in loopbacks) log.warn(noPublicUrl(local))
      return local
    },
  }
}

/** URLs for hosts that mean "all addresses". The host of a request is never used: its sender would choose where links lead. */
const loopbacks: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

const urlAt = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

const noPublicUrl = (url: string) =>
  `PUBLIC_URL is not set: links in responses, in openapi.json and in invitations lead to ${url}, where only this machine finds the service. Set PUBLIC_URL to the address that partners use`

/** A node without its signer still takes orders and follows payments, so it stays ready. Everybody may read this: no reason is given. */
function signerDetails(signer: HttpOptions['remote_signer']): Record<string, unknown> {
  if (!signer) return {}
  const state = signer.state()
  return { signer: state === undefined ? 'unknown' : state.problem === undefined ? 'ready' : 'unavailable' }
}

/** The pages of the console, and the endpoints that they call. */
function registerConsole(
  app: FastifyInstance,
  options: HttpOptions,
  more: {
    public_url: () => string
    walkGolive: () => Promise<GoliveReport>
    draining: AbortSignal
    stopping: AbortSignal
  },
): void {
  const { front, office, worlds, log } = options
  const { shares, shared } = office
  const { handlers, writes, reads } = front.console(more)
  const parts = { handlers, writes, reads, shared: shared.db, shares, worlds, gate: front.gate, log }
  registerConsoleApi(app, { ...parts, ...more })
  registerConsolePages(app, log)
}

function registerReference(
  app: FastifyInstance,
  { worlds, log }: HttpOptions,
  public_url: () => string,
): void {
  const openapi = () =>
    buildOpenApi({ endpoints, events: eventSamples(endpoints), public_url: public_url(), version })
  registerDocs(app, { public_url, openapi, clock: worlds.production.clock, log })
}

async function serveMetrics(app: FastifyInstance, { config, metrics, closing }: HttpOptions): Promise<void> {
  const { metrics_token: token, metrics_port: port, host } = config
  if (port === undefined) return registerMetrics(app, { metrics, token, open_to: () => false })
  const server = await startMetricsServer({ metrics, token, host, port })
  closing.add({ 'the port of the metrics': () => server.close() })
}

function countRequests(app: FastifyInstance): () => number {
  let count = 0
  app.server.on('request', (_, response) => {
    count++
    response.once('close', () => count--)
  })
  return () => count
}

/**
 * Answers requests under way and closes all other connections. Node closes idle connections only once: connections that
 * become idle later, or never carried a request, would keep the server open until the client leaves.
 */
function closerOf(app: FastifyInstance, finish_ms: number): () => Promise<void> {
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return async () => {
    const closed = app.close()
    const sweep = setInterval(() => {
      app.server.closeIdleConnections()
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    }, 20)
    const cut = setTimeout(() => app.server.closeAllConnections(), finish_ms)
    await closed.finally(() => {
      clearInterval(sweep)
      clearTimeout(cut)
    })
  }
}
