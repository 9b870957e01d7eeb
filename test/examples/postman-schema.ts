/** What our collection uses of Postman's format 2.1, and nothing beside it. */
const text = { type: 'string', minLength: 1 } as const
const listOf = (items: object) => ({ type: 'array', items }) as const
const closed = (properties: Record<string, object>, optional: readonly string[] = []) => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})

const pair = closed({ key: text, value: { type: 'string' } })

const request = closed(
  {
    method: { enum: ['GET', 'POST', 'PATCH', 'DELETE'] },
    description: text,
    header: listOf(pair),
    url: closed({ raw: text, host: listOf(text), path: listOf(text), query: listOf(pair) }),
    body: closed({
      mode: { const: 'raw' },
      raw: text,
      options: closed({ raw: closed({ language: { const: 'json' } }) }),
    }),
  },
  ['body'],
)

const event = closed({
  listen: { enum: ['test', 'prerequest'] },
  script: closed({ type: { const: 'text/javascript' }, exec: listOf(text) }),
})

const item = closed({ name: text, event: listOf(event), request, response: { type: 'array', maxItems: 0 } })

export const postmanSchema = closed({
  info: closed({
    name: text,
    description: text,
    version: text,
    schema: { const: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
  }),
  auth: closed({
    type: { const: 'bearer' },
    bearer: listOf(closed({ key: text, value: text, type: { const: 'string' } })),
  }),
  variable: listOf(pair),
  item: { type: 'array', minItems: 1, items: closed({ name: text, item: listOf(item) }) },
})
