import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../../../../test/support/api.ts'
import { type ConsoleClient, signedIn } from '../../../../test/support/console.ts'
import { openReceiver } from '../../../../test/support/receiver.ts'
import { someCpf, startTestService, type TestService } from '../../../../test/support/service.ts'
import { until } from '../../../../test/support/wait.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    STUCK_AFTER_MS: '1000',
    PIX_WAIT_MS: '300',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  })
})
afterAll(() => service.stop())

type Team = { api: Api; partner_id: string; owner: ConsoleClient; customer_id: string; document: string }

/** A partner with an owner, and a customer with a balance in every asset. */
async function aTeam(): Promise<Team> {
  const { api, partner_id } = await service.partner()
  const owner = await signedIn(service, { partner_id, role: 'owner' })
  const document = someCpf()
  const customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json.id
  for (const asset of ['BRL', 'USDT', 'BTC'])
    await api.post('/v1/sandbox/deposits', { customer_id, asset, amount: '100000000' })
  return { api, partner_id, owner, customer_id, document }
}

let keys = 0
const pay = async ({ api, customer_id, document }: Team, more: Record<string, unknown> = {}) =>
  (
    await api.post('/v1/pix/payouts', {
      customer_id,
      amount: '1050',
      counterparty: { type: 'pix_key', pix_key: document },
      idempotency_key: `key-${++keys}`,
      ...more,
    })
  ).json
/** `accepted@sandbox.test`: the network has the payment, and its end is up to the test. */
const to = (pix_key: string) => ({ counterparty: { type: 'pix_key', pix_key } })

const ids = (reply: { json: any }) =>
  reply.json.data.map((row: any) => (row.payout ?? row.transfer ?? row.customer).id)

let forms = 0
const form_id = () => `form-${String(++forms).padStart(16, '0')}`

describe('lists', () => {
  test('each filter keeps what it names, and pages go from the newest to the oldest', async () => {
    const team = await aTeam()
    const paid = await pay(team, { amount: '500' })
    const open = await pay(team, to('accepted@sandbox.test'))
    const refused = await pay(team, { ...to('ac03@sandbox.test'), amount: '70000' })
    const { owner } = team
    const found = async (query: string) => ids(await owner.get(`/sandbox/payouts?${query}`))
    expect(await found('')).toEqual([refused.id, open.id, paid.id])
    expect(await found('status=completed')).toEqual([paid.id])
    expect(await found('status=open')).toEqual([open.id])
    expect(await found('status=failed')).toEqual([refused.id])
    expect(await found(`failure_code=${refused.failure.code}`)).toEqual([refused.id])
    expect(await found('amount_min=501&amount_max=1050')).toEqual([open.id])
    expect(await found(`customer_id=${team.customer_id}&status=open`)).toEqual([open.id])
    expect(await found(`idempotency_key=${paid.idempotency_key}`)).toEqual([paid.id])
    expect(await found(`end_to_end_id=${paid.end_to_end_id}`)).toEqual([paid.id])
    expect(await found(`created_after=${open.created_at}`)).toEqual([refused.id, open.id])
    expect(await found('api_key_id=key_none')).toEqual([])

    const first = await owner.get('/sandbox/payouts?limit=2')
    expect(ids(first)).toEqual([refused.id, open.id])
    expect(first.json).toMatchObject({ has_more: true, open: { count: 1 } })
    expect(first.json.data[0].customer).toEqual({ id: team.customer_id, name: 'Ana Souza' })
    expect(await found(`limit=2&cursor=${first.json.next_cursor}`)).toEqual([paid.id])
    const foreign = await owner.get(`/sandbox/payouts?status=open&cursor=${first.json.next_cursor}`)
    expect(foreign.json.error.param).toBe('cursor')
  })

  test('the filter no_answer finds orders that are processing for too long without word from the rail', async () => {
    const team = await aTeam()
    await pay(team, to('accepted@sandbox.test'))
    const payout = await pay(team, to('unknown@sandbox.test'))
    const list = () => team.owner.get('/sandbox/payouts?status=no_answer')
    await until(async () => ids(await list()).join() === payout.id, 60_000)
    const { json } = await list()
    expect(json.data[0]).toMatchObject({ payout: { id: payout.id, status: 'processing' }, no_answer: true })
    expect(json.open).toEqual({ count: 2, no_answer: 1 })
    const all = (await team.owner.get('/sandbox/payouts')).json.data
    expect(all.map((row: any) => row.no_answer)).toEqual([true, false])
  })

  test('transfers are found by asset, network and hash; no_answer waits for the time of their network', async () => {
    const team = await aTeam()
    const { api, customer_id, owner } = team
    const send = async (more: object) =>
      (
        await api.post('/v1/onchain/transfers', {
          customer_id,
          amount: '1000',
          ...more,
          idempotency_key: `t-${++keys}`,
        })
      ).json
    const usdt = await send({
      asset: 'USDT',
      network: 'polygon',
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    })
    const btc = await send({
      asset: 'BTC',
      network: 'bitcoin',
      destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    })
    const found = async (query: string) => ids(await owner.get(`/sandbox/transfers?${query}`))
    expect(await found('asset=BTC')).toEqual([btc.id])
    expect(await found('network=polygon')).toEqual([usdt.id])
    const done = (await owner.post(`/sandbox/transfers/${usdt.id}/confirm`)).json
    expect(done.status).toBe('confirmed')
    expect(await found(`tx_hash=${done.tx_hash}`)).toEqual([usdt.id])
    expect(await found('status=no_answer')).toEqual([])
    expect((await owner.get('/sandbox/transfers')).json.open.count).toBe(1)
  })

  test('customers are found by document, own id and part of the name, with their balances', async () => {
    const team = await aTeam()
    const { owner, customer_id, document } = team
    const found = async (query: string) => ids(await owner.get(`/sandbox/customers?${query}`))
    expect(await found(`document=${document}`)).toEqual([customer_id])
    expect(await found('name=SOUZ')).toEqual([customer_id])
    expect(await found('name=%25')).toEqual([])
    expect(await found('status=blocked')).toEqual([])
    const { json } = await owner.get('/sandbox/customers')
    expect(json.data[0].balances.map((balance: any) => [balance.asset, balance.available])).toEqual([
      ['BRL', '100000000'],
      ['USDT', '100000000'],
      ['BTC', '100000000'],
    ])
    expect(json.data[0].customer.document).not.toContain(document)
  })
})

describe('the page of a payout', () => {
  test('is one reply: object, customer, movements that sum to zero, events with deliveries, the request', async () => {
    const receiver = await openReceiver()
    const team = await aTeam()
    const { owner, api, customer_id, document } = team
    const endpoint = (await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'] })).json
    const payout = await pay(team, { description: 'Invoice 7' })
    const page = async () => (await owner.get(`/sandbox/payouts/${payout.id}`)).json
    await until(async () => {
      const { events } = await page()
      return (
        events.length === 3 && events.every(({ deliveries }: any) => deliveries[0]?.status === 'delivered')
      )
    }, 9000)
    const { movements, events, request, ...shown } = await page()
    expect(shown).toMatchObject({
      payout,
      customer: { id: customer_id, name: 'Ana Souza' },
      held: false,
      resolution: null,
    })
    expect(movements.map(({ name }: any) => name)).toEqual(['accepted', 'completed'])
    for (const { entries } of movements)
      expect(entries.reduce((sum: bigint, { amount }: any) => sum + BigInt(amount), 0n)).toBe(0n)
    expect(movements[0].entries[0]).toMatchObject({
      account: 'customer',
      owner: customer_id,
      balance_after: '99998950',
    })
    expect(events.map(({ type }: any) => type)).toEqual([
      'pix.payout.created',
      'pix.payout.processing',
      'pix.payout.completed',
    ])
    expect(events[2].deliveries[0]).toMatchObject({
      endpoint_id: endpoint.id,
      url: receiver.url,
      answer_status: 200,
      attempts: 1,
    })
    expect(request).toMatchObject({
      route: 'POST /v1/pix/payouts',
      key: { name: 'test' },
      body: {
        customer_id,
        amount: '1050',
        counterparty: { type: 'pix_key', pix_key: document },
        description: 'Invoice 7',
      },
      answer: { status: 201, body: payout },
    })
    await until(async () => (await page()).track.length === 3, 9000)
    expect((await page()).track).toMatchObject([
      { kind: 'accepted', at: payout.created_at },
      { kind: 'sent' },
      { kind: 'completed', at: payout.completed_at, said: payout.end_to_end_id },
    ])
    await until(async () => (await page()).request.logged !== null, 9000)
    expect((await page()).request).toMatchObject({
      id: expect.stringMatching(/^req_/),
      logged: { address: '127.0.0.1' },
    })

    const before = receiver.received.length
    expect((await owner.post(`/sandbox/payouts/${payout.id}/redeliver`)).json).toEqual({ redelivered: 3 })
    await until(() => receiver.received.length === before + 3, 9000)
    await receiver.stop()
  })

  test('its track shows that no answer came, that the network was queried, and the end', async () => {
    const team = await aTeam()
    const payout = await pay(team, to('timeout@sandbox.test'))
    const kinds = async () =>
      (await team.owner.get(`/sandbox/payouts/${payout.id}`)).json.track.map(({ kind }: any) => kind)
    await until(async () => (await kinds()).includes('unknown'), 9000)
    expect((await kinds()).slice(0, 3)).toEqual(['accepted', 'sent', 'unknown'])
    await until(async () => (await kinds()).at(-1) === 'completed', 30_000)
    expect(new Set(await kinds())).toEqual(new Set(['accepted', 'sent', 'unknown', 'asked', 'completed']))
  })

  test('the document of a bank account is masked in the request', async () => {
    const team = await aTeam()
    const account = { ispb: '00000000', branch: '0001', account_number: '1234567', account_type: 'checking' }
    const counterparty = { type: 'bank_account', ...account, name: 'Ana Souza', document: team.document }
    const payout = await pay(team, { counterparty })
    const { text } = await team.owner.get(`/sandbox/payouts/${payout.id}`)
    expect(text).not.toContain(team.document)
    expect(text).toContain('1234567')
  })

  test('in the sandbox it is ended by hand, once, and the log names the user', async () => {
    const team = await aTeam()
    const { owner } = team
    const [one, other] = [
      await pay(team, to('accepted@sandbox.test')),
      await pay(team, to('accepted@sandbox.test')),
    ]
    expect((await owner.post(`/sandbox/payouts/${one.id}/complete`)).json.status).toBe('completed')
    expect((await owner.post(`/sandbox/payouts/${one.id}/complete`)).json.status).toBe('completed')
    expect((await owner.post(`/sandbox/payouts/${one.id}/fail`)).json.error.code).toBe('already_final')
    expect((await owner.post(`/sandbox/payouts/${other.id}/fail`)).json.status).toBe('failed')
    expect((await owner.post(`/production/payouts/${one.id}/complete`)).status).toBe(404)
    expect(await actionsOf(team.partner_id)).toEqual(['complete_payout', 'fail_payout'])
  })
})

async function actionsOf(partner_id: string): Promise<string[]> {
  const { rows } = await service.worlds.sandbox.db.query(
    'SELECT action FROM acts WHERE partner_id = $1 ORDER BY seq',
    [partner_id],
  )
  return rows.map(({ action }) => action)
}

describe('customers', () => {
  test('are created once per form; a second one with the same document is refused with the id of the first', async () => {
    const { partner_id } = await service.partner()
    const finance = await signedIn(service, { partner_id, role: 'finance' })
    const wanted = {
      form_id: form_id(),
      name: 'Bruno Lima',
      document: someCpf(),
      metadata: { segment: 'retail' },
    }
    const made = await finance.post('/sandbox/customers', wanted)
    expect(made.status).toBe(201)
    const again = await finance.post('/sandbox/customers', wanted)
    expect(again.json.error).toMatchObject({ code: 'already_done', details: { id: made.json.id } })
    const same = await finance.post('/sandbox/customers', { ...wanted, form_id: form_id() })
    expect(same.json.error).toMatchObject({ code: 'customer_exists', details: { customer_id: made.json.id } })
    const wrong = await finance.post('/sandbox/customers', {
      ...wanted,
      form_id: form_id(),
      document: '11111111111',
    })
    expect(wrong.json.error).toMatchObject({ code: 'invalid_request', param: 'document' })
    const edited = await finance.patch(`/sandbox/customers/${made.json.id}`, { name: 'Bruno de Lima' })
    expect(edited.json.name).toBe('Bruno de Lima')
    expect(await actionsOf(partner_id)).toEqual(['create_customer', 'edit_customer'])
    // A customer does not exist in the other environment.
    expect((await finance.get(`/production/customers/${made.json.id}`)).json.error.code).toBe(
      'customer_not_found',
    )
  })

  test('get test money once per form, even if it arrives twice concurrently', async () => {
    const { owner, customer_id } = await aTeam()
    const wanted = { form_id: form_id(), asset: 'BRL', amount: '500' }
    const replies = await Promise.all(
      [1, 2, 3].map(() => owner.post(`/sandbox/customers/${customer_id}/deposits`, wanted)),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const made = replies.find(({ status }) => status === 201)!.json
    for (const { status, json } of replies)
      if (status === 409) expect(json.error.details).toEqual({ id: made.id })
    const { json } = await owner.get(`/sandbox/customers/${customer_id}`)
    expect(json.balances[0]).toMatchObject({ asset: 'BRL', available: '100000500' })
    expect((await owner.post(`/production/customers/${customer_id}/deposits`, wanted)).status).toBe(404)
  })

  test('a page shows open orders, limits with the amount used, and the statement with references', async () => {
    const team = await aTeam()
    const { owner, api, customer_id } = team
    await service.worlds.sandbox.db.query(
      'INSERT INTO money_limits (subject_id, payout_day) VALUES ($1, 5000)',
      [customer_id],
    )
    const payout = await pay(team, to('accepted@sandbox.test'))
    const transfer = (
      await api.post('/v1/onchain/transfers', {
        customer_id,
        asset: 'USDT',
        network: 'polygon',
        amount: '1000',
        destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
        idempotency_key: `t-${++keys}`,
      })
    ).json
    const { json } = await owner.get(`/sandbox/customers/${customer_id}`)
    expect(json.on_its_way.map(({ id }: any) => id)).toContain(payout.id)
    expect(json.limits).toMatchObject([{ name: 'payout_day', asset: 'BRL', allowed: '5000', used: '1050' }])
    expect(json.balances[0]).toMatchObject({ available: '99998950', in_transit: '1050', total: '100000000' })
    const statement = (await owner.get(`/sandbox/customers/${customer_id}/statement?limit=2`)).json
    expect(statement.data.map(({ line, about }: any) => [line.cause.id, about])).toEqual([
      [transfer.id, { network: 'polygon' }],
      [payout.id, null],
    ])
    const next = await owner.get(
      `/sandbox/customers/${customer_id}/statement?limit=2&cursor=${statement.next_cursor}`,
    )
    expect(next.json.data.map(({ line }: any) => line.asset)).toEqual(['BTC', 'USDT'])
  })
})

describe('exports', () => {
  test('have every digit, no formula, and are logged', async () => {
    const team = await aTeam()
    const { owner, api, customer_id, partner_id } = team
    await api.patch(`/v1/customers/${customer_id}`, { name: '=HYPERLINK("http://x.example")' })
    await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '99999999900000000' })
    const payout = await pay(team, {
      amount: '90071992547409935',
      ...to('+5511998761271'),
      description: '@SUM(1;2)',
    })
    expect(payout.id).toBeDefined()
    const english = await owner.get('/sandbox/payouts.csv')
    expect(english.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(english.headers.get('content-disposition')).toMatch(/filename="payouts-sandbox-[0-9-]{10}[.]csv"/)
    const [head, line] = english.text.replace('\ufeff', '').split('\r\n')
    expect(english.text.length).toBeGreaterThan(0)
    expect(head!.split(',').slice(0, 8)).toEqual([
      'id',
      'created_at',
      'status',
      'customer_id',
      'customer_name',
      'asset',
      'amount',
      'amount_decimal',
    ])
    expect(line).toContain(`,"'=HYPERLINK(""http://x.example"")",BRL,90071992547409935,900719925474099.35,`)
    expect(line).toContain(`,'+5511998761271,"'@SUM(1;2)",`)
    expect(line).toContain(payout.created_at)

    const portuguese = await owner.get('/sandbox/payouts.csv?language=pt-BR&status=completed')
    expect(portuguese.text).toContain(';BRL;90071992547409935;900719925474099,35;')
    expect((await owner.get('/sandbox/payouts.csv?status=failed')).text.split('\r\n')).toHaveLength(2)

    const statement = await owner.get(
      `/sandbox/customers/${customer_id}/statement.csv?asset=BRL&language=pt-BR`,
    )
    expect(statement.headers.get('content-disposition')).toMatch(
      new RegExp(`filename="statement-${customer_id}-sandbox-[0-9-]{10}[.]csv"`),
    )
    expect(statement.text).toContain(`;payout;${payout.id};BRL;-90071992547409935;-900719925474099,35;`)
    expect((await owner.get('/sandbox/customers.csv')).text).toContain(',100000000,1.00000000,0,0.00000000')
    expect(await actionsOf(partner_id)).toEqual(['export', 'export', 'export', 'export', 'export'])
  })

  test('begin with the UTF-8 byte order mark', async () => {
    const { owner } = await aTeam()
    const response = await fetch(`${service.url}/console/api/sandbox/customers.csv`, {
      headers: { cookie: owner.cookie! },
    })
    expect([...new Uint8Array(await response.arrayBuffer()).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  })
})

test("another partner's objects can be neither read, exported nor changed", async () => {
  const team = await aTeam()
  const payout = await pay(team)
  const { partner_id } = await service.partner()
  const stranger = await signedIn(service, { partner_id, role: 'owner' })
  for (const path of [
    `payouts/${payout.id}`,
    `customers/${team.customer_id}`,
    `customers/${team.customer_id}/statement`,
    `customers/${team.customer_id}/statement.csv`,
  ])
    expect((await stranger.get(`/sandbox/${path}`)).status, path).toBe(404)
  for (const path of [`payouts/${payout.id}/complete`, `payouts/${payout.id}/redeliver`])
    expect((await stranger.post(`/sandbox/${path}`)).status, path).toBe(404)
  const wanted = { form_id: form_id(), asset: 'BRL', amount: '1' }
  expect((await stranger.post(`/sandbox/customers/${team.customer_id}/deposits`, wanted)).status).toBe(404)
  expect((await stranger.patch(`/sandbox/customers/${team.customer_id}`, { name: 'X' })).status).toBe(404)
  expect(ids(await stranger.get(`/sandbox/payouts?customer_id=${team.customer_id}`))).toEqual([])
  expect((await stranger.get('/sandbox/payouts.csv')).text.split('\r\n')).toHaveLength(2)
  expect((await team.owner.get(`/production/payouts/${payout.id}`)).json.error.code).toBe('payout_not_found')
})

describe('a receipt', () => {
  test('is downloaded by everybody who may see the payout or transfer, in either language', async () => {
    const team = await aTeam()
    const viewer = await signedIn(service, { partner_id: team.partner_id, role: 'viewer' })
    const { id } = await pay(team)
    // The first receipt loads the library: on a busy machine that takes longer than a request may.
    await until(async () => (await viewer.get(`/sandbox/payouts/${id}/receipt`)).status === 200, 30_000)
    for (const [query, name] of [
      ['', 'comprovante'],
      ['?lang=pt', 'comprovante'],
      ['?lang=en', 'receipt'],
    ]) {
      const { status, headers, text } = await viewer.get(`/sandbox/payouts/${id}/receipt${query}`)
      expect([status, headers.get('content-type'), text.slice(0, 5)]).toEqual([
        200,
        'application/pdf',
        '%PDF-',
      ])
      expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}-${id}.pdf"`)
      expect(headers.get('cache-control')).toBe('no-store')
    }
  })

  test('does not exist for what is open, for another team, or in the other environment', async () => {
    const team = await aTeam()
    const open = await pay(team, to('accepted@sandbox.test'))
    const refused = await team.owner.get(`/sandbox/payouts/${open.id}/receipt`)
    expect([refused.status, refused.json.error.code]).toEqual([409, 'receipt_not_available'])
    const { id } = await pay(team)
    const stranger = await signedIn(service, { partner_id: (await aTeam()).partner_id, role: 'owner' })
    expect((await stranger.get(`/sandbox/payouts/${id}/receipt`)).status).toBe(404)
    expect((await team.owner.get(`/production/payouts/${id}/receipt`)).status).toBe(404)
  })
})

test('a viewer only reads; finance exports and creates customers, but cannot play the rail', async () => {
  const team = await aTeam()
  const payout = await pay(team, to('accepted@sandbox.test'))
  const [viewer, finance] = await Promise.all(
    (['viewer', 'finance'] as const).map((role) => signedIn(service, { partner_id: team.partner_id, role })),
  )
  expect((await viewer!.get(`/sandbox/payouts/${payout.id}`)).status).toBe(200)
  const status = async (client: ConsoleClient, method: 'get' | 'post', path: string, body = {}) =>
    (await (method === 'get' ? client.get(path) : client.post(path, body))).status
  expect(await status(viewer!, 'get', '/sandbox/payouts.csv')).toBe(403)
  expect(
    await status(viewer!, 'post', '/sandbox/customers', {
      form_id: form_id(),
      name: 'X',
      document: someCpf(),
    }),
  ).toBe(403)
  expect(await status(finance!, 'get', '/sandbox/payouts.csv')).toBe(200)
  for (const path of [
    `payouts/${payout.id}/complete`,
    `payouts/${payout.id}/redeliver`,
    `customers/${team.customer_id}/deposits`,
  ])
    expect(await status(finance!, 'post', `/sandbox/${path}`), path).toBe(403)
})
