import { type Html, html, prose } from '../../src/doors/reference/html.ts'
import type { JsonSchema } from '../../src/doors/reference/json-schema.ts'
import type { Parameter } from '../../src/doors/reference/openapi.ts'

type Field = {
  readonly name: string
  readonly required: boolean
  readonly schema: JsonSchema
  readonly about: string | undefined
}

type Side = 'request' | 'response'

const refPrefix = '#/components/schemas/'

export const schemaName = ({ $ref }: JsonSchema): string | undefined => $ref?.slice(refPrefix.length)

/**
 * Renders tables of fields: name, type, whether it is required, and meaning. `addressOf` returns where a named object is
 * described.
 */
export function openFields(addressOf: (name: string) => string) {
  return { parameters, schema, typeOf }

  function parameters(list: readonly Parameter[]): Html {
    return fieldList(
      list.map(({ name, required, schema, description }) => ({ name, required, schema, about: description })),
      'request',
    )
  }

  function schema(of: JsonSchema, side: Side): Html {
    return fieldList(fieldsOf(of), side)
  }

  function fieldList(fields: readonly Field[], side: Side): Html {
    return html`<dl class="fields">${fields.map((field) => entry(field, side))}</dl>
`
  }

  function entry(field: Field, side: Side): Html {
    const { name, required, about } = field
    const presence =
      side === 'request'
        ? required && html`<span class="required">required</span>`
        : !required && html`<span class="type">may be absent</span>`
    return html`
<div><dt><code>${name}</code> <span class="type">${typeOf(field.schema)}</span> ${presence}</dt><dd>${about && html`${prose(sentence(about))} `}${rulesOf(field, side)}</dd></div>`
  }

  function typeOf(of: JsonSchema): Html {
    const name = schemaName(of)
    if (name !== undefined) return html`<a href="${addressOf(name)}">${name}</a>`
    const variants = of.anyOf ?? of.oneOf
    if (variants)
      return html`${variants.map((variant, index) => html`${index > 0 && ' or '}${typeOf(variant)}`)}`
    if (of.type === 'array') return html`array of ${of.items ? typeOf(of.items) : 'anything'}`
    if (typeof of.additionalProperties === 'object')
      return html`object of ${typeOf(of.additionalProperties)}s`
    return html`${of.type ?? 'any'}${of.format !== undefined && html` (${of.format})`}`
  }
}

export type Fields = ReturnType<typeof openFields>

/** Nested fields are listed with their path, so that one table has all fields. */
function fieldsOf(schema: JsonSchema, prefix = ''): Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const name = `${prefix}${key}`
    const required = schema.required?.includes(key) === true
    const entry = { name, required, schema: field, about: field.description }
    return [entry, ...fieldsOf(field, `${name}.`), ...fieldsOf(field.items ?? {}, `${name}[].`)]
  })
  return [...own, ...(schema.anyOf ?? []).flatMap((variant) => fieldsOf(variant, prefix))]
}

/** Constraints that the description does not mention. Lengths are shown only for requests. */
function rulesOf({ schema, about = '' }: Field, side: Side): Html {
  const { maxLength, maxItems, minimum, maximum } = schema
  const known = schema['x-known-values']
  const choices = schema.const !== undefined ? [schema.const] : (schema.enum ?? known ?? [])
  const told = choices.every((choice) => about.includes(String(choice)))
  const rules = [
    !told &&
      html`${choices.length === 1 && !known ? 'Always' : 'One of'} ${choices.map(choiceCode)}${known && '; more may come'}.`,
    side === 'request' && maxLength !== undefined && html`At most ${maxLength} characters.`,
    side === 'request' && maxItems !== undefined && html`At most ${maxItems} items.`,
    minimum !== undefined && html`At least ${minimum}.`,
    maximum !== undefined && html`At most ${maximum}.`,
  ]
  return html`${rules.map((rule) => rule && html`<span class="rule">${rule}</span> `)}`
}

function choiceCode(choice: unknown, index: number): Html {
  return html`${index > 0 && ', '}<code>${String(choice)}</code>`
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
