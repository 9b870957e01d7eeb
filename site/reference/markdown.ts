import type { JsonSchema } from '../../src/doors/reference/json-schema.ts'
import type { OpenApi } from '../../src/doors/reference/openapi.ts'
import { repeats } from '../../src/http/endpoint.ts'
import { bodyOf, type Entry, fileTypeOf, resolve, successOf } from './document.ts'
import { schemaName } from './fields.ts'
import { samplesOf } from './samples.ts'

/** The reference as Markdown, with the same content as the page. */
export function operationMarkdown(entry: Entry, openapi: OpenApi): string {
  const { summary, method, path, description, parameters = [] } = entry
  const [status, success] = successOf(entry)
  const body = bodyOf(entry)?.schema
  const content = success.content?.['application/json']
  const file = fileTypeOf(success)
  return [
    `## ${summary}`,
    `\`${method} ${path}\``,
    description,
    repeats[entry['x-repeat']],
    ...(parameters.length > 0 ? ['Parameters:', bullets(parameters.map(parameterLine))] : []),
    ...(body ? ['Body:', fieldsMarkdown(resolve(openapi, body))] : []),
    `Errors: ${entry['x-errors'].map((code) => `\`${code}\``).join(', ')}.`,
    ...samplesOf(entry).map(({ language, code }) => fence(language, code)),
    content ? `Response ${status}:` : `Response ${status}, ${file ?? 'without content'}.`,
    ...(content ? [fence('json', JSON.stringify(content.example, null, 2))] : []),
  ].join('\n\n')
}

export const fence = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

const bullets = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n')

function parameterLine({
  name,
  in: place,
  required,
  description,
  schema,
}: NonNullable<Entry['parameters']>[number]) {
  return `\`${name}\` (${place}, ${typeText(schema)}${required ? ', required' : ''}): ${description ?? ''}`
}

/** Lists fields one level deep; nested objects are named only. */
export function fieldsMarkdown({ properties = {}, required = [], anyOf = [] }: JsonSchema): string {
  const own = Object.entries(properties).map(
    ([name, schema]) =>
      `\`${name}\` (${typeText(schema)}${required.includes(name) ? ', required' : ''}): ${schema.description ?? ''}`,
  )
  return [bullets(own), ...anyOf.map(fieldsMarkdown)].filter(Boolean).join('\n')
}

function typeText(schema: JsonSchema): string {
  const variants = schema.anyOf ?? schema.oneOf
  if (variants) return variants.map(typeText).join(' or ')
  return schemaName(schema) ?? schema.type ?? 'any'
}
