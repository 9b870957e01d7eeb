import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../support/fuzz/document.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { readHttpFile, type Sent } from './http-file.ts'
import { postmanSchema } from './postman-schema.ts'

/** The files that other programs read instead of openapi.json, as those programs would run them. */
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
let service: TestService
let key: string

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

/** The operation that this request calls. */
const operationOf = ({ method, url }: { method: string; url: string }) =>
  operations.find(
    (one) =>
      one.method === method &&
      new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(new URL(url).pathname),
  )!

const successOf = ({ responses }: (typeof operations)[number]) =>
  responses['201'] ? 201 : Number(Object.keys(responses)[0])

async function send({ method, url, headers, body }: Sent): Promise<{ status: number; json: any }> {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
  const text = await response.text()
  const is_json = response.headers.get('content-type')?.startsWith('application/json')
  // A 204 has no body.
  return { status: response.status, json: is_json && text !== '' ? JSON.parse(text) : undefined }
}

/** A request with what it should and what it did. */
type Step = {
  readonly name: string
  readonly expected: number
  readonly status: number
  readonly operation: string
}

async function runHttpFile(): Promise<Step[]> {
  const file = readHttpFile(read('docs/trilho.http'), { TRILHO_KEY: key })
  const steps: Step[] = []
  for (const request of file.requests) {
    const sent = file.fill(request, service.url)
    const operation = operationOf(sent)
    const { status, json } = await send(sent)
    file.responses.set(request.name, json)
    steps.push({ name: request.name, expected: successOf(operation), status, operation: operation['x-name'] })
  }
  return steps
}

async function runPostman(): Promise<Step[]> {
  const collection = JSON.parse(read('docs/trilho.postman_collection.json'))
  const variables = new Map<string, string>(collection.variable.map((one: any) => [one.key, one.value]))
  variables.set('url', service.url).set('key', key)
  const filled = (text: string) => text.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => variables.get(name)!)
  const steps: Step[] = []
  for (const { name, request, event } of collection.item.flatMap((folder: any) => folder.item)) {
    const sent: Sent = {
      method: request.method,
      url: filled(request.url.raw),
      headers: {
        authorization: `Bearer ${filled(collection.auth.bearer[0].value)}`,
        ...Object.fromEntries(request.header.map((one: any) => [one.key, one.value])),
      },
      body: request.body && filled(request.body.raw),
    }
    const { status, json } = await send(sent)
    let expected = 0
    const pm = {
      test: (_: string, check: () => void) => check(),
      response: {
        code: status,
        json: () => json,
        to: { have: { status: (wanted: number) => (expected = wanted) } },
      },
      collectionVariables: { set: (variable: string, value: string) => variables.set(variable, value) },
    }
    runInNewContext(event[0].script.exec.join('\n'), { pm })
    steps.push({ name, expected, status, operation: operationOf(sent)['x-name'] })
  }
  return steps
}

describe.each([
  ['the .http file', runHttpFile],
  ['the Postman collection', runPostman],
])('%s, sent from the top', (_, run) => {
  beforeAll(async () => {
    ;({ key } = await service.partner())
  })

  const unexpected = (steps: readonly Step[]) => steps.filter((step) => step.status !== step.expected)

  test('calls every operation, and each succeeds', async () => {
    const steps = await run()
    expect(unexpected(steps)).toEqual([])
    expect(new Set(steps.map(({ operation }) => operation))).toEqual(
      new Set(operations.map((operation) => operation['x-name'])),
    )
  })

  test('sent again, only the customer exists already', async () => {
    expect(unexpected(await run()).map(({ operation, status }) => ({ operation, status }))).toEqual([
      { operation: 'customers.create', status: 409 },
    ])
  })
})

describe('the Postman collection', () => {
  const collection = JSON.parse(read('docs/trilho.postman_collection.json'))

  test('has the form 2.1', () => {
    const fits = new Ajv({ allErrors: true }).compile(postmanSchema)
    expect(fits(collection) || fits.errors).toBe(true)
  })

  test('has addresses whose parts agree', () => {
    for (const { request } of collection.item.flatMap((folder: any) => folder.item)) {
      const { raw, host, path, query } = request.url
      const asked = query.map((one: any) => `${one.key}=${one.value}`).join('&')
      expect(raw).toBe(`${host[0]}/${path.join('/')}${asked ? `?${asked}` : ''}`)
    }
  })
})
