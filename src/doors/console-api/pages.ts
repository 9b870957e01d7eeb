import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { Refusal } from '../../core/errors.ts'

/** Every resource comes from this server, and no text can become a script. */
export const consoleSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

type File = { readonly type: string; readonly body: Buffer; readonly gzip: Buffer | undefined }

/** Beside the compiled code, or in `dist` when this runs from source. */
const folders = ['../../console/', '../../../dist/console/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

/**
 * Serves the built pages. Every path that is not a file gets index.html, whose script routes by the path. Files under
 * assets/ have a hash in their name and never change.
 */
export function registerConsolePages(app: FastifyInstance, log: Logger): void {
  const folder = folders.find((path) => existsSync(join(path, 'index.html')))
  if (folder === undefined)
    log.info('console: its pages are not built, so they are not served. Run: npm run build')
  const files = folder === undefined ? new Map<string, File>() : readAll(folder)
  app.get('/console', async (request, reply) => send('index.html', files, request, reply))
  app.get<{ Params: { '*': string } }>('/console/*', async (request, reply) => {
    const path = request.params['*']
    if (path.startsWith('api/') || path === 'api') throw new Refusal('route_not_found')
    const name = files.has(path) || path.startsWith('assets/') ? path : 'index.html'
    return send(name, files, request, reply)
  })
}

function readAll(folder: string): Map<string, File> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name))
  return new Map(names.map((name) => [name.replaceAll('\\', '/'), readOne(join(folder, name))]))
}

function readOne(path: string): File {
  const body = readFileSync(path)
  const type = types[extname(path)] ?? 'application/octet-stream'
  return { type, body, gzip: extname(path) === '.woff2' ? undefined : gzipSync(body) }
}

function send(
  name: string,
  files: ReadonlyMap<string, File>,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const file = files.get(name)
  if (!file) throw new Refusal('route_not_found')
  const zipped = file.gzip && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  reply.header(
    'cache-control',
    name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
  )
  reply.header('content-security-policy', consoleSecurityPolicy)
  reply.header('vary', 'accept-encoding')
  if (zipped) reply.header('content-encoding', 'gzip')
  return reply.type(file.type).send(zipped ? file.gzip : file.body)
}
