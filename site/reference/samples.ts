import type { Parameter } from '../../src/doors/reference/openapi.ts'
import { PLACEHOLDER } from '../../src/doors/reference/placeholders.ts'
import { argumentOf, isAmount } from '../../tools/python-types.ts'
import type { Sample } from '../code/sample.ts'
import { bodyOf, type Entry, fileTypeOf, successOf } from './document.ts'

/** A sample call in three languages, generated from the example of the endpoint. */
export function samplesOf(entry: Entry): Sample[] {
  return [
    {
      language: 'sh',
      title: 'curl',
      code: curl(requestOf(entry)) + (answerOf(entry) === 'file' ? ` \\\n  -o ${SAMPLE_FILE}` : ''),
    },
    { language: 'ts', title: 'TypeScript', code: typescript(entry) },
    { language: 'py', title: 'Python', code: python(entry) },
  ]
}

/** Where a sample saves a response that is a file. */
export const SAMPLE_FILE = 'receipt.pdf'

/** What a sample does with the response. */
type Answer = 'json' | 'file' | 'none'

function answerOf(entry: Entry): Answer {
  const [, success] = successOf(entry)
  if (fileTypeOf(success)) return 'file'
  return success.content ? 'json' : 'none'
}

type SampleRequest = {
  readonly method: string
  /** Path and query string. */
  readonly path: string
  readonly body?: unknown
}

/** Replaces ids by variables, named as in the quickstart and on the error pages: `$CUSTOMER` for a `customer_id`. */
function requestOf(entry: Entry): SampleRequest {
  const { method, parameters = [] } = entry
  const path = entry.path.replaceAll(
    /\{(\w+)\}/g,
    (_, name) =>
      variableOf(name, sampleValue(name, parameters)) ?? encodeURIComponent(sampleValue(name, parameters)),
  )
  const query = neededIn(entry, 'query')
    .map(({ name }) => `${name}=${encodeURIComponent(sampleValue(name, parameters))}`)
    .join('&')
  const body = withVariables(bodyOf(entry)?.example)
  return { method, path: query ? `${path}?${query}` : path, ...(body === undefined ? {} : { body }) }
}

function neededIn({ parameters = [] }: Entry, place: Parameter['in']): Parameter[] {
  return parameters.filter(({ in: where, required }) => where === place && required)
}

function sampleValue(name: string, parameters: readonly Parameter[]): string {
  const schema = parameters.find((parameter) => parameter.name === name)?.schema
  return String(schema?.examples?.[0] ?? schema?.enum?.[0] ?? name)
}

function variableOf(name: string, value: unknown): string | undefined {
  if (name === 'end_to_end_id') return '$PAYMENT'
  const isId = typeof value === 'string' && /^[a-z]{2,4}_[0-9a-z]{26}$/.test(value)
  return isId && name.endsWith('_id') ? `$${name.slice(0, -'_id'.length).toUpperCase()}` : undefined
}

/** Only top-level fields are replaced: nested fields hold no ids. */
function withVariables(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, variableOf(name, value) ?? value]),
  )
}

/** Names of the variables in the samples of these calls, without the dollar sign. */
export function variablesIn(entries: readonly Entry[]): string[] {
  const text = entries.map((entry) => JSON.stringify(requestOf(entry))).join()
  return [...new Set([...text.matchAll(VARIABLE)].map(([, name]) => name!))]
}

const VARIABLE = /\$([A-Z]+)/g

const indented = (text: string, by: string) => text.replaceAll('\n', `\n${by}`)

type Headers = Readonly<Record<string, string>>

/** `headers` replace or extend the default ones; an empty value omits a header. */
export function curl({ method, path, body }: SampleRequest, headers: Headers = {}): string {
  const url = `${PLACEHOLDER}${path}`
  const sent = {
    Authorization: 'Bearer $TRILHO_KEY',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...headers,
  }
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${/[?&$]/.test(url) ? `"${url}"` : url}`]
  for (const [name, value] of Object.entries(sent)) if (value !== '') lines.push(`-H "${name}: ${value}"`)
  if (body !== undefined)
    lines.push(`-d ${shellText(typeof body === 'string' ? body : JSON.stringify(body, null, 2))}`)
  return lines.join(' \\\n  ')
}

/** Quotes a text in single quotes, closing them around variables. */
function shellText(text: string): string {
  const quoted = indented(text.replaceAll("'", "'\\''"), '  ')
  return `'${quoted.replaceAll(/\$[A-Z_]+/g, (name) => `'"${name}"'`)}'`
}

function typescript(entry: Entry): string {
  const call = `trilho.${entry['x-name'].split('.').map(camel).join('.')}(${argumentsOf(entry).join(', ')})`
  const [, success] = successOf(entry)
  const listed = success.content?.['application/json']?.schema.properties?.data?.items
  const lines = [
    `import { Trilho } from '@trilho/sdk'`,
    '',
    `const trilho = new Trilho({ key: process.env.TRILHO_KEY, baseUrl: '${PLACEHOLDER}' })`,
    '',
  ]
  if (answerOf(entry) === 'file')
    return [
      `import { writeFile } from 'node:fs/promises'`,
      ...lines,
      `await writeFile('${SAMPLE_FILE}', await ${call})`,
    ].join('\n')
  if (listed) return [...lines, `for await (const one of ${call}) {`, '  console.log(one)', '}'].join('\n')
  return [...lines, success.content ? `console.log(await ${call})` : `await ${call}`].join('\n')
}

function argumentsOf(entry: Entry): string[] {
  const { parameters = [] } = entry
  const inPath = neededIn(entry, 'path').map(({ name }) => {
    const value = sampleValue(name, parameters)
    return literal(variableOf(name, value) ?? value)
  })
  const query = neededIn(entry, 'query').map(({ name }) => [name, sampleValue(name, parameters)])
  const fields = {
    ...Object.fromEntries(query),
    ...(withVariables(bodyOf(entry)?.example) as object | undefined),
  }
  return Object.keys(fields).length > 0 ? [...inPath, literal(fields)] : inPath
}

const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

const isVariable = (value: unknown): value is string => typeof value === 'string' && /^\$[A-Z]+$/.test(value)

/** A TypeScript literal with bare names and single quotes. */
function literal(value: unknown, indent = ''): string {
  if (isVariable(value)) return `process.env.${value.slice(1)}!`
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, indent)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const inner = `${indent}  `
  const fields = Object.entries(value).map(
    ([name, field]) => `${inner}${/^\w+$/.test(name) ? name : `'${name}'`}: ${literal(field, inner)},`,
  )
  return `{\n${fields.join('\n')}\n${indent}}`
}

function python(entry: Entry): string {
  const name = entry['x-name'].split('.').map(argumentOf).join('.')
  const call = `client.${name}(${pythonArguments(entry)})`
  const [, success] = successOf(entry)
  const listed = success.content?.['application/json']?.schema.properties?.data?.items
  const lines = [
    'import os',
    'from trilho import Trilho',
    '',
    `client = Trilho(key=os.environ["TRILHO_KEY"], base_url="${PLACEHOLDER}")`,
    '',
  ]
  if (listed && entry.method === 'GET') return [...lines, `for one in ${call}:`, '    print(one)'].join('\n')
  return [...lines, pythonUse[answerOf(entry)](call)].join('\n')
}

const pythonUse: Readonly<Record<Answer, (call: string) => string>> = {
  json: (call) => `print(${call})`,
  file: (call) => `with open("${SAMPLE_FILE}", "wb") as file:\n    file.write(${call})`,
  none: (call) => call,
}

function pythonArguments(entry: Entry): string {
  const { parameters = [] } = entry
  const inPath = neededIn(entry, 'path').map(({ name }) => {
    const value = sampleValue(name, parameters)
    return pythonLiteral(variableOf(name, value) ?? value)
  })
  const query = neededIn(entry, 'query').map(
    ({ name }) => `${argumentOf(name)}=${pythonLiteral(sampleValue(name, parameters))}`,
  )
  const body = bodyOf(entry)
  const fields = Object.entries((withVariables(body?.example) ?? {}) as object).map(([name, value]) => {
    const isInt = isAmount(body?.schema.properties?.[name] ?? {})
    return `${argumentOf(name)}=${isInt ? value : pythonLiteral(value)}`
  })
  const given = [...inPath, ...query, ...fields]
  return fields.length > 1 ? `\n    ${given.join(',\n    ')},\n` : given.join(', ')
}

const pythonWords: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

const pythonLiteral = (value: unknown): string => {
  const [line, ...more] = JSON.stringify(value, null, 4)
    .replaceAll(
      /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
      (found) => pythonWords[found] ?? found.replace(/^"\$([A-Z]+)"$/, 'os.environ["$1"]'),
    )
    .split('\n')
  return [line, ...more.map((each) => `    ${each}`)].join('\n')
}
