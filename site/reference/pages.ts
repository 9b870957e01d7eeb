import { breakable, type Html, html, prose } from '../../src/doors/reference/html.ts'
import type { OpenApi, Parameter, Tag } from '../../src/doors/reference/openapi.ts'
import { PLACEHOLDER } from '../../src/doors/reference/placeholders.ts'
import { commonErrors } from '../../src/http/endpoint.ts'
import { jsonSample } from '../code/sample.ts'
import type { Page } from '../page.ts'
import { type Entry, entriesOf, entryAddress, eventAddress, homesOf, resolve } from './document.ts'
import { type Fields, openFields } from './fields.ts'
import { fence, fieldsMarkdown, operationMarkdown } from './markdown.ts'
import { methodMark, operation } from './operation.ts'
import { variablesIn } from './samples.ts'

/** The reference: an overview, a page per resource, and a page per event type. */
export function referencePages(openapi: OpenApi): Page[] {
  const homes = homesOf(openapi)
  const fields = openFields((name) => `${homes.get(name)}#${objectId(name)}`)
  const house = { openapi, homes, fields, entries: entriesOf(openapi) }
  return [
    overview(house),
    ...openapi.tags.filter(({ name }) => name !== EVENTS).map((tag) => resourcePage(tag, house)),
    eventIndex(house),
    ...Object.keys(openapi.webhooks).map((type) => eventPage(type, house)),
  ]
}

/** The tag of webhook events, which the service sends to the reader. */
const EVENTS = 'webhook_events'

type House = {
  readonly openapi: OpenApi
  readonly homes: ReadonlyMap<string, string>
  readonly fields: Fields
  readonly entries: readonly Entry[]
}

const objectId = (name: string) => `object-${name}`

function overview(house: House): Page {
  const { openapi, entries } = house
  const objects = objectsAt('/docs/api', house)
  const { description } = openapi.tags.find(({ name }) => name === EVENTS)!
  const main = html`<div class="row"><div class="text">
<p class="lede">Every call, by resource. The key chooses the environment, the address is the same for both.</p>
<dl class="facts">
<div><dt>Base address</dt><dd><code>${PLACEHOLDER}</code></dd></div>
<div><dt>Version</dt><dd><code>/v1</code>, in every path</dd></div>
<div><dt>Format</dt><dd>JSON in UTF-8; a field that is not in the reference is refused</dd></div>
<div><dt>Description</dt><dd><a href="/openapi.json">openapi.json</a> (OpenAPI 3.1)</dd></div>
</dl>
</div>
<div class="beside">${jsonSample('What every error looks like', openapi.components.examples.invalid_amount?.value)}</div></div>
${openapi.tags
  .filter(({ name }) => name !== EVENTS)
  .map(
    (
      tag,
    ) => html`<section class="calls"><h2 id="${tag.name}"><a href="/docs/api/${tag.name}">${tag['x-displayName']}</a></h2>
<p>${prose(tag.description ?? '')}</p>
${callList(entries.filter(({ tags }) => tags[0] === tag.name))}</section>
`,
  )}
<section class="calls"><h2 id="${EVENTS}"><a href="/docs/api/${EVENTS}">Webhook events</a></h2>
<p>${prose(description ?? '')}</p></section>
<section class="row opens"><div class="text"><h2 id="common-errors"><a class="anchor" href="#common-errors">What any call may return</a></h2>
<ul class="responses">${commonErrors.map((code) => html`<li><a href="/docs/errors/${code}"><code>${code}</code></a></li>\n`)}</ul></div></section>
${objects.map((name) => objectSection(name, house))}`
  return {
    address: '/docs/api',
    language: 'en',
    title: 'API reference',
    description: 'Every call of the API, by resource, with parameters, responses and errors.',
    head: html`<h1>API reference</h1>`,
    main,
    headings: [
      { id: 'common-errors', text: 'What any call may return', level: 2 },
      ...objectHeadings(objects),
    ],
    sections: [{ text: openapi.info.description }, ...objectSections(objects, house)],
    markdown: [
      '# API reference',
      openapi.info.description,
      `Base address: ${PLACEHOLDER}`,
      ...openapi.tags.map(
        ({ name, 'x-displayName': title, description: about = '' }) =>
          `- [${title}](/docs/api/${name}.md): ${about}`,
      ),
      ...objects.map((name) => objectMarkdown(name, house)),
    ].join('\n\n'),
  }
}

export function callList(entries: readonly Entry[]): Html {
  return html`<ul class="call-list">${entries.map(
    (entry) =>
      html`<li><a href="${entryAddress(entry)}">${methodMark(entry.method)} <code>${entry.path}</code></a> <span>${entry.summary}</span></li>
`,
  )}</ul>`
}

function resourcePage(tag: Tag, house: House): Page {
  const { openapi, fields } = house
  const address = `/docs/api/${tag.name}`
  const entries = house.entries.filter(({ tags }) => tags[0] === tag.name)
  const objects = objectsAt(address, house)
  const about = tag.description ?? ''
  const variables = variablesTold(entries)
  return {
    address,
    language: 'en',
    title: tag['x-displayName'],
    description: about,
    takes_key: true,
    headings: [
      ...entries.map(({ operationId, summary }) => ({ id: operationId, text: summary, level: 2 as const })),
      ...objectHeadings(objects),
    ],
    sections: [
      { text: about },
      ...entries.map((entry) => ({
        id: entry.operationId,
        heading: entry.summary,
        text: [
          `${entry.method} ${entry.path}`,
          entry['x-name'],
          entry.description,
          ...(entry.parameters ?? []).map(({ name, description = '' }) => `${name} ${description}`),
          fieldText(entry.requestBody?.content['application/json'].schema, openapi),
        ].join(' '),
      })),
      ...objectSections(objects, house),
    ],
    head: html`<h1>${tag['x-displayName']}</h1>`,
    main: html`<div class="row alone"><div class="text"><p class="lede">${prose(about)}</p>
<p>${linked(variables)}</p></div></div>
${entries.map((entry) => operation(entry, openapi, fields))}
${objects.map((name) => objectSection(name, house))}`,
    markdown: [
      `# ${tag['x-displayName']}`,
      about,
      variables,
      ...entries.map((entry) => operationMarkdown(entry, openapi)),
      ...objects.map((name) => objectMarkdown(name, house)),
    ].join('\n\n'),
  }
}

/** Says which environment variables the samples of a page need. */
function variablesTold(entries: readonly Entry[]): string {
  const named = variablesIn(entries)
  const set = ['TRILHO_KEY', ...named.filter((name) => name === 'CUSTOMER')]
  const own = named.filter((name) => name !== 'CUSTOMER').map((name) => `\`$${name}\``)
  const ids =
    own.length === 0
      ? ''
      : ` ${inWords(own)} ${own.length > 1 ? 'are ids' : 'is an id'} of your own, out of a response or a list.`
  return `In the samples, ${inWords(set.map((name) => `\`$${name}\``))} ${set.length > 1 ? 'are' : 'is'} what ${QUICKSTART} sets.${ids}`
}

const QUICKSTART = 'the quickstart'

function linked(text: string): Html {
  const [before = '', after = ''] = text.split(QUICKSTART)
  return html`${prose(before)}<a href="/docs/quickstart">${QUICKSTART}</a>${prose(after)}`
}

const inWords = (list: readonly string[]) => list.join(', ').replace(/, ([^,]*)$/, ' and $1')

function fieldText(schema: Parameters<typeof resolve>[1] | undefined, openapi: OpenApi): string {
  const { properties = {} } = schema ? resolve(openapi, schema) : {}
  return Object.entries(properties)
    .map(([name, { description = '' }]) => `${name} ${description}`)
    .join(' ')
}

const objectsAt = (address: string, { homes, openapi }: House) =>
  Object.keys(openapi.components.schemas).filter((name) => homes.get(name) === address)

const objectHeadings = (names: readonly string[]) =>
  names.map((name) => ({ id: objectId(name), text: `The object ${name}`, level: 2 as const }))

const objectSections = (names: readonly string[], { openapi }: House) =>
  names.map((name) => ({
    id: objectId(name),
    heading: `The object ${name}`,
    text: fieldText(openapi.components.schemas[name], openapi),
  }))

function objectSection(name: string, { openapi, fields }: House): Html {
  const id = objectId(name)
  const schema = openapi.components.schemas[name]!
  return html`<section class="row opens" aria-labelledby="${id}">
<div class="text"><h2 id="${id}"><a class="anchor" href="#${id}">The object ${name}</a></h2>
${schema.description && html`<p>${prose(schema.description)}</p>`}
${fields.schema(schema, 'response')}</div>
<div class="beside">${jsonSample(name, schema.examples?.[0])}</div>
</section>
`
}

const objectMarkdown = (name: string, { openapi }: House) =>
  [
    `## The object ${name}`,
    fieldsMarkdown(openapi.components.schemas[name]!),
    fence('json', JSON.stringify(openapi.components.schemas[name]!.examples?.[0], null, 2)),
  ].join('\n\n')

function eventIndex({ openapi, fields }: House): Page {
  const types = Object.keys(openapi.webhooks)
  const { description = '' } = openapi.tags.find(({ name }) => name === EVENTS)!
  const { parameters, responses } = openapi.webhooks[types[0]!]!.post
  const nameIn = ({ $ref }: { $ref: string }) => $ref.split('/').at(-1)!
  const headers = parameters.map((ref) => openapi.components.parameters[nameIn(ref)] as Parameter)
  return {
    address: `/docs/api/${EVENTS}`,
    language: 'en',
    title: 'Webhook events',
    description,
    headings: [
      { id: 'types', text: 'Types', level: 2 },
      { id: 'headers', text: 'Headers', level: 2 },
      { id: 'your-response', text: 'Your response', level: 2 },
    ],
    sections: [{ text: `${description} ${types.join(' ')}` }],
    head: html`<h1>Webhook events</h1>`,
    main: html`<div class="row alone"><div class="text"><p class="lede">${prose(description)}</p>
<h2 id="types"><a class="anchor" href="#types">Types</a></h2>
<ul class="columns">${types.map((type) => html`<li><a href="${eventAddress(type)}"><code>${type}</code></a></li>\n`)}</ul>
<h2 id="headers"><a class="anchor" href="#headers">Headers</a></h2>
${fields.parameters(headers)}
<h2 id="your-response"><a class="anchor" href="#your-response">Your response</a></h2>
<ul class="responses">${Object.entries(responses).map(
      ([status, ref]) =>
        html`<li><span class="status">${status === 'default' ? '…' : status}</span> <span>${prose(openapi.components.responses[nameIn(ref)]!.description)}</span></li>\n`,
    )}</ul></div></div>`,
    markdown: [
      '# Webhook events',
      description,
      types.map((type) => `- [${type}](${eventAddress(type)}.md)`).join('\n'),
      headers.map(({ name, description: about }) => `- \`${name}\`: ${about}`).join('\n'),
    ].join('\n\n'),
  }
}

function eventPage(type: string, house: House): Page {
  const { openapi, fields } = house
  const { post } = openapi.webhooks[type]!
  const schema = resolve(openapi, post.requestBody.content['application/json'].schema)
  const object = schema.properties!.data!.properties!.object!
  const example = schema.examples?.[0]
  const name = post.requestBody.content['application/json'].schema.$ref.split('/').at(-1)!
  return {
    address: eventAddress(type),
    language: 'en',
    title: type,
    description: `The webhook event ${type}, with an example of what is sent.`,
    under: `/docs/api/${EVENTS}`,
    headings: [],
    sections: [{ text: `${type} ${post.description}` }],
    head: html`<p class="crumbs"><a href="/docs/api">API reference</a> / <a href="/docs/api/${EVENTS}">Webhook events</a></p>
<h1 id="${objectId(name)}"><code>${breakable(type)}</code></h1>`,
    main: html`<div class="row"><div class="text">
<p class="lede">${prose(post.description)}</p>
<p><code>data.object</code> is the ${fields.typeOf(object)} as it was when this happened; around it is the ${fields.typeOf({ $ref: '#/components/schemas/Event' })}.</p>
<p>The same event can be read again with <a href="/docs/api/events#events_get">its id</a>, and comes in <a href="/docs/api/events#events_list">the list of events</a>, which a program can wait on.</p>
</div>
<div class="beside">${jsonSample('Body', example)}</div></div>`,
    markdown: [`# ${type}`, post.description, fence('json', JSON.stringify(example, null, 2))].join('\n\n'),
  }
}
