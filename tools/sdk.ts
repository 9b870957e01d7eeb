import { comment, nameOf, type Schema, type Side, typeOf } from './sdk-types.ts'

/** Generates the SDK's types and its table of operations from openapi.json. */
export type Document = {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Pick<Operation, 'requestBody'> }>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

type Content = { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}
type Operation = {
  readonly 'x-name': string
  readonly 'x-repeat': string
  readonly summary: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, Content>>
}

/** One method of the client. */
type Method = {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly repeat: string
  readonly summary: string
  readonly takes?: 'query' | 'body'
  readonly list: boolean
  readonly has: string
  /** The content type of a response that is a file. */
  readonly file?: string
  readonly path_params: readonly Parameter[]
  readonly params?: { readonly type: string; readonly schema: Schema; readonly needed: boolean }
  readonly result: string
  /** The result type, if its schema has no name. */
  readonly own_type?: Schema
}

const HEADER = '// Written by `npm run generate` from openapi.json. Not to be edited.\n'

const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const pascal = (name: string) =>
  camel(name.replaceAll('.', '_')).replace(/^./, (letter) => letter.toUpperCase())
const json = (of: Content | undefined): Schema | undefined => of?.content?.['application/json']?.schema

export function renderSdk(document: Document): { readonly types: string; readonly operations: string } {
  const methods = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => methodsOf(document, path, method, operation)),
  )
  return { types: renderTypes(document, methods), operations: renderOperations(document, methods) }
}

function methodsOf(document: Document, path: string, verb: string, operation: Operation): Method[] {
  const method = verb.toUpperCase()
  const name = operation['x-name'].split('.').map(camel).join('.')
  const found = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
  const [status, reply] = found.at(-1)!
  const query = (operation.parameters ?? []).filter((each) => each.in === 'query')
  const asked = paramsOf(operation, method, query)
  const common = {
    name,
    method,
    path,
    repeat: operation['x-repeat'],
    summary: operation.summary,
    ...(asked && { takes: method === 'GET' ? ('query' as const) : ('body' as const) }),
    path_params: (operation.parameters ?? []).filter((each) => each.in === 'path'),
    ...(asked && { params: { type: `${pascal(name)}Params`, ...asked } }),
  }
  const file = Object.keys(reply.content ?? {}).find((type) => type !== 'application/json')
  if (file) return [{ ...common, list: false, result: 'Uint8Array', has: '', file }]
  const own: Method = {
    ...common,
    ...resultOf(common, status, json(reply)),
    has: fieldOf(document, json(reply)),
  }
  if (!query.some((each) => each.name === 'dry_run')) return [own]
  return [
    own,
    {
      ...common,
      name: name.replace(/\w+$/, 'dryRun'),
      path: `${path}?dry_run=true`,
      repeat: 'safe',
      summary: `${operation.summary}: check only, nothing moves`,
      ...resultOf({ name: name.replace(/\w+$/, 'dryRun'), method }, '200', json(operation.responses['200'])),
      has: fieldOf(document, json(operation.responses['200'])),
    },
  ]
}

/** The first required field of a response; empty for a response without a body. */
function fieldOf({ components }: Document, schema: Schema | undefined): string {
  const { required = [] } = (schema?.$ref ? components.schemas[nameOf(schema.$ref)] : schema) ?? {}
  if (schema && required.length === 0) throw new Error('a response has no field that is always there')
  return required[0] ?? ''
}

function paramsOf(operation: Operation, method: string, query: readonly Parameter[]) {
  const body = json(operation.requestBody)
  if (method === 'GET') {
    const required = query.filter((each) => each.required).map((each) => each.name)
    const properties = Object.fromEntries(
      query.map(({ name, schema, description }) => [
        name,
        { ...schema, ...(description && { description }) },
      ]),
    )
    return query.length === 0
      ? undefined
      : { schema: { type: 'object', required, properties }, needed: required.length > 0 }
  }
  // `dry_run` is a separate method; a query parameter that is also in the body is sent in the body.
  const beside = query.filter(({ name }) => name !== 'dry_run' && !(name in (body?.properties ?? {})))
  if (beside.length > 0) throw new Error(`${operation['x-name']} has a body and a query of its own`)
  return body && { schema: body, needed: operation.requestBody?.required === true }
}

function resultOf(
  { name, method }: Pick<Method, 'name' | 'method'>,
  status: string,
  schema: Schema | undefined,
) {
  if (status === '204') return { list: false, result: 'void' }
  if (!schema) throw new Error(`${name} has a response without a schema`)
  const { data, has_more } = schema.properties ?? {}
  if (method === 'GET' && data?.type === 'array') {
    const item = typeOf(data.items!, 'received')
    return { list: true, result: has_more ? item : `${item}, { data: ${item}[] }` }
  }
  if (schema.$ref) return { list: false, result: typeOf(schema, 'received') }
  return { list: false, result: `${pascal(name)}Result`, own_type: schema }
}

function renderOperations(document: Document, methods: readonly Method[]): string {
  const rows = methods.map(({ name, method, path, repeat, takes, list, has, file }) => {
    const traits = { method, path, repeat, takes, list: list || undefined, has, file }
    const fields = Object.entries(traits).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key}: ${value === true ? 'true' : `'${value}'`}`],
    )
    return `  '${name}': { ${fields.join(', ')} },\n`
  })
  return `${HEADER}
import type { Operation } from '../call.js'

export const version = '${document.info.version}'

/** Every method of the client by its name: what is sent where, and whether it may be sent again. */
export const operations: Readonly<Record<string, Operation>> = {
${rows.join('')}}
`
}

/** Schemas that are not generated from their definition: `Event` is a union of all events, `Error` a class. */
const BY_HAND = ['Event', 'Error']

function renderTypes(document: Document, methods: readonly Method[]): string {
  const { schemas } = document.components
  const sent = refsIn(
    methods.map(({ params }) => params?.schema),
    schemas,
  )
  const events = eventsOf(document)
  const event_schemas = new Set(events.map(({ schema }) => schema))
  const named = Object.entries(schemas).filter(
    ([name]) => !BY_HAND.includes(name) && !event_schemas.has(name),
  )
  return [
    HEADER,
    "import type { Call, CallOptions, Listing } from '../call.js'\n",
    '/** The values known today, and any that a later version may send. */',
    'export type Open<Known extends string> = Known | (string & {})\n',
    '/** A whole number of the smallest unit. A number of JavaScript would lose digits. */',
    'export type Amount = bigint | string\n',
    ...named.map(([name, schema]) => declare(name, schema, sent.has(name) ? 'sent' : 'received')),
    ...methods.flatMap(typesOf),
    renderEvents(schemas.Event!, events),
    renderErrors(schemas),
    renderResources(methods),
  ].join('\n')
}

/** The types that only one method uses. */
function typesOf({ name, path_params, params, own_type, result }: Method): string[] {
  const choices = path_params.filter(({ schema }) => schema.enum)
  return [
    ...choices.map((each) => declare(`${pascal(name)}${pascal(each.name)}`, each.schema, 'sent')),
    ...(params && params.type === `${pascal(name)}Params`
      ? [declare(params.type, params.schema, 'sent')]
      : []),
    ...(own_type ? [declare(result, own_type, 'received')] : []),
  ]
}

const declare = (name: string, schema: Schema, side: Side) =>
  `${comment(schema.description)}export type ${name} = ${typeOf(schema, side)}\n`

/** Names of all schemas that these schemas refer to. */
function refsIn(
  of: unknown,
  schemas: Document['components']['schemas'],
  seen = new Set<string>(),
): Set<string> {
  for (const [, ref] of JSON.stringify(of).matchAll(/"\$ref":"([^"]+)"/g)) {
    const name = nameOf(ref!)
    if (seen.has(name)) continue
    seen.add(name)
    refsIn(schemas[name], schemas, seen)
  }
  return seen
}

type EventEntry = { readonly type: string; readonly schema: string; readonly object: string }

function eventsOf({ webhooks, components }: Document): EventEntry[] {
  return Object.entries(webhooks).map(([type, { post }]) => {
    const schema = nameOf(json(post.requestBody)!.$ref!)
    const object = components.schemas[schema]?.properties?.data?.properties?.object
    if (!object) throw new Error(`${schema} has no data.object`)
    return { type, schema, object: typeOf(object, 'received') }
  })
}

function renderEvents(event: Schema, events: readonly EventEntry[]): string {
  const properties = {
    ...event.properties,
    type: { $ref: 'Type', description: 'What happened' },
    data: { type: 'object', required: ['object'], properties: { object: objectOf(event) } },
  }
  const rows = events.map(({ type, schema }) => `  '${type}': ${schema}\n`)
  return `${comment('One event: of the log, and in the body of a webhook.')}export type EventOf<Type, Object> = ${typeOf({ ...event, properties }, 'received')}

${events.map(({ type, schema, object }) => `export type ${schema} = EventOf<'${type}', ${object}>\n`).join('')}
/** Every event type known today, and what its event looks like. */
export type EventMap = {
${rows.join('')}}
export type EventType = keyof EventMap

/** A type that this version does not know. No text equals it, so that comparing \`type\` narrows to the known ones. */
export declare enum OtherType {
  other = 'a type of a later version',
}
export type OtherEvent = EventOf<OtherType, Record<string, unknown>>
export type Event = EventMap[EventType] | OtherEvent
`
}

const objectOf = (event: Schema): Schema => ({
  $ref: 'Object',
  description: event.properties!.data!.properties!.object!.description!,
})

function renderErrors(schemas: Document['components']['schemas']): string {
  const fields = schemas.Error!.properties!.error!.properties!
  const union = (field: string) =>
    fields[field]!['x-known-values']!.map((value) => `\n  | '${value}'`).join('')
  const details = Object.entries(schemas).flatMap(([name, schema]) =>
    schema['x-code'] ? [`  ${schema['x-code']}: ${name}\n`] : [],
  )
  return `export type ErrorType =${union('type')}

export type ErrorCode =${union('code')}

/** What \`details\` holds, by code. */
export type ErrorDetails = {
${details.join('')}}
`
}

type Tree = { [name: string]: Tree | Method }
const isMethod = (node: Tree | Method): node is Method => typeof node.method === 'string'

function renderResources(methods: readonly Method[]): string {
  const root: Tree = {}
  for (const method of methods) {
    const steps = method.name.split('.')
    let place = root
    for (const step of steps.slice(0, -1)) place = (place[step] ??= {}) as Tree
    place[steps.at(-1)!] = method
  }
  return `/** The methods of the client. */\nexport type Resources = ${renderTree(root, '')}\n`
}

function renderTree(tree: Tree, indent: string): string {
  const deeper = `${indent}  `
  const nodes = Object.entries(tree).map(([name, node]) =>
    isMethod(node)
      ? `${comment(`${node.summary}. \`${node.method} ${node.path}\``, deeper)}${deeper}${name}${signature(node)}\n`
      : `${deeper}readonly ${name}: ${renderTree(node, deeper)}\n`,
  )
  return `{\n${nodes.join('')}${indent}}`
}

function signature({ name: method, path_params, params, list, result }: Method): string {
  const parameters = [
    ...path_params.map(
      ({ name, schema }) => `${name}: ${schema.enum ? pascal(method) + pascal(name) : 'string'}`,
    ),
    ...(params ? [`params${params.needed ? '' : '?'}: ${params.type}`] : []),
    'options?: CallOptions',
  ]
  return `(${parameters.join(', ')}): ${list ? 'Listing' : 'Call'}<${result}>`
}
