import { type Html, html } from '../src/doors/reference/html.ts'
import { PLACEHOLDER } from '../src/doors/reference/placeholders.ts'
import { jsonSample, tabs } from './code/sample.ts'
import { done } from './icons.ts'
import type { Page } from './page.ts'

type Link = readonly [address: string, title: string, about: string]

const columns: readonly {
  readonly title: string
  readonly about: string
  readonly links: readonly Link[]
}[] = [
  {
    title: 'Call it',
    about: 'You write a program that moves money for its users.',
    links: [
      ['/docs/quickstart', 'Quickstart', 'From a clone to a payout and a webhook'],
      ['/docs/sdk', 'TypeScript SDK', 'Typed calls, retries that never pay twice'],
      ['/docs/python', 'Python package', 'The same in Python'],
      ['/docs/cli', 'Command line', 'The API in a terminal, and events on your machine'],
      ['/docs/api', 'API reference', 'Every call, with samples in three languages'],
      ['/docs/guides/webhooks', 'Webhooks', 'Be told what happened, and verify it'],
      ['/docs/guides/payroll', 'Payroll', 'Pay 200 people once each, and prove it'],
      ['/docs/errors', 'Errors', 'A page for every code'],
    ],
  },
  {
    title: 'Run it',
    about: 'You keep the service up, and its books right.',
    links: [
      ['/docs/operate/install', 'Install', 'Container, systemd or plain Node'],
      ['/docs/operate/cli', 'Commands of operators', 'Everything an operator does, in a terminal'],
      ['/docs/operate/going-live', 'Going live', 'Production rails: keys, endpoints and the first payment'],
      ['/docs/operate/money', 'Money by hand', 'Credits, proposals, treasury and audit'],
      ['/docs/operate/custody', 'Custody', 'Fund wallets, and compare them with the books'],
      ['/docs/operate/backup', 'Backup', 'While it runs, and verified'],
      ['/docs/operate/incidents', 'Incidents', 'What each alert means, and what to do'],
      ['/docs/operate/scaling', 'Scaling', 'More nodes, and what one can take'],
    ],
  },
  {
    title: 'Change it',
    about: 'You build on the code, or feed the API to your own tools.',
    links: [
      ['/docs/changelog', 'Changelog', 'What is new, and what to do when you upgrade'],
      ['/openapi.json', 'openapi.json', 'The whole API for generators'],
      ['/openapi.yaml', 'openapi.yaml', 'The same as YAML'],
      ['/docs/trilho.postman_collection.json', 'Postman collection', 'Every call, ready to send'],
      ['/docs/trilho.http', 'trilho.http', 'The same for editors'],
      ['/llms.txt', 'llms.txt', 'An index of all pages for language models'],
    ],
  },
]

const steps: readonly (readonly [title: string, about: string])[] = [
  ['npm ci && npm start', 'A server, a database and a customer with test money'],
  ['trilho listen', 'Events come to your machine, signed'],
  ['POST /v1/pix/payouts', 'Accepted once, however often it is sent'],
  ['pix.payout.completed', 'Verified by your receiver, about two seconds later'],
]

/** The home page. `exists` says whether this build has a page, so that no link is dead. */
export function home(exists: (address: string) => boolean): Page {
  const shown = columns.map((column) => ({
    ...column,
    links: column.links.filter(([address]) => exists(address)),
  }))
  const about =
    'Balances in BRL, USDT and BTC for each of your customers, and one JSON API to move them: Pix payouts, transfers on chain, and conversions at a price that holds.'
  return {
    address: '/docs',
    language: 'en',
    twin: '/docs/pt',
    title: 'Trilho docs',
    description: about,
    headings: [],
    sections: [{ text: about }],
    head: html`<h1 class="hero">Move money, once.</h1>`,
    main: html`<div class="row"><div class="text">
<p class="lede">${about}</p>
<p class="go"><a class="button" href="/docs/quickstart">Start in five minutes</a> <a href="/docs/api">API reference</a></p>
<ol class="track">${steps.map(([title, text], index) => step(title, text, index === steps.length - 1))}</ol>
</div>
<div class="beside">${tabs(firstCall)}${jsonSample('Response 201', firstResponse)}</div></div>
<div class="columns-3">${shown.map(
      ({ title, about: text, links }) => html`<section><h2>${title}</h2><p>${text}</p>
<ul>${links.map(([address, name, what]) => html`<li><a href="${address}">${name}</a><span>${what}</span></li>\n`)}</ul></section>
`,
    )}</div>`,
    markdown: [
      '# Trilho docs',
      about,
      ...shown.flatMap(({ title, links }) => [
        `## ${title}`,
        links.map(([address, name, what]) => `- [${name}](${address}): ${what}`).join('\n'),
      ]),
    ].join('\n\n'),
  }
}

function step(title: string, text: string, last: boolean): Html {
  const stop = last ? html`<span class="stop">${done}</span>` : html`<span class="tie"></span>`
  return html`<li>${stop}<div><code>${title}</code><p>${text}</p></div></li>
`
}

const body = {
  amount: '1050',
  key: '529.982.247-25',
  claim: 'invoice-1',
}

const firstResponse = {
  id: 'po_01kc3v4x9zq8rj5m2t7w6y0ahb',
  amount: body.amount,
  decimals: 2,
  status: 'completed',
  counterparty: { name: 'Ana Souza', document: '***.982.247-**', pix_key: '52998224725' },
  end_to_end_id: 'E0000000020261115120000a1b2c3d4e',
  idempotency_key: body.claim,
}

const firstCall = [
  {
    language: 'sh',
    title: 'curl',
    code: `curl ${PLACEHOLDER}/v1/pix/payouts \\
  -H "Authorization: Bearer $TRILHO_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "customer_id": "'$CUSTOMER'",
    "amount": "${body.amount}",
    "counterparty": {
      "type": "pix_key",
      "pix_key": "${body.key}"
    },
    "idempotency_key": "${body.claim}"
  }'`,
  },
  {
    language: 'ts',
    title: 'TypeScript',
    code: `import { Trilho, units } from '@trilho/sdk'

const trilho = new Trilho({ baseUrl: '${PLACEHOLDER}' })

const payout = await trilho.pix.payouts.create({
  customer_id: process.env.CUSTOMER!,
  amount: units('10.50', 'BRL'),
  counterparty: { type: 'pix_key', pix_key: '${body.key}' },
  idempotency_key: '${body.claim}',
})
console.log(payout.status)`,
  },
  {
    language: 'py',
    title: 'Python',
    code: `import os
from trilho import Trilho, units

client = Trilho(base_url="${PLACEHOLDER}")

payout = client.pix.payouts.create(
    customer_id=os.environ["CUSTOMER"],
    amount=units("10.50", "BRL"),
    counterparty={"type": "pix_key", "pix_key": "${body.key}"},
    idempotency_key="${body.claim}",
)
print(payout["status"])`,
  },
]
