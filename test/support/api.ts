import assert from 'node:assert/strict'
import { Value } from 'typebox/value'
import { errors } from '../../src/core/errors.ts'
import { endpoints } from '../../src/doors/api/endpoints.ts'
import { type Endpoint, methodAndPath } from '../../src/http/endpoint.ts'

export type Reply = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: any
}

/** With the bytes of the body, for files. */
export type FetchedReply = Reply & { readonly bytes: Uint8Array }

/** A client that holds every answer against the contract: headers, error object, and the schema of its endpoint. */
export type Api = {
  get(path: string): Promise<Reply>
  post(path: string, body?: unknown): Promise<Reply>
  patch(path: string, body: unknown): Promise<Reply>
  delete(path: string): Promise<Reply>
  /** Also for files: the reply has the bytes of the body. */
  send(
    method: string,
    path: string,
    options?: { body?: string | Uint8Array; headers?: Record<string, string> },
  ): Promise<FetchedReply>
}

export function openApi(url: string, key: string | undefined): Api {
  const send: Api['send'] = async (method, path, options = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...options.headers },
      ...(options.body === undefined ? {} : { body: options.body }),
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    const text = new TextDecoder().decode(bytes)
    const reply = {
      status: response.status,
      headers: response.headers,
      text,
      bytes,
      json: text === '' ? undefined : parse(text),
    }
    checkReply(method, path, reply)
    return reply
  }
  const withBody = (method: string) => (path: string, body?: unknown) =>
    send(
      method,
      path,
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
    )
  return {
    send,
    get: (path) => send('GET', path),
    post: withBody('POST'),
    patch: withBody('PATCH'),
    delete: (path) => send('DELETE', path),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function checkReply(method: string, path: string, reply: Reply): void {
  for (const name of ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    assert(reply.headers.get(name), `${method} ${path} ${reply.status} lacks ${name}`)
  }
  assert.match(reply.headers.get('x-ratelimit-remaining')!, /^[0-9]+$/)
  if (!path.startsWith('/v1')) return
  if (reply.status >= 400) return checkError(reply)
  const declared = endpoints.find((endpoint) => matches(endpoint, method, path))
  assert(declared, `${method} ${path} answered ${reply.status} but is not declared`)
  if (declared.dry_run && reply.json?.dry_run)
    return checkShape(declared.dry_run, reply.json, `${method} ${path}`)
  if (declared.reply.file) return checkFile(declared.reply.file, reply)
  assert.equal(reply.status, declared.reply.status)
  if (declared.reply.schema) checkShape(declared.reply.schema, reply.json, `${method} ${path}`)
}

/** A file, or 304 without content when the caller has the file already. */
function checkFile(type: string, { status, headers, text }: Reply): void {
  assert.match(headers.get('etag') ?? '', /^"[\w-]+"$/)
  assert.equal(headers.get('cache-control'), 'private, no-cache')
  if (status === 304) return assert.equal(text, '')
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), type)
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="[\w-]+\.pdf"$/)
}

function checkError(reply: Reply): void {
  const error = reply.json?.error
  if (reply.headers.get('content-length') === '0' || reply.text === '') return
  assert(error, `no error object: ${reply.text.slice(0, 200)}`)
  const known = errors[error.code as keyof typeof errors]
  assert(known, `unknown code ${error.code}`)
  assert.equal(reply.status, known.status, error.code)
  assert.equal(error.type, known.type)
  // A replayed refusal is the first one to the byte, its request id included.
  if (!reply.headers.get('idempotent-replayed'))
    assert.equal(error.request_id, reply.headers.get('x-request-id'))
  assert.match(error.doc_url, new RegExp(`/docs/errors/${error.code}$`))
  assert(typeof error.message === 'string' && error.message.length > 10)
  assert.doesNotMatch(
    reply.text,
    /svc_(live|test)_sk_[A-Za-z0-9]{8}|SELECT|INSERT|\\n +at |node_modules|stack/,
    'leaks',
  )
  if (error.code === 'rate_limit_exceeded' || reply.status === 503)
    assert.match(reply.headers.get('retry-after') ?? '', /^[1-9][0-9]*$/)
}

/** Right types, and no field that the schema does not name. */
function checkShape(schema: any, value: unknown, where: string): void {
  const wrong = [...Value.Errors(schema, value)][0]
  assert(!wrong, `${where}: ${JSON.stringify(wrong)}`)
  if (schema.items && Array.isArray(value)) for (const item of value) checkShape(schema.items, item, where)
  if (schema.properties && value && typeof value === 'object') {
    for (const [name, part] of Object.entries(value)) {
      assert(schema.properties[name], `${where}: ${name} is not in the schema`)
      checkShape(schema.properties[name], part, `${where} ${name}`)
    }
  }
}

function matches(endpoint: Endpoint, method: string, path: string): boolean {
  const declared = methodAndPath(endpoint)
  if (declared.method !== (method === 'HEAD' ? 'GET' : method)) return false
  return new RegExp(`^${declared.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0]!)
}
