import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, openApi, type Reply } from '../../../test/support/api.ts'
import { type ConsoleClient, signedIn } from '../../../test/support/console.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { startNode } from '../../../test/support/node.ts'
import { openReceiver, type Receiver } from '../../../test/support/receiver.ts'
import { retryUntilAnswered } from '../../../test/support/retry.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { act } from '../../control/operator/act.ts'
import type { Act } from '../../control/operator/registry.ts'
import type { ActName } from '../../control/operator/rules.ts'
import type { Service } from '../../node/serve.ts'
import { eventTypes, TEST_TYPE } from './types.ts'

/** Contract §17.16: an event acknowledged before a request was sent is in the log before every event of that request. */

/** A prime, so that no client gets the pieces of a few types only: a partner has twenty webhook endpoints at most. */
const CLIENTS = 17
/** Neighbours in the sequence of pairs are similar, so each client gets pieces of this length from all over it. */
const STRETCH = 12
const ENDS_MS = 60_000

let service: TestService
let other: Service
let gone: Receiver
beforeAll(async () => {
  const env = { WEBHOOK_ALLOW_PRIVATE: 'true' }
  service = await startTestService(env)
  other = await startNode(service.database.url, env)
  gone = await openReceiver(({ json }, response) => {
    response.writeHead(json.type === TEST_TYPE ? 410 : 200).end()
  })
})
afterAll(async () => {
  await gone.stop()
  await other.stop()
  await service.stop()
})

type Client = {
  readonly partner_id: string
  /** Client of the node that gets the next request. */
  readonly api: Api
  readonly console: Pick<ConsoleClient, 'post'>
}

/** An event whose cause was acknowledged to the client. */
type Made = { readonly object_id: string; readonly type: string }

/** `prepare` runs before, so that there is nothing between one acknowledgement and the next request. */
type Way = {
  readonly type: string
  prepare(client: Client): Promise<string>
  /** Returns the id of the object that the event is about. */
  make(client: Client, prepared: string): Promise<string>
}

const shell = { kind: 'shell' } as const
const environment = 'sandbox'

function expectStatus<R extends { status: number; text: string }>(reply: R, status: number): R {
  expect([reply.status, reply.status === status ? '' : reply.text]).toEqual([status, ''])
  return reply
}
const idOf = (reply: { status: number; text: string; json: any }, status = 201): string =>
  expectStatus(reply, status).json.id

/** On a busy machine a request may time out on a lock: a 503 is no acknowledgement, and the request is sent again. */
const again = <R extends Reply>(ask: () => Promise<R>) => retryUntilAnswered(ask, { cut: 0, unavailable: 0 })
const insistentApi = (api: Api): Api => ({
  ...api,
  get: (path) => again(() => api.get(path)),
  post: (path, body) => again(() => api.post(path, body)),
  patch: (path, body) => again(() => api.patch(path, body)),
})
const insistentConsole = (console: ConsoleClient): Client['console'] => ({
  post: (path, body) => again(() => console.post(path, body)),
})

const nothing = async () => ''
const newCustomer = async ({ api }: Client) =>
  customerOf(await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() }))

/** After a 503 the customer may exist: the 409 of the second request names it, and acknowledges it. */
const customerOf = (reply: Pick<Reply, 'status' | 'text' | 'json'>): string =>
  reply.status === 409 ? reply.json.error.details.customer_id : idOf(reply)

const newDeposit = async ({ api }: Client, customer_id: string, asset: string, amount: string) =>
  idOf(await api.post('/v1/sandbox/deposits', { customer_id, asset, amount }))

const customerWith = (asset: string, amount: string) => async (client: Client) => {
  const customer_id = await newCustomer(client)
  await newDeposit(client, customer_id, asset, amount)
  return customer_id
}

/** The response, or a later GET, acknowledges the payout's end. */
const endedPayout = (pix_key: string) => async (client: Client, customer_id: string) => {
  const counterparty = { type: 'pix_key', pix_key }
  const order = { customer_id, amount: '100', counterparty, idempotency_key: customer_id }
  const { id, status } = expectStatus(await client.api.post('/v1/pix/payouts', order), 201).json
  const hasEnded = async () => (await client.api.get(`/v1/pix/payouts/${id}`)).json.status !== 'processing'
  if (status === 'processing') await until(hasEnded, ENDS_MS)
  return id as string
}

/** The response, or a later GET, acknowledges that the provider has decided about the charge. */
async function newCharge({ api }: Client, customer_id: string, amount: string): Promise<string> {
  const order = { customer_id, amount, idempotency_key: customer_id }
  const { id, status } = expectStatus(await api.post('/v1/pix/charges', order), 201).json
  const isDecided = async () => (await api.get(`/v1/pix/charges/${id}`)).json.status !== 'pending'
  if (status === 'pending') await until(isDecided, ENDS_MS)
  return id
}

const openCharge = async (client: Client) => newCharge(client, await newCustomer(client), '100')

/** The sandbox leaves this amount open: however late it is told to end the transfer, nothing else has ended it. */
async function newTransfer({ api }: Client, customer_id: string): Promise<string> {
  const order = {
    customer_id,
    asset: 'USDT',
    network: 'polygon',
    amount: '100009003',
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: customer_id,
  }
  return idOf(await api.post('/v1/onchain/transfers', order))
}

const endTransfer =
  (word: 'confirm' | 'fail') =>
  async ({ api }: Client, id: string) =>
    idOf(await api.post(`/v1/sandbox/onchain/transfers/${id}/${word}`), 200)

async function newTrade({ api }: Client, customer_id: string): Promise<string> {
  const order = { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '100000' }
  const quote_id = idOf(await api.post('/v1/quotes', order))
  return idOf(await api.post(`/v1/quotes/${quote_id}/execute`))
}

/** One operator at a shell: acts run one after the other. */
let atShell: Promise<unknown> = Promise.resolve()
function actAtShell<Name extends ActName>(action: Act<Name>): ReturnType<typeof act<Name>> {
  const acted = atShell.then(() => act(service.office, shell, action))
  atShell = acted.catch(() => {})
  return acted
}

async function newKey({ partner_id }: Client): Promise<string> {
  const details = { partner_id, name: 'causal order' }
  const made = await actAtShell({ name: 'create_key', environment, details })
  if (!('done' in made)) throw new Error('The key was proposed, not created.')
  return made.done.key.id
}

const changeCustomer =
  (name: 'block_customer' | 'unblock_customer') => async (_: Client, customer_id: string) => {
    await actAtShell({ name, environment, details: { customer_id } } as Act<typeof name>)
    return customer_id
  }

const newEndpoint = async ({ api }: Client) =>
  idOf(await api.post('/v1/webhook_endpoints', { url: gone.url, events: ['trade.failed'] }))

async function testEndpoint({ api }: Client, id: string): Promise<string> {
  expectStatus(await api.post(`/v1/webhook_endpoints/${id}/test`), 201)
  return id
}

/** For event types that no request of a partner causes in the sandbox. */
const sample = (type: string): Way => ({
  type,
  prepare: nothing,
  make: async ({ api }) =>
    expectStatus(await api.post(`/v1/sandbox/events/${type}`), 201).json.data.object.id,
})

const withBrl = customerWith('BRL', '1000000')
const withUsdt = customerWith('USDT', '1000000000')

/** Every event type at least once, and once per kind of cause: requests, people, workers. */
const ways: readonly Way[] = [
  { type: 'customer.created', prepare: nothing, make: newCustomer },
  {
    type: 'customer.created',
    prepare: nothing,
    async make({ console }) {
      const form = { form_id: randomUUID(), name: 'Ana Souza', document: someCpf() }
      const reply = await console.post('/sandbox/customers', form)
      return reply.json.error?.code === 'already_done' ? reply.json.error.details.id : customerOf(reply)
    },
  },
  {
    type: 'customer.updated',
    prepare: newCustomer,
    make: async ({ api }, id) => idOf(await api.patch(`/v1/customers/${id}`, { name: 'Ana Maria' }), 200),
  },
  { type: 'customer.blocked', prepare: newCustomer, make: changeCustomer('block_customer') },
  {
    type: 'customer.unblocked',
    prepare: async (client) => changeCustomer('block_customer')(client, await newCustomer(client)),
    make: changeCustomer('unblock_customer'),
  },
  {
    type: 'deposit.completed',
    prepare: newCustomer,
    make: (client, customer_id) => newDeposit(client, customer_id, 'BRL', '1'),
  },
  {
    // The sandbox leaves this amount pending.
    type: 'deposit.pending',
    prepare: newCustomer,
    make: async ({ api }, customer_id) =>
      idOf(
        await api.post('/v1/sandbox/onchain/deposits', {
          customer_id,
          network: 'polygon',
          amount: '25009003',
        }),
      ),
  },
  sample('deposit.dropped'),
  { type: 'pix.payout.created', prepare: withBrl, make: endedPayout('ana@sandbox.test') },
  { type: 'pix.payout.processing', prepare: withBrl, make: endedPayout('ana@sandbox.test') },
  { type: 'pix.payout.completed', prepare: withBrl, make: endedPayout('ana@sandbox.test') },
  // A worker ends this payout, after a status query.
  { type: 'pix.payout.completed', prepare: withBrl, make: endedPayout('garbage@sandbox.test') },
  {
    type: 'deposit.returned',
    prepare: async ({ api, ...client }) => {
      const customer_id = await newCustomer({ api, ...client })
      const charge = { customer_id, amount: '1050', idempotency_key: customer_id }
      const charge_id = idOf(await api.post('/v1/pix/charges', charge))
      return expectStatus(await api.post('/v1/sandbox/pix/payments', { charge_id }), 201).json.end_to_end_id
    },
    make: async ({ api }, end_to_end_id) =>
      idOf(await api.post(`/v1/sandbox/pix/payments/${end_to_end_id}/return`), 200),
  },
  {
    type: 'pix.payout.returned',
    prepare: async (client) => endedPayout('ana@example.com')(client, await withBrl(client)),
    make: async ({ api }, id) => idOf(await api.post(`/v1/sandbox/pix/payouts/${id}/return`), 200),
  },
  { type: 'pix.payout.failed', prepare: withBrl, make: endedPayout('ac03@sandbox.test') },
  { type: 'pix.charge.open', prepare: newCustomer, make: (client, id) => newCharge(client, id, '100') },
  {
    type: 'pix.charge.paid',
    prepare: openCharge,
    async make({ api }, charge_id) {
      expectStatus(await api.post('/v1/sandbox/pix/payments', { charge_id }), 201)
      return charge_id
    },
  },
  {
    type: 'pix.charge.expired',
    prepare: openCharge,
    make: async ({ api }, id) => idOf(await api.post(`/v1/sandbox/pix/charges/${id}/expire`), 200),
  },
  { type: 'pix.charge.failed', prepare: newCustomer, make: (client, id) => newCharge(client, id, '19001') },
  { type: 'onchain.transfer.created', prepare: withUsdt, make: newTransfer },
  {
    type: 'onchain.transfer.processing',
    prepare: withUsdt,
    make: async (client, customer_id) =>
      endTransfer('confirm')(client, await newTransfer(client, customer_id)),
  },
  {
    type: 'onchain.transfer.confirmed',
    prepare: withUsdt,
    make: async (client, customer_id) =>
      endTransfer('confirm')(client, await newTransfer(client, customer_id)),
  },
  {
    type: 'onchain.transfer.failed',
    prepare: withUsdt,
    make: async (client, customer_id) => endTransfer('fail')(client, await newTransfer(client, customer_id)),
  },
  { type: 'trade.completed', prepare: withBrl, make: newTrade },
  sample('trade.failed'),
  sample('fee_payout.completed'),
  { type: 'api_key.created', prepare: nothing, make: newKey },
  {
    type: 'api_key.rotated',
    prepare: newKey,
    async make(_, key_id) {
      const details = { key_id, grace_seconds: 0 }
      await actAtShell({ name: 'rotate_key', environment, details })
      return key_id
    },
  },
  {
    type: 'api_key.revoked',
    prepare: newKey,
    async make(_, key_id) {
      await actAtShell({ name: 'revoke_key', environment, details: { key_id } })
      return key_id
    },
  },
  {
    type: 'webhook_endpoint.disabled',
    prepare: newEndpoint,
    make: async ({ api }, id) =>
      idOf(await api.patch(`/v1/webhook_endpoints/${id}`, { status: 'disabled' }), 200),
  },
  {
    // The receiver responds 410 to a test event, and a worker of either node disables the endpoint.
    type: 'webhook_endpoint.disabled',
    prepare: newEndpoint,
    async make(client, id) {
      await testEndpoint(client, id)
      const isDisabled = async () =>
        (await client.api.get(`/v1/webhook_endpoints/${id}`)).json.status === 'disabled'
      await until(isDisabled, ENDS_MS)
      return id
    },
  },
  { type: TEST_TYPE, prepare: newEndpoint, make: testEndpoint },
]

/** A de Bruijn sequence: read as a circle, it has every ordered pair of items next to each other. */
const everyPair = <T>(items: readonly T[]): T[] =>
  items.flatMap((item, i) => [item, ...items.slice(i + 1).flatMap((later) => [item, later])])

test('an acknowledged event is in the log before every later one, for every pair of types, many clients and two nodes', async () => {
  const pairs = everyPair(ways)
  const stretches = Array.from({ length: Math.ceil(pairs.length / STRETCH) }, (_, n) =>
    Array.from({ length: STRETCH + 1 }, (_, step) => pairs[(n * STRETCH + step) % pairs.length]!),
  )
  const walkers = []
  for (let i = 0; i < CLIENTS; i++) {
    const { partner_id, key } = await service.partner()
    const console = await signedIn(service, { partner_id, role: 'owner' })
    const nodes = [service.url, other.url].map((url) => ({
      partner_id,
      console: insistentConsole(console),
      api: insistentApi(openApi(url, key)),
    }))
    const clientAt = (step: number): Client => nodes[(i + step) % 2]!
    const steps = stretches.flatMap((stretch, n) => (n % CLIENTS === i ? stretch : []))
    walkers.push({ clientAt, steps, prepared: [] as string[] })
  }
  await Promise.all(
    walkers.map(async ({ clientAt, steps, prepared }) => {
      for (const [step, { prepare }] of steps.entries()) prepared.push(await prepare(clientAt(step)))
    }),
  )

  let writing = true
  const following = Promise.all(walkers.map(({ clientAt }) => follow(clientAt(0).api, () => writing)))
  following.catch(() => {})
  const walked = await Promise.all(
    walkers.map(async ({ clientAt, steps, prepared }) => {
      const made: Made[] = []
      for (const [step, { type, make }] of steps.entries())
        made.push({ object_id: await make(clientAt(step), prepared[step]!), type })
      return made
    }),
  ).finally(() => {
    writing = false
  })
  const followed = await following

  const rows = await placedEvents()
  const found = new Map(rows.map((row) => [`${row.object_id} ${row.type}`, row]))
  const eventOf = ({ object_id, type }: Made) => found.get(`${object_id} ${type}`)!
  const reversed = walked.flatMap((made) =>
    made.slice(1).flatMap((later, i) => {
      const earlier = made[i]!
      return eventOf(earlier).position < eventOf(later).position
        ? []
        : [`${earlier.type}, then ${later.type}`]
    }),
  )
  expect(reversed).toEqual([])
  expect(new Set(walked.flat().map(({ type }) => type))).toEqual(new Set([...eventTypes, TEST_TYPE]))

  // A reader that followed a cursor meanwhile has every acknowledged event, in the order of the log.
  for (const [i, ids] of followed.entries()) {
    expect(ids).toEqual(expect.arrayContaining(walked[i]!.map((made) => eventOf(made).id)))
    const whole = await follow(walkers[i]!.clientAt(1).api, () => false)
    expect(ids).toEqual(whole.slice(0, ids.length))
  }
}, 600_000)

async function placedEvents() {
  const select = 'SELECT id, object_id, type, position FROM sandbox.events'
  // If an object has several events of a type, the last one is the acknowledged one.
  const isPlaced = async () =>
    (await asAdmin(service.database.url, [`${select} WHERE position IS NULL`])).length === 0
  await until(isPlaced, ENDS_MS)
  const rows = await asAdmin(service.database.url, [`${select} ORDER BY position`])
  return rows.map((row) => ({ ...(row as Made & { id: string }), position: BigInt(row.position as string) }))
}

/** Reads the log from its start, page by page, until writing has ended and no event is left. */
async function follow(api: Api, isWriting: () => boolean): Promise<string[]> {
  const seen: string[] = []
  let after = 'start'
  for (;;) {
    const last = !isWriting()
    const page = expectStatus(await api.get(`/v1/events?limit=100&after=${after}`), 200).json
    seen.push(...page.data.map(({ id }: { id: string }) => id))
    after = page.next_cursor
    if (last && !page.has_more) return seen
    if (!page.has_more) await sleep(50)
  }
}

test('afterwards the books are right', async () => {
  expect((await service.audit()).sandbox.findings).toEqual([])
})
