import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type ConsoleClient, signedIn } from '../../../test/support/console.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { openReceiver } from '../../../test/support/receiver.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { eventually } from '../../../test/support/wait.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_MS: '600000' })
})
afterAll(() => service.stop())

const admin = (...statements: string[]) => asAdmin(service.database.url, statements)
const codeOf = (reply: { json: any }) => reply.json?.error?.code

/** A partner with payouts of 10.00 each; those to the magic key fail and are returned. */
async function openPartner(payouts: { done?: number; failed?: number } = {}) {
  const { partner_id, api, key_id } = await service.partner()
  const owner = await signedIn(service, { partner_id, role: 'owner' })
  const document = someCpf()
  const customer = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json
  await api.post('/v1/sandbox/deposits', { customer_id: customer.id, asset: 'BRL', amount: '10000000' })
  const pay = async (pix_key: string, n: number) => {
    const counterparty = { type: 'pix_key', pix_key }
    const order = {
      customer_id: customer.id,
      amount: '1000',
      counterparty,
      idempotency_key: `${pix_key} ${n}`,
    }
    return (await api.post('/v1/pix/payouts', order)).json
  }
  for (let n = 0; n < (payouts.done ?? 0); n++) await pay(document, n)
  const failing: string[] = []
  for (let n = 0; n < (payouts.failed ?? 0); n++) {
    const { id } = await pay(document, 100 + n)
    failing.push(id)
  }
  if (failing.length > 0)
    await admin(
      `SET session_replication_role = replica`,
      `UPDATE sandbox.payouts SET status = 'failed', failure_code = 'provider_error', end_to_end_id = NULL WHERE id IN ('${failing.join("', '")}')`,
    )
  return { partner_id, api, key_id, owner, customer, document }
}

type Totals = { complete: boolean; rows_most: number; groups: Record<string, unknown>[] }

describe('totals', () => {
  test('a filter is counted and summed by status, and what failed has its own sum', async () => {
    const { owner } = await openPartner({ done: 3, failed: 2 })
    const totals = async (query: string) =>
      (await owner.get(`/sandbox/payouts/totals?${query}`)).json as Totals
    const all = await totals('')
    expect(all.complete).toBe(true)
    expect(all.groups.find(({ status }) => status === 'failed')).toMatchObject({
      asset: 'BRL',
      count: 2,
      amount: '2000',
    })
    expect(all.groups.reduce((sum, { count }) => sum + (count as number), 0)).toBe(5)
    expect((await totals('status=failed')).groups).toMatchObject([
      { status: 'failed', count: 2, amount: '2000' },
    ])
    expect((await totals('amount_min=5000')).groups).toEqual([])
    expect((await totals(`created_before=2020-01-01T00:00:00.000Z`)).groups).toEqual([])
  })

  test('of a long history only the newest ten thousand rows are read, and the reply says so', async () => {
    const { owner, partner_id, customer } = await openPartner({ done: 1 })
    await admin(
      `SET session_replication_role = replica`,
      `INSERT INTO sandbox.payouts (id, partner_id, customer_id, api_key_id, idempotency_key, amount, fee, status, counterparty, send_id,
         attempts, next_attempt_at, sequence, created_at, completed_at, end_to_end_id)
       SELECT 'po_' || lpad(n::text, 26, '0'), '${partner_id}', '${customer.id}', 'key', 'k' || n, 100, 0, 'completed',
         '{"type":"pix_key","name":"Ana","document":"52998224725","pix_key":"52998224725"}', 's${partner_id}' || n, 1, now(), 3,
         now() - n * interval '1 second', now(), 'E${partner_id}' || n FROM generate_series(1, 10050) AS n`,
    )
    const { json } = await owner.get('/sandbox/payouts/totals')
    expect(json).toMatchObject({ complete: false, rows_most: 10_000 })
    expect(json.groups.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(10_000)
    const some = (await owner.get('/sandbox/payouts/totals?amount_min=1000')).json
    expect(some).toMatchObject({ complete: false, groups: [{ count: 1, amount: '1000' }] })
  })

  test('every list has them, and none counts rows of another partner', async () => {
    const { owner, api, customer } = await openPartner({ done: 2 })
    const other = await openPartner({ done: 1 })
    const quote = { customer_id: customer.id, from_asset: 'BRL', to_asset: 'USDT', amount: '100000' }
    const { id } = (await api.post('/v1/quotes', quote)).json
    await api.post('/v1/quotes', quote)
    await api.post(`/v1/quotes/${id}/execute`)
    const count = async (path: string, client: ConsoleClient = owner) =>
      ((await client.get(path)).json as Totals).groups.reduce((sum, one) => sum + (one.count as number), 0)
    expect(await count('/sandbox/customers/totals')).toBe(1)
    expect(await count('/sandbox/quotes/totals')).toBe(2)
    expect(await count('/sandbox/trades/totals')).toBe(1)
    const trades = (await owner.get('/sandbox/trades/totals')).json
    expect(trades.groups).toMatchObject([
      { status: 'completed', asset: 'BRL', to_asset: 'USDT', amount: '100000' },
    ])
    expect(await count('/sandbox/transfers/totals')).toBe(0)
    await eventually(async () => {
      const events = (await owner.get('/sandbox/events?limit=100')).json.data
      expect(await count('/sandbox/events/totals')).toBe(events.length)
      expect(await count('/sandbox/events/totals?type=trade.completed')).toBe(1)
      expect(await count('/sandbox/events/totals?type=pix.payout.created')).toBe(2)
      expect(await count(`/sandbox/events/totals?object_id=${customer.id}`)).toBeGreaterThan(0)
    })
    await eventually(async () => expect(await count('/sandbox/requests/totals')).toBeGreaterThanOrEqual(7))
    expect(await count('/sandbox/requests/totals?refused=true')).toBe(0)
    expect(await count('/audit/totals')).toBeGreaterThan(0)
    expect(await count('/sandbox/customers/totals', other.owner)).toBe(1)
    expect(await count('/sandbox/trades/totals', other.owner)).toBe(0)
  })
})

describe('order', () => {
  const lists = [
    ['payouts', '/sandbox/payouts', (row: any) => row.payout.created_at],
    ['events', '/sandbox/events', (row: any) => row.created_at],
    ['requests', '/sandbox/requests', (row: any) => row.created_at],
    ['audit log', '/audit', (row: any) => row.at],
  ] as const

  test.each(lists)(
    '%s oldest first shows the same rows turned around, page by page',
    async (_, path, timeOf) => {
      const { owner } = await openPartner({ done: 4 })
      for (const name of ['One', 'Two', 'Three']) await owner.patch('/me', { name })
      const idOf = (row: any) => row.payout?.id ?? row.id ?? `${row.place} ${row.seq}`
      await eventually(async () => {
        const newest: any[] = (await owner.get(`${path}?limit=100`)).json.data
        expect(newest.length).toBeGreaterThan(2)
        const oldest: any[] = []
        let cursor = ''
        do {
          const page = (await owner.get(`${path}?order=oldest&limit=2${cursor}`)).json
          oldest.push(...page.data)
          cursor = page.next_cursor === null || !page.has_more ? '' : `&cursor=${page.next_cursor}`
        } while (cursor !== '')
        expect(oldest.map(idOf)).toEqual(newest.map(idOf).toReversed())
        expect(oldest.map(timeOf)).toEqual(oldest.map(timeOf).toSorted())
      })
    },
  )

  test('a cursor belongs to its order and to its period', async () => {
    const { owner } = await openPartner({ done: 3 })
    for (const name of ['One', 'Two']) await owner.patch('/me', { name })
    for (const path of ['/sandbox/payouts', '/audit']) {
      const { next_cursor } = (await owner.get(`${path}?limit=1`)).json
      expect((await owner.get(`${path}?limit=1&cursor=${next_cursor}`)).status).toBe(200)
      for (const more of ['order=oldest', 'created_after=2020-01-01T00:00:00.000Z']) {
        const refused = await owner.get(`${path}?limit=1&${more}&cursor=${next_cursor}`)
        expect([codeOf(refused), refused.json.error.param]).toEqual(['invalid_request', 'cursor'])
      }
    }
  })
})

describe('the audit log', () => {
  test('is read by period, exactly, whatever lines other partners wrote between', async () => {
    const { owner, partner_id } = await openPartner()
    const line = (n: number, whose: string) =>
      `(${900_000 + n}, timestamptz '2030-01-01' + ${n} * interval '1 minute', 'person', 'ana@example.com', 'sign_in', ${whose}, '', '')`
    const rows = Array.from({ length: 200 }, (_, n) =>
      line(n, n % 3 === 0 ? `'${partner_id}'` : `'ptn_other'`),
    )
    await admin(
      `INSERT INTO shared.acts (seq, at, actor_kind, actor_email, action, partner_id, previous_hash, hash) VALUES ${rows.join(', ')}`,
    )
    const minutes = async (query: string) => {
      const { data } = (await owner.get(`/audit?limit=100&${query}`)).json
      return data.map(({ seq }: { seq: string }) => Number(seq) - 900_000)
    }
    const at = (minute: number) =>
      new Date(Date.parse('2030-01-01T00:00:00Z') + minute * 60_000).toISOString()
    expect(await minutes(`created_after=${at(30)}&created_before=${at(60)}`)).toEqual([
      57, 54, 51, 48, 45, 42, 39, 36, 33, 30,
    ])
    expect(await minutes(`created_after=${at(190)}&order=oldest`)).toEqual([192, 195, 198])
    expect(await minutes(`created_after=${at(500)}`)).toEqual([])
    const { json } = await owner.get(`/audit/totals?created_after=${at(0)}&created_before=${at(60)}`)
    expect(json.groups).toMatchObject([{ status: 'shared', count: 20 }])
    await admin(`DELETE FROM shared.acts WHERE seq >= 900000`)
  })

  test('is exported by those who may read it, and the export is a line of it', async () => {
    const { owner, partner_id } = await openPartner()
    await owner.patch('/me', { name: '=HYPERLINK("x")' })
    const file = await owner.get('/audit.csv?order=oldest')
    expect(file.headers.get('content-disposition')).toMatch(/audit-log-\d{4}-\d\d-\d\d\.csv/)
    const [head, ...lines] = file.text.split('\r\n')
    expect(head).toContain('place,line,at,actor_email')
    expect(lines.some((each) => each.includes(',change_profile,'))).toBe(true)
    const acts = (await owner.get('/audit')).json.data
    expect(acts[0]).toMatchObject({ action: 'export', place: 'shared', after: { what: 'audit-log' } })
    const developer = await signedIn(service, { partner_id, role: 'developer' })
    expect(codeOf(await developer.get('/audit.csv'))).toBe('not_permitted')
  })
})

test('events and requests are exported with their filters, and a viewer exports neither', async () => {
  const { owner, partner_id, customer } = await openPartner({ done: 1 })
  await eventually(async () => {
    const file = (await owner.get('/sandbox/events.csv?type=customer.created')).text.trim().split('\r\n')
    expect(file).toHaveLength(2)
    expect(file[1]).toContain(`,customer.created,${customer.id},`)
  })
  await eventually(async () => {
    const file = (await owner.get('/sandbox/requests.csv?status=201&language=pt-BR')).text
      .trim()
      .split('\r\n')
    expect(file[0]).toContain('id;created_at;method;route;status')
    expect(file.filter((each) => each.includes(';POST;/v1/pix/payouts;201;'))).toHaveLength(1)
  })
  const everything = (await owner.get('/sandbox/events.csv?order=oldest')).text.trim().split('\r\n').slice(1)
  const times = everything.map((each) => each.split(',')[1])
  expect(times).toEqual(times.toSorted())
  const viewer = await signedIn(service, { partner_id, role: 'viewer' })
  for (const path of ['/sandbox/events.csv', '/sandbox/requests.csv', '/audit.csv'])
    expect(codeOf(await viewer.get(path))).toBe('not_permitted')
})

describe('saved views', () => {
  const view = (more: object = {}) => ({
    environment: 'sandbox',
    page: 'payouts',
    name: 'Failed this week',
    filters: { status: 'failed', created: '7d' },
    ...more,
  })

  test('are kept per person, renamed and deleted, and saving a name again replaces its filters', async () => {
    const { owner, partner_id } = await openPartner()
    const made = await owner.post('/me/views', view())
    expect(made.status).toBe(201)
    const again = await owner.post('/me/views', view({ filters: { status: 'failed' } }))
    expect(again.json).toEqual({ ...made.json, filters: { status: 'failed' } })
    const audit = (await owner.post('/me/views', view({ environment: null, page: 'audit', name: 'Mine' })))
      .json
    const names = async (client: ConsoleClient = owner) =>
      (await client.get('/me/views')).json.data.map(({ name }: { name: string }) => name)
    expect(await names()).toEqual(['Failed this week', 'Mine'])
    const colleague = await signedIn(service, { partner_id, role: 'viewer' })
    expect(await names(colleague)).toEqual([])
    const path = `/me/views/${made.json.id}`
    expect((await owner.patch(path, { name: 'Falhas' })).json.name).toBe('Falhas')
    for (const theirs of [await colleague.patch(path, { name: 'x' }), await colleague.delete(path)])
      expect(codeOf(theirs)).toBe('object_not_found')
    const second = (await owner.post('/me/views', view({ name: 'Second' }))).json
    expect(codeOf(await owner.patch(`/me/views/${second.id}`, { name: 'Falhas' }))).toBe('not_possible')
    for (const { id } of [made.json, audit, second])
      expect((await owner.delete(`/me/views/${id}`)).status).toBe(204)
    expect(await names()).toEqual([])
    const acts = (await owner.get('/audit')).json.data.map(({ action }: { action: string }) => action)
    expect(acts).toContain('save_view')
    expect(JSON.stringify(acts)).not.toContain('7d')
  })

  test('a person has at most 50', async () => {
    const { owner } = await openPartner()
    const { id } = owner.person.user
    await admin(
      `INSERT INTO shared.saved_views (id, user_id, environment, page, name, filters)
       SELECT 'vw_' || md5('${id}' || n), '${id}', 'sandbox', 'payouts', 'View ' || n, '{}' FROM generate_series(1, 50) AS n`,
    )
    expect(codeOf(await owner.post('/me/views', view()))).toBe('not_possible')
    expect((await owner.post('/me/views', view({ name: 'View 7' }))).status).toBe(201)
    expect((await owner.get('/me/views')).json.data).toHaveLength(50)
  })

  test('go with the person', async () => {
    const { owner, partner_id } = await openPartner()
    const colleague = await signedIn(service, { partner_id, role: 'viewer' })
    await colleague.post('/me/views', view())
    const { id } = colleague.person.user
    await admin(`UPDATE shared.sessions SET proved_at = clock_timestamp()`)
    expect((await owner.delete(`/team/${id}`)).status).toBe(204)
    expect(await admin(`SELECT FROM shared.saved_views WHERE user_id = '${id}'`)).toEqual([])
  })
})

describe('webhooks', () => {
  test('of a time range only failed deliveries are sent again, and all waiting ones are tried at once', async () => {
    const { owner, api } = await openPartner({ done: 2 })
    let status = 500
    const receiver = await openReceiver((_, response) => void response.writeHead(status).end())
    onTestFinished(receiver.stop)
    const { id } = (
      await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['customer.created'] })
    ).json
    const path = `/sandbox/webhooks/${id}`
    for (let n = 0; n < 3; n++)
      await api.post('/v1/customers', { name: `Customer ${n}`, document: someCpf() })
    const rows = async () => (await owner.get(`${path}/deliveries`)).json.data as any[]
    await eventually(async () => {
      const found = await rows()
      const told = found.map((one) => [one.status, one.answer_status])
      expect(told).toEqual(Array(3).fill(['pending', 500]))
    })

    status = 200
    expect((await owner.post(`${path}/retry_waiting`)).json).toEqual({ retried: 3, more: false })
    await eventually(async () =>
      expect((await rows()).map((one) => one.status)).toEqual(Array(3).fill('delivered')),
    )

    const [failed] = await rows()
    await admin(
      `UPDATE sandbox.webhook_deliveries SET status = 'exhausted' WHERE endpoint_id = '${id}' AND event_id = '${failed.event_id}'`,
    )
    const range = {
      from: new Date(Date.now() - 3_600_000).toISOString(),
      to: new Date(Date.now() + 60_000).toISOString(),
    }
    const before = receiver.received.length
    expect((await owner.post(`${path}/redeliver`, { ...range, only_failed: true })).json).toEqual({
      redelivered: 1,
    })
    await eventually(() => expect(receiver.received.length).toBe(before + 1))
    expect((await owner.post(`${path}/redeliver`, { ...range, only_failed: true })).json).toEqual({
      redelivered: 0,
    })

    const { days } = (await owner.get(`${path}/health`)).json
    expect(days).toHaveLength(14)
    await eventually(async () => {
      const last = (await owner.get(`${path}/health`)).json.days.at(-1)
      expect(last).toMatchObject({ delivered: 3, failed: 0, pending: 0, complete: true })
      expect(last.median_ms).toBeGreaterThanOrEqual(0)
    })
    expect((await owner.get(`${path}/deliveries/totals`)).json.groups).toMatchObject([
      { status: 'delivered', count: 3 },
    ])
    const acts = (await owner.get('/audit')).json.data.map(({ action }: { action: string }) => action)
    expect(acts).toEqual(expect.arrayContaining(['retry_waiting', 'redeliver']))
  })
})

test('a key says how many requests of each day were answered and refused', async () => {
  const { owner, api, key_id } = await openPartner({ done: 1 })
  await api.get('/v1/customers/cus_00000000000000000000000000')
  await eventually(async () => {
    const { days } = (await owner.get(`/sandbox/keys/${key_id}/calls`)).json
    expect(days).toHaveLength(14)
    expect(days.at(-1)).toMatchObject({ calls: 4, refused: 1, complete: true })
  })
  const other = await openPartner()
  expect(codeOf(await other.owner.get(`/sandbox/keys/${key_id}/calls`))).toBe('key_not_found')
})
