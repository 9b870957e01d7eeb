import { readFileSync } from 'node:fs'
import type { Stage } from './stage.ts'

/** The lists that grow with history. */
const LISTS = [
  '/v1/pix/payouts',
  '/v1/onchain/transfers',
  '/v1/events',
  '/v1/deposits',
  '/v1/quotes',
  '/v1/trades',
  '/v1/customers/{customer_id}/statement',
]
/** A small page size, so that a small history fills a page too. */
const LIMIT = 5

type Page = { readonly name: string; pathOf(samples: Samples): string }

/** The filter values for one history. */
type Samples = Readonly<Record<string, string>>

type Param = { readonly name: string; readonly in: string; readonly schema: { readonly enum?: string[] } }

/**
 * Every list with each filter in openapi.json and each value of enumerated filters; some filters combined; and a page far back.
 */
export function pages(): Page[] {
  const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8'))
  return LISTS.flatMap((list) => {
    const params: Param[] = paths[list].get.parameters.filter((param: Param) => param.in === 'query')
    const filters = params.filter(({ name }) => !['limit', 'cursor', 'wait'].includes(name))
    const each = filters.flatMap(({ name, schema }) =>
      (schema.enum ?? [undefined]).map((value) => [[name, value] as const]),
    )
    const valuesOf = (name: string) => params.find((param) => param.name === name)?.schema.enum ?? []
    const together = valuesOf('status')
      .filter(() => params.some(({ name }) => name === 'customer_id'))
      .map((status) => [['customer_id', undefined] as const, ['status', status] as const])
    const back = [['created_before', undefined] as const]
    const far = [...valuesOf('status'), ...valuesOf('type')].map((value) => [
      ...back,
      [valuesOf('type').includes(value) ? 'type' : 'status', value] as const,
    ])
    return [[], ...each, ...together, ...far].map((given) => pageOf(list, given))
  })
}

function pageOf(list: string, given: readonly (readonly [name: string, value: string | undefined])[]): Page {
  const said = given.map(([name, value]) => (value === undefined ? name : `${name}=${value}`))
  return {
    name: [list, ...said].join(' '),
    pathOf: (samples) => {
      const query = given.map(
        ([name, value]) =>
          `&${name}=${encodeURIComponent(value ?? samples[`${list} ${name}`] ?? samples[name]!)}`,
      )
      return `${list.replace('{customer_id}', samples.customer_id!)}?limit=${LIMIT}${query.join('')}`
    },
  }
}

/** The reading customer, and a time in the middle of the history. */
export type ReaderOf = { readonly call: Stage['call']; readonly customer_id: string; readonly middle: Date }

export async function samplesOf({ call, customer_id, middle }: ReaderOf): Promise<Samples> {
  const time = middle.toISOString()
  const one = async (path: string, filter = '') =>
    (await call('GET', `${path}?limit=1&created_before=${time}${filter}`)).data[0]
  const payout = await one('/v1/pix/payouts', '&status=completed')
  const [transfer, trade, event] = [
    await one('/v1/onchain/transfers'),
    await one('/v1/trades'),
    await one('/v1/events'),
  ]
  return {
    customer_id,
    created_after: time,
    created_before: time,
    idempotency_key: payout.idempotency_key,
    '/v1/onchain/transfers idempotency_key': transfer.idempotency_key,
    end_to_end_id: payout.end_to_end_id,
    tx_hash: transfer.tx_hash,
    quote_id: trade.quote_id,
    object_id: payout.id,
    after: event.id,
  }
}
