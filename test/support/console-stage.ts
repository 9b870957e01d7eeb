import { makeCnpj, makeCpf } from '../../src/core/document.ts'
import { createKey, revokeKey, rotateKey, type ShownKey } from '../../src/parties/keys/keys.ts'
import { createPartner, editPartner } from '../../src/parties/partners/partners.ts'
import { invite } from '../../src/parties/team/links.ts'
import { type Api, openApi } from './api.ts'
import { makePerson, type Person, signedIn } from './console.ts'
import { asAdmin } from './database.ts'
import { noteProductionKey } from './key-lines.ts'
import { openDesk } from './operators.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import type { TestService } from './service.ts'
import { stuckPayout } from './stuck.ts'
import { eventually, until } from './wait.ts'

/**
 * A partner as the pages of the console are looked at with: people, customers, money in and out, conversions, webhooks of which
 * one fails, keys of every state. Everything came about through the API and the rules, in the sandbox.
 */
export type ConsoleStage = {
  readonly partner_id: string
  readonly api: Api
  readonly people: Readonly<Record<'owner' | 'developer' | 'finance' | 'viewer', Person>>
  readonly operators: Readonly<Record<'admin' | 'resolver' | 'reader', Person>>
  /** The token of an open invitation. */
  readonly invitation: string
  /** Ids to visit, by the noun of their page. */
  readonly ids: Readonly<
    Record<
      | 'customer'
      | 'deposit'
      | 'payout'
      | 'failed_payout'
      | 'transfer'
      | 'quote'
      | 'trade'
      | 'key'
      | 'endpoint'
      | 'failing'
      | 'event'
      | 'request',
      string
    >
  >
  /** An operator who has not signed in yet, and has no second factor. */
  readonly newcomer: Person
  /** What waits for the operators of production, once `fillOffice` has made it. */
  readonly office: { payout: string; proposal: string }
  fillOffice(): Promise<void>
  /** Charges to visit, once `setCharges` has made them: one that is paid in part, and one that was paid twice. */
  readonly charges: { open: string; paid: string }
  setCharges(): Promise<void>
  /** A payout that nobody answers for: it stays so until an operator resolves it. */
  leaveUnanswered(amount?: string): Promise<string>
  /** The largest payout there is, by somebody with the longest name, without a space to break it at. */
  payTheMost(): Promise<string>
  /** The longest texts that people may write, without a space to break them at. Returns ids to visit. */
  writeTheLongest(): Promise<{ readonly key: string; readonly endpoint: string }>
  stop(): Promise<void>
}

/** What the service must be started with. */
export const stageEnv = { WEBHOOK_ALLOW_PRIVATE: 'true', PIX_WAIT_MS: '300', STUCK_AFTER_MS: '1000' }

const people: readonly (readonly [name: string, document: string, brl: string, email: string])[] = [
  ['Ana Souza', makeCpf('529982247'), '1812055', 'ana@souza.example'],
  ['Carla Mendes Ltda', makeCnpj('123456780001'), '9840040', 'financeiro@carla.example'],
  ['Nilo Caetano', makeCpf('308841205'), '745287', 'nilo@caetano.example'],
  ['Elisa Nakamura', makeCpf('417719055'), '2755131', 'elisa.nakamura@correio.example'],
  ['Moinho Claro S.A.', makeCnpj('442274400001'), '49084900', 'tesouraria@moinho.example'],
  ['Jonas Weber', makeCpf('134150982'), '912223', 'jonas@weber.example'],
  ['Lívia Antunes', makeCpf('772094668'), '1335286', 'livia@antunes.example'],
  ['Diego Ferraz', makeCpf('251203381'), '3912681', 'diego.ferraz@correio.example'],
]

const newcomer = { role: 'reader', email: 'olivia@operator.example', name: 'Olívia Reis' } as const

const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

export async function setConsoleStage(service: TestService): Promise<ConsoleStage> {
  const { shared, worlds } = service
  const { id: partner_id } = await createPartner(shared, 'Lumen Pagamentos')
  await editPartner(shared, partner_id, { tier: 'growth' })
  const { value, key } = await createKey(worlds.sandbox, { partner_id, name: 'checkout' })
  await setKeys(service, partner_id)
  const api = openApi(service.url, value)
  const receivers = [
    await openReceiver(),
    await openReceiver((_, response) => response.writeHead(503).end('<html>503</html>')),
  ]
  const endpoint = await made(api, '/v1/webhook_endpoints', {
    url: `${receivers[0]!.url}/trilho`,
    events: ['*'],
  })
  const failing = await made(api, '/v1/webhook_endpoints', {
    url: `${receivers[1]!.url}/hooks`,
    events: ['*'],
  })
  const customers = await setCustomers(api)
  const orders = await setOrders(api, customers)
  const event = (await api.get(`/v1/events?limit=1`)).json.data[0]
  const office = { payout: '', proposal: '' }
  const charges = { open: '', paid: '' }
  let left = 0
  const invited = { email: 'nilo@lumen.example', name: 'Nilo Caetano', role: 'finance' } as const
  const { token } = await invite(shared, { partner_id, email: 'helena@lumen.example' }, invited)
  const people = await setPeople(service, partner_id)
  await setNotifications(service, people.people.owner.user.id, [
    ['sign_in', '', '', 1, { id: 'ses_1', note: '203.0.113.7' }],
    ['webhook_failing', 'sandbox', '', 12, { id: failing.id }],
    ['key_created', 'sandbox', '', 2, { id: key.id, note: '4f2a' }],
    ['limit_near', 'production', 'payout_day', 3, { id: customers[0]!.id }],
  ])
  return {
    partner_id,
    api,
    ...people,
    invitation: token,
    ids: {
      customer: customers[0]!.id,
      deposit: (await api.get(`/v1/deposits?customer_id=${customers[0]!.id}&limit=1`)).json.data[0].id,
      ...orders,
      key: key.id,
      endpoint: endpoint.id,
      failing: failing.id,
      event: event.id,
      request: (await api.get('/v1/account')).headers.get('x-request-id')!,
    },
    newcomer: await makePerson(service, newcomer),
    office,
    fillOffice: async () => void Object.assign(office, await setOffice(service, partner_id)),
    charges,
    setCharges: async () => void Object.assign(charges, await setCharges(api, customers[5]!.id)),
    async leaveUnanswered(amount = '1890040') {
      await made(api, '/v1/sandbox/deposits', { customer_id: customers[1]!.id, asset: 'BRL', amount })
      const paid = await pay(api, customers[1]!, {
        amount,
        pix_key: 'unknown@sandbox.test',
        name: `unanswered-${++left}`,
      })
      return paid.id
    },
    payTheMost: () => payMost(api),
    writeTheLongest: () => setLongest(service, { partner_id, api, url: receivers[1]!.url }),
    stop: async () => void (await Promise.all(receivers.map((receiver: Receiver) => receiver.stop()))),
  }
}

type Notified = readonly [
  kind: string,
  place: string,
  topic: string,
  count: number,
  sample: { readonly id: string; readonly note?: string },
]

/** An hour apart; the first two are unread. */
const setNotifications = ({ database }: TestService, user_id: string, lines: readonly Notified[]) =>
  asAdmin(
    database.url,
    lines.map(
      ([kind, place, topic, count, sample], i) =>
        `INSERT INTO shared.notifications (id, user_id, kind, place, topic, count, samples, first_at, last_at, read_at)
         VALUES ('ntf_stage${i}', '${user_id}', '${kind}', '${place}', '${topic}', ${count}, '${JSON.stringify([sample])}',
           now() - interval '${i} hours', now() - interval '${i} hours', ${i > 1 ? 'now()' : 'NULL'})`,
    ),
  )

async function setPeople(service: TestService, partner_id: string) {
  const of = (options: Parameters<typeof makePerson>[1]) => makePerson(service, { partner_id, ...options })
  const operator = (role: 'admin' | 'resolver' | 'reader', email: string, name: string) =>
    makePerson(service, { role, email, name, factor: true })
  return {
    people: {
      owner: await of({ role: 'owner', factor: true, email: 'helena@lumen.example', name: 'Helena Prado' }),
      developer: await of({ role: 'developer', email: 'tomas@lumen.example', name: 'Tomás Leal' }),
      finance: await of({ role: 'finance', email: 'irene@lumen.example', name: 'Irene Prado' }),
      viewer: await of({ role: 'viewer', email: 'caio@lumen.example', name: 'Caio Brandão' }),
    },
    operators: {
      admin: await operator('admin', 'marta@operator.example', 'Marta Quirino'),
      resolver: await operator('resolver', 'rafael@operator.example', 'Rafael Teles'),
      reader: await operator('reader', 'nadia@operator.example', 'Nádia Reis'),
    },
  }
}

type LongestOptions = { readonly partner_id: string; readonly api: Api; readonly url: string }

/** A colleague with the longest e-mail, what the audit log says of them, their key and its calls, and a failing endpoint. */
async function setLongest(service: TestService, { partner_id, api, url }: LongestOptions) {
  const name = 'Wolfeschlegelsteinhausen'.repeat(4).slice(0, 80)
  const email = `${name.toLowerCase()}@${'mailserver'.repeat(6)}.example`
  const colleague = await signedIn(service, { partner_id, role: 'developer', email, name })
  const form = { form_id: `longest-${partner_id}`, name, scopes: ['read', 'transfers'], ip_allowlist: [] }
  const { json, status, text } = await colleague.post('/sandbox/keys', form)
  if (status !== 201) throw new Error(`a key with the longest name: ${status} ${text}`)
  const own = openApi(service.url, json.value)
  await own.get('/v1/account')
  await own.post('/v1/pix/payouts', {})
  await own.get(`/v1/webhook_endpoints/we_none/deliveries`)
  const endpoint = await made(api, '/v1/webhook_endpoints', {
    url: `${url}/${'hooks-of-payments/'.repeat(20)}end`,
    events: ['*'],
    description: name.repeat(3).slice(0, 200),
  })
  return { key: json.key.id as string, endpoint: endpoint.id as string }
}

/** Two payments of production without an outcome; for one a settlement is proposed. */
async function setOffice(service: TestService, partner_id: string) {
  const { id: payout } = await stuckPayout(service, { partner_id })
  const waiting = { partner_id, name: 'Nilo Caetano', amount: 450_000n, ago: '3 hours' }
  const { id: payout_id } = await stuckPayout(service, waiting)
  const evidence = 'The bank has no such payment: e-mail of 15 Nov, ticket 88-1204.'
  const desk = openDesk(() => service.office)
  const resolution = { name: 'resolve_payout', details: { payout_id, outcome: 'failed', evidence } } as const
  // Refused while a worker may be sending the payout.
  const { id: proposal } = await eventually(() =>
    desk.propose(service.worlds.production, resolution, 'rafael@operator.example'),
  )
  return { payout, proposal }
}

/** One of each state beside the one in use. */
async function setKeys({ worlds, office }: TestService, partner_id: string): Promise<void> {
  for (const world of [worlds.sandbox, worlds.production]) {
    const noted = async (action: 'create_key' | 'rotate_key', shown: ShownKey) => {
      if (world.environment === 'production') await noteProductionKey(office, action, shown)
      return shown
    }
    const make = async (name: string, more = {}) =>
      noted('create_key', await createKey(world, { partner_id, name, ...more }))
    await make('reporting', { scopes: ['read'], ip_allowlist: ['203.0.113.0/24', '2001:db8:42::/48'] })
    const { key: rotated } = await make('treasury-bot', { scopes: ['read', 'transfers', 'quotes'] })
    await noted('rotate_key', await rotateKey(world, rotated.id, 8 * 3600))
    const { key: revoked } = await make('legacy-batch')
    await revokeKey(world, revoked.id)
    await make('migration', { expires_at: new Date(Date.now() + 20 * 24 * 3_600_000) })
  }
}

async function made(api: Api, path: string, body: unknown): Promise<any> {
  const { status, json, text } = await api.post(path, body)
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`)
  return json
}

async function setCustomers(api: Api): Promise<any[]> {
  const customers: any[] = []
  for (const [i, [name, document, brl, email]] of people.entries()) {
    const customer = await made(api, '/v1/customers', {
      name,
      document,
      email,
      external_id: `user-${4711 + i}`,
      metadata: { segment: 'retail' },
    })
    customers.push(customer)
    await made(api, '/v1/sandbox/deposits', { customer_id: customer.id, asset: 'BRL', amount: brl })
    if (i % 2 === 0)
      await made(api, '/v1/sandbox/deposits', {
        customer_id: customer.id,
        asset: 'USDT',
        amount: '2000000000',
      })
    if (i % 3 === 0)
      await made(api, '/v1/sandbox/deposits', { customer_id: customer.id, asset: 'BTC', amount: '5000000' })
  }
  return customers
}

const pay = (
  api: Api,
  { id, document }: any,
  { amount, pix_key, name }: { amount: string; pix_key?: string; name: string },
) =>
  made(api, '/v1/pix/payouts', {
    customer_id: id,
    amount,
    counterparty: { type: 'pix_key', pix_key: pix_key ?? document },
    description: 'Rescisão novembro',
    idempotency_key: `payroll-2026-11-${name}`,
  })

async function payMost(api: Api): Promise<string> {
  const document = makeCpf('640312975')
  const customer = await made(api, '/v1/customers', {
    name: 'MariaAparecida'.repeat(9).slice(0, 120),
    document,
  })
  await made(api, '/v1/sandbox/deposits', {
    customer_id: customer.id,
    asset: 'BRL',
    amount: '9'.repeat(18),
  })
  const paid = await pay(api, { ...customer, document }, { amount: '8'.repeat(18), name: 'most' })
  const ended = async () => (await api.get(`/v1/pix/payouts/${paid.id}`)).json.status === 'completed'
  await until(ended, 20_000)
  return paid.id
}

async function setCharges(api: Api, customer_id: string) {
  const charge = async (amount: string, description: string) =>
    made(api, '/v1/pix/charges', { customer_id, amount, description, idempotency_key: description })
  const pay = (charge_id: string, amount: string) =>
    made(api, '/v1/sandbox/pix/payments', { charge_id, amount })
  const expired = await charge('7900', 'Pedido 1040')
  await api.post(`/v1/sandbox/pix/charges/${expired.id}/expire`)
  // The provider refuses it.
  await charge('19001', 'Pedido 1041')
  const paid = await charge('12500', 'Pedido 1042')
  await pay(paid.id, '12500')
  await pay(paid.id, '12500')
  const open = await charge('48210', 'Pedido 1043')
  await pay(open.id, '20000')
  return { open: open.id, paid: paid.id }
}

async function setOrders(api: Api, customers: readonly any[]) {
  const documents = people.map(([, document]) => document)
  const payable = customers.map((customer, i) => ({ ...customer, document: documents[i] }))
  const payouts: any[] = []
  for (const [i, customer] of payable.entries())
    for (let n = 0; n < 2; n++)
      payouts.push(
        await pay(api, customer, { amount: String(48_213 * (i + 1) + 7 * n + 100), name: `${i}-${n}` }),
      )
  const failed_payout = await pay(api, payable[2], {
    amount: '15000',
    pix_key: 'ac03@sandbox.test',
    name: 'ac03',
  })
  await pay(api, payable[3], { amount: '1779', pix_key: 'ab03@sandbox.test', name: 'ab03' })
  const usdt = (i: number, amount: string, network: string) =>
    made(api, '/v1/onchain/transfers', {
      customer_id: payable[i].id,
      asset: 'USDT',
      network,
      amount,
      destination_address: EVM,
      idempotency_key: `withdrawal-${network}-${i}`,
    })
  const transfer = await usdt(0, '25000000', 'polygon')
  await usdt(2, '401000000', 'ethereum')
  const quoted = (customer: any, from_asset: string, to_asset: string, amount: string) =>
    made(api, '/v1/quotes', { customer_id: customer.id, from_asset, to_asset, amount })
  const quote = await quoted(payable[4], 'BRL', 'USDT', '10000000')
  const { json: trade } = await api.post(`/v1/quotes/${quote.id}/execute`)
  const { id: other } = await quoted(payable[0], 'USDT', 'BRL', '100500000')
  await api.post(`/v1/quotes/${other}/execute`)
  await quoted(payable[1], 'BRL', 'BTC', '500000')
  const last = payouts.at(-1)
  await until(async () => (await api.get(`/v1/pix/payouts/${last.id}`)).json.status === 'completed', 20_000)
  return {
    payout: payouts[0].id,
    failed_payout: failed_payout.id,
    transfer: transfer.id,
    quote: quote.id,
    trade: trade.id,
  }
}
