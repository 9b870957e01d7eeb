import { type Scope, scopes } from '../core/actor.ts'
import { errors } from '../core/errors.ts'
import { type Asset, assetNames, assets, formatMoney, money } from '../core/money.ts'
import { commonErrors } from '../http/endpoint.ts'
import { tiers } from '../limits/tiers.ts'
import { type Html, html, jsonSample, prose, sample, table } from './html.ts'
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
    retries(base),
    limits(openapi),
    sandbox(base),
    receiving,
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
<p>The operator of this service makes your keys; each is shown once. Keep it on your server: never in an app, a web page, a repository or a log. A key can be bound to addresses, can expire, and can be rotated with an overlap, so that nothing stops.</p>
<p>Each key carries scopes, by default all of them. A scope reads what it acts on, and every call below names what it needs. Calls of the sandbox need the scope of what they touch.</p>
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
<li>Every response has an <code>X-Request-Id</code>. Log it: it leads support straight to the request.</li>
<li>What belongs to another partner, or to the other environment, gets the same response as what does not exist: 404.</li>
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
  text: html`<p>An amount is a string that holds a whole number of the smallest unit of its asset. No floating point, no separators, no sign: digits only, without a leading zero, at most 18 of them. Responses repeat the scale in <code>decimals</code>.</p>
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
    text: html`<p>Lists are newest first, 20 items at a time; <code>limit</code> asks for 1 to 100. When <code>has_more</code> is true, send <code>next_cursor</code> back as <code>cursor</code>, with the same filters, and go on from there. Items that arrive meanwhile do not shift the pages.</p>
<p>Go on until <code>has_more</code> is false, not until a page is short: where several filters leave few items of many, a page may have fewer than <code>limit</code>, sometimes none, and the next one goes on behind the last item that was looked at.</p>
<p>Every list takes <code>created_after</code> (inclusive) and <code>created_before</code> (exclusive). Filters together must all match.</p>
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
<p id="common-errors">Any call may return ${anywhere}, so these are not repeated below. After 429 and 503 wait for the seconds in <code>Retry-After</code>. If a call that moves money got no response, <a href="#retries">repeat it</a> with the same idempotency key: it never pays twice.</p>`,
    code: jsonSample('An error', errorExample('invalid_amount', base)),
  }
}

function retries(base: string): GuideSection {
  return {
    id: 'retries',
    title: 'Retries',
    text: html`<p>Payouts and transfers carry an <code>idempotency_key</code> of yours, in the body. After a time-out, a broken connection or a 5xx send the <em>same body with the same key</em>: you get the first response, to the byte, with <code>Idempotent-Replayed: true</code>, and the money moves once.</p>
<ul>
<li>A key is 1 to 255 printable ASCII characters, and counts for 24 hours, for one API key and one kind of call. Take the id of what you pay for, such as an invoice.</li>
<li>The same key with another body is 409 <code>idempotency_conflict</code>, and moves nothing.</li>
<li>A refusal by a rule (422) uses the key up: a new attempt needs a new key. Every other refusal leaves it free.</li>
<li>A retry repeats what the first call was told, also when it was <code>processing</code>. For the current state read the object, or wait for its event.</li>
<li>A quote needs no key: executed again, it returns the same trade.</li>
<li><code>?dry_run=true</code> on payouts, transfers and execute runs every check and moves nothing.</li>
</ul>`,
    code: sample(
      'Safe to send again',
      `curl -X POST ${base}/v1/pix/payouts \\\n  -H "Authorization: Bearer $TRILHO_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{\n    "customer_id": "cus_…",\n    "amount": "1050",\n    "counterparty": {"type": "pix_key", "pix_key": "529.982.247-25"},\n    "idempotency_key": "invoice-1042"\n  }'`,
    ),
  }
}

const pixKeys: readonly (readonly [string, string])[] = [
  ['a CPF or CNPJ', 'Its holder has that document; any other than the customer’s own is refused'],
  [
    '`ac03@sandbox.test`, or `ac06` `ac07` `am02` `be01` `ds04` `rr04` `ab03`',
    'Accepted, then `failed` with that code',
  ],
  ['`slow@sandbox.test`', '`processing`; completes after 15 seconds'],
  ['`timeout@sandbox.test`', 'The network is silent; found completed after 10 seconds'],
  ['`lost@sandbox.test`', 'The first try never arrives; sent again under the same id, completes'],
  ['`garbage@sandbox.test`', 'The network makes no sense; found completed a moment later'],
  ['`notfound@sandbox.test`', '`pix_key_not_found`'],
  ['`other-owner@sandbox.test`', '`counterparty_not_allowed`'],
  ['any other valid key', 'Completes at once'],
]

const lastDigits: readonly (readonly [string, string])[] = [
  ['`9001`', 'Refused before it is broadcast: `failed`'],
  ['`9002`', 'Broadcast, then reverted: `failed`'],
  ['`9003`', 'Stays `processing` until told otherwise'],
  ['`9004`', 'Dropped with its block, mined again: `confirmed`'],
  ['anything else', '`confirmed` after a few seconds'],
]

const proseRows = (rows: readonly (readonly string[])[]) => rows.map((row) => row.map(prose))

function sandbox(base: string): GuideSection {
  return {
    id: 'sandbox-values',
    title: 'Sandbox',
    text: html`<p>The sandbox has the same rules and limits as production, test money, and simulated networks. What they do is decided by what you send, never by chance. Webhooks really leave.</p>
${table(['Pix key of a payout', 'What happens'], proseRows(pixKeys))}
${table(['Amount of a transfer ends in', 'What happens'], proseRows(lastDigits))}
<p>Prices stand still until you move them: 5.40 BRL for a USDT, 100000 USDT for a BTC. The calls under <code>/v1/sandbox</code> put money in, end payouts and transfers, expire quotes, set prices and send sample events.</p>`,
    code: sample(
      'Test money',
      `curl -X POST ${base}/v1/sandbox/deposits \\\n  -H "Authorization: Bearer $TRILHO_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"customer_id": "cus_…", "asset": "BRL", "amount": "10000"}'`,
    ),
  }
}

const verification = `import { createHmac, timingSafeEqual } from 'node:crypto'

// body: the bytes as they came, before they are parsed
function isOurs(secret, headers, body) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const id = headers['webhook-id']
  const time = headers['webhook-timestamp']
  const mac = createHmac('sha256', key)
    .update(\`\${id}.\${time}.\${body}\`).digest('base64')
  const expected = Buffer.from(\`v1,\${mac}\`)
  const age = Date.now() / 1000 - Number(time)
  return Math.abs(age) < 300 && headers['webhook-signature'].split(' ')
    .map((one) => Buffer.from(one))
    .some((one) => one.length === expected.length
      && timingSafeEqual(one, expected))
}`

const receiving: GuideSection = {
  id: 'receiving-webhooks',
  title: 'Receiving webhooks',
  text: html`<p>Every event is sent to your endpoints as it happens, and stays in <a href="#events_list">the log of events</a>, which can be read from any point. Deliveries are signed as <em>Standard Webhooks 1.0</em> says, so there is a package for most languages.</p>
<ol>
<li><strong>Verify</strong> the bytes as they came, before you parse them. Refuse what is older than five minutes: every attempt is signed anew.</li>
<li><strong>Respond</strong> with 2xx within 10 seconds, and do the work after that. Anything else is tried again, over about three days.</li>
<li><strong>Expect it twice</strong>, and out of order. Remember <code>webhook-id</code>; <code>sequence</code> rises per object, so drop what is lower than what you have seen.</li>
<li><strong>Catch up</strong> from the log when you were down: <code>GET /v1/events?after=…</code> with the cursor of the last page misses nothing.</li>
</ol>
<p>A program on your own machine has no public address: <code>npx trilho listen --forward-to http://localhost:3000/webhooks</code> brings it the events of your key, signed in the same way.</p>`,
  code: sample('Verify a signature, with nothing but Node', verification),
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
    text: html`<p>Each key has a limit per minute and one per UTC day, by the tier of the partner. Past it the response is 429 with <code>Retry-After</code>; a refused request uses nothing up. <code>GET /v1/usage</code> shows every window.</p>
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
      'On every response',
      'X-Request-Id: req_01kc3v4x9zq8rj5m2t7w6y0ahb\nX-RateLimit-Limit: 100\nX-RateLimit-Remaining: 99\nX-RateLimit-Reset: 1794744060',
    ),
  }
}

const versions: GuideSection = {
  id: 'versions',
  title: 'Versions',
  text: html`<p>Version 1 only grows: new fields, calls, event types and error codes may appear at any time, so ignore what you do not know. Anything that would break a caller becomes <code>/v2</code>, and both run side by side for at least twelve months.</p>`,
}

function figure(number: number): string {
  return number.toLocaleString('en-US')
}
