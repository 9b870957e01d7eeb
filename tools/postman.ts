import type { Collection, Request } from './collection.ts'
import { target } from './http-file.ts'
import { variables } from './walk.ts'

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** A Postman collection (format 2.1). Each request checks its status and stores the id that later requests use. */
export function buildPostman(collection: Collection, info: { title: string; version: string; url: string }) {
  return {
    info: {
      name: info.title,
      description:
        'Every operation of the API, to be sent from the top. Set the variable `key` to a sandbox key: svc_test_sk_…\n\n' +
        'The same again makes no second payout or transfer. To make new ones, change `run`; for another customer, `document` too.',
      version: info.version,
      schema: SCHEMA,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{key}}', type: 'string' }] },
    variable: Object.entries({ url: info.url, key: '', ...variables }).map(([key, value]) => ({
      key,
      value,
    })),
    item: collection.map(({ title, requests }) => ({ name: title, item: requests.map(itemOf) })),
  }
}

function itemOf(request: Request) {
  const { title, description, method, path, query, body } = request
  return {
    name: title,
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: scriptOf(request) } }],
    request: {
      method,
      description,
      header: body ? [{ key: 'Content-Type', value: 'application/json' }] : [],
      url: {
        raw: `{{url}}${target(request)}`,
        host: ['{{url}}'],
        path: path.slice(1).split('/'),
        query: Object.entries(query).map(([key, value]) => ({ key, value })),
      },
      ...(body
        ? {
            body: {
              mode: 'raw',
              raw: JSON.stringify(body, null, 2),
              options: { raw: { language: 'json' } },
            },
          }
        : {}),
    },
    response: [],
  }
}

function scriptOf({ status, gives }: Request): string[] {
  const checks = `pm.test('${status}', () => pm.response.to.have.status(${status}))`
  if (!gives) return [checks]
  const keeps = `pm.collectionVariables.set('${gives.variable}', pm.response.json().${gives.field})`
  return [checks, `if (pm.response.code === ${status}) ${keeps}`]
}
