import { errors } from '../../src/core/errors.ts'
import { breakable, type Html, html, noHtml, paragraphs, prose } from '../../src/doors/reference/html.ts'
import type { JsonSchema } from '../../src/doors/reference/json-schema.ts'
import type { OpenApi } from '../../src/doors/reference/openapi.ts'
import { commonErrors, repeats } from '../../src/http/endpoint.ts'
import { jsonSample, tabs } from '../code/sample.ts'
import { bodyOf, type Entry, fileTypeOf, resolve, successOf } from './document.ts'
import type { Fields } from './fields.ts'
import { samplesOf } from './samples.ts'

/** One operation: parameters and response at the left, a sample call and its response at the right. */
export function operation(entry: Entry, openapi: OpenApi, fields: Fields): Html {
  const { operationId: id, summary, method, path } = entry
  const told = entry.description.split('\n\n')
  const placed = (place: string) => entry.parameters?.filter(({ in: where }) => where === place) ?? []
  const body = bodyOf(entry)?.schema
  return html`<section class="row opens operation" aria-labelledby="${id}">
<div class="text">
<h2 id="${id}"><a class="anchor" href="#${id}">${summary}</a></h2>
<p class="route">${methodMark(method)} <code>${breakable(path)}</code>${entry['x-sandbox-only'] && html` <span class="tag">sandbox</span>`}</p>
${told.slice(0, -1).flatMap(paragraphs)}
<dl class="facts">
<div><dt>Key</dt><dd>${prose(told.at(-1) ?? '')}</dd></div>
<div><dt>Retries</dt><dd>${repeats[entry['x-repeat']]}</dd></div>
</dl>
${listed('Path', placed('path').length > 0 && fields.parameters(placed('path')))}
${listed('Query', placed('query').length > 0 && fields.parameters(placed('query')))}
${listed('Body', body !== undefined && fields.schema(resolve(openapi, body), 'request'))}
${responses(entry, fields)}
</div>
<div class="beside">
${tabs(samplesOf(entry))}
${responseSample(entry)}
</div>
</section>
`
}

const listed = (title: string, list: Html | false) => list && html`<h3>${title}</h3>${list}`

function responses(entry: Entry, fields: Fields): Html {
  const [status, success] = successOf(entry)
  const schema = success.content?.['application/json']?.schema
  const own = entry['x-errors'].filter((code) => !commonErrors.includes(code))
  return html`<h3>Responses</h3>
<ul class="responses">
<li><span class="status good">${status}</span> <span>${schema ? responseType(schema, fields) : (fileTypeOf(success) ?? 'No content')}</span></li>
${own.map(
  (code) =>
    html`<li><span class="status">${errors[code].status}</span> <a href="/docs/errors/${code}"><code>${code}</code></a></li>
`,
)}<li><span class="status">…</span> <a href="/docs/api#common-errors">what any call may return</a></li>
</ul>`
}

/** The response type; for a list, the type of its items. */
function responseType(schema: JsonSchema, fields: Fields): Html {
  const items = schema.properties?.data?.items
  if (!items) return fields.typeOf(schema)
  return html`${schema.properties?.next_cursor ? 'pages' : 'a list'} of ${fields.typeOf(items)}`
}

function responseSample(entry: Entry): Html {
  const [status, success] = successOf(entry)
  const content = success.content?.['application/json']
  return content ? jsonSample(`Response ${status}`, content.example) : noHtml
}

export function methodMark(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method === 'DELETE' ? 'DEL' : method}</span>`
}
