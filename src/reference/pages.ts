import type { FastifyInstance, FastifyReply } from 'fastify'
import {
  consoleErrorCodes,
  type ErrorCode,
  type ErrorType,
  errorCodes,
  errors,
  Refusal,
} from '../core/errors.ts'
import { commonErrors, repeats } from '../http/endpoint.ts'
import { pageSecurityPolicy } from '../http/headers.ts'
import { icon, script, style } from './assets.ts'
import type { Webhook } from './event-webhooks.ts'
import { parameterList, resolve, schemaList, schemaName, typeOf } from './fields.ts'
import { type GuideSection, guide, overview } from './guide.ts'
import { type Html, html, jsonSample, page, paragraphs, prose, sample } from './html.ts'
import type { Ref } from './json-schema.ts'
import type { OpenApi, Operation, Parameter, Tag } from './openapi.ts'
import { errorExample, type Response } from './responses.ts'

/** `openapi` is asked once, at the first request: only a listening server knows its own address. */
export function registerPages(app: FastifyInstance, options: { openapi: () => OpenApi }): void {
  const openapi = once(options.openapi)
  const reference = once(() => renderReference(openapi()))
  const errorIndex = once(renderErrorIndex)
  const description = once(() => JSON.stringify(openapi()))
  const errorPages = new Map(
    [...errorCodes, ...consoleErrorCodes].map((code) => [
      code as string,
      once(() => renderErrorPage(code, openapi())),
    ]),
  )

  app.get('/', async (_, reply) => reply.redirect('/docs', 302))
  app.get('/docs', async (_, reply) => sendPage(reply, reference()))
  app.get('/docs/errors', async (_, reply) => sendPage(reply, errorIndex()))
  app.get<{ Params: { code: string } }>('/docs/errors/:code', async ({ params }, reply) => {
    const errorPage = errorPages.get(params.code)
    if (!errorPage) throw new Refusal('route_not_found')
    return sendPage(reply, errorPage())
  })
  app.get('/docs/style.css', async (_, reply) => send(reply, 'text/css', style))
  app.get('/docs/script.js', async (_, reply) => send(reply, 'text/javascript', script))
  app.get('/docs/icon.svg', async (_, reply) => send(reply, 'image/svg+xml', icon))
  app.get('/openapi.json', async (_, reply) => send(reply, 'application/json', description()))
}

function sendPage(reply: FastifyReply, text: string): FastifyReply {
  return send(reply.header('content-security-policy', pageSecurityPolicy), 'text/html', text)
}

function send(reply: FastifyReply, type: string, text: string): FastifyReply {
  return reply.header('cache-control', 'public, max-age=300').type(`${type}; charset=utf-8`).send(text)
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** An operation together with where it stands. */
type Entry = Operation & { readonly method: string; readonly path: string }

export function renderReference(openapi: OpenApi): string {
  const entries = entriesOf(openapi)
  const sections = guide(openapi)
  // What a webhook carries is shown with the webhook.
  const names = Object.keys(openapi.components.schemas).filter((name) => !isWebhookBody(name, openapi))
  return page({
    title: 'Trilho API reference',
    description: openapi.info.summary,
    version: openapi.info.version,
    nav: navigation(openapi, entries, sections, names),
    main: html`${overview(openapi)}
${sections.map(guideSection)}
${openapi.tags.map((tag) => group(tag, entries, openapi))}
<section class="group" id="objects" aria-labelledby="objects-title">
<header class="prose"><h2 id="objects-title">Objects</h2><p>The shapes that several responses share.</p></header>
${names.map((name) => object(name, openapi))}
</section>`,
  })
}

function entriesOf({ paths }: OpenApi): Entry[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  )
}

const inTag = (entries: readonly Entry[], { name }: Tag) => entries.filter(({ tags }) => tags[0] === name)

function navigation(
  openapi: OpenApi,
  entries: readonly Entry[],
  sections: readonly GuideSection[],
  names: readonly string[],
): Html {
  return html`<nav class="side" aria-label="Contents">
<ul>
<li><a class="head" href="#overview">Guide</a><ul>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></li>
${openapi.tags.map(
  (tag) => html`<li><a class="head" href="#${tag.name}">${tag['x-displayName']}</a><ul>${inTag(
    entries,
    tag,
  ).map(
    ({ operationId, method, summary }) =>
      html`<li><a href="#${operationId}">${methodMark(method)}<span>${summary}</span></a></li>`,
  )}${webhooksIn(openapi, tag).map(
    ({ operationId, summary }) => html`<li><a href="#${operationId}"><span>${summary}</span></a></li>`,
  )}</ul></li>
`,
)}<li><a class="head" href="#objects">Objects</a><ul>${names.map((name) => html`<li><a href="#object-${name}">${name}</a></li>`)}</ul></li>
</ul>
</nav>`
}

function guideSection({ id, title, text, code }: GuideSection): Html {
  return html`<section class="pair" id="${id}" aria-labelledby="${id}-title">
<div class="prose"><h2 id="${id}-title">${anchor(id, title)}</h2>
${text}</div>
${code && html`<div class="code">${code}</div>`}
</section>`
}

function group(tag: Tag, entries: readonly Entry[], openapi: OpenApi): Html {
  return html`<section class="group" id="${tag.name}" aria-labelledby="${tag.name}-title">
<header class="prose"><h2 id="${tag.name}-title">${tag['x-displayName']}</h2>${tag.description && html`<p>${prose(tag.description)}</p>`}${webhookRules(webhooksIn(openapi, tag), openapi)}</header>
${inTag(entries, tag).map((entry) => operation(entry, openapi))}
${webhooksIn(openapi, tag).map((webhook) => webhookEvent(webhook, openapi))}
</section>
`
}

function isWebhookBody(name: string, { webhooks }: OpenApi): boolean {
  return Object.values(webhooks).some(
    ({ post }) => schemaName(post.requestBody.content['application/json'].schema) === name,
  )
}

function webhooksIn({ webhooks }: OpenApi, { name }: Tag): Webhook['post'][] {
  return Object.values(webhooks)
    .map(({ post }) => post)
    .filter(({ tags }) => tags[0] === name)
}

/** The headers of a delivery and how your server should respond, which are the same for every type. */
function webhookRules([first]: readonly Webhook['post'][], { components }: OpenApi): Html | false {
  if (!first) return false
  const nameIn = ({ $ref }: Ref) => $ref.split('/').at(-1)!
  return html`<h4>Headers</h4>${parameterList(first.parameters.map((ref) => components.parameters[nameIn(ref)] as Parameter))}
<h4>Your response</h4>
<ul class="answers">${Object.entries(first.responses).map(
    ([status, ref]) =>
      html`<li><span class="status">${status === 'default' ? '…' : status}</span> <span>${prose(components.responses[nameIn(ref)]!.description)}</span></li>
`,
  )}</ul>`
}

function webhookEvent(webhook: Webhook['post'], openapi: OpenApi): Html {
  const { operationId, summary, description } = webhook
  const schema = resolve(openapi, webhook.requestBody.content['application/json'].schema)
  return html`<article class="pair" id="${operationId}" aria-labelledby="${operationId}-title">
<div class="prose">
<h3 id="${operationId}-title">${anchor(operationId, summary)}</h3>
<p>${prose(description)}</p>
<p><code>data.object</code> is ${typeOf(schema.properties!.data!.properties!.object!)}, and around it is ${typeOf({ $ref: '#/components/schemas/Event' })}.</p>
</div>
<div class="code">${jsonSample('Body', schema.examples?.[0])}</div>
</article>
`
}

function operation(entry: Entry, openapi: OpenApi): Html {
  const { operationId, summary, method, path } = entry
  const told = entry.description.split('\n\n')
  const inPath = entry.parameters?.filter(({ in: place }) => place === 'path') ?? []
  const inQuery = entry.parameters?.filter(({ in: place }) => place === 'query') ?? []
  const body = entry.requestBody?.content['application/json'].schema
  return html`<article class="pair" id="${operationId}" aria-labelledby="${operationId}-title">
<div class="prose">
<h3 id="${operationId}-title">${anchor(operationId, summary)}</h3>
<p class="route">${methodMark(method)} <code>${breakable(path)}</code>${entry['x-sandbox-only'] && html` <span class="pill">sandbox</span>`}</p>
${told.slice(0, -1).flatMap(paragraphs)}
<p class="needs">${prose(told.at(-1) ?? '')}</p>
<p class="needs">${repeats[entry['x-repeat']]}</p>
${inPath.length > 0 && html`<h4>Path</h4>${parameterList(inPath)}`}
${inQuery.length > 0 && html`<h4>Query</h4>${parameterList(inQuery)}`}
${body && html`<h4>Body</h4>${schemaList(resolve(openapi, body), 'request')}`}
${answers(entry)}
</div>
<div class="code">
${sample('Request', curl(entry, openapi.servers[0].url))}
${answerSample(entry)}
</div>
</article>
`
}

function answers(entry: Entry): Html {
  const [status, success] = successOf(entry)
  const schema = success.content?.['application/json'].schema
  const own = entry['x-errors'].filter((code) => !commonErrors.includes(code))
  return html`<h4>Responses</h4>
<ul class="answers">
<li><span class="status good">${status}</span> <span>${schema ? answerType(schema) : 'No content'}</span></li>
${own.map(
  (
    code,
  ) => html`<li><span class="status">${errors[code].status}</span> <a href="/docs/errors/${code}"><code>${code}</code></a></li>
`,
)}<li><span class="status">…</span> <a href="#common-errors">what any call may return</a></li>
</ul>`
}

/** A list is told by what it lists. */
function answerType(schema: Parameters<typeof typeOf>[0]): Html {
  const items = schema.properties?.data?.items
  if (!items) return typeOf(schema)
  return html`${schema.properties?.next_cursor ? html`<a href="#lists">list</a>` : 'list'} of ${typeOf(items)}`
}

function answerSample(entry: Entry): Html {
  const [status, success] = successOf(entry)
  const content = success.content?.['application/json']
  return content ? jsonSample(`Response · ${status}`, content.example) : html``
}

function successOf({ responses }: Operation): [status: string, response: Response] {
  // The last one: a dry run's 200 stands before the 201.
  return Object.entries(responses).findLast(([status]) => status.startsWith('2')) as [string, Response]
}

function curl(entry: Entry, base: string): string {
  const { method, parameters = [], requestBody } = entry
  const path = entry.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(exampleOf(name, parameters)),
  )
  const query = parameters
    .filter(({ in: place, required }) => place === 'query' && required)
    .map(({ name }) => `${name}=${encodeURIComponent(exampleOf(name, parameters))}`)
    .join('&')
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${query ? `'${base}${path}?${query}'` : `${base}${path}`}`,
    '-H "Authorization: Bearer $TRILHO_KEY"',
  ]
  if (requestBody) {
    const body = JSON.stringify(requestBody.content['application/json'].example, null, 2)
    lines.push(
      '-H "Content-Type: application/json"',
      `-d '${body.replaceAll("'", "'\\''").replaceAll('\n', '\n  ')}'`,
    )
  }
  return lines.join(' \\\n  ')
}

function exampleOf(name: string, parameters: NonNullable<Operation['parameters']>): string {
  const schema = parameters.find((parameter) => parameter.name === name)?.schema
  return String(schema?.examples?.[0] ?? schema?.enum?.[0] ?? name)
}

function object(name: string, openapi: OpenApi): Html {
  const id = `object-${name}`
  const schema = openapi.components.schemas[name]!
  return html`<article class="pair" id="${id}" aria-labelledby="${id}-title">
<div class="prose"><h3 id="${id}-title">${anchor(id, name)}</h3>
${schema.description && html`<p>${prose(schema.description)}</p>`}
${schemaList(schema, 'answer')}</div>
<div class="code">${jsonSample(name, schema.examples?.[0])}</div>
</article>
`
}

function anchor(id: string, title: string): Html {
  return html`<a class="anchor" href="#${id}">${title}</a>`
}

function methodMark(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method === 'DELETE' ? 'DEL' : method}</span>`
}

/** A long path may break at its slashes, and nowhere else. */
function breakable(path: string): Html {
  return html`${path.split(/(?=\/)/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}`
}

const typeTitles: Readonly<Record<ErrorType, readonly [title: string, about: string]>> = {
  authentication_error: ['Authentication', 'The service does not know who is calling.'],
  permission_error: ['Permission', 'The service knows who is calling, and that this is not allowed.'],
  invalid_request_error: ['Invalid request', 'The request itself must change before it can succeed.'],
  not_found_error: ['Not found', 'There is nothing under this path or id for this key.'],
  conflict_error: ['Conflict', 'The request is fine, but does not fit what exists already.'],
  business_error: ['Business rule', 'The request was understood and judged, and may not go through.'],
  rate_limit_error: ['Rate limit', 'Too much at once.'],
  api_error: ['Service', 'The trouble is on our side, or on that of a network behind us.'],
}

const advice: Readonly<Record<ErrorType, string>> = {
  authentication_error:
    'Check which key your program really sends, and of which environment it is. Wrong keys are counted per address, so stop retrying and fix the key first. New keys are made in the console, where their scopes and addresses are set too.',
  permission_error:
    'Repeating the call does not help. Use a key that is allowed to make it, or ask the operator of the service for the scope or for the block to be lifted.',
  invalid_request_error:
    'Read `message` and, where it is there, `param`, and correct the request. Nothing was changed, and an idempotency key that came with it can be used again.',
  not_found_error:
    'Compare the path and the id with what the service gave you, and the environment of the key with the one the object was made in.',
  conflict_error:
    'Read the current state first, then decide: go on with what exists, or send a new request. Nothing was changed by this one.',
  business_error:
    'Tell your user, or change what the message names, and make a new attempt. If the call carried an idempotency key, the new attempt needs a new one: the old key repeats this refusal.',
  rate_limit_error:
    'Wait for the seconds in `Retry-After` and go on; spread calls out, and back off exponentially if it comes again.',
  api_error:
    'Retry with growing pauses, no sooner than `Retry-After` says where it is sent. For a call that moves money repeat the same body with the same idempotency key: it never pays twice.',
}

const retryable = [408, 429, 500, 503]

export function renderErrorPage(code: ErrorCode, openapi: OpenApi): string {
  const { status, type, message, page: meaning } = errors[code]
  const [typeTitle] = typeTitles[type]
  const details = Object.values(openapi.components.schemas).find((schema) => schema['x-code'] === code)
  return page({
    title: `${code} · Trilho API`,
    description: message,
    main: html`<article class="error">
<p class="crumbs"><a href="/docs">Reference</a> / <a href="/docs/errors">Errors</a> / <a href="/docs/errors#${type}">${typeTitle}</a></p>
<h1><code>${breakableCode(code)}</code></h1>
<p class="lede">${prose(message)}</p>
<dl class="facts">
<div><dt>HTTP status</dt><dd><span class="status">${status}</span></dd></div>
<div><dt>Type</dt><dd><a href="/docs/errors#${type}"><code>${type}</code></a></dd></div>
<div><dt>Retry unchanged</dt><dd>${retryable.includes(status) ? 'Yes, after a pause' : 'No, change something first'}</dd></div>
</dl>
<h2>What it means</h2>
<p>${prose(meaning)}</p>
<h2>What to do</h2>
<p>${prose(advice[type])}</p>
${details && html`<h2>Details</h2>${schemaList(details, 'answer')}`}
<h2>Example</h2>
${jsonSample(`Response · ${status}`, errorExample(code, openapi.servers[0].url))}
${whereItHappens(code, openapi)}
<p class="back"><a href="/docs/errors">All error codes</a></p>
</article>`,
  })
}

function whereItHappens(code: ErrorCode, openapi: OpenApi): Html | false {
  if (commonErrors.includes(code))
    return html`<h2>Where it happens</h2><p>Any call under <code>/v1</code> may return it.</p>`
  const entries = entriesOf(openapi).filter((entry) => entry['x-errors'].includes(code))
  return (
    entries.length > 0 &&
    html`<h2>Where it happens</h2>
<ul class="calls">${entries.map(
      ({
        operationId,
        method,
        path,
        summary,
      }) => html`<li><a href="/docs#${operationId}">${methodMark(method)} <code>${breakable(path)}</code></a> <span>${summary}</span></li>
`,
    )}</ul>`
  )
}

export function renderErrorIndex(): string {
  const types = Object.keys(typeTitles) as ErrorType[]
  return page({
    title: 'Errors · Trilho API',
    description: 'Every error code of the Trilho API, what it means and what to do.',
    main: html`<article class="error">
<p class="crumbs"><a href="/docs">Reference</a> / Errors</p>
<h1>Errors</h1>
<p class="lede">Every code the API can return, by its type. Decide by <code>code</code>: the type is for the cases you do not treat one by one.</p>
${types.map(errorGroup)}
</article>`,
  })
}

function errorGroup(type: ErrorType): Html {
  const [title, about] = typeTitles[type]
  return html`<section class="codes" id="${type}" aria-labelledby="${type}-title">
<h2 id="${type}-title">${title}</h2>
<p><code>${type}</code>. ${about}</p>
<ul>${errorCodes
    .filter((code) => errors[code].type === type)
    .map(
      (
        code,
      ) => html`<li><a href="/docs/errors/${code}"><span class="status">${errors[code].status}</span><code>${breakableCode(code)}</code></a><p>${prose(errors[code].message)}</p></li>
`,
    )}</ul>
</section>
`
}

function breakableCode(code: string): Html {
  return html`${code.split(/(?<=_)/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}`
}
