import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Api, openApi } from '../../../test/support/api.ts'
import { asAdmin, createDatabase } from '../../../test/support/database.ts'
import { startNode } from '../../../test/support/node.ts'
import {
  openDirectAccess,
  someCpf,
  startTestService,
  type TestService,
} from '../../../test/support/service.ts'
import { eventually } from '../../../test/support/wait.ts'
import { type Network, networkNames, networks } from '../../core/networks.ts'
import { blockCustomer } from '../../parties/customers/customers.ts'
import { closeOpenException, openExceptions } from '../../records/exceptions/store.ts'
import { indexFor } from './addresses-store.ts'
import { noteSighting, noteVanished, type Sighting } from './sightings.ts'

let service: TestService
let api: Api
beforeAll(async () => {
  service = await startTestService({ SANDBOX_CONFIRM_MS: '300' })
  ;({ api } = await service.partner())
})
afterEach(async () => {
  expect((await service.audit()).sandbox.findings).toEqual([])
})
afterAll(() => service.stop())

async function customer(of: Api = api): Promise<string> {
  return (await of.post('/v1/customers', { name: 'Ana', document: someCpf() })).json.id
}

const addressOn = (customer_id: string, network: string, of: Api = api) =>
  of.post(`/v1/customers/${customer_id}/deposit_addresses`, { network })

async function available(customer_id: string, asset: string): Promise<string> {
  const { json } = await api.get(`/v1/customers/${customer_id}/balances`)
  return json.data.find((balance: any) => balance.asset === asset).available
}

async function eventsOf(id: string): Promise<[string, number][]> {
  const { json } = await api.get(`/v1/events?after=start&object_id=${id}`)
  return json.data.map((event: any) => [event.type, event.sequence])
}

const until = (id: string, status: string) =>
  eventually(async () => {
    const { json } = await api.get(`/v1/deposits/${id}`)
    expect(json.status).toBe(status)
    return json
  })

describe('addresses', () => {
  test.each(networkNames)('a customer has one address on %s, which every call returns', async (network) => {
    const customer_id = await customer()
    const first = await addressOn(customer_id, network)
    expect(first.status).toBe(201)
    expect(first.json).toMatchObject({
      customer_id,
      network,
      asset: networks[network].asset,
      minimum_amount: networks[network].deposit_least.toString(),
      confirmations_needed: networks[network].confirmations,
    })
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    const again = await addressOn(customer_id, network)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect(again.json).toEqual(first.json)
    const { json } = await api.get(`/v1/customers/${customer_id}/deposit_addresses`)
    expect(json).toEqual({ data: [first.json] })
  })

  test('many calls at once make one address, and no two customers share one', async () => {
    const customers = await Promise.all(Array.from({ length: 8 }, () => customer()))
    const made = await Promise.all(
      customers.flatMap((id) => Array.from({ length: 5 }, () => addressOn(id, 'polygon'))),
    )
    const addresses = made.map(({ json }) => `${json.customer_id} ${json.address}`)
    expect(new Set(addresses).size).toBe(8)
    expect(new Set(made.map(({ json }) => json.address)).size).toBe(8)
    expect(made.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(8)
  })

  test('the EVM networks of a customer share an address, and the others do not', async () => {
    const customer_id = await customer()
    const made = await Promise.all(networkNames.map((network) => addressOn(customer_id, network)))
    expect(new Set(made.map(({ json }) => json.address)).size).toBe(3)
  })

  test('two restores of one backup hand out different indexes', async () => {
    const [known, unknown] = [await customer(), await customer()]
    await addressOn(known, 'polygon')
    const owner = new pg.Client({ connectionString: service.database.url })
    await owner.connect()
    const indexAfterRestore = async () => {
      await owner.query(`BEGIN; SET LOCAL search_path = sandbox; SET LOCAL session_replication_role = replica;
        UPDATE deposit_addresses SET made_in = 'the backup'`)
      const index = await indexFor(owner, unknown)
      await owner.query('ROLLBACK')
      return index
    }
    // Two of them are the same once in a thousand times.
    const indexes = [await indexAfterRestore(), await indexAfterRestore(), await indexAfterRestore()]
    await owner.end()
    expect(new Set(indexes).size).toBeGreaterThan(1)
  })

  test('what cannot have an address is refused', async () => {
    const customer_id = await customer()
    expect((await addressOn(customer_id, 'solana')).json.error).toMatchObject({
      code: 'unsupported_network',
      param: 'network',
    })
    const { api: other } = await service.partner()
    expect((await addressOn(customer_id, 'polygon', other)).json.error.code).toBe('customer_not_found')
    const foreign = await other.get(`/v1/customers/${customer_id}/deposit_addresses`)
    expect(foreign.json.error.code).toBe('customer_not_found')
    const { json: kept } = await addressOn(customer_id, 'bitcoin')
    await blockCustomer(service.worlds.sandbox, customer_id, 'blocked')
    expect((await addressOn(customer_id, 'polygon')).json.error.code).toBe('customer_blocked')
    // One that was handed out may be paid any time, so it can still be read.
    expect((await addressOn(customer_id, 'bitcoin')).json).toEqual(kept)
  })

  test('an address that was changed in the database is never shown', async () => {
    const customer_id = await customer()
    const { json } = await addressOn(customer_id, 'tron')
    const set = (address: string) => [
      'SET session_replication_role = replica',
      `UPDATE sandbox.deposit_addresses SET address = '${address}' WHERE id = '${json.id}'`,
    ]
    await asAdmin(service.database.url, set('TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'))
    expect((await addressOn(customer_id, 'tron')).json.error.code).toBe('internal_error')
    await asAdmin(service.database.url, set(json.address))
  })

  test('production gives no address, because nothing watches the chains', async () => {
    const { api: live } = await service.partner({ environment: 'production' })
    const { json } = await live.post('/v1/customers', { name: 'Ana', document: someCpf() })
    const refused = await addressOn(json.id, 'polygon', live)
    expect([refused.status, refused.json.error.code]).toEqual([503, 'rail_unavailable'])
    expect(refused.json.error.message).toContain('polygon')
    expect((await live.get(`/v1/customers/${json.id}/deposit_addresses`)).json).toEqual({ data: [] })
  })
})

const receive = (body: Record<string, unknown>) => api.post('/v1/sandbox/onchain/deposits', body)

describe('the sandbox', () => {
  test.each([
    ['polygon', 'USDT', '25000000', '25009003'],
    ['bitcoin', 'BTC', '150000', '159003'],
    ['tron', 'USDT', '1000000', '1009003'],
  ])('a deposit on %s is pending at once, and then credited', async (network, asset, amount, never_final) => {
    const customer_id = await customer()
    const { address } = (await addressOn(customer_id, network)).json
    expect((await receive({ address, amount: never_final })).json).toMatchObject({ status: 'pending' })
    expect(await available(customer_id, asset)).toBe('0')
    const made = await receive({ address, amount })
    expect(made.status).toBe(201)
    const { needed } = made.json.confirmations
    expect(made.json).toMatchObject({
      customer_id,
      asset,
      amount,
      network,
      address,
      status: 'pending',
      confirmations: { seen: 1 },
    })
    expect(made.json).not.toHaveProperty('completed_at')
    const done = await until(made.json.id, 'completed')
    expect(done.confirmations).toEqual({ seen: needed, needed })
    expect(await available(customer_id, asset)).toBe(amount)
    expect(await eventsOf(made.json.id)).toEqual([
      ['deposit.pending', 1],
      ['deposit.completed', 2],
    ])
    const { json: statement } = await api.get(`/v1/customers/${customer_id}/statement`)
    expect(statement.data).toMatchObject([{ amount, cause: { type: 'deposit', id: made.json.id } }])
  })

  test('9001 is dropped and moves nothing; 9003 stays pending; the list finds both by their status', async () => {
    const customer_id = await customer()
    const [dropped, pending] = await Promise.all(
      ['25009001', '25009003'].map((amount) => receive({ customer_id, network: 'polygon', amount })),
    )
    await until(dropped!.json.id, 'dropped')
    for (const [status, id] of [
      ['dropped', dropped!.json.id],
      ['pending', pending!.json.id],
    ]) {
      const { json } = await api.get(`/v1/deposits?customer_id=${customer_id}&status=${status}`)
      expect(json.data.map((each: any) => each.id)).toEqual([id])
      const all = await api.get(`/v1/deposits?status=${status}`)
      expect(all.json.data.map((each: any) => each.id)).toContain(id)
    }
    expect((await api.get(`/v1/deposits?customer_id=${customer_id}&status=completed`)).json.data).toEqual([])
    expect(await available(customer_id, 'USDT')).toBe('0')
    expect(await eventsOf(dropped!.json.id)).toEqual([
      ['deposit.pending', 1],
      ['deposit.dropped', 2],
    ])
  })

  test('9004 is dropped, comes back and is credited once', async () => {
    const customer_id = await customer()
    const { json } = await receive({ customer_id, network: 'ethereum', amount: '25009004' })
    await until(json.id, 'completed')
    expect(await available(customer_id, 'USDT')).toBe('25009004')
    expect((await eventsOf(json.id)).map(([type]) => type)).toEqual([
      'deposit.pending',
      'deposit.dropped',
      'deposit.pending',
      'deposit.completed',
    ])
  })

  test('9002 loses its block after the credit: an operator is told, and nothing is taken', async () => {
    const customer_id = await customer()
    const { json } = await receive({ customer_id, network: 'polygon', amount: '25009002' })
    await until(json.id, 'completed')
    const exception = await eventually(async () => {
      const found = (await openExceptions(service.worlds.sandbox.db, 100)).find(
        ({ object_id }) => object_id === json.id,
      )
      expect(found).toBeDefined()
      return found!
    })
    expect(exception).toMatchObject({ kind: 'contradiction', rail: 'polygon' })
    expect(await available(customer_id, 'USDT')).toBe('25009002')
    expect((await api.get(`/v1/deposits/${json.id}`)).json.status).toBe('completed')
  })

  test('a deposit for which the balance has no room waits quietly, and is looked at again', async () => {
    const customer_id = await customer()
    const full = { customer_id, asset: 'USDT', amount: '999999999999999999' }
    expect((await api.post('/v1/sandbox/deposits', full)).status).toBe(201)
    const { json } = await receive({ customer_id, network: 'polygon', amount: '25000000' })
    await eventually(async () => {
      const now = (await api.get(`/v1/deposits/${json.id}`)).json
      expect(now).toMatchObject({ status: 'pending', confirmations: { seen: 32, needed: 32 } })
    })
    const { rows } = await service.worlds.sandbox.db.query(
      'SELECT next_attempt_at > now() AS is_due_later FROM deposits WHERE id = $1',
      [json.id],
    )
    expect(rows).toEqual([{ is_due_later: true }])
  })

  test('a deposit below the minimum waits, and says so', async () => {
    const customer_id = await customer()
    const { json } = await receive({ customer_id, network: 'polygon', amount: '999999' })
    expect(json).toMatchObject({ status: 'pending', below_minimum: true })
    await eventually(async () => {
      const now = (await api.get(`/v1/deposits/${json.id}`)).json
      expect(now.confirmations.seen).toBe(now.confirmations.needed)
    })
    expect((await api.get(`/v1/deposits/${json.id}`)).json.status).toBe('pending')
    expect(await available(customer_id, 'USDT')).toBe('0')
  })

  test('an address that nobody has, or that several networks use, is refused with what to do', async () => {
    const unknown = await receive({
      address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      amount: '1000000',
    })
    expect(unknown.json.error).toMatchObject({ code: 'invalid_address', param: 'address' })
    const customer_id = await customer()
    const { address } = (await addressOn(customer_id, 'polygon')).json
    await addressOn(customer_id, 'ethereum')
    const several = await receive({ address, amount: '1000000' })
    expect(several.json.error).toMatchObject({ code: 'invalid_request', param: 'network' })
    // Without its checksum it is the same address.
    const one = await receive({ address: address.toLowerCase(), network: 'ethereum', amount: '10000000' })
    expect(one.json).toMatchObject({ address, network: 'ethereum' })
    await until(one.json.id, 'completed')
    for (const body of [{ amount: '1' }, { customer_id, amount: '1' }, { customer_id, address, amount: '1' }])
      expect((await receive(body)).json.error.code).toBe('invalid_request')
    const { api: other } = await service.partner()
    const foreign = await other.post('/v1/sandbox/onchain/deposits', { address, amount: '1000000' })
    expect(foreign.json.error.code).toBe('invalid_address')
  })

  test('what was pending when a node stopped is credited by the next one', async () => {
    const database = await createDatabase()
    const direct = openDirectAccess(database)
    const env = { SANDBOX_CONFIRM_MS: '100' }
    // A node of this role runs no workers.
    const first = await startNode(database.url, { ...env, ROLE: 'api' })
    const { api: here, key } = await direct.partner(first.url)
    const customer_id = await customer(here)
    const order = { customer_id, network: 'polygon', amount: '25000000' }
    const { json } = await here.post('/v1/sandbox/onchain/deposits', order)
    await first.stop()
    const second = await startNode(database.url, env)
    const there = openApi(second.url, key)
    await eventually(async () => {
      expect((await there.get(`/v1/deposits/${json.id}`)).json.status).toBe('completed')
    })
    await second.stop()
    await direct.stop()
  })
})

describe('sightings', () => {
  let outputs = 0
  async function sighted(network: Network, more: Partial<Sighting> = {}): Promise<[string, Sighting]> {
    const customer_id = await customer()
    const { address } = (await addressOn(customer_id, network)).json
    const tx_hash = `${network === 'bitcoin' ? '' : '0x'}${(++outputs).toString(16).padStart(64, '0')}`
    const block = { height: 100n, hash: `block ${outputs}` }
    return [
      customer_id,
      { network, tx_hash, output_index: 3, address, amount: 25_000_000n, block, depth: 1, ...more },
    ]
  }
  const world = () => service.worlds.sandbox

  test('one that is deep enough at first sight tells both states and is credited once', async () => {
    const [customer_id, seen] = await sighted('bitcoin', { depth: 9 })
    const noted = await Promise.all(Array.from({ length: 20 }, () => noteSighting(world(), seen)))
    expect(new Set(noted.map((each) => each?.id)).size).toBe(1)
    expect(await available(customer_id, 'BTC')).toBe('25000000')
    expect(await eventsOf(noted[0]!.id)).toEqual([
      ['deposit.pending', 1],
      ['deposit.completed', 2],
    ])
  })

  test('one that was only in the mempool becomes deeper, vanishes, and comes back in the same row', async () => {
    const [customer_id, seen] = await sighted('bitcoin')
    const { block: _, ...unmined } = seen
    const first = await noteSighting(world(), { ...unmined, depth: 0 })
    expect(first).toMatchObject({ status: 'pending', depth: 0, block_hash: null })
    expect(await noteSighting(world(), seen)).toMatchObject({ id: first!.id, status: 'pending', depth: 1 })
    expect(await noteVanished(world(), seen)).toMatchObject({ id: first!.id, status: 'dropped' })
    expect(await noteVanished(world(), seen)).toMatchObject({ status: 'dropped', sequence: 2 })
    const back = { ...seen, block: { height: 101n, hash: 'another' }, depth: 2 }
    expect(await noteSighting(world(), back)).toMatchObject({
      id: first!.id,
      status: 'completed',
      sequence: 4,
    })
    expect(await noteSighting(world(), back)).toMatchObject({ status: 'completed', sequence: 4 })
    expect(await available(customer_id, 'BTC')).toBe('25000000')
  })

  test('two outputs of one transaction are two deposits; an address of nobody is none', async () => {
    const [customer_id, seen] = await sighted('polygon', { depth: 32 })
    await noteSighting(world(), seen)
    await noteSighting(world(), { ...seen, output_index: 4, amount: 1_000_000n })
    expect(await available(customer_id, 'USDT')).toBe('26000000')
    const nobody = { ...seen, output_index: 5, address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }
    expect(await noteSighting(world(), nobody)).toBeUndefined()
    expect(await noteVanished(world(), { ...seen, output_index: 6 })).toBeUndefined()
  })

  test('money that arrives for a blocked customer is credited', async () => {
    const [customer_id, seen] = await sighted('polygon', { depth: 32 })
    await blockCustomer(world(), customer_id, 'blocked')
    expect(await noteSighting(world(), seen)).toMatchObject({ status: 'completed' })
    expect(await available(customer_id, 'USDT')).toBe('25000000')
  })

  test('one that does not fit into the balance waits, and is credited by a later sighting', async () => {
    const [customer_id, seen] = await sighted('polygon', { depth: 32, amount: 10n ** 18n - 1n })
    const before = await api.post('/v1/sandbox/deposits', { customer_id, asset: 'USDT', amount: '1500000' })
    expect(before.status).toBe(201)
    expect(await noteSighting(world(), seen)).toMatchObject({ status: 'pending', depth: 32 })
    expect(await available(customer_id, 'USDT')).toBe('1500000')
    await api.post('/v1/onchain/transfers', {
      customer_id,
      asset: 'USDT',
      network: 'polygon',
      amount: '500000',
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      idempotency_key: 'makes room',
    })
    await eventually(async () => {
      expect(await noteSighting(world(), seen)).toMatchObject({ status: 'completed' })
    })
  })

  test('another amount for a credited output is an exception, and books nothing', async () => {
    const [customer_id, seen] = await sighted('polygon', { depth: 32 })
    const { id } = (await noteSighting(world(), seen))!
    await noteSighting(world(), { ...seen, amount: 99_000_000n })
    const found = (await openExceptions(world().db, 100)).filter(({ object_id }) => object_id === id)
    expect(found).toMatchObject([{ kind: 'contradiction' }])
    expect(await available(customer_id, 'USDT')).toBe('25000000')
  })

  test('an output that pays another amount or address before it is credited is another deposit, credited once', async () => {
    const [customer_id, seen] = await sighted('polygon')
    const [other_id, { address }] = await sighted('polygon')
    const first = (await noteSighting(world(), seen))!
    const less = { ...seen, amount: 24_000_000n }
    const noted = await Promise.all(Array.from({ length: 8 }, () => noteSighting(world(), less)))
    const second = noted[0]!
    expect(new Set(noted.map((each) => each?.id))).toEqual(new Set([second.id]))
    expect(await eventsOf(first.id)).toEqual([
      ['deposit.pending', 1],
      ['deposit.dropped', 2],
    ])
    const elsewhere = (await noteSighting(world(), { ...seen, address }))!
    expect(elsewhere).toMatchObject({ customer_id: other_id, status: 'pending' })
    await noteSighting(world(), seen)
    // All at once, and deep: whichever is credited first stays the only one.
    const variants = [seen, less, { ...seen, address }].map((one) => ({ ...one, depth: 32 }))
    await Promise.all(
      Array.from({ length: 12 }, (_, n) => noteSighting(world(), variants[n % variants.length]!)),
    )
    const { rows } = await world().db.query(
      'SELECT amount, customer_id, status FROM deposits WHERE tx_hash = $1',
      [seen.tx_hash],
    )
    expect(rows).toHaveLength(3)
    const credited = rows.filter(({ status }) => status === 'completed')
    expect(credited).toHaveLength(1)
    expect(rows.filter(({ status }) => status === 'dropped')).toHaveLength(2)
    const balances = await Promise.all([customer_id, other_id].map((id) => available(id, 'USDT')))
    expect(balances.reduce((sum, one) => sum + BigInt(one ?? 0), 0n)).toBe(credited[0].amount)
  })

  test.each(['polygon', 'bitcoin', 'tron'] as const)(
    'the hash of a transaction on %s in another spelling is the same deposit',
    async (network) => {
      const hex = `abcdef${(++outputs).toString(16).padStart(58, '0')}`
      const [customer_id, seen] = await sighted(network, { tx_hash: hex, depth: 32 })
      const spellings = [hex, hex.toUpperCase(), `0x${hex}`, `0x${hex.toUpperCase()}`]
      const noted = await Promise.all(
        spellings.map((tx_hash) => noteSighting(world(), { ...seen, tx_hash, depth: 32 })),
      )
      expect(new Set(noted.map((each) => each?.id)).size).toBe(1)
      expect(await available(customer_id, networks[network].asset)).toBe('25000000')
      const unmined = { ...seen, tx_hash: `0x${hex.toUpperCase()}`, output_index: 9 }
      await noteSighting(world(), { ...unmined, depth: 1 })
      expect(await noteVanished(world(), { ...unmined, tx_hash: hex })).toMatchObject({ status: 'dropped' })
      await expect(noteSighting(world(), { ...seen, tx_hash: 'abcd' })).rejects.toThrow('no hash')
    },
  )

  test('a transfer of nothing, which anybody may send, is no deposit and no error', async () => {
    const [customer_id, seen] = await sighted('polygon', { amount: 0n, depth: 32 })
    expect(await noteSighting(world(), seen)).toBeUndefined()
    expect((await api.get(`/v1/deposits?customer_id=${customer_id}`)).json.data).toEqual([])
    await expect(noteSighting(world(), { ...seen, amount: 10n ** 18n, depth: 1 })).rejects.toThrow(
      'too large',
    )
  })

  test('a deposit that would lift the balance above the largest amount waits until there is room', async () => {
    const [customer_id, seen] = await sighted('polygon', { depth: 32 })
    const rich = { ...seen, output_index: 1, amount: 10n ** 18n - 1n }
    expect(await noteSighting(world(), rich)).toMatchObject({ status: 'completed' })
    const waiting = await noteSighting(world(), seen)
    expect(waiting).toMatchObject({ status: 'pending', depth: 32 })
    expect(await noteSighting(world(), seen)).toMatchObject({ id: waiting!.id, status: 'pending' })
    const out = await api.post('/v1/onchain/transfers', {
      customer_id,
      asset: 'USDT',
      network: 'polygon',
      amount: '100000000',
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      idempotency_key: `room ${customer_id}`,
    })
    expect(out.status).toBe(201)
    await eventually(async () => {
      expect(await noteSighting(world(), seen)).toMatchObject({ id: waiting!.id, status: 'completed' })
    })
  })

  test('an exception that operators closed is not opened again by the next look at the same block', async () => {
    const [, seen] = await sighted('polygon', { depth: 32 })
    const { id } = (await noteSighting(world(), seen))!
    const open = async () =>
      (await openExceptions(world().db, 100)).filter(({ object_id }) => object_id === id).length
    await noteVanished(world(), seen)
    expect(await open()).toBe(1)
    await closeOpenException(world().db, { kind: 'contradiction', object_id: id, reason: 'Looked into.' })
    await noteVanished(world(), seen)
    expect(await open()).toBe(0)
    await noteSighting(world(), { ...seen, amount: 99_000_000n })
    expect(await open(), 'another problem').toBe(1)
    await closeOpenException(world().db, { kind: 'contradiction', object_id: id, reason: 'Looked into.' })
    await noteSighting(world(), { ...seen, amount: 99_000_000n })
    expect(await open()).toBe(0)
  })

  test('the database refuses to change what was seen, and what was credited', async () => {
    const [, seen] = await sighted('polygon', { depth: 32 })
    const { id } = (await noteSighting(world(), seen))!
    for (const change of [`amount = 1`, `tx_hash = 'x'`, `status = 'pending'`, `sequence = 3`, `depth = 40`])
      await expect(world().db.query(`UPDATE deposits SET ${change} WHERE id = $1`, [id])).rejects.toThrow(id)
  })
})
