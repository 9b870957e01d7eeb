import assert from 'node:assert/strict'
import type { OpenApi, Operation } from '../src/doors/reference/openapi.ts'
import { type Chapter, replaced, type Step, walk } from './walk.ts'

/** The requests of the collections, in order. An id from an earlier response is written `{{customer_id}}`. */
export type Collection = readonly { readonly title: string; readonly requests: readonly Request[] }[]

export type Request = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly status: number
  /** The id in the response that later requests use. */
  readonly gives?: Given
  /** The source of each id that the request needs. */
  readonly takes: readonly (Given & { readonly from: string })[]
}

type Given = { readonly variable: string; readonly field: string }

type Found = Operation & { readonly method: string; readonly path: string }
type Sources = Map<string, Request['takes'][number]>

export function buildCollection(document: OpenApi): Collection {
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        operation['x-name'],
        { ...operation, method, path },
      ]),
    ),
  )
  assertWhole([...operations.keys()], walk)
  const sources: Sources = new Map()
  return walk.map(({ title, steps }) => ({
    title,
    requests: steps.map(asStep).map((step) => requestOf(step, operations.get(step.call)!, sources)),
  }))
}

const asStep = (step: string | Step): Step => (typeof step === 'string' ? { call: step } : step)

function assertWhole(known: readonly string[], chapters: readonly Chapter[]): void {
  const called = chapters.flatMap(({ steps }) => steps.map(asStep).map(({ call }) => call))
  const missing = known.filter((name) => !called.includes(name))
  const strange = called.filter((name) => !known.includes(name))
  assert.deepEqual(
    { missing, strange },
    { missing: [], strange: [] },
    'tools/walk.ts must call every operation',
  )
}

function requestOf(step: Step, operation: Found, sources: Sources): Request {
  const example = operation.requestBody?.content['application/json'].example as object | undefined
  const takes = new Map<string, Request['takes'][number]>()
  const fill = (value: unknown): unknown => filled(value, sources, takes)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    String(fill(step.path?.[name] ?? parameterExample(operation, name))),
  )
  const body = example && fill({ ...example, ...step.body })
  const status = operation.responses['201'] ? 201 : Number(Object.keys(operation.responses)[0])
  const name = step.as?.name ?? operation.operationId
  const gives = givenBy(operation, status, step)
  if (gives) sources.set(gives.variable, { ...gives, from: name })
  return {
    name,
    title: step.as?.title ?? operation.summary,
    description: operation.description,
    method: operation.method.toUpperCase(),
    path,
    query: step.query ?? {},
    ...(body ? { body } : {}),
    status,
    ...(gives ? { gives } : {}),
    takes: [...takes.values()],
  }
}

function parameterExample({ parameters = [], path }: Found, name: string): unknown {
  const example = parameters.find((parameter) => parameter.name === name)?.schema.examples?.[0]
  assert(example !== undefined, `${path}: say in tools/walk.ts what ${name} is`)
  return example
}

/** Replaces ids, and values that must differ in a second run, by variables. */
function filled(value: unknown, sources: Sources, takes: Map<string, Request['takes'][number]>): unknown {
  if (Array.isArray(value)) return value.map((each) => filled(each, sources, takes))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, filled(part, sources, takes)]),
    )
  if (typeof value !== 'string') return value
  const variable = variableOf(value)
  if (!variable) return replaced[value] ?? value
  const source = sources.get(variable)
  assert(source, `tools/walk.ts: nothing before gave ${variable}`)
  takes.set(variable, source)
  return `{{${variable}}}`
}

const kinds: Readonly<Record<string, string>> = {
  cus: 'customer_id',
  dep: 'deposit_id',
  po: 'payout_id',
  chg: 'charge_id',
  tr: 'transfer_id',
  qt: 'quote_id',
  td: 'trade_id',
  whe: 'endpoint_id',
  evt: 'event_id',
  req: 'request_id',
}

/** The id of a payment in the Pix network, which no prefix names. */
const END_TO_END_ID = /^E[0-9A-Za-z]{31}$/

const variableOf = (value: unknown): string | undefined =>
  END_TO_END_ID.test(String(value))
    ? 'end_to_end_id'
    : kinds[/^([a-z]+)_[0-9a-hjkmnp-tv-z]{26}$/.exec(String(value))?.[1] ?? '']

/** The id that a response provides: that of a created object, or of the first item of a list if the walk uses it. */
function givenBy({ responses }: Found, status: number, { first }: Step): Given | undefined {
  const response = responses[String(status)]
  const example: any =
    response && 'content' in response ? response.content?.['application/json']?.example : undefined
  if (!first && status !== 201) return undefined
  const field = first ? 'data[0].id' : ['id', 'event_id', 'end_to_end_id'].find((name) => name in example)
  if (field === undefined) return undefined
  const variable = variableOf(first ? example.data[0].id : example[field])
  return variable === undefined ? undefined : { variable, field }
}
