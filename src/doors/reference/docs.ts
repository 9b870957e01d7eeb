import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Clock } from '../../core/clock.ts'
import { Refusal } from '../../core/errors.ts'
import { pageSecurityPolicy } from '../../http/headers.ts'
import { openSearchLimit } from '../../limits/searches.ts'
import { type BuiltDocs, isVersioned, openBuiltDocs, type PreparedFile, readyJson } from './built-docs.ts'
import type { OpenApi } from './openapi.ts'
import { openSearchPages, type SearchPages } from './search-page.ts'

type DocsOptions = {
  /** `public_url` and `openapi` are called at the first request: only a listening server knows its own address. */
  readonly public_url: () => string
  readonly openapi: () => OpenApi
  readonly clock: Clock
  readonly log: Logger
}

/** Serves the built docs, and openapi.json, which each server generates. */
export function registerDocs(app: FastifyInstance, { public_url, openapi, clock, log }: DocsOptions): void {
  let description: PreparedFile | undefined
  app.get('/', async (_, reply) => reply.redirect('/docs', 302))
  app.get('/openapi.json', async (request, reply) =>
    send((description ??= readyJson(openapi())), request, reply),
  )
  const docs = openBuiltDocs(public_url)
  if (!docs) {
    log.info('the docs are not built and not served. Run: npm run build')
    for (const path of ['/docs', '/docs/*']) app.get(path, async (_, reply) => sendNotBuilt(reply))
    return
  }
  const found = openSearchPages(docs, openSearchLimit(clock))
  app.get('/docs', async (request, reply) => send(docs.ready('index.html'), request, reply))
  app.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) =>
    sendNamed(request.params['*'], { docs, found }, request, reply),
  )
  for (const name of ['llms.txt', 'openapi.yaml'])
    app.get(`/${name}`, async (request, reply) => sendNamed(name, { docs, found }, request, reply))
}

function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type('text/plain; charset=utf-8')
    .send('The docs are not built. Run `npm run build`, then start the server again.\n')
}

/** Redirects from short addresses that people type. */
const meant: ReadonlyMap<string, string> = new Map([
  ['', '/docs'],
  ['guides', '/docs/guides/money'],
  ['operate', '/docs/operate/install'],
  ['openapi.json', '/openapi.json'],
])

/** The address to redirect to: a short address, or a page address with a trailing slash. */
function elsewhere(path: string, docs: BuiltDocs): string | undefined {
  const bare = path.endsWith('/') ? path.slice(0, -1) : path
  return meant.get(bare) ?? (bare !== path && isPage(`${bare}.html`, docs) ? `/docs/${bare}` : undefined)
}

/** The address of a page has no file extension; all other files keep theirs. */
function sendNamed(
  path: string,
  { docs, found }: { docs: BuiltDocs; found: SearchPages },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const name = docs.has(path) && !path.endsWith('.html') ? path : `${path}.html`
  if (!isPage(name, docs)) {
    const newest = path.endsWith('.tgz') ? docs.newest(path.slice(0, -'.tgz'.length)) : undefined
    // Lock files must name the version, so this address is for people and scripts that ask for the newest.
    if (newest) return reply.header('cache-control', 'no-cache').redirect(`/docs/${newest}`, 302)
    const target = elsewhere(path, docs)
    if (target === undefined) return sendMissing(path, docs, request, reply)
    const [, query] = request.url.split('?', 2)
    return reply.header('cache-control', 'no-cache').redirect(query ? `${target}?${query}` : target, 308)
  }
  const page = found.pageOf(name, request.query)
  if (page !== undefined) return asPage(reply, docs.ready(name).type, 'no-cache').send(page)
  return send(docs.ready(name), request, reply, path.startsWith('assets/') || isVersioned(path))
}

const missing = { en: '404.html', pt: 'pt/404.html' } as const

const isPage = (name: string, docs: BuiltDocs) => docs.has(name) && name !== missing.en && name !== missing.pt

/** A 404: an HTML page for people, the error object of the API for programs. */
function sendMissing(
  path: string,
  docs: BuiltDocs,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (!request.headers.accept?.includes('text/html')) throw new Refusal('route_not_found')
  return send(docs.ready(missing[path.startsWith('pt/') ? 'pt' : 'en']), request, reply.code(404))
}

/** A file with a hash or a version in its name is cached for ever; other files are revalidated. */
function send(
  ready: PreparedFile,
  request: FastifyRequest,
  reply: FastifyReply,
  immutable = false,
): FastifyReply {
  const { type, body, zipped, plain } = ready
  const packed = zipped && takesGzip(request.headers['accept-encoding'])
  const etag = `"${ready.etag}${packed ? '-gz' : ''}"`
  asPage(reply, type, immutable ? 'public, max-age=31536000, immutable' : 'no-cache').header('etag', etag)
  if (zipped) reply.header('vary', 'accept-encoding')
  if (reply.statusCode === 200 && isKnown(request.headers['if-none-match'], etag))
    return reply.code(304).send()
  if (packed) reply.header('content-encoding', 'gzip')
  return reply.send(packed ? body : plain())
}

function asPage(reply: FastifyReply, type: string, caching: string): FastifyReply {
  return reply
    .header('content-security-policy', pageSecurityPolicy)
    .header('cache-control', caching)
    .type(type)
}

const takesGzip = (accepted = ''): boolean =>
  accepted.split(',').some((one) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$)|$)/i.test(one))

const isKnown = (seen: string | undefined, etag: string): boolean =>
  seen?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag) === true
