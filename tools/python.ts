import { argumentOf, docstring, isAmount, literal, openPythonTypes, pascal } from './python-types.ts'
import type { Document } from './sdk.ts'
import { nameOf, type Schema } from './sdk-types.ts'

/** Generates the types, the methods and the table of operations of the Python package from openapi.json. */
type Operation = Document['paths'][string][string]
type Parameter = NonNullable<Operation['parameters']>[number]
type Content = Operation['responses'][string]

const HEADER = '# Written by `npm run generate` from openapi.json. Not to be edited.\n'
const JSON_TYPE = 'application/json'

type Field = {
  readonly name: string
  readonly schema: Schema
  readonly required: boolean
  readonly description: string | undefined
}

/** One method of the client. */
type Method = {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly repeat: string
  readonly summary: string
  readonly path_params: readonly Parameter[]
  readonly fields: readonly Field[]
  readonly takes: 'query' | 'body' | undefined
  readonly has: string
  /** The media type of a response that is not JSON. */
  readonly media: string | undefined
  readonly reply: Schema | undefined
}

export function renderPython(document: Document): Readonly<Record<string, string>> {
  const methods = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([verb, operation]) =>
      methodsOf(document, path, verb.toUpperCase(), operation),
    ),
  )
  const declared = openPythonTypes()
  const resources = renderResources(methods, (name, schema) => declared.declare(name, schema, 'received'))
  return {
    'types.py': renderTypes(document, methods, declared.declared),
    '_operations.py': renderOperations(document, methods),
    '_resources.py': resources,
  }
}

const json = (of: Content | undefined): Schema | undefined => of?.content?.[JSON_TYPE]?.schema

function methodsOf(document: Document, path: string, method: string, operation: Operation): Method[] {
  const name = operation['x-name']
  const [status, reply] = Object.entries(operation.responses)
    .filter(([code]) => code.startsWith('2'))
    .at(-1)!
  const parameters = operation.parameters ?? []
  const query = parameters.filter((each) => each.in === 'query')
  const fields = method === 'GET' ? query.map(fieldOfParameter) : bodyFields(operation, query)
  const common = {
    ...{ method, path, summary: operation.summary, repeat: operation['x-repeat'], fields },
    takes: fields.length === 0 ? undefined : method === 'GET' ? ('query' as const) : ('body' as const),
    path_params: parameters.filter((each) => each.in === 'path'),
  }
  const own = { ...common, name, ...replyOf(document, name, status, reply) }
  if (!query.some((each) => each.name === 'dry_run')) return [own]
  const dry = name.replace(/\w+$/, 'dry_run')
  return [
    own,
    {
      ...common,
      name: dry,
      path: `${path}?dry_run=true`,
      repeat: 'safe',
      summary: `${operation.summary}: check only, nothing moves`,
      ...replyOf(document, dry, '200', operation.responses['200']),
    },
  ]
}

const fieldOfParameter = ({ name, schema, required, description }: Parameter): Field => ({
  ...{ name, schema, required: required === true },
  description: description ?? schema.description,
})

function bodyFields(operation: Operation, query: readonly Parameter[]): Field[] {
  const body = json(operation.requestBody)
  // `dry_run` is a separate method; a query parameter that is also in the body is sent in the body.
  const beside = query.filter(({ name }) => name !== 'dry_run' && !(name in (body?.properties ?? {})))
  if (beside.length > 0) throw new Error(`${operation['x-name']} has a body and a query of its own`)
  if (body && !body.properties) throw new Error(`the body of ${operation['x-name']} has no fields`)
  return Object.entries(body?.properties ?? {}).map(([name, schema]) => ({
    ...{ name, schema, required: body?.required?.includes(name) === true, description: schema.description },
  }))
}

function replyOf(document: Document, name: string, status: string, reply: Content | undefined) {
  if (status === '204') return { reply: undefined, media: undefined, has: '' }
  const schema = json(reply)
  const [media] = Object.keys(reply?.content ?? {})
  if (schema) return { reply: schema, media: undefined, has: fieldOf(document, schema) }
  if (media === undefined) throw new Error(`${name} has a response without a schema`)
  return { reply: undefined, media, has: '' }
}

/** The first required field of a response. */
function fieldOf({ components }: Document, schema: Schema): string {
  const { required = [] } = (schema.$ref ? components.schemas[nameOf(schema.$ref)] : schema) ?? {}
  if (required.length === 0) throw new Error('a response has no field that is always there')
  return required[0]!
}

/** Where amounts are: `True` is an amount, a dict has the fields that hold some, a list has the shape of its items. */
function shapeOf(document: Document, schema: Schema): string | undefined {
  if (schema.$ref === '#/components/schemas/Event') return 'EVENT'
  if (schema.$ref) return shapeOf(document, document.components.schemas[nameOf(schema.$ref)]!)
  if (isAmount(schema)) return 'True'
  if (schema.items) {
    const item = shapeOf(document, schema.items)
    return item && `[${item}]`
  }
  const fields = [schema, ...(schema.anyOf ?? schema.oneOf ?? [])].flatMap(({ properties = {} }) =>
    Object.entries(properties).flatMap(([name, of]) => {
      const shape = shapeOf(document, of)
      return shape ? [`${literal(name)}: ${shape}`] : []
    }),
  )
  if (fields.length > 0) return `{${fields.join(', ')}}`
  return (schema.anyOf ?? schema.oneOf ?? []).map((each) => shapeOf(document, each)).find(Boolean)
}

function renderOperations(document: Document, methods: readonly Method[]): string {
  const rows = methods.map(({ name, method, path, repeat, takes, has, media, reply, fields }) => {
    const sent = takes === 'body' && {
      properties: Object.fromEntries(fields.map((field) => [field.name, field.schema])),
    }
    const traits = [
      ...[method, path, repeat, has].map(literal),
      ...(takes ? [`takes=${literal(takes)}`] : []),
      ...(media ? [`media=${literal(media)}`] : []),
      ...named('sent', sent && shapeOf(document, sent)),
      ...named('got', reply && shapeOf(document, reply)),
    ]
    return `    ${literal(name)}: Operation(${traits.join(', ')}),\n`
  })
  const { schemas } = document.components
  const events = eventsOf(document).map(
    ({ type, object }) => `    ${literal(type)}: ${shapeOf(document, object) ?? 'None'},\n`,
  )
  const details = Object.values(schemas).flatMap((schema) => {
    const shape = schema['x-code'] && shapeOf(document, schema)
    return shape ? [`    ${literal(schema['x-code'])}: ${shape},\n`] : []
  })
  return `${HEADER}
from typing import Dict

from ._operation import EVENT, Operation, Shape

VERSION = ${literal(document.info.version)}

# Every method of the client by its name: what is sent where, whether it may be sent again, and where amounts are.
OPERATIONS: Dict[str, Operation] = {
${rows.join('')}}

# Where amounts are in the object of an event, by the type of the event.
EVENTS: Dict[str, Shape] = {
${events.join('')}}

# Where amounts are in the details of an error, by its code.
DETAILS: Dict[str, Shape] = {
${details.join('')}}
`
}

const named = (name: string, shape: string | false | undefined): string[] =>
  shape ? [`${name}=${shape}`] : []

type EventEntry = { readonly type: string; readonly schema: string; readonly object: Schema }

function eventsOf({ webhooks, components }: Document): EventEntry[] {
  return Object.entries(webhooks).map(([type, { post }]) => {
    const schema = nameOf(json(post.requestBody)!.$ref!)
    const object = components.schemas[schema]?.properties?.data?.properties?.object
    if (!object) throw new Error(`${schema} has no data.object`)
    return { type, schema, object }
  })
}

/** Schemas that are not generated from their definition: `Event` is a union of all events, `Error` a class. */
const BY_HAND = ['Event', 'Error']
const OTHER = 'a type of a later version'

function renderTypes(document: Document, methods: readonly Method[], own: readonly string[]): string {
  const { schemas } = document.components
  const sent = refsIn(
    methods.map(({ fields }) => fields),
    schemas,
  )
  const events = eventsOf(document)
  const event_schemas = new Set(events.map(({ schema }) => schema))
  const types = openPythonTypes()
  for (const [name, schema] of Object.entries(schemas))
    if (!BY_HAND.includes(name) && !event_schemas.has(name))
      types.declare(name, schema, sent.has(name) ? 'sent' : 'received')
  const about = schemas.Event!
  const declareEvent = (name: string, type: string, object: Schema) => {
    const data = { type: 'object', required: ['object'], properties: { object } }
    const properties = { ...about.properties, type: { type: 'string', const: type }, data }
    types.declare(name, { ...about, properties }, 'received')
  }
  for (const { type, schema, object } of events) declareEvent(schema, type, object)
  declareEvent('OtherEvent', OTHER, { type: 'object' })
  const known = (field: string) =>
    `Literal[\n${schemas.Error!.properties!.error!.properties![field]!['x-known-values']!.map((value) => `    ${literal(value)},\n`).join('')}]`
  return `${HEADER}"""What the API takes and returns, as dictionaries with typed keys."""

from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

${[...types.declared, ...own].join('\n\n')}

EventType = Literal[
${events.map(({ type }) => `    ${literal(type)},\n`).join('')}]

# The type of OtherEvent equals no text that is sent, so that comparing \`type\` narrows to one known event.
Event = Union[
${[...events.map(({ schema }) => schema), 'OtherEvent'].map((name) => `    ${name},\n`).join('')}]

ErrorType = ${known('type')}

ErrorCode = ${known('code')}
`
}

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

type Tree = { [name: string]: Tree | Method }
const isMethod = (node: Tree | Method): node is Method => typeof node.method === 'string'

/** Classes whose base has methods that are written by hand. */
const BASES: Readonly<Record<string, string>> = { Events: 'EventStream' }

function renderResources(
  methods: readonly Method[],
  declare: (name: string, schema: Schema) => void,
): string {
  const root: Tree = {}
  for (const method of methods) {
    const steps = method.name.split('.')
    let place = root
    for (const step of steps.slice(0, -1)) place = (place[step] ??= {}) as Tree
    place[steps.at(-1)!] = method
  }
  const classes: string[] = []
  renderClass('', root, classes, declare)
  return `${HEADER}
from typing import Any, List, Literal, Mapping, Optional, Sequence, Union

from . import types as t
from ._call import OMITTED, Call, Omitted, Resource, nullable
from ._listing import Listing
from ._stream import EventStream

${classes.join('\n\n')}`
}

function renderClass(
  name: string,
  tree: Tree,
  classes: string[],
  declare: (name: string, schema: Schema) => void,
): string {
  const own = name === '' ? 'Resources' : name
  const nodes = Object.entries(tree)
  const groups = nodes.flatMap(([key, node]) =>
    isMethod(node)
      ? []
      : [`        self.${key} = ${renderClass(name + pascal(key), node, classes, declare)}(call)\n`],
  )
  const opening =
    groups.length > 0
      ? `    def __init__(self, call: Call) -> None:\n        super().__init__(call)\n${groups.join('')}`
      : ''
  const calls = nodes.flatMap(([key, node]) => (isMethod(node) ? [renderMethod(key, node, declare)] : []))
  classes.push(
    `class ${own}(${BASES[own] ?? 'Resource'}):\n${[opening, ...calls].filter(Boolean).join('\n')}`,
  )
  return own
}

function renderMethod(key: string, one: Method, declare: (name: string, schema: Schema) => void): string {
  const types = openPythonTypes('t.')
  const own = pascal(one.name)
  const typed = (schema: Schema, name: string) =>
    types.typeOf(schema, 'sent', name).replaceAll(/"(t\.\w+)"/g, '$1')
  const path = one.path_params.map(({ name, schema }) => ({
    ...{ name, text: `${argumentOf(name)}: ${typed(schema, own + pascal(name))}` },
  }))
  const fields = [
    ...one.fields.filter(({ required }) => required),
    ...one.fields.filter(({ required }) => !required),
  ]
  const keywords = fields.map((field) => argumentText(field, typed(field.schema, own + pascal(field.name))))
  if (types.declared.length > 0) throw new Error(`${one.name}: an argument needs a type with a name`)
  const result = resultOf(one, own, declare)
  const parameters = [
    'self',
    ...path.map(({ text }) => text),
    ...(keywords.length > 0 ? ['*', ...keywords] : []),
  ]
  const values = path.map(({ name }) => `${literal(name)}: ${argumentOf(name)}`)
  const given = fields.map((field) => `            ${literal(field.name)}: ${givenOf(field)},\n`)
  const sent = [
    literal(one.name),
    `{${values.join(', ')}}`,
    given.length > 0 ? `{\n${given.join('')}        }` : '{}',
  ].join(', ')
  const body =
    result.kind === 'list'
      ? `        return Listing(self._call, ${sent})\n`
      : result.type === 'None'
        ? `        self._call(${sent})\n`
        : `        result: ${result.type} = self._call(${sent})\n        return result\n`
  const signature =
    parameters.length > 2 ? `\n        ${parameters.join(',\n        ')},\n    ` : parameters.join(', ')
  return `    def ${argumentOf(key)}(${signature}) -> ${result.type}:\n${describe(one, fields)}${body}`
}

/** Where null has a meaning, None cannot mean that the field is left out. */
const isNullable = ({ required, schema }: Field) =>
  !required && schema.anyOf?.some(({ type }) => type === 'null') === true

const givenOf = (field: Field) =>
  isNullable(field) ? `nullable(${argumentOf(field.name)})` : argumentOf(field.name)

function argumentText(field: Field, type: string): string {
  const { name, required } = field
  if (required) return `${argumentOf(name)}: ${type}`
  if (isNullable(field)) return `${argumentOf(name)}: Union[${type}, Omitted] = OMITTED`
  return `${argumentOf(name)}: Optional[${type}] = None`
}

function describe({ summary, method, path }: Method, fields: readonly Field[]): string {
  const told = fields.flatMap(({ name, description }) =>
    description ? [`        ${argumentOf(name)}: ${description}\n`] : [],
  )
  const first = `${summary}. \`${method} ${path}\``
  if (told.length === 0) return docstring(first, '        ')
  return docstring(`${first}\n\n${told.join('')}        `, '        ')
}

function resultOf(
  { method, reply, media, has }: Method,
  own: string,
  declare: (name: string, schema: Schema) => void,
): { readonly kind: 'list' | 'one'; readonly type: string } {
  if (media) return { kind: 'one', type: 'bytes' }
  if (!reply || has === '') return { kind: 'one', type: 'None' }
  const { data } = reply.properties ?? {}
  if (method === 'GET' && data?.type === 'array') {
    if (!data.items?.$ref) throw new Error(`the items of ${own} need a name`)
    return { kind: 'list', type: `Listing[t.${nameOf(data.items.$ref)}]` }
  }
  if (reply.$ref) return { kind: 'one', type: `t.${nameOf(reply.$ref)}` }
  declare(`${own}Result`, reply)
  return { kind: 'one', type: `t.${own}Result` }
}
