import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { idPrefixes, newId } from '../../../src/core/ids.ts'
import { blockCustomer } from '../../../src/customers/customers.ts'
import { revokeKey } from '../../../src/keys/keys.ts'
import { setMoneyLimits } from '../../../src/money-limits/money-limits.ts'
import { someCpf, type TestService } from '../service.ts'
import type { CallerName } from './requests.ts'

/** What exists while the fuzzer runs: keys of all sorts, objects of three owners, and a place that takes webhooks. */
export type Stock = Awaited<ReturnType<typeof openStock>>

type Owner = 'own' | 'live' | 'other'
const ownerOf = (caller: CallerName): Owner => (caller === 'live' || caller === 'other' ? caller : 'own')

const KEPT = 40
/** Something can still be done with these. */
const underWay = ['pending', 'processing']
const ends = ['completed', 'confirmed', 'failed', 'expired', 'executed']
const READY = ' ready'
const kinds = Object.fromEntries(Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind]))

export async function openStock(service: TestService) {
  const receiver = createServer((request, response) => {
    request.resume()
    response.statusCode = request.url === '/gone' ? 410 : 200
    request.once('end', () => response.end('ok'))
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo

  const full = await service.partner()
  const { partner_id } = full
  const key = async (options: Parameters<TestService['partner']>[0] = {}) =>
    (await service.partner({ partner_id, ...options })).key
  const other = await service.partner()
  const revoked = await service.partner({ partner_id })
  await revokeKey(service.worlds.sandbox, revoked.key_id)
  const keys: Record<CallerName, string | undefined> = {
    full: full.key,
    few: await key({ scopes: ['customers', 'quotes'] }),
    live: await key({ environment: 'production' }),
    other: other.key,
    // With the limits of its tier: it runs into all of them.
    limited: (await service.partner({ limited: true })).key,
    revoked: revoked.key,
    expired: await key({ expires_at: new Date(Date.now() - 1000) }),
    elsewhere: await key({ ip_allowlist: ['203.0.113.7'] }),
    wrong: `svc_test_sk_${'x'.repeat(40)}`,
    none: undefined,
  }

  const ids = new Map<string, string[]>()
  const cursors = new Map<string, string[]>()
  const documents = new Map<string, string>()
  const keep = (map: Map<string, string[]>, name: string, value: string) => {
    const list = map.get(name) ?? []
    if (!list.includes(value)) map.set(name, [value, ...list].slice(0, KEPT))
  }

  /** With these nothing more can be done. */
  function retire(gone: readonly string[]): void {
    for (const [name, list] of ids)
      if (name.endsWith(READY))
        ids.set(
          name,
          list.filter((id) => !gone.includes(id)),
        )
  }

  /** Remembers what an answer shows. */
  function learn(caller: CallerName, operation: string, json: any): void {
    if (typeof json !== 'object' || json === null) return
    if (typeof json.next_cursor === 'string') keep(cursors, operation, json.next_cursor)
    for (const object of Array.isArray(json.data) ? json.data : [json]) {
      for (const id of [object?.id, object?.event_id, object?.trade_id]) {
        const kind = kinds[String(id).split('_')[0]!]
        if (kind) keep(ids, `${ownerOf(caller)} ${kind}`, id)
        if (kind && underWay.includes(object.status)) keep(ids, `${ownerOf(caller)} ${kind}${READY}`, id)
        if (kind && ends.includes(object.status)) retire([id])
      }
    }
  }

  const others: Readonly<Record<string, Record<Owner, Owner>>> = {
    own: { own: 'own', live: 'live', other: 'other' },
    foreign: { own: 'other', live: 'other', other: 'own' },
    elsewhere: { own: 'live', live: 'own', other: 'live' },
  }

  function idOf(caller: CallerName, kind: string, whose: string, which: number): string {
    const owner = others[whose]?.[ownerOf(caller)]
    const open = which % 3 > 0 ? ids.get(`${owner} ${kind}${READY}`) : undefined
    const list = owner === undefined ? [] : open?.length ? open : (ids.get(`${owner} ${kind}`) ?? [])
    // The newest are asked for most, because what is old has come to its end.
    const index =
      which % 2 === 0 ? which % Math.max(1, Math.min(4, list.length)) : which % Math.max(1, list.length)
    return list[index] ?? newId(kind as never, Date.now())
  }

  /** Puts in what a placeholder stands for. */
  function fill(text: string, caller: CallerName, operation: string): string {
    return text.replaceAll(/«([^»]*)»/g, (_, inner: string) => {
      const [what, ...parts] = inner.split(':')
      switch (what) {
        case 'id':
          return idOf(caller, parts[0]!, parts[1]!, Number(parts[2]))
        case 'cursor': {
          const list = cursors.get(operation) ?? []
          return list[Number(parts[0]) % Math.max(1, list.length)] ?? 'start'
        }
        case 'document':
          return documents.get(idOf(caller, 'customer', 'own', Number(parts[0]))) ?? someCpf()
        case 'url':
          return `${caller === 'live' ? 'https' : 'http'}://127.0.0.1:${port}/${parts[0]}`
        default:
          return inner
      }
    })
  }

  /** Customers of each owner, with money where there can be any; one is blocked and one may send little. */
  async function furnish(): Promise<void> {
    const live = (await service.partner({ partner_id, environment: 'production' })).api
    for (const [caller, api] of [
      ['full', full.api],
      ['other', other.api],
      ['live', live],
    ] as const) {
      for (let i = 0; i < 5; i++) {
        const document = someCpf()
        const made = (await api.post('/v1/customers', { name: `Fuzz ${i}`, document })).json
        documents.set(made.id, document)
        learn(caller, 'customers.create', made)
        keep(ids, `${ownerOf(caller)} customer${READY}`, made.id)
        if (caller === 'live') continue
        for (const [asset, amount] of [
          ['BRL', '90000000000'],
          ['USDT', '900000000000'],
          ['BTC', '9000000000'],
        ] as const)
          await api.post('/v1/sandbox/deposits', { customer_id: made.id, asset, amount })
        const { sandbox } = service.worlds
        if (caller === 'full' && i === 0) await blockCustomer(sandbox, made.id, 'blocked')
        if (caller === 'full' && i === 1)
          await setMoneyLimits(sandbox, made.id, { payout_order: 1000n, transfer_day_usdt: 1000n } as never)
      }
      for (let i = 0; i < 3; i++)
        learn(
          caller,
          'webhook_endpoints.create',
          (
            await api.post('/v1/webhook_endpoints', {
              url: `${caller === 'live' ? 'https' : 'http'}://127.0.0.1:${port}/${i}`,
              events: ['*'],
            })
          ).json,
        )
    }
  }

  /**
   * What chance seldom leaves: a key that may redeliver still; a payout that can be ended, for nearly all that are ordered
   * come to their end at once; and a quote that can be executed, for prices may have been set to be old.
   */
  async function refresh(): Promise<void> {
    keys.full = await key()
    const [customer_id] = ids.get(`own customer${READY}`)!
    const make = async (operation: string, path: string, body: Record<string, unknown>) =>
      learn('full', operation, (await full.api.post(path, body)).json)
    await make('pix.payouts.create', '/v1/pix/payouts', {
      customer_id,
      amount: '100',
      counterparty: { type: 'pix_key', pix_key: 'slow@sandbox.test' },
      idempotency_key: newId('request', Date.now()),
    })
    await full.api.post('/v1/sandbox/prices', { pair: 'USDT/BRL', price: '5.40' })
    const order = { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '100000' }
    await make('quotes.create', '/v1/quotes', order)
  }

  await furnish()
  return {
    refresh,
    keys,
    fill,
    learn,
    retire,
    async stop() {
      receiver.closeAllConnections()
      await new Promise((resolve) => receiver.close(resolve))
    },
  }
}
