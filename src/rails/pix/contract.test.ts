import { inspect } from 'node:util'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import type { Bank } from '../../../test/pix/bank.ts'
import { startEfiStub } from '../../../test/pix/efi-stub.ts'
import { commonFaults, type StubFault } from '../../../test/pix/provider-stub.ts'
import { examples } from '../../../test/pix/starkbank-answers.ts'
import { startStarkStub } from '../../../test/pix/starkbank-stub.ts'
import { systemClock } from '../../core/clock.ts'
import { money } from '../../core/money.ts'
import { readClientCertificate } from './efi/certificate.ts'
import { openEfi } from './efi/rail.ts'
import type { PixAccount, PixOrder, PixRail } from './rail.ts'
import { transferStates } from './starkbank/catalogue.ts'
import { readProjectKey } from './starkbank/project-key.ts'
import { openStarkBank } from './starkbank/rail.ts'

/** What every provider of Pix must do, over a stub of each. The providers' own catalogues have their own tests. */
type Dialect = {
  readonly rail: PixRail<'production'> & { readonly account: PixAccount }
  readonly bank: Bank
  readonly secrets: readonly string[]
  /** What goes wrong with the next send, status query or list. */
  spoil(call: 'send' | 'status' | 'list', fault: StubFault): void
  /** A page with one entry that cannot be read, and then the payments of the bank. */
  readonly broken_list: { readonly http: number; readonly body: unknown }
  stop(): Promise<void>
}

const KEY = 'ana@example.com'
const DOCUMENT = '52998224725'
/** Long, so that a busy machine makes no call time out. A late answer is tested with the short one. */
const TIMEOUT_MS = 60_000
const SHORT_TIMEOUT_MS = 700
const LATE_MS = 1200
let logged = ''
const log = pino({ level: 'trace' }, { write: (line: string) => void (logged += line) })
const commonWith = (timeout_ms: number) => ({ timeout_ms, clock: systemClock(), log, at_once: 1 })

async function openEfiDialect(timeout_ms: number): Promise<Dialect> {
  const stub = await startEfiStub()
  const { url, ca, client_id, client_secret, certificate } = stub
  const access = { url, ca, client_id, client_secret, certificate: readClientCertificate(certificate) }
  const rail = openEfi({ ...commonWith(timeout_ms), access, pix_key: stub.pix_key })
  const paginacao = { paginaAtual: 0, quantidadeDePaginas: 1 }
  return {
    ...{ rail, bank: stub.bank, secrets: [client_secret, ...certificate.split('\n').slice(-5, -2)] },
    spoil: (call, fault) => stub.spoil(call, fault),
    broken_list: {
      http: 200,
      body: {
        parametros: { paginacao },
        pix: [
          { endToEndId: 'E1', valor: 'x', status: 'REALIZADO' },
          { endToEndId: 'E2', valor: '1.00', status: 'REALIZADO' },
        ],
      },
    },
    async stop() {
      await rail.stop()
      await stub.stop()
    },
  }
}

async function openStarkDialect(timeout_ms: number): Promise<Dialect> {
  const stub = await startStarkStub()
  stub.holds(KEY, DOCUMENT)
  const { url, ca, project_id, private_key } = stub
  const rail = openStarkBank({
    ...commonWith(timeout_ms),
    access: { url, ca, project_id, private_key: readProjectKey(private_key) },
  })
  const created = new Date().toISOString()
  return {
    ...{ rail, bank: stub.bank, secrets: private_key.split('\n').filter((line) => line.length > 40) },
    spoil: (call, fault) => stub.spoil(call === 'status' ? 'list' : call, fault),
    broken_list: {
      http: 200,
      body: {
        cursor: null,
        transfers: [
          { amount: 1.5, status: 'success', created, metadata: { authentication: 'E1' } },
          { amount: 100, status: 'success', created, metadata: { authentication: 'E2' } },
        ],
      },
    },
    async stop() {
      await rail.stop()
      await stub.stop()
    },
  }
}

let orders = 0
const orderOf = (more: Partial<PixOrder> = {}): PixOrder => ({
  send_id: `TRILHO${String(++orders).padStart(26, '0')}`,
  amount: money('BRL', 1050n),
  to: { pix_key: KEY, name: 'Ana Souza', document: DOCUMENT },
  description: 'Invoice 1042',
  sent_at: new Date(),
  attempt: 1,
  ...more,
})

const stopping: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop()
  logged = ''
})

describe.each([
  ['Efí', openEfiDialect],
  ['Stark Bank', openStarkDialect],
])('%s', (_, openDialect) => {
  const open = async (timeout_ms = TIMEOUT_MS) => {
    const dialect = await openDialect(timeout_ms)
    stopping.push(dialect.stop)
    return dialect
  }

  test('takes a payment, and tells its end', async () => {
    const { rail, bank } = await open()
    const order = orderOf()
    bank.decide(() => 'open')
    expect(await rail.send(order)).toEqual({ kind: 'accepted' })
    expect(await rail.status(order)).toEqual({ kind: 'accepted' })
    const payment = bank.sent.get(order.send_id)!
    expect(payment.amount).toBe(1050n)
    payment.end = 'settled'
    expect(await rail.status(order)).toEqual({ kind: 'settled', end_to_end_id: payment.end_to_end_id })
    payment.end = { refused: 'failed' }
    expect(await rail.status(order)).toMatchObject({ kind: 'refused' })
  })

  test('pays an account', async () => {
    const { rail, bank } = await open()
    const bank_account = { ispb: '60701190', branch: '0001', account_number: '123456-7' }
    const to = { name: 'Ana Souza', document: DOCUMENT }
    const order = orderOf({ to: { ...to, bank_account: { ...bank_account, account_type: 'checking' } } })
    expect(await rail.send(order)).toEqual({ kind: 'accepted' })
    expect(JSON.stringify(bank.sent.get(order.send_id)!.order)).toContain('123456-7')
  })

  test('takes a payment once, however often it is sent', async () => {
    const { rail, bank } = await open()
    const order = orderOf()
    const said = await Promise.all([1, 2, 3].map(() => rail.send(order)))
    expect(said.map(({ kind }) => kind)).not.toContain('refused')
    expect(bank.sent.size).toBe(1)
  })

  test('is sure only of what it never got', async () => {
    const { rail } = await open()
    expect(await rail.status(orderOf())).toEqual({ kind: 'absent' })
  })

  test('believes no end of another amount', async () => {
    const { rail } = await open()
    const order = orderOf()
    await rail.send(order)
    await expect(rail.status({ ...order, amount: money('BRL', 1051n) })).rejects.toThrow('is not valid')
  })

  test.each(commonFaults(LATE_MS))('refuses nothing because of $kind $reply.http', async (fault) => {
    const { rail, bank, spoil } = await open(fault.kind === 'delay' ? SHORT_TIMEOUT_MS : TIMEOUT_MS)
    const order = orderOf()
    await rail.ready()
    spoil('send', fault)
    expect(['accepted', 'unknown', 'later']).toContain((await rail.send(order)).kind)
    expect(bank.sent.size).toBeLessThanOrEqual(1)
    spoil('status', fault)
    const said = await rail.status(order).catch(() => ({ kind: 'unknown' }))
    expect(['settled', 'accepted', 'unknown', ...(bank.sent.size === 0 ? ['absent'] : [])]).toContain(
      said.kind,
    )
  })

  test.each([400, 401, 403, 404, 409, 418, 422, 500, 503])(
    'takes no unknown %s for a refusal',
    async (http) => {
      const { rail, spoil } = await open()
      for (const body of [{}, { nome: 'algo_novo' }, { errors: [{ code: 'somethingNew', message: 'x' }] }]) {
        for (let i = 0; i < 2; i++) spoil('send', { kind: 'answer', reply: { http, body } })
        const { kind } = await rail.send(orderOf())
        expect(['unknown', 'later', 'accepted']).toContain(kind)
      }
    },
  )

  test('sends nothing once the caller has given up', async () => {
    const { rail, bank } = await open()
    await rail.ready()
    expect(await rail.send(orderOf(), AbortSignal.abort())).toMatchObject({ kind: 'later' })
    expect(bank.sent.size).toBe(0)
  })

  test('has a balance, and lists what was sent, page by page', async () => {
    const { rail, bank } = await open()
    bank.hold({ available: 5_000_000n })
    for (let i = 0; i < 101; i++) await rail.send(orderOf({ amount: money('BRL', BigInt(i + 1)) }))
    expect((await rail.account.balance()).available).toBe(5_000_000n - 5151n)
    const listed = []
    for await (const one of rail.account.sent(new Date(Date.now() - 60_000), new Date())) listed.push(one)
    expect(listed.map(({ send_id }) => send_id).sort()).toEqual([...bank.sent.keys()].sort())
    const before = []
    for await (const one of rail.account.sent(new Date(0), new Date(86_400_000))) before.push(one)
    expect(before).toEqual([])
  })

  test('reads on after an entry that cannot be read', async () => {
    const { rail, spoil, broken_list } = await open()
    spoil('list', { kind: 'answer', reply: broken_list })
    const listed = []
    for await (const one of rail.account.sent(new Date(0), new Date())) listed.push(one)
    expect(listed).toMatchObject([
      { is_unread: true, end_to_end_id: 'E1' },
      { end_to_end_id: 'E2', amount: 100n, state: 'settled' },
    ])
  })

  test('has no secret in logs and errors', async () => {
    const { rail, spoil, secrets } = await open()
    spoil('send', { kind: 'answer', reply: { http: 500, body: {} } })
    spoil('status', { kind: 'drop' })
    await rail.send(orderOf())
    const error = await rail.status(orderOf()).catch((thrown: unknown) => thrown)
    expect(secrets.length).toBeGreaterThan(0)
    for (const secret of [...secrets, DOCUMENT, KEY])
      expect(`${logged}${inspect(error)}`).not.toContain(secret)
  })
})

describe('Stark Bank alone', () => {
  const open = async () => {
    const stub = await startStarkStub()
    const key = readProjectKey(stub.private_key)
    const access = { url: stub.url, ca: stub.ca, project_id: stub.project_id, private_key: key }
    const rail = openStarkBank({ ...commonWith(TIMEOUT_MS), access })
    stopping.push(rail.stop, stub.stop)
    return { stub, rail, access }
  }

  test('has a row for each state that the SDKs name, and its ids fit', async () => {
    expect(Object.keys(transferStates)).toEqual([...examples.states])
    const { stub, rail } = await open()
    stub.holds(KEY, DOCUMENT)
    const order = orderOf()
    await rail.send(order)
    const shown = { externalId: order.send_id, amount: 1050, created: new Date().toISOString() }
    const asked = async (more: object) => {
      stub.spoil('list', {
        ...{ kind: 'answer', reply: { http: 200, body: { transfers: [{ ...shown, ...more }] } } },
      })
      return rail.status(order)
    }
    for (const [status, kind] of Object.entries(transferStates)) {
      const metadata = { authentication: examples.authentication }
      expect(await asked({ status, metadata })).toMatchObject({ kind })
    }
    expect(await asked({ status: 'somethingNew' })).toEqual({ kind: 'unknown' })
    // The tag is the order's own, so such a transfer may have paid the order.
    for (const externalId of [null, undefined, `${order.send_id}x`])
      await expect(asked({ status: 'success', externalId })).rejects.toThrow('another externalId')
  })

  test.each(['first', 'error'] as const)('pays once if a repeated id gets the %s', async (answer) => {
    const { stub, rail } = await open()
    stub.holds(KEY, DOCUMENT)
    stub.repeat(answer)
    const order = orderOf()
    await rail.send(order)
    expect((await rail.send(order)).kind).toBe(answer === 'first' ? 'accepted' : 'unknown')
    expect(stub.bank.sent.size).toBe(1)
  })

  test('pays a key only to the document of the order, as far as the directory shows it', async () => {
    const { stub, rail } = await open()
    expect(await rail.send(orderOf())).toMatchObject({ kind: 'later' })
    stub.holds(KEY, '11144477735')
    expect(await rail.send(orderOf())).toMatchObject({
      ...{ kind: 'refused', reason: 'recipient_document_mismatch' },
    })
    expect(stub.bank.sent.size).toBe(0)
  })

  test('does not take the masked CPF of a key for a CNPJ that contains the same digits', async () => {
    const { stub, rail } = await open()
    stub.holds(KEY, '11144477735')
    const to = { pix_key: KEY, name: 'Ana Souza Ltda', document: '12444777000199' }
    expect(await rail.send(orderOf({ to }))).toMatchObject({
      ...{ kind: 'refused', reason: 'recipient_document_mismatch' },
    })
    expect(stub.bank.sent.size).toBe(0)
  })

  test('takes no orders for a while after its signature was refused', async () => {
    const { access } = await open()
    const { private_key: other } = (await open()).stub
    const rail = openStarkBank({
      ...commonWith(TIMEOUT_MS),
      access: { ...access, private_key: readProjectKey(other) },
    })
    stopping.push(rail.stop)
    await rail.ready()
    expect(await rail.send(orderOf())).toMatchObject({ kind: 'later' })
    await expect(rail.ready()).rejects.toMatchObject({ code: 'rail_unavailable' })
    expect(() => readProjectKey('x')).toThrow('PEM')
  })
})
