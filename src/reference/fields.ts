import { type Html, html, prose } from './html.ts'
import type { JsonSchema } from './json-schema.ts'
import type { OpenApi, Parameter } from './openapi.ts'

type Field = {
  readonly name: string
  readonly required: boolean
  readonly schema: JsonSchema
  readonly about: string | undefined
}

const refPrefix = '#/components/schemas/'

export function schemaName({ $ref }: JsonSchema): string | undefined {
  return $ref?.slice(refPrefix.length)
}

export function resolve(openapi: OpenApi, schema: JsonSchema): JsonSchema {
  const name = schemaName(schema)
  return name === undefined ? schema : openapi.components.schemas[name]!
}

/** Field, type, whether it must be there, and what it means. */
export function parameterList(parameters: readonly Parameter[]): Html {
  return fieldList(
    parameters.map(({ name, required, schema, description }) => ({
      name,
      required,
      schema,
      about: description,
    })),
  )
}

export function schemaList(schema: JsonSchema, kind: 'request' | 'answer'): Html {
  return fieldList(fieldsOf(schema), kind)
}

function fieldList(fields: readonly Field[], kind: 'request' | 'answer' = 'request'): Html {
  return html`<dl class="fields">${fields.map((field) => fieldEntry(field, kind))}</dl>`
}

function fieldEntry(field: Field, kind: 'request' | 'answer'): Html {
  const { name, required, schema, about } = field
  const presence =
    kind === 'request'
      ? html`<span class="${required ? 'required' : 'optional'}">${required ? 'required' : 'optional'}</span>`
      : !required && html`<span class="optional">may be absent</span>`
  return html`
<div><dt><code>${name}</code> <span class="type">${typeOf(schema)}</span> ${presence}</dt><dd>${about && html`${prose(sentence(about))} `}${rulesOf(field, kind)}</dd></div>`
}

/** An object inside of an object is written as a path, so that one list tells all. */
function fieldsOf(schema: JsonSchema, prefix = ''): Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const name = `${prefix}${key}`
    const required = schema.required?.includes(key) === true
    const entry = { name, required, schema: field, about: field.description }
    return [entry, ...fieldsOf(field, `${name}.`), ...fieldsOf(field.items ?? {}, `${name}[].`)]
  })
  return [...own, ...(schema.anyOf ?? []).flatMap((variant) => fieldsOf(variant, prefix))]
}

export function typeOf(schema: JsonSchema): Html {
  const name = schemaName(schema)
  if (name !== undefined) return html`<a href="#object-${name}">${name}</a>`
  const variants = schema.anyOf ?? schema.oneOf
  if (variants)
    return html`${variants.map((variant, index) => html`${index > 0 && ' or '}${typeOf(variant)}`)}`
  if (schema.type === 'array') return html`array of ${schema.items ? typeOf(schema.items) : 'anything'}`
  if (typeof schema.additionalProperties === 'object')
    return html`object of ${typeOf(schema.additionalProperties)}s`
  return html`${schema.type ?? 'any'}${schema.format !== undefined && html` (${schema.format})`}`
}

/** What the description leaves out. Lengths matter to who sends a field, not to who reads one. */
function rulesOf({ schema, about = '' }: Field, kind: 'request' | 'answer'): Html {
  const { maxLength, maxItems, minimum, maximum } = schema
  const known = schema['x-known-values']
  const choices = schema.const !== undefined ? [schema.const] : (schema.enum ?? known ?? [])
  const told = choices.every((choice) => about.includes(String(choice)))
  const rules = [
    !told &&
      html`${choices.length === 1 && !known ? 'Always' : 'One of'} ${choices.map(choiceCode)}${known && '; more may come'}.`,
    kind === 'request' && maxLength !== undefined && html`At most ${maxLength} characters.`,
    kind === 'request' && maxItems !== undefined && html`At most ${maxItems} items.`,
    minimum !== undefined && html`At least ${minimum}.`,
    maximum !== undefined && html`At most ${maximum}.`,
  ]
  return html`${rules.map((rule) => rule && html`<span class="rule">${rule}</span> `)}`
}

function choiceCode(choice: unknown, index: number): Html {
  return html`${index > 0 && ', '}<code>${String(choice)}</code>`
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
