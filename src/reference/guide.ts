import { type Scope, scopes } from '../core/actor.ts'
import { errors } from '../core/errors.ts'
import { type Asset, assetNames, assets, formatMoney, money } from '../core/money.ts'
import { commonErrors } from '../http/endpoint.ts'
import { tiers } from '../limits/tiers.ts'
import { type Html, html, jsonSample, sample, table } from './html.ts'
import type { OpenApi } from './openapi.ts'
import { errorExample } from './responses.ts'

/** What a reader must know before the first call, in the order in which it is needed. */
export type GuideSection = {
  readonly id: string
  readonly title: string
  readonly text: Html
  readonly code?: Html
}

export function guide(openapi: OpenApi): GuideSection[] {
  const base = openapi.servers[0].url
  return [
    authentication(base),
    requests,
    amounts,
    lists(base),
    errorsSection(base),
    limits(openapi),
    versions,
  ]
}

export function overview(openapi: OpenApi): Html {
  const base = openapi.servers[0].url
  return html`<section class="intro pair" id="overview" aria-labelledby="overview-title">
<div class="prose">
<h1 id="overview-title">The Trilho API</h1>
<p class="lede">Balances in BRL, USDT and BTC for each of your customers, and one JSON API to move them: Pix payouts, transfers on chain and conversions at a price that holds.</p>
<dl class="facts">
<div><dt>Base address</dt><dd><code>${base}</code></dd></div>
<div><dt>Version</dt><dd><code>/v1</code>, in every path</dd></div>
<div><dt>Format</dt><dd>JSON in UTF-8</dd></div>
<div><dt>Description</dt><dd><a href="/openapi.json">openapi.json</a> (OpenAPI 3.1)</dd></div>
</dl>
</div>
<div class="code">
${sample('Your first call', `export TRILHO_KEY=svc_test_sk_…\n\ncurl ${base}/v1/usage \\\n  -H "Authorization: Bearer $TRILHO_KEY"`)}
</div>
</section>`
}

const scopeMeanings: Readonly<Record<Scope, string>> = {
  read: 'Read everything; looking up a Pix key needs payouts',
  customers: 'Create, change and read customers, their balances, statements and deposits',
  payouts: 'Send and read Pix payouts, look up Pix keys',
  transfers: 'Send USDT and BTC on chain, read transfers and fees',
  quotes: 'Create, execute and read quotes; read trades and prices',
  webhooks:
    'Read, test and delete webhook endpoints and rotate their secrets; together with read also create and change them, and send events again',
}

function authentication(base: string): GuideSection {
  return {
    id: 'authentication',
    title: 'Authentication',
    text: html`<p>Send an API key with every call, as a bearer token. The key alone decides the environment; the address is the same for both, and nothing made in one can be seen in the other.</p>
${table(
  ['Key', 'Environment', 'Money'],
  [
    [html`<code>svc_test_sk_…</code>`, 'Sandbox', 'Test balances and simulated networks'],
    [html`<code>svc_live_sk_…</code>`, 'Production', 'Real'],
  ],
)}
<p>A key is shown once, when it is made. Keep it on your server: never in an app, a web page, a repository or a log. A key can be bound to addresses, can expire, and can be rotated with an overlap, so that nothing stops.</p>
<p>Each key carries scopes. Every call below names what it needs.</p>
${table(
  ['Scope', 'Allows'],
  scopes.map((scope) => [html`<code>${scope}</code>`, scopeMeanings[scope]]),
)}`,
    code: html`${sample('The header', 'Authorization: Bearer svc_test_sk_…')}
${jsonSample('Without it: 401', errorExample('missing_authorization', base))}`,
  }
}

const requests: GuideSection = {
  id: 'making-requests',
  title: 'Requests',
  text: html`<ul>
<li>Send bodies as <code>Content-Type: application/json</code>, at most 64 KiB.</li>
<li>A field that is not in the reference is refused, in the body and in the query, so a misspelt one never changes what a call does.</li>
<li>Times are ISO 8601 in UTC with milliseconds: <code>2026-11-15T12:00:00.000Z</code>.</li>
<li>Every answer has an <code>X-Request-Id</code>. Log it: it leads support straight to the request.</li>
<li>What belongs to another partner, or to the other environment, answers exactly like what does not exist: 404.</li>
</ul>`,
}

const unitNames: Readonly<Record<Asset, string>> = {
  BRL: 'centavo',
  USDT: 'millionth of a USDT',
  BTC: 'satoshi',
}

const amounts: GuideSection = {
  id: 'amounts',
  title: 'Amounts',
  text: html`<p>An amount is a string that holds a whole number of the smallest unit of its asset. No floating point, no separators, no sign: digits only, without a leading zero, at most 18 of them. Answers repeat the scale in <code>decimals</code>.</p>
${table(
  ['Asset', 'Decimals', 'Smallest unit', '"1050" reads'],
  assetNames.map((asset) => [
    html`<code>${asset}</code>`,
    String(assets[asset].decimals),
    unitNames[asset],
    formatMoney(money(asset, 1050n)),
  ]),
)}`,
}

function lists(base: string): GuideSection {
  return {
    id: 'lists',
    title: 'Lists',
    text: html`<p>Lists answer newest first, 20 items at a time; <code>limit</code> asks for 1 to 100. When <code>has_more</code> is true, send <code>next_cursor</code> back as <code>cursor</code>, with the same filters, and go on from there. Items that arrive meanwhile do not shift the pages.</p>
<p>Go on until <code>has_more</code> is false, not until a page is short: where several filters leave few items of many, a page may have fewer than <code>limit</code>, sometimes none, and the next one goes on behind the last item that was looked at.</p>
<p>Every list takes <code>created_after</code> (inclusive) and <code>created_before</code> (exclusive). Filters together must all fit.</p>
<p>Treat a cursor as opaque text. It belongs to its list: with another path, other filters or another key it is <code>invalid_request</code>.</p>`,
    code: html`${sample('The next page', `curl '${base}/v1/customers?limit=50&cursor=eyJhdCI6…' \\\n  -H "Authorization: Bearer $TRILHO_KEY"`)}
${jsonSample('The shape of a list', { data: [], has_more: true, next_cursor: 'eyJhdCI6…' })}`,
  }
}

function errorsSection(base: string): GuideSection {
  const types = [...new Set(Object.values(errors).map(({ type }) => type))]
  const statuses = (type: string) =>
    [
      ...new Set(Object.values(errors).flatMap((entry) => (entry.type === type ? [entry.status] : []))),
    ].toSorted((a, b) => a - b)
  const codes = commonErrors.filter((code) => code !== 'invalid_request')
  const anywhere = [...new Set(codes.map((code) => errors[code].status))].toSorted((a, b) => a - b).join(', ')
  return {
    id: 'errors',
    title: 'Errors',
    text: html`<p>Whatever goes wrong, the body has this one shape. Decide by <code>code</code>; <code>message</code> is for people and may change. <code>param</code> names the field at fault, where there is one, and <code>doc_url</code> opens the page about the code on this server. <a href="/docs/errors">All codes</a>.</p>
${table(
  ['Type', 'Status'],
  types.map((type) => [
    html`<a href="/docs/errors#${type}"><code>${type}</code></a>`,
    statuses(type).join(', '),
  ]),
)}
<p id="common-errors">Any call may answer ${anywhere}, so these are not repeated below. After 429 and 503 wait for the seconds in <code>Retry-After</code>. If a call that moves money got no answer, repeat it with the same idempotency key: it never pays twice.</p>`,
    code: jsonSample('An error', errorExample('invalid_amount', base)),
  }
}

function limits(openapi: OpenApi): GuideSection {
  const own = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const limit = operation['x-limit-per-minute']
      return limit === undefined
        ? []
        : [
            [
              html`<a href="#${operation.operationId}"><code>${method.toUpperCase()} ${path}</code></a>`,
              `${limit} per minute`,
            ],
          ]
    }),
  )
  return {
    id: 'limits',
    title: 'Limits',
    text: html`<p>Each key has a limit per minute and one per UTC day, by the tier of the partner. Past it the answer is 429 with <code>Retry-After</code>; a refused request uses nothing up. <code>GET /v1/usage</code> shows every window.</p>
${table(
  ['Tier', 'Per minute', 'Per day'],
  [
    ['Standard', figure(tiers.standard.per_minute), figure(tiers.standard.per_day)],
    ['Growth', figure(tiers.growth.per_minute), figure(tiers.growth.per_day)],
    ['Enterprise', 'by agreement', 'by agreement'],
  ],
)}
${own.length > 0 && html`<p>Some calls have a limit of their own besides.</p>${table(['Call', 'Limit'], own)}`}`,
    code: sample(
      'On every answer',
      'X-Request-Id: req_01kc3v4x9zq8rj5m2t7w6y0ahb\nX-RateLimit-Limit: 100\nX-RateLimit-Remaining: 99\nX-RateLimit-Reset: 1794744060',
    ),
  }
}

const versions: GuideSection = {
  id: 'versions',
  title: 'Versions',
  text: html`<p>Version 1 only grows: new fields, calls, event kinds and error codes may appear at any time, so ignore what you do not know. Anything that would break a caller becomes <code>/v2</code>, and both run side by side for at least twelve months.</p>`,
}

function figure(number: number): string {
  return number.toLocaleString('en-US')
}
