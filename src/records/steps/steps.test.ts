import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../../../test/support/api.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { silent } from '../../../test/support/rail-bench.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { stepsOfPayout } from '../../money/pix/exchanges.ts'
import { payoutById } from '../../money/pix/store.ts'
import { openStepRecorder } from './recorder.ts'
import { forgetSteps, insertExchanges, masked, stepsOf, waitingAmong } from './store.ts'

let service: TestService
let api: Api
let customer_id: string
beforeAll(async () => {
  service = await startTestService({ PIX_WAIT_MS: '500', RAIL_TIMEOUT_MS: '1000' })
  ;({ api } = await service.partner())
  customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json.id
  for (const [asset, amount] of Object.entries({ BRL: '1000000', USDT: '1000000000' }))
    await api.post('/v1/sandbox/deposits', { customer_id, asset, amount })
})
afterAll(() => service.stop())

const db = () => service.worlds.sandbox.db
const kindsOf = async (id: string) => (await stepsOf(db(), id)).map(({ kind, by }) => `${by} ${kind}`)

async function pay(pix_key: string): Promise<{ id: string; request_id: string }> {
  const reply = await api.post('/v1/pix/payouts', {
    customer_id,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key },
    idempotency_key: `${pix_key}-${Math.random()}`,
  })
  expect(reply.status).toBe(201)
  return { id: reply.json.id, request_id: reply.headers.get('x-request-id')! }
}

describe('the steps of a payout', () => {
  /** A payout with a final answer at its first send has no stored steps: they are made up from its row. */
  const ofItself = async (id: string) => {
    await until(async () => (await payoutById(db(), id))!.status !== 'processing', 20_000)
    expect(await stepsOf(db(), id)).toEqual([])
    return stepsOfPayout(db(), (await payoutById(db(), id))!)
  }

  test('are that it was sent and answered', async () => {
    const { id } = await pay('ana@example.com')
    const [sent, answered] = await ofItself(id)
    expect(sent).toMatchObject({ kind: 'sent', by: 'service', times: 1 })
    expect(answered).toMatchObject({
      kind: 'answered',
      by: 'rail',
      said: expect.stringMatching(/^settled E/),
    })
    expect(answered!.at.getTime()).toBeGreaterThanOrEqual(sent!.at.getTime())
  })

  test('include the reason of a refusal', async () => {
    const { id } = await pay('ac03@sandbox.test')
    expect((await ofItself(id))[1]).toMatchObject({ kind: 'answered', said: 'refused AC03' })
  })

  test('are not made up from the row while the payout is open, or after a worker took it up again', async () => {
    const { id } = await pay('ana@example.com')
    const payout = (await payoutById(db(), id))!
    expect(await stepsOfPayout(db(), { ...payout, status: 'processing' })).toEqual([])
    expect(await stepsOfPayout(db(), { ...payout, attempts: 2 })).toEqual([])
  })

  test('are a send without an answer, a status query and its answer', async () => {
    const { id } = await pay('lost@sandbox.test')
    await until(
      async () => (await kindsOf(id)).filter((kind) => kind === 'rail answered').length >= 2,
      15_000,
    )
    const kinds = await kindsOf(id)
    expect(kinds.slice(0, 2)).toEqual(['service sent', 'rail unknown'])
    expect(kinds.slice(-2)).toEqual(['service sent', 'rail answered'])
    expect((await stepsOf(db(), id)).some(({ said }) => said === 'absent')).toBe(true)
  })
})

test('the steps of a transfer: sent, asked about until it is confirmed, and confirmed', async () => {
  const reply = await api.post('/v1/onchain/transfers', {
    customer_id,
    asset: 'USDT',
    network: 'polygon',
    amount: '1000000',
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: 'transfer',
  })
  expect(reply.status).toBe(201)
  const { id } = reply.json
  await until(async () => (await kindsOf(id)).includes('service sent'), 15_000)
  await api.post(`/v1/sandbox/transfers/${id}/confirm`)
  const [sent, accepted] = await stepsOf(db(), id)
  expect(sent).toMatchObject({ kind: 'sent', by: 'service' })
  expect(accepted).toMatchObject({ kind: 'answered', by: 'rail', said: 'accepted' })
})

test('the id of the creating request is stored with the object, and not shown', async () => {
  const { id, request_id } = await pay('ana@example.com')
  const { rows } = await db().query('SELECT request_id FROM payouts WHERE id = $1', [id])
  expect(rows[0].request_id).toBe(request_id)
  expect((await api.get(`/v1/pix/payouts/${id}`)).json).not.toHaveProperty('request_id')
  const order = { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '10000' }
  const quoted = await api.post('/v1/quotes', order)
  const executed = await api.post(`/v1/quotes/${quoted.json.id}/execute`)
  const kept = await db().query(
    `SELECT (SELECT request_id FROM quotes WHERE id = $1) AS quote, (SELECT request_id FROM trades WHERE id = $2) AS trade,
       (SELECT request_id FROM transfers LIMIT 1) AS transfer`,
    [quoted.json.id, executed.json.id],
  )
  expect(kept.rows[0]).toEqual({
    quote: quoted.headers.get('x-request-id'),
    trade: executed.headers.get('x-request-id'),
    transfer: expect.stringMatching(/^req_/),
  })
})

describe('recording exchanges', () => {
  const at = new Date('2026-11-15T12:00:00Z')
  const later = new Date('2026-11-15T12:05:00Z')
  const asked = (object_id: string, said: string | null = null, last_at = at) =>
    ({ object_id, did: 'asked', at, heard: said === null ? 'unknown' : 'answered', said, last_at }) as const

  test('counts repeated queries with the same answer, in one batch and over many', async () => {
    await insertExchanges(db(), [asked('po_many'), asked('po_many'), asked('po_other')])
    await insertExchanges(db(), [asked('po_many', null, later)])
    expect(await stepsOf(db(), 'po_many')).toEqual([
      { kind: 'asked', by: 'service', said: null, at, last_at: later, times: 3 },
    ])
    await insertExchanges(db(), [asked('po_many', 'absent'), asked('po_many')])
    expect((await stepsOf(db(), 'po_many')).map(({ kind, times }) => `${kind} ${times}`)).toEqual([
      'asked 3',
      'asked 1',
      'answered 1',
      'asked 1',
    ])
  })

  test('is limited per object', async () => {
    for (let i = 0; i < 3; i++)
      await insertExchanges(
        db(),
        Array.from({ length: 99 }, (_, n) => asked('po_endless', n % 2 ? 'absent' : null)),
      )
    const { rows } = await db().query(`SELECT count(*)::int AS n FROM steps WHERE object_id = 'po_endless'`)
    expect(rows[0].n).toBe(200)
  })

  test('keeps the first and the latest of very many, and goes on counting', async () => {
    const sent = {
      object_id: 'po_turns',
      did: 'sent',
      at,
      heard: 'unknown',
      said: null,
      last_at: at,
    } as const
    await insertExchanges(db(), [sent])
    for (let i = 0; i < 4; i++)
      await insertExchanges(
        db(),
        Array.from({ length: 100 }, (_, n) => asked('po_turns', `said ${i} ${n}`)),
      )
    await insertExchanges(db(), [asked('po_turns', 'last'), asked('po_turns', 'last')])
    await insertExchanges(db(), [asked('po_turns', 'last', later)])
    const steps = await stepsOf(db(), 'po_turns')
    expect(steps[0]).toMatchObject({ kind: 'sent' })
    const said = steps.filter(({ by }) => by === 'rail').map((step) => step.said)
    expect(said.length).toBe(200)
    expect(said.slice(1, 3)).toEqual(['said 2 2', 'said 2 3'])
    expect(said.slice(-2)).toEqual(['said 3 99', 'last'])
    expect(steps.at(-1)).toMatchObject({ times: 3, last_at: later })
    expect(await waitingAmong(db(), ['po_turns'])).toEqual(new Set())
    await insertExchanges(db(), [{ ...sent, did: 'asked', heard: 'waiting', said: 'at it' }])
    expect(await waitingAmong(db(), ['po_turns'])).toEqual(new Set(['po_turns']))
  })

  test('stores no document and no long text', () => {
    expect(masked('holder 529.982.247-25 closed')).toBe('holder *** closed')
    expect(masked('CNPJ 11222333000181')).toBe('CNPJ ***')
    expect(masked('AC03')).toBe('AC03')
    expect(masked('x\u0000\ny')).toBe('x  y')
    expect(masked('ab'.repeat(500)).length).toBe(100)
  })

  test('loses and counts exchanges that the database does not accept, and delays nobody', async () => {
    let lost = 0
    const broken = {
      query: () => Promise.reject(new Error('away')),
      connect: () => Promise.reject(new Error()),
    }
    const world = { db: broken as never, clock: service.worlds.sandbox.clock }
    const recorder = openStepRecorder(world, { log: silent, onLost: (count) => (lost += count) })
    for (const id of ['a', 'b', 'c']) recorder.begin(id, 'sent')({ heard: 'unknown', said: null })
    await recorder.stop()
    expect(lost).toBe(3)
  })

  test('deletes steps with the age of events, but not those of open payouts', async () => {
    const { id } = await pay('unknown@sandbox.test')
    await until(async () => (await kindsOf(id)).length >= 2, 15_000)
    // An open payout with its steps, made to look old; and steps of payouts and transfers that ended.
    const old = 'po_00000000000000000000000001'
    const renamed = (from: string, to: string) => [
      'SET session_replication_role = replica',
      `UPDATE sandbox.payouts SET id = '${to}' WHERE id = '${from}'`,
      `UPDATE sandbox.steps SET object_id = '${to}' WHERE object_id = '${from}'`,
    ]
    await insertExchanges(db(), [
      asked('tr_00000000000000000000000000'),
      asked('po_00000000000000000000000000'),
    ])
    const { id: young } = await pay('unknown@sandbox.test')
    await until(async () => (await kindsOf(young)).length >= 2, 15_000)
    await asAdmin(service.database.url, renamed(id, old))
    // Whatever time the caller gives, steps are kept as long as events.
    await forgetSteps(db(), new Date(Date.now() + 1000))
    await asAdmin(service.database.url, renamed(old, id))
    const { rows } = await db().query(
      `SELECT DISTINCT object_id FROM steps WHERE object_id LIKE '__\\_0000000000%' OR object_id = ANY($1)`,
      [[id, young]],
    )
    expect(rows.map(({ object_id }) => object_id).sort()).toEqual([id, young].sort())
  })
})
