import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Api, openApi } from '../../../test/support/api.ts'
import { startNode } from '../../../test/support/node.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { feeOf } from './fees.ts'
import { stepTransfer } from './settle.ts'
import { networkCharges, transferById } from './store.ts'
import { attemptsOf } from './transactions.ts'

let service: TestService
let api: Api

beforeAll(async () => {
  service = await startTestService({ SANDBOX_BROADCAST_MS: '200', SANDBOX_CONFIRM_MS: '600' })
  ;({ api } = await service.partner())
})
afterEach(async () => {
  expect((await service.audit()).sandbox.findings).toEqual([])
})
afterAll(() => service.stop())

const addresses = {
  polygon: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  arbitrum: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  optimism: '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed',
  ethereum: '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  tron: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  bitcoin: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
} as const

async function customer(): Promise<string> {
  const { id } = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json
  await api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'USDT', amount: '1000000000' })
  await api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BTC', amount: '100000000' })
  return id
}

let keys = 0
const order = (
  customer_id: string,
  network: keyof typeof addresses = 'polygon',
  more: Record<string, unknown> = {},
) => ({
  customer_id,
  asset: network === 'bitcoin' ? 'BTC' : 'USDT',
  network,
  amount: '25000000',
  destination_address: addresses[network],
  idempotency_key: `key-${++keys}`,
  ...more,
})

async function until(id: string, ...statuses: string[]): Promise<any> {
  for (let i = 0; i < 600; i++) {
    const { json } = await api.get(`/v1/onchain/transfers/${id}`)
    if (statuses.includes(json.status)) return json
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`transfer ${id} never became ${statuses}`)
}

async function balance(id: string, asset: 'USDT' | 'BTC') {
  const { available, in_transit } = (await api.get(`/v1/customers/${id}/balances`)).json.data.find(
    (b: any) => b.asset === asset,
  )
  return { available, in_transit }
}

describe('fees (interface §4.2)', () => {
  const inputs = (gwei: bigint, eth: bigint, sat: bigint) => ({
    gas_price_wei: gwei * 10n ** 9n,
    eth_price: eth * 10n ** 6n,
    sat_per_vbyte: sat,
  })

  test.each([
    ['polygon', inputs(15n, 3000n, 10n), 1_000_000n],
    ['arbitrum', inputs(15n, 3000n, 10n), 1_000_000n],
    ['optimism', inputs(15n, 3000n, 10n), 1_000_000n],
    ['tron', inputs(15n, 3000n, 10n), 1_000_000n],
    ['ethereum', inputs(1n, 3000n, 10n), 3_000_000n],
    ['ethereum', inputs(15n, 3000n, 10n), 3_510_000n],
    ['ethereum', inputs(60n, 3000n, 10n), 14_040_000n],
    ['ethereum', inputs(100n, 4000n, 10n), 25_000_000n],
    ['ethereum', inputs(13n, 3001n, 10n), 3_050_000n],
    ['bitcoin', inputs(15n, 3000n, 1n), 1000n],
    ['bitcoin', inputs(15n, 3000n, 10n), 2508n],
    ['bitcoin', inputs(15n, 3000n, 11n), 2759n],
    ['bitcoin', inputs(15n, 3000n, 500n), 50_000n],
  ] as const)('%s %o costs %s', (network, given, fee) => {
    expect(feeOf(network, given)).toBe(fee)
  })

  test('GET /v1/onchain/fees returns the fees of all networks', async () => {
    const { data } = (await api.get('/v1/onchain/fees')).json
    expect(Object.fromEntries(data.map((row: any) => [row.network, row.fee]))).toEqual({
      polygon: '1000000',
      arbitrum: '1000000',
      optimism: '1000000',
      tron: '1000000',
      ethereum: '3510000',
      bitcoin: '2508',
    })
  })
})

/** The network's charge as it is booked. */
const charges = async (id: string) => {
  const { rows } = await service.worlds.sandbox.db.query(
    `SELECT account, asset, amount FROM entries WHERE cause_id = $1 AND movement = 'charged' ORDER BY line`,
    [id],
  )
  return rows
}
const minersFee = [
  { account: 'network_fees', asset: 'BTC', amount: -2090n },
  { account: 'external:bitcoin', asset: 'BTC', amount: 2090n },
]

describe('a transfer', () => {
  test.each(Object.keys(addresses) as (keyof typeof addresses)[])(
    'on %s: pending, processing, confirmed, with every field of interface §2.3',
    async (network) => {
      const id = await customer()
      const asset = network === 'bitcoin' ? 'BTC' : 'USDT'
      const before = BigInt((await balance(id, asset)).available)
      const sent = await api.post('/v1/onchain/transfers', order(id, network))
      expect(sent.status).toBe(201)
      expect(sent.json).toMatchObject({
        customer_id: id,
        direction: 'outbound',
        asset,
        network,
        amount_net: '25000000',
        status: 'pending',
        tx_hash: null,
        failure: null,
        destination_address: addresses[network],
      })
      expect(BigInt(sent.json.amount_gross)).toBe(25_000_000n + BigInt(sent.json.fee))
      expect(sent.json.decimals).toBe(asset === 'BTC' ? 8 : 6)
      const left = (before - BigInt(sent.json.amount_gross)).toString()
      expect((await balance(id, asset)).available).toBe(left)
      const processing = await until(sent.json.id, 'processing', 'confirmed')
      expect(processing.tx_hash).toMatch(
        network === 'bitcoin' || network === 'tron' ? /^[0-9a-f]{64}$/ : /^0x[0-9a-f]{64}$/,
      )
      const confirmed = await until(sent.json.id, 'confirmed')
      expect(confirmed.tx_hash).toBe(processing.tx_hash)
      expect(await balance(id, asset)).toEqual({ available: left, in_transit: '0' })
      const { rows } = await service.worlds.sandbox.db.query(
        'SELECT type, data FROM events WHERE object_id = $1 ORDER BY sequence',
        [sent.json.id],
      )
      expect(rows.map(({ type }) => type)).toEqual([
        'onchain.transfer.created',
        'onchain.transfer.processing',
        'onchain.transfer.confirmed',
      ])
      expect(rows[2].data).toEqual(confirmed)
      expect(await charges(sent.json.id)).toEqual(network === 'bitcoin' ? minersFee : [])
    },
  )

  test('the charge of the network is booked once, also when it is zero, and also when the chain reports it late', async () => {
    const id = await customer()
    const send = async (amount: string) =>
      (await api.post('/v1/onchain/transfers', order(id, 'bitcoin', { amount }))).json.id
    const shown = async () => {
      const all = await networkCharges(service.worlds.sandbox.db)
      return all.find(({ network }) => network === 'bitcoin') ?? { transfers: 0, fees: 0n, charged: 0n }
    }
    const before = await shown()
    const [reverted, forced] = [await send('1009002'), await send('1009003')]
    expect((await until(reverted, 'failed')).failure.code).toBe('reverted')
    expect(await charges(reverted)).toEqual(minersFee)
    // The customer of the failed transfer paid no fee.
    expect(await shown()).toMatchObject({
      transfers: before.transfers + 1,
      fees: before.fees,
      charged: before.charged + 2090n,
    })
    await api.post(`/v1/sandbox/onchain/transfers/${forced}/confirm`)
    expect(await charges(forced)).toEqual([])
    expect((await service.audit()).sandbox.findings).toEqual([])
    const { sandbox } = service.worlds
    const told = (charged: bigint) => async () =>
      sandbox.commit(
        stepTransfer(
          sandbox,
          (await transferById(sandbox.db, forced))!,
          { kind: 'confirmed', charged },
          { by: 'rail' },
        ),
      )
    for (const tell of [told(2090n), told(2090n), told(9999n)]) {
      const { transfer, changed } = await tell()
      expect([transfer.status, transfer.sequence, changed]).toEqual(['confirmed', 3, false])
      expect(await charges(forced)).toEqual(minersFee)
    }
    expect(await balance(id, 'BTC')).toEqual({
      available: String(100_000_000 - 1_009_003 - 2508),
      in_transit: '0',
    })
  })

  test('9001 is refused before broadcast, 9002 is reverted: the gross amount is returned', async () => {
    const id = await customer()
    const refused = await api.post('/v1/onchain/transfers', order(id, 'polygon', { amount: '1009001' }))
    const reverted = await api.post('/v1/onchain/transfers', order(id, 'polygon', { amount: '1009002' }))
    expect(await until(refused.json.id, 'failed')).toMatchObject({
      tx_hash: null,
      failure: { code: 'refused_before_broadcast' },
    })
    const after = await until(reverted.json.id, 'failed')
    expect(after.failure.code).toBe('reverted')
    expect(after.tx_hash).not.toBeNull()
    expect(await balance(id, 'USDT')).toEqual({ available: '1000000000', in_transit: '0' })
  })

  test('9003 stays open until the sandbox ends it, 9004 survives a reorg', async () => {
    const id = await customer()
    const [stays, fails, reorg] = await Promise.all(
      ['1009003', '1009003', '1009004'].map(
        async (amount) => (await api.post('/v1/onchain/transfers', order(id, 'polygon', { amount }))).json,
      ),
    )
    expect((await until(reorg.id, 'confirmed', 'failed')).status).toBe('confirmed')
    await until(stays.id, 'processing')
    expect((await balance(id, 'USDT')).in_transit).toBe(String(2n * BigInt(stays.amount_gross)))
    expect((await end(stays.id, 'confirm')).json.status).toBe('confirmed')
    expect((await end(fails.id, 'fail')).json.status).toBe('failed')
  })

  const toldOf = async (id: string): Promise<{ type: string; tx_hash: string | null }[]> =>
    (await api.get(`/v1/events?object_id=${id}`)).json.data
      .map(({ type, data }: any) => ({ type, tx_hash: data.object.tx_hash }))
      .reverse()
  const transactionsOf = (id: string) => attemptsOf(service.worlds.sandbox.db, id)

  test('9005 is replaced by a transaction with the same nonce, which is confirmed', async () => {
    const id = await customer()
    const sent = (await api.post('/v1/onchain/transfers', order(id, 'polygon', { amount: '1009005' }))).json
    const confirmed = await until(sent.id, 'confirmed', 'failed')
    const [first, second, ...more] = await transactionsOf(sent.id)
    expect(more).toEqual([])
    expect([first!.purpose, second!.purpose]).toEqual(['pay', 'pay'])
    expect(BigInt(second!.terms.fee!)).toBeGreaterThan(BigInt(first!.terms.fee!))
    expect(confirmed).toMatchObject({ status: 'confirmed', tx_hash: second!.tx_hash })
    expect(await toldOf(sent.id)).toEqual([
      { type: 'onchain.transfer.created', tx_hash: null },
      { type: 'onchain.transfer.processing', tx_hash: first!.tx_hash },
      { type: 'onchain.transfer.processing', tx_hash: second!.tx_hash },
      { type: 'onchain.transfer.confirmed', tx_hash: second!.tx_hash },
    ])
    expect(await balance(id, 'USDT')).toEqual({
      available: String(1_000_000_000 - 1_009_005 - 1_000_000),
      in_transit: '0',
    })
  })

  test('9006 is canceled: the gross amount is returned once', async () => {
    const id = await customer()
    const sent = (await api.post('/v1/onchain/transfers', order(id, 'polygon', { amount: '1009006' }))).json
    const failed = await until(sent.id, 'confirmed', 'failed')
    expect(failed).toMatchObject({ status: 'failed', failure: { code: 'canceled', rail_code: 'canceled' } })
    const [pay, cancel] = await transactionsOf(sent.id)
    expect([pay!.purpose, cancel!.purpose]).toEqual(['pay', 'cancel'])
    expect(failed.tx_hash).toBe(pay!.tx_hash)
    expect((await toldOf(sent.id)).map(({ type }) => type)).toEqual(
      ['created', 'processing', 'failed'].map((state) => `onchain.transfer.${state}`),
    )
    expect(await balance(id, 'USDT')).toEqual({ available: '1000000000', in_transit: '0' })
    expect((await service.audit()).sandbox.findings).toEqual([])
  })

  const end = (id: string, word: 'confirm' | 'fail') =>
    api.post(`/v1/sandbox/onchain/transfers/${id}/${word}`)

  test('a repeated outcome changes nothing, a different one is already_final', async () => {
    const id = await customer()
    for (const [word, other, status] of [
      ['confirm', 'fail', 'confirmed'],
      ['fail', 'confirm', 'failed'],
    ] as const) {
      const made = (await api.post('/v1/onchain/transfers', order(id, 'polygon', { amount: '1009003' }))).json
      const first = await end(made.id, word)
      const again = await end(made.id, word)
      expect([first.status, again.status]).toEqual([200, 200])
      expect(again.json).toEqual(first.json)
      const refused = await end(made.id, other)
      expect([refused.status, refused.json.error.code]).toEqual([409, 'already_final'])
      expect(refused.json.error.message).toContain(status)
    }
  })

  test.each(Object.keys(addresses) as (keyof typeof addresses)[])(
    'forced on %s it has a hash of its network, and fails as its state allows',
    async (network) => {
      const id = await customer()
      const send = async () =>
        (await api.post('/v1/onchain/transfers', order(id, network, { amount: '1009003' }))).json.id
      const confirmed = (await end(await send(), 'confirm')).json
      expect(confirmed.tx_hash).toMatch(
        network === 'bitcoin' || network === 'tron' ? /^[0-9a-f]{64}$/ : /^0x[0-9a-f]{64}$/,
      )
      const out = await send()
      const { asset, tx_hash, amount_gross } = await until(out, 'processing')
      expect((await balance(id, asset)).in_transit).toBe(amount_gross)
      expect((await end(out, 'fail')).json).toMatchObject({ tx_hash, failure: { code: 'reverted' } })
      // Called at once, when the transfer may not be signed yet.
      const { json } = await end(await send(), 'fail')
      expect(json.failure.code).toBe(json.tx_hash === null ? 'refused_before_broadcast' : 'reverted')
    },
  )

  test('each kind of bad input has its own error, and nothing moves', async () => {
    const id = await customer()
    const cases: [Record<string, unknown>, string][] = [
      [order(id, 'polygon', { asset: 'BTC' }), 'unsupported_network'],
      [order(id, 'bitcoin', { asset: 'USDT' }), 'unsupported_network'],
      [order(id, 'polygon', { network: 'solana' }), 'unsupported_network'],
      [order(id, 'polygon', { network: 'constructor' }), 'unsupported_network'],
      [order(id, 'polygon', { asset: 'BRL' }), 'invalid_request'],
      [order(id, 'polygon', { destination_address: '' }), 'invalid_address'],
      [order(id, 'polygon', { destination_address: addresses.tron }), 'invalid_address'],
      [
        order(id, 'polygon', { destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD' }),
        'invalid_address',
      ],
      [order(id, 'polygon', { destination_address: 5 }), 'invalid_address'],
      [order(id, 'polygon', { amount: '1.5' }), 'invalid_amount'],
      [order(id, 'polygon', { amount: '999999999999999999' }), 'amount_too_large'],
      [order(id, 'polygon', { amount: '1000000000' }), 'insufficient_balance'],
      [order('cus_01kc3v4x9zq8rj5m2t7w6y0ahb'), 'customer_not_found'],
    ]
    for (const [body, code] of cases) {
      expect((await api.post('/v1/onchain/transfers', body)).json.error?.code, JSON.stringify(body)).toBe(
        code,
      )
    }
    expect(await balance(id, 'USDT')).toEqual({ available: '1000000000', in_transit: '0' })
  })

  test('the whole balance can leave: amount + fee, and not a unit more', async () => {
    const id = await customer()
    expect(
      (await api.post('/v1/onchain/transfers', order(id, 'polygon', { amount: '999000001' }))).json.error
        .code,
    ).toBe('insufficient_balance')
    expect(
      (await api.post('/v1/onchain/transfers', order(id, 'polygon', { amount: '999000000' }))).status,
    ).toBe(201)
    expect((await balance(id, 'USDT')).available).toBe('0')
    const { error } = (await api.post('/v1/onchain/transfers', order(id))).json
    expect(error.details).toEqual({ asset: 'USDT', needed: '26000000', available: '0' })
  })

  test('equal requests make one transfer and get one body; another body is a conflict', async () => {
    const id = await customer()
    const body = order(id)
    const sent = await Promise.all(Array.from({ length: 50 }, () => api.post('/v1/onchain/transfers', body)))
    expect(new Set(sent.map(({ text }) => text)).size).toBe(1)
    expect(sent.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
    expect((await balance(id, 'USDT')).available).toBe('974000000')
    expect((await api.post('/v1/onchain/transfers', { ...body, amount: '1' })).json.error.code).toBe(
      'idempotency_conflict',
    )
    await until(sent[0]!.json.id, 'confirmed')
    expect((await api.post('/v1/onchain/transfers', body)).text).toBe(sent[0]!.text)
  })

  test('a dry run shows fee and balance, and moves nothing', async () => {
    const id = await customer()
    const dry = await api.post('/v1/onchain/transfers?dry_run=true', order(id, 'ethereum'))
    expect(dry.json).toEqual({
      dry_run: true,
      asset: 'USDT',
      decimals: 6,
      fee: '3510000',
      balance_after: '971490000',
      would_replay: false,
    })
    expect(await balance(id, 'USDT')).toEqual({ available: '1000000000', in_transit: '0' })
  })

  test('if the operator requires a checksum, an address in lower case is refused', async () => {
    const strict = await startNode(service.database.url, { REQUIRE_ADDRESS_CHECKSUM: 'true' })
    const own = await service.partner()
    const there = openApi(strict.url, own.key)
    const dry = async (
      via: Api,
      network: keyof typeof addresses,
      destination_address = addresses[network],
    ) => {
      const body = order('cus_01kc3v4x9zq8rj5m2t7w6y0ahb', network, { destination_address })
      return (await via.post('/v1/onchain/transfers?dry_run=true', body)).json.error
    }
    // The address is checked before the customer is looked up.
    expect((await dry(own.api, 'optimism')).code).toBe('customer_not_found')
    expect(await dry(there, 'optimism')).toMatchObject({
      code: 'invalid_address',
      param: 'destination_address',
    })
    expect((await dry(there, 'optimism')).message).toMatch(/mixed-case form/)
    for (const network of ['polygon', 'ethereum', 'tron', 'bitcoin'] as const)
      expect((await dry(there, network)).code).toBe('customer_not_found')
    await strict.stop()
  })

  test('lists filter and page', async () => {
    const id = await customer()
    for (const network of ['polygon', 'bitcoin', 'tron'] as const)
      await api.post('/v1/onchain/transfers', order(id, network))
    expect(
      (await api.get(`/v1/onchain/transfers?customer_id=${id}`)).json.data.map((t: any) => t.network),
    ).toEqual(['tron', 'bitcoin', 'polygon'])
    expect((await api.get(`/v1/onchain/transfers?customer_id=${id}&asset=BTC`)).json.data).toHaveLength(1)
    expect((await api.get(`/v1/onchain/transfers?customer_id=${id}&network=tron`)).json.data).toHaveLength(1)
    expect((await api.get('/v1/onchain/transfers/tr_01kc3v4x9zq8rj5m2t7w6y0ahb')).json.error.code).toBe(
      'transfer_not_found',
    )
  })

  test('in production, without configured chains, nothing is debited', async () => {
    const live = await service.partner({ environment: 'production' })
    const { id } = (await live.api.post('/v1/customers', { name: 'A', document: someCpf() })).json
    expect((await live.api.post('/v1/onchain/transfers', order(id))).json.error.code).toBe('rail_unavailable')
    expect((await live.api.get('/v1/onchain/fees')).json).toEqual({ data: [] })
  })
})
