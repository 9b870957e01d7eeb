import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chargeBody, receivedNotice, sentNotice } from '../../../../test/pix/efi-answers.ts'
import { type EfiStub, startEfiStub } from '../../../../test/pix/efi-stub.ts'
import { commonFaults, type StubFault, type StubReply } from '../../../../test/pix/provider-stub.ts'
import { selfSigned } from '../../../../test/support/certificate.ts'
import { until } from '../../../../test/support/wait.ts'
import { makeBrCode } from '../../../core/br-code.ts'
import { type Clock, systemClock } from '../../../core/clock.ts'
import { money } from '../../../core/money.ts'
import type { ChargeOrder, PixOrder, PixOutcome, ReceivedPix, SentPix } from '../rail.ts'
import { fromReais, readNotice, toReais } from './bodies.ts'
import {
  chargeAnswers,
  knownChargeAnswers,
  receivedAnswers,
  sendAnswers,
  statusAnswers,
} from './catalogue.ts'
import { readClientCertificate } from './certificate.ts'
import { openEfi } from './rail.ts'

let efi: EfiStub
let opened: ReturnType<typeof openEfi>[] = []
let logged = ''

beforeEach(async () => {
  efi = await startEfiStub()
  logged = ''
})
afterEach(async () => {
  for (const rail of opened) await rail.stop()
  opened = []
  await efi.stop()
})

/** Shorter than a delayed answer takes. Every other call has all the time that it needs. */
const [SHORT_TIMEOUT_MS, TIMEOUT_MS] = [700, 60_000]

function open({
  timeout_ms = TIMEOUT_MS,
  certificate = efi.certificate,
  clock = systemClock(),
  ...more
}: Partial<Opening> = {}) {
  const rail = openEfi({
    access: {
      ...{ url: efi.url, ca: efi.ca, client_id: efi.client_id, client_secret: efi.client_secret, ...more },
      certificate: readClientCertificate(certificate),
    },
    pix_key: efi.pix_key,
    at_once: 1,
    timeout_ms,
    clock,
    log: pino({ level: 'trace' }, { write: (line: string) => void (logged += line) }),
  })
  opened.push(rail)
  return rail
}

/** Two rails that have signed in: a delayed answer is too late for the first one, and the second one waits for every answer. */
async function openFor({ kind }: StubFault) {
  const patient = open()
  await patient.ready()
  if (kind !== 'delay') return { rail: patient, patient }
  const rail = open({ timeout_ms: SHORT_TIMEOUT_MS })
  const isReady = () =>
    rail.ready().then(
      () => true,
      () => false,
    )
  await until(isReady, 20_000)
  return { rail, patient }
}

type Opening = {
  timeout_ms: number
  certificate: string
  client_secret: string
  ca: string
  url: string
  clock: Clock
}

let orders = 0
const orderOf = (more: Partial<PixOrder> = {}): PixOrder => ({
  send_id: `TRILHO${String(++orders).padStart(26, '0')}`,
  amount: money('BRL', 1050n),
  to: { pix_key: 'ana@example.com', name: 'Ana Souza', document: '52998224725' },
  description: 'Invoice 1042',
  sent_at: new Date(),
  attempt: 1,
  ...more,
})

const answer = (reply: StubReply): StubFault => ({ kind: 'answer', reply })

describe('the catalogue', () => {
  test.each(sendAnswers)('send: $http $says is $outcome.kind', async ({ http, says, outcome }) => {
    const rail = open()
    const order = orderOf()
    const named =
      http === 201 ? { idEnvio: order.send_id, valor: '10.50', status: says } : { nome: says ?? 'x' }
    const times = http === 401 ? 2 : 1
    for (let i = 0; i < times; i++) efi.spoil('send', answer({ http, body: named }))
    const since = Date.now()
    const said = await rail.send(order)
    expect(said).toMatchObject({
      ...{ kind: outcome.kind },
      ...('reason' in outcome ? { reason: outcome.reason, rail_code: says } : {}),
    })
    if (outcome.kind === 'refused') expect('is_ours' in said).toBe('is_ours' in outcome)
    if (said.kind === 'later') {
      expect(said.at.getTime()).toBeGreaterThan(since + 20_000)
      expect(said.at.getTime()).toBeLessThanOrEqual(Date.now() + 60_000)
    }
  })

  test.each(statusAnswers)('status: $http $says is $outcome.kind', async ({ http, says, outcome }) => {
    const rail = open()
    const order = orderOf()
    const end_to_end_id = 'E09089356202611181200abcdefghijk'
    const payment = { idEnvio: order.send_id, endToEndId: end_to_end_id, valor: '10.50', status: says }
    const problem = { type: `https://pix.bcb.gov.br/api/v2/error/${says}`, status: 404 }
    const gnExtras = { erro: { codigo: 'AC03', origem: 'SPI', motivo: 'x' } }
    efi.spoil('status', answer({ http, body: http === 404 ? problem : { ...payment, gnExtras } }))
    const expected = {
      settled: { kind: 'settled', end_to_end_id },
      refused: { kind: 'refused', rail_code: 'AC03' },
      accepted: { kind: 'accepted' },
      absent: { kind: 'absent' },
      unknown: { kind: 'unknown', ask_at: expect.any(Date) },
    }
    expect(await rail.status(order)).toEqual(expected[outcome.kind])
  })

  const undecided: [string, StubReply][] = [
    ['a 400 with a new name', { http: 400, body: { nome: 'algo_novo', mensagem: 'x' } }],
    ['a name of the catalogue under another status', { http: 404, body: { nome: 'pagamento_negado' } }],
    ['a 400 without a name', { http: 400, body: { message: 'x' } }],
    ['a 403 for another reason', { http: 403, body: { nome: 'acesso_negado' } }],
    [
      'a 404 of a proxy',
      { http: 404, text: '<html>not found</html>', headers: { 'content-type': 'text/html' } },
    ],
    ['a 422 with a new name', { http: 422, body: { nome: 'outro' } }],
    ['a 500', { http: 500, body: { nome: 'erro_interno' } }],
    ['a 502 with HTML', { http: 502, text: '<html></html>' }],
    ['a redirect', { http: 302, headers: { location: 'https://example.com/' } }],
    ['a 200', { http: 200, body: { status: 'EM_PROCESSAMENTO' } }],
    ['a 201 with another state', { http: 201, body: { idEnvio: 'x', valor: '10.50', status: 'REALIZADO' } }],
    [
      'a 201 about another payment',
      { http: 201, body: { idEnvio: 'x', valor: '10.50', status: 'EM_PROCESSAMENTO' } },
    ],
    [
      'an answer that is too long',
      { http: 400, text: `{"nome":"pagamento_negado","x":"${'x'.repeat(70_000)}"}` },
    ],
  ]
  test.each(undecided)('%s decides nothing', async (_, reply) => {
    const rail = open()
    efi.spoil('send', answer(reply))
    expect(await rail.send(orderOf())).toEqual({ kind: 'unknown' })
    if (reply.http === 200 || reply.text?.startsWith('{')) return
    efi.spoil('status', answer(reply))
    expect(await rail.status(orderOf())).toEqual({ kind: 'unknown' })
  })

  test.each([
    ['another state', { http: 201, body: { status: 'REALIZADO' } }],
    ['another amount', { http: 201, body: { status: 'EM_PROCESSAMENTO', valor: '10.5' } }],
    ['another status', { http: 200, body: { status: 'EM_PROCESSAMENTO', valor: '10.50' } }],
  ])('a success that names the payment means that Efí has it, with %s too', async (_, { http, body }) => {
    const rail = open()
    const order = orderOf()
    efi.spoil('send', answer({ http, body: { idEnvio: order.send_id, ...body } }))
    expect(await rail.send(order)).toEqual({ kind: 'accepted' })
  })

  test('Retry-After says when to send again', async () => {
    const rail = open()
    const reply = { http: 429, body: { nome: 'balde_fichas_vazio' }, headers: { 'retry-after': '600' } }
    efi.spoil('send', answer(reply))
    const said = (await rail.send(orderOf())) as Extract<PixOutcome, { kind: 'later' }>
    expect(Math.abs(said.at.getTime() - Date.now() - 600_000)).toBeLessThan(20_000)
  })

  test('too many status queries: the rail asks nothing more until Efí lets it', async () => {
    const clock = { ...systemClock(), now: () => Date.now() + ahead_ms }
    let ahead_ms = 0
    const rail = open({ clock })
    const order = orderOf()
    await rail.send(order)
    efi.spoil('status', answer({ http: 429, body: {}, headers: { 'retry-after': '120' } }))
    const said = (await rail.status(order)) as Extract<PixOutcome, { kind: 'unknown' }>
    expect(Math.abs(said.ask_at!.getTime() - Date.now() - 120_000)).toBeLessThan(20_000)
    expect(await rail.status(order)).toEqual({ kind: 'unknown', ask_at: said.ask_at })
    expect(efi.count('status')).toBe(0)
    ahead_ms = 121_000
    expect(await rail.status(order)).toMatchObject({ kind: 'settled' })
    efi.spoil('status', answer({ http: 429, body: {}, headers: { 'retry-after': '3600' } }))
    const capped = (await rail.status(order)) as Extract<PixOutcome, { kind: 'unknown' }>
    expect(capped.ask_at!.getTime() - clock.now()).toBeLessThanOrEqual(300_000)
  })

  test.each([
    ['another id', { idEnvio: 'TRILHO99' }],
    ['another amount', { valor: '10.51' }],
    ['an amount as a number', { valor: 10.5 }],
    ['no id', { idEnvio: undefined }],
  ])('a status with %s is not believed', async (_, wrong) => {
    const rail = open()
    const order = orderOf()
    for (const state of ['REALIZADO', 'NAO_REALIZADO', 'EM_PROCESSAMENTO']) {
      const right = { idEnvio: order.send_id, endToEndId: 'E1', valor: '10.50', status: state }
      efi.spoil('status', answer({ http: 200, body: { ...right, ...wrong } }))
      await expect(rail.status(order)).rejects.toThrow('is not valid')
    }
  })

  test('a refusal without a code of the network is the provider’s', async () => {
    const rail = open()
    const order = orderOf()
    const body = { idEnvio: order.send_id, endToEndId: 'E1', valor: '10.50', status: 'NAO_REALIZADO' }
    efi.spoil('status', answer({ http: 200, body }))
    const expected = { kind: 'refused', rail_code: 'NAO_REALIZADO', reason: 'provider_error' }
    expect(await rail.status(order)).toEqual(expected)
  })
})

describe('a payment', () => {
  test('to a key carries the document, and is asked about by its id', async () => {
    const rail = open()
    const order = orderOf()
    expect(await rail.status(order)).toEqual({ kind: 'absent' })
    expect(await rail.send(order)).toEqual({ kind: 'accepted' })
    expect(efi.payments.get(order.send_id)!.body).toEqual({
      valor: '10.50',
      pagador: { chave: efi.pix_key, infoPagador: 'Invoice 1042' },
      favorecido: { chave: 'ana@example.com', cpf: '52998224725' },
    })
    const { endToEndId } = efi.payments.get(order.send_id)!
    expect(await rail.status(order)).toEqual({ kind: 'settled', end_to_end_id: endToEndId })
    expect(await rail.send(order)).toEqual({ kind: 'accepted' })
    expect(efi.payments.size).toBe(1)
  })

  test('to an account names the bank; other types of accounts are refused before anything is sent', async () => {
    const rail = open()
    const bank = { ispb: '00000000', branch: '0001', account_number: '1234567' }
    const to = (account_type: 'savings' | 'salary') => ({
      ...{ name: 'Ana Ltda', document: '12ABC34501DE35' },
      bank_account: { ...bank, account_type },
    })
    const order = orderOf({ to: to('savings'), description: null })
    await rail.send(order)
    expect(efi.payments.get(order.send_id)!.body).toEqual({
      valor: '10.50',
      pagador: { chave: efi.pix_key },
      favorecido: {
        contaBanco: {
          ...{ nome: 'Ana Ltda', cnpj: '12ABC34501DE35', codigoBanco: '00000000', agencia: '0001' },
          ...{ conta: '1234567', tipoConta: 'svgs' },
        },
      },
    })
    const other = await rail.send(orderOf({ to: to('salary') }))
    expect(other).toMatchObject({ kind: 'refused', reason: 'payment_not_supported' })
    expect(efi.payments.size).toBe(1)
  })

  test.each<StubFault>([{ kind: 'lose' }, { kind: 'delay', ms: 1500 }])(
    'whose answer is subject to $kind is unknown, and was taken once',
    async (fault) => {
      const { rail, patient } = await openFor(fault)
      const order = orderOf()
      efi.spoil('send', fault)
      expect(await rail.send(order)).toEqual({ kind: 'unknown' })
      expect(await patient.status(order)).toMatchObject({ kind: 'settled' })
      expect(efi.payments.size).toBe(1)
    },
  )

  test('that never arrived is unknown, too, and absent', async () => {
    const rail = open()
    const order = orderOf()
    efi.spoil('send', { kind: 'drop' })
    expect(await rail.send(order)).toEqual({ kind: 'unknown' })
    expect(await rail.status(order)).toEqual({ kind: 'absent' })
  })

  test('an answer that comes twice is not taken for the answer to the next call', async () => {
    const rail = open()
    const [one, two] = [orderOf(), orderOf({ amount: money('BRL', 77n) })]
    await rail.send(one)
    efi.decide(() => ({ refused: 'AC06' }))
    await rail.send(two)
    efi.spoil('status', { kind: 'double' })
    expect(await rail.status(one)).toMatchObject({ kind: 'settled' })
    // An answer about another payment would be an error, and a cut connection is none of ours.
    const said = await rail.status(two).catch((error: Error) => error.message)
    if (typeof said === 'string') expect(said).toMatch(/no answer from Efí/)
    expect(await rail.status(two)).toEqual({ kind: 'refused', rail_code: 'AC06' })
  })

  test('is not sent once the caller has given up', async () => {
    const rail = open()
    await rail.ready()
    const given_up = AbortSignal.abort(new Error('over'))
    expect(await rail.send(orderOf(), given_up)).toMatchObject({ kind: 'later' })
    expect(efi.count('send')).toBe(0)
  })
})

describe('the sign-in', () => {
  test('is made once for calls of one moment, and again when the token is refused', async () => {
    const rail = open()
    await Promise.all([rail.send(orderOf()), rail.send(orderOf()), rail.ready()])
    expect(efi.count('token')).toBe(1)
    efi.expireTokens()
    expect(await rail.send(orderOf())).toEqual({ kind: 'accepted' })
    expect(efi.count('token')).toBe(2)
    expect(efi.payments.size).toBe(3)
  })

  test.each<[string, () => Partial<Opening>]>([
    ['a wrong secret', () => ({ client_secret: 'wrong' })],
    ['another certificate', () => pemOf('other')],
    ['a server that is not Efí', () => ({ ca: selfSigned('127.0.0.1').cert })],
  ])('with %s sends no payment: later', async (_, wrong) => {
    const rail = open(wrong())
    await expect(rail.ready()).rejects.toMatchObject({ code: 'rail_unavailable' })
    expect(await rail.send(orderOf())).toMatchObject({ kind: 'later' })
    await expect(rail.status(orderOf())).rejects.toThrow()
    expect(efi.count('send')).toBe(0)
  })

  test('without the scope to send says so', async () => {
    efi.grant('gn.balance.read gn.pix.send.read')
    await expect(open().ready()).rejects.toMatchObject({ code: 'rail_unavailable' })
    expect(logged).toContain('lacks the scope pix.send')
  })

  test('leaves no secret in logs, errors or inspected values', async () => {
    const rail = open()
    efi.spoil('token', { kind: 'lose' })
    const failed = await rail.status(orderOf()).catch((error: unknown) => error)
    efi.spoil('token', answer({ http: 400, body: { error: efi.client_secret } }))
    await rail.send(orderOf())
    efi.spoil('send', { kind: 'lose' })
    await rail.send(orderOf())
    efi.spoil('send', answer({ http: 400, text: efi.client_secret }))
    await rail.send(orderOf())
    const shown = `${logged}${inspect(failed, { depth: 9 })}${inspect(rail, { depth: 9 })}`
    const basic = Buffer.from(`${efi.client_id}:${efi.client_secret}`).toString('base64')
    for (const secret of [efi.client_secret, basic, 'PRIVATE KEY', '52998224725', 'ana@example.com'])
      expect(shown).not.toContain(secret)
    expect(logged).not.toBe('')
  })
})

const pemOf = (name: string) => {
  const { cert, key } = selfSigned(name)
  return { certificate: `${cert}${key}` }
}

test('a key is not looked up: a document is its own, other keys are unlisted', async () => {
  const rail = open()
  const ana = { name: 'Ana Souza', document: '52998224725' }
  expect(await rail.holder('52998224725', ana)).toEqual({ kind: 'held', holder: ana })
  expect(await rail.holder('11144477735', ana)).toEqual({ kind: 'unlisted', document: '11144477735' })
  expect(await rail.holder('ana@example.com', ana)).toEqual({ kind: 'unlisted' })
  const unreachable = open({ client_secret: 'wrong' })
  await expect(unreachable.holder('ana@example.com', ana)).rejects.toMatchObject({ code: 'rail_unavailable' })
})

describe('the account', () => {
  test('has a balance, and what is blocked of it', async () => {
    efi.hold({ saldo: '12345678901.23', total: '0.07' })
    expect(await open().account.balance()).toEqual({ available: 1234567890123n, blocked: 7n })
    efi.spoil('balance', answer({ http: 200, body: { saldo: 12.3 } }))
    await expect(open().account.balance()).rejects.toThrow('is not valid')
  })

  test('lists what was sent, page by page', async () => {
    const rail = open()
    const ends = ['REALIZADO', 'EM_PROCESSAMENTO', { refused: 'AC03' }] as const
    for (let i = 0; i < 101; i++) {
      efi.decide(() => ends[i % 3]!)
      await rail.send(orderOf({ amount: money('BRL', BigInt(i + 1)) }))
    }
    const listed: SentPix[] = []
    for await (const one of rail.account.sent(new Date(0), new Date())) listed.push(one as SentPix)
    expect(listed).toHaveLength(101)
    expect(efi.count('list')).toBe(2)
    expect(listed.slice(0, 3).map(({ state }) => state)).toEqual(['settled', 'open', 'refused'])
    expect(listed.reduce((sum, { amount }) => sum + amount, 0n)).toBe(5151n)
    expect(new Set(listed.map(({ send_id }) => send_id))).toEqual(new Set(efi.payments.keys()))
  })
})

let charges = 0
const chargeOf = (more: Partial<ChargeOrder> = {}): ChargeOrder => {
  const created_at = new Date()
  return {
    txid: `TRILHO${String(++charges).padStart(26, '0')}`,
    amount: money('BRL', 12_345n),
    created_at,
    expires_at: new Date(created_at.getTime() + 3_600_000),
    description: 'Pedido 1042',
    ...more,
  }
}

/** A charge as Efí shows it. */
const shown = ({ txid, amount, created_at, description }: ChargeOrder) =>
  chargeBody({
    ...{ txid, amount: amount.units, pix_key: efi.pix_key, seconds: 3600, created_at },
    description: description ?? undefined,
  })

describe('a charge', () => {
  test('is registered under its txid, once, with a code that can be paid', async () => {
    const rail = open()
    const order = chargeOf()
    const said = await rail.charges.register(order)
    const code = makeBrCode({
      url: `qrcodespix.sejaefi.com.br/v2/${order.txid.toLowerCase()}`,
      ...{ name: 'EFISA', city: 'SAOPAULO' },
    })
    expect(said).toEqual({ kind: 'registered', br_code: code })
    expect(efi.bank.charges.get(order.txid)).toMatchObject({
      ...{ amount: 12_345n, pix_key: efi.pix_key, seconds: 3600, description: 'Pedido 1042' },
    })
    expect(await rail.charges.register(order)).toEqual(said)
    expect(efi.count('asked_charge')).toBe(1)
    const plain = chargeOf({ description: null })
    await rail.charges.register(plain)
    expect(efi.bank.charges.get(plain.txid)!.description).toBeUndefined()
    expect(efi.bank.charges.size).toBe(2)
  })

  test.each(chargeAnswers)('made: $http $says is $outcome.kind', async ({ http, says, outcome }) => {
    const rail = open()
    const order = chargeOf()
    const body = http === 201 ? shown(order) : { nome: says ?? 'x' }
    if (outcome.kind === 'known') await rail.charges.register(order)
    for (let i = 0; i < (http === 401 ? 2 : 1); i++) efi.spoil('charge', answer({ http, body }))
    const expected = {
      registered: { kind: 'registered', br_code: expect.stringContaining('6304') },
      known: { kind: 'registered', br_code: expect.stringContaining('6304') },
      refused: { kind: 'refused', rail_code: says },
      later: { kind: 'later', at: expect.any(Date) },
    }
    expect(await rail.charges.register(order)).toEqual(expected[outcome.kind])
  })

  test.each(knownChargeAnswers)('known: $http $says is $outcome.kind', async ({ http, says, outcome }) => {
    const rail = open()
    const order = chargeOf()
    await rail.charges.register(order)
    const body = http === 200 ? { ...shown(order), status: says } : { nome: says ?? 'x' }
    for (let i = 0; i < (http === 401 ? 2 : 1); i++) efi.spoil('asked_charge', answer({ http, body }))
    const said = await rail.charges.register(order)
    expect(said.kind).toBe(outcome.kind)
    if (said.kind === 'refused') expect(said.rail_code).toBe(says)
  })

  test('that somebody has paid already is registered', async () => {
    const rail = open()
    const order = chargeOf()
    const said = await rail.charges.register(order)
    efi.bank.pay({ txid: order.txid })
    expect(await rail.charges.register(order)).toEqual(said)
  })

  test.each<[string, Partial<ChargeOrder>]>([
    ['amount', { amount: money('BRL', 12_346n) }],
    ['expiry', { expires_at: new Date(Date.now() + 7_200_000) }],
  ])('whose txid has a charge with another %s is refused', async (_, other) => {
    const rail = open()
    const order = chargeOf()
    await rail.charges.register(order)
    const refused = { kind: 'refused', rail_code: 'txid_duplicado' }
    expect(await rail.charges.register({ ...order, ...other })).toEqual(refused)
  })

  test('whose txid has a charge to another key is refused', async () => {
    const order = chargeOf()
    efi.spoil('charge', answer({ http: 409, body: { nome: 'txid_duplicado' } }))
    const reply = { http: 200, body: { ...shown(order), chave: 'other@example.com' } }
    efi.spoil('asked_charge', answer(reply))
    expect(await open().charges.register(order)).toMatchObject({ kind: 'refused' })
  })

  const wrong: [string, (right: ReturnType<typeof shown>) => object][] = [
    ['another txid', (right) => ({ ...right, txid: 'TRILHO99' })],
    ['another amount', (right) => ({ ...right, valor: { original: '123.46' } })],
    ['an amount as a number', (right) => ({ ...right, valor: { original: 123.45 } })],
    ['another key', (right) => ({ ...right, chave: 'other@example.com' })],
    ['another expiry', (right) => ({ ...right, calendario: { expiracao: 60 } })],
    ['another state', (right) => ({ ...right, status: 'CONCLUIDA' })],
    ['no code', ({ pixCopiaECola: _, ...right }) => right],
    ['a wrong CRC', (right) => ({ ...right, pixCopiaECola: `${right.pixCopiaECola.slice(0, -4)}0000` })],
    ['the code of another amount', (right) => ({ ...right, pixCopiaECola: codeWith({ amount: 1n }) })],
    [
      'the code of another key',
      (right) => ({ ...right, pixCopiaECola: codeWith({ pix_key: 'other@example.com' }) }),
    ],
  ]
  const codeWith = (parts: { amount?: bigint; pix_key?: string }) =>
    makeBrCode({ pix_key: efi.pix_key, name: 'EFISA', city: 'SAOPAULO', ...parts })
  test.each(wrong)('is not believed to be registered with %s', async (_, spoiled) => {
    const rail = open()
    const order = chargeOf()
    efi.spoil('charge', answer({ http: 201, body: spoiled(shown(order)) }))
    expect(await rail.charges.register(order)).toEqual({ kind: 'unknown' })
    expect(await rail.charges.register(order)).toMatchObject({ kind: 'registered' })
  })

  test('may have a code that names the amount and the key', async () => {
    const order = chargeOf()
    const pixCopiaECola = codeWith({ amount: 12_345n })
    efi.spoil('charge', answer({ http: 201, body: { ...shown(order), pixCopiaECola } }))
    expect(await open().charges.register(order)).toEqual({ kind: 'registered', br_code: pixCopiaECola })
  })

  test.each(commonFaults(1500))('survives $kind $reply.http: it is registered once', async (fault) => {
    const { rail, patient } = await openFor(fault)
    const order = chargeOf()
    efi.spoil('charge', fault)
    efi.spoil('asked_charge', fault)
    let said = await rail.charges.register(order)
    for (let i = 0; i < 3 && said.kind !== 'registered'; i++) {
      expect(['unknown', 'later']).toContain(said.kind)
      said = await (i === 0 ? rail : patient).charges.register(order)
    }
    expect(said.kind).toBe('registered')
    expect(efi.bank.charges.size).toBe(1)
  })

  test('waits while there is no sign-in, or no scope, and payouts go on without the scope', async () => {
    const signed_out = open({ client_secret: 'wrong' })
    expect(await signed_out.charges.register(chargeOf())).toMatchObject({ kind: 'later' })
    efi.grant('pix.send gn.pix.send.read cob.read')
    const rail = open()
    expect(await rail.charges.register(chargeOf())).toMatchObject({ kind: 'later' })
    expect(logged).toContain('lacks the scope cob.write, pix.read')
    await expect(rail.charges.payment('E1')).rejects.toThrow('lacks the scope')
    expect(efi.count('charge')).toBe(0)
    expect(await rail.send(orderOf())).toEqual({ kind: 'accepted' })
  })

  test('takes no connection from payouts, however many are being registered', async () => {
    const rail = open()
    await rail.ready()
    efi.disturb((name) => (name === 'charge' ? { kind: 'delay', ms: 120_000 } : undefined))
    const registering = Array.from({ length: 40 }, () => rail.charges.register(chargeOf()))
    await until(() => efi.count('charge') === 16, 20_000)
    const order = orderOf()
    expect(await rail.send(order)).toEqual({ kind: 'accepted' })
    expect(await rail.status(order)).toMatchObject({ kind: 'settled' })
    await rail.stop()
    await Promise.all(registering)
  })

  test('is not registered once the caller has given up', async () => {
    const rail = open()
    await rail.ready()
    expect(await rail.charges.register(chargeOf(), AbortSignal.abort())).toMatchObject({ kind: 'later' })
    expect(efi.count('charge')).toBe(0)
  })
})

describe('payments that came in', () => {
  const hour = () => ({ from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 1000) })
  async function all(window: Parameters<ReturnType<typeof open>['charges']['received']>[0] = hour()) {
    const found: ReceivedPix[] = []
    for await (const one of open().charges.received(window)) found.push(one as ReceivedPix)
    return found
  }

  test('are listed as they were paid: in part, twice, late, without a reference', async () => {
    const order = chargeOf()
    await open().charges.register(order)
    const { txid } = order
    const paid = [
      efi.bank.pay({ txid, amount: 5n }),
      efi.bank.pay({ txid }),
      efi.bank.pay({ txid, paid_at: new Date(Date.now() - 60_000) }),
      efi.bank.pay({ amount: 999_999_999_999n }),
    ]
    expect(await all()).toEqual(
      paid.map(({ end_to_end_id, amount, paid_at, txid }) => ({
        ...{ end_to_end_id, amount, paid_at, returns: [] },
        ...(txid ? { txid } : {}),
      })),
    )
    expect(efi.bank.balance().available).toBe(100_000_000n + 5n + 12_345n * 2n + 999_999_999_999n)
  })

  test('are listed from the first moment to the last, page by page', async () => {
    const from = new Date(Date.now() - 60_000)
    const paid = Array.from({ length: 101 }, (_, i) =>
      efi.bank.pay({ amount: BigInt(i + 1), paid_at: new Date(from.getTime() + i) }),
    )
    efi.bank.pay({ amount: 1n, paid_at: new Date(from.getTime() - 1) })
    const found = await all({ from, to: paid.at(-1)!.paid_at })
    expect(found.map(({ end_to_end_id }) => end_to_end_id)).toEqual(
      paid.map(({ end_to_end_id }) => end_to_end_id),
    )
    expect(efi.count('received')).toBe(2)
  })

  test('say what was given back, and a list has those only', async () => {
    const { end_to_end_id } = efi.bank.pay({ amount: 1000n })
    const whole = efi.bank.pay({ amount: 70n })
    const settled = efi.bank.giveBack(end_to_end_id, { amount: 300n })
    const open_ = efi.bank.giveBack(end_to_end_id, { amount: 100n, state: 'open' })
    const refused = efi.bank.giveBack(end_to_end_id, { amount: 600n, state: 'refused' })
    const returns = [
      { id: settled.id, amount: 300n, state: 'settled' },
      { id: open_.id, amount: 100n, state: 'open' },
      { id: refused.id, amount: 600n, state: 'refused' },
    ]
    expect(await all({ ...hour(), returned: true })).toMatchObject([{ end_to_end_id, returns }])
    expect(await open().charges.payment(end_to_end_id)).toMatchObject({ amount: 1000n, returns })
    expect(await open().charges.payment(whole.end_to_end_id)).toMatchObject({ returns: [] })
    expect(efi.bank.balance().available).toBe(100_000_770n)
  })

  test.each(receivedAnswers)('asked about: $http $says is $outcome.kind', async ({ http, says, outcome }) => {
    const { end_to_end_id } = efi.bank.pay({ amount: 1n })
    if (http !== 200) efi.spoil('payment', answer({ http, body: { nome: says, mensagem: 'x' } }))
    const said = await open().charges.payment(end_to_end_id)
    expect(said?.end_to_end_id).toBe(outcome.kind === 'absent' ? undefined : end_to_end_id)
  })

  test('that Efí does not know are nobody’s', async () => {
    expect(await open().charges.payment('E09089356202611181200abcdefghijk')).toBeUndefined()
  })

  const undecided: [string, StubReply][] = [
    ['a 400 with another name', { http: 400, body: { nome: 'valor_invalido' } }],
    ['a 404', { http: 404, body: { nome: 'pix_nao_encontrado' } }],
    ['a 500', { http: 500, body: { nome: 'erro_aplicacao' } }],
    ['a 429', { http: 429, body: {} }],
    ['HTML', { http: 200, text: '<html></html>' }],
    [
      'another payment',
      { http: 200, body: { endToEndId: 'E1', valor: '1.00', horario: '2026-11-18T12:00:00Z' } },
    ],
  ]
  test.each(undecided)('%s says nothing about one', async (_, reply) => {
    const { end_to_end_id } = efi.bank.pay({ amount: 1n })
    efi.spoil('payment', answer(reply))
    await expect(open().charges.payment(end_to_end_id)).rejects.toThrow('is not valid')
  })

  const right = { endToEndId: 'E1', valor: '1.00', horario: '2026-11-18T12:00:00.000Z' }
  const page = (one: object, paginaAtual = 0) => ({
    http: 200,
    body: { parametros: { paginacao: { paginaAtual, quantidadeDePaginas: 1 } }, pix: [one].flat() },
  })
  test.each<[string, Partial<Record<string, unknown>>]>([
    ['an id with a space', { ...right, endToEndId: 'E 1' }],
    ['no id', { ...right, endToEndId: undefined }],
    ['an amount as a number', { ...right, valor: 1 }],
    ['an amount with three decimals', { ...right, valor: '1.000' }],
    ['no time', { ...right, horario: undefined }],
    ['a time that is none', { ...right, horario: '2026-13-18T12:00:00Z' }],
    ['a settled return without its id', { ...right, devolucoes: [{ valor: '1.00', status: 'DEVOLVIDO' }] }],
    ['a settled return without amount', { ...right, devolucoes: [{ rtrId: 'D1', status: 'DEVOLVIDO' }] }],
  ])('a payment with %s is told as unread, and the payments after it are read', async (_, one) => {
    efi.spoil('received', answer(page([one, right])))
    const [unread, ...others] = await all()
    expect(unread).toMatchObject({ is_unread: true, digest: expect.stringMatching(/^sha256:[0-9a-f]{32}$/) })
    expect(unread?.end_to_end_id).toBe(one.endToEndId === right.endToEndId ? right.endToEndId : undefined)
    expect(others).toMatchObject([{ end_to_end_id: right.endToEndId }])
  })

  test('another page than the one asked for is not believed', async () => {
    efi.spoil('received', answer(page(right, 1)))
    await expect(all()).rejects.toThrow('is not valid')
  })

  test('have a payer as far as Efí names one, and a reference as far as it is one', async () => {
    const read = async (more: object) => {
      efi.spoil('received', answer(page({ ...right, ...more })))
      const [{ payer, txid } = {}] = await all()
      return { payer, txid }
    }
    const ana = { name: 'Ana Souza', document: '52998224725' }
    const pagador = { nome: 'Ana Souza', cpf: '52998224725' }
    expect(await read({ pagador, txid: 'abc' })).toEqual({ payer: ana, txid: 'abc' })
    expect(await read({ gnExtras: { pagador } })).toEqual({ payer: ana, txid: undefined })
    expect(await read({ pagador: { nome: 'Ana\u0000', cnpj: '***' }, txid: '***' })).toEqual({})
    expect(await read({ pagador: { nome: ' ', cpf: 7 }, txid: null })).toEqual({})
    expect(await read({ pagador: 'Ana', txid: 'x'.repeat(36) })).toEqual({})
  })

  test.each(commonFaults(1500))('are read again after $kind $reply.http', async (fault) => {
    const { rail, patient } = await openFor(fault)
    const { end_to_end_id } = efi.bank.pay({ amount: 1n })
    efi.spoil('payment', fault)
    const first = await rail.charges.payment(end_to_end_id).catch((error: Error) => error)
    if (!(first instanceof Error)) expect(first).toMatchObject({ amount: 1n })
    efi.expireTokens()
    const ask = () => patient.charges.payment(end_to_end_id)
    // After a doubled answer the connection may be cut.
    const again = await ask().catch(ask)
    expect(again).toMatchObject({ amount: 1n })
  })
})

describe('what comes back of a payment', () => {
  test('is told by the payment, by the list, and named by a notice', async () => {
    const rail = open()
    const [order, other] = [orderOf({ amount: money('BRL', 400n) }), orderOf()]
    await rail.send(order)
    await rail.send(other)
    const { end_to_end_id } = efi.bank.sent.get(order.send_id)!
    expect(await rail.returnsOf(end_to_end_id)).toEqual([])
    const [one, two] = [
      efi.bank.comeBack(order.send_id, { amount: 200n }),
      efi.bank.comeBack(order.send_id, { state: 'open' }),
    ]
    const returns = [
      { id: one.id, amount: 200n, state: 'settled' },
      { id: two.id, amount: 200n, state: 'open' },
    ]
    expect(await rail.returnsOf(end_to_end_id)).toEqual(returns)
    expect(await rail.status(order)).toMatchObject({ kind: 'settled' })
    const listed = []
    for await (const sent of rail.account.sent(new Date(0), new Date())) listed.push(sent)
    expect(listed).toMatchObject([{ send_id: order.send_id, returns }, { send_id: other.send_id }])
    expect(listed[1]).not.toHaveProperty('returns')
    const returned = []
    for await (const sent of rail.account.returned(new Date(0), new Date())) returned.push(sent)
    expect(returned).toEqual([listed[0]])
    expect(efi.bank.balance().available).toBe(100_000_000n - 400n - 1050n + 200n)
    const notice = sentNotice(efi.bank.sent.get(order.send_id)!)
    expect(rail.readNotice(notice)).toEqual([{ send_id: order.send_id, end_to_end_id }])
  })

  test('of a payment that this account does not know is nothing; other answers say nothing', async () => {
    const rail = open()
    expect(await rail.returnsOf('E09089356202611181200abcdefghijk')).toEqual([])
    const order = orderOf()
    await rail.send(order)
    const { end_to_end_id } = efi.bank.sent.get(order.send_id)!
    const bodies = [
      { http: 404, body: { nome: 'x' } },
      { http: 429, body: {} },
      { http: 200, body: { endToEndId: 'E1', valor: '10.50', status: 'REALIZADO' } },
      { http: 200, body: { endToEndId: end_to_end_id, valor: '10.50', status: 'DEVOLVIDO' } },
      { http: 200, text: '<html></html>' },
    ]
    for (const reply of bodies) {
      efi.spoil('returns', answer(reply))
      await expect(rail.returnsOf(end_to_end_id)).rejects.toThrow('is not valid')
    }
  })

  test('has a state that moves money only if Efí says so', async () => {
    const rail = open()
    const order = orderOf()
    await rail.send(order)
    const { end_to_end_id } = efi.bank.sent.get(order.send_id)!
    const devolucoes = [
      { rtrId: 'D1', valor: '1.00', status: 'DEVOLVIDO' },
      { rtrId: 'D2', valor: '1.00', status: 'ALGO_NOVO' },
      { rtrId: 'D3', valor: '1.00' },
      { valor: '1.00', status: 'EM_PROCESSAMENTO' },
    ]
    const body = { endToEndId: end_to_end_id, valor: '10.50', status: 'REALIZADO', devolucoes }
    efi.spoil('returns', answer({ http: 200, body }))
    expect(await rail.returnsOf(end_to_end_id)).toEqual([
      { id: 'D1', amount: 100n, state: 'settled' },
      { id: 'D2', amount: 100n, state: 'open' },
      { id: 'D3', amount: 100n, state: 'open' },
    ])
  })
})

test('the account has a name that lasts: only Efí’s sandbox has another one', () => {
  const named = (url: string) => open({ url }).provider
  const production = named('https://pix.api.efipay.com.br')
  // Payouts of earlier versions carry it.
  const key_only = createHash('sha256').update(efi.pix_key).digest('hex').slice(0, 16)
  expect(production).toBe(`efi:${key_only}`)
  expect(named('https://efi-proxy.internal')).toBe(production)
  expect(named('https://pix-h.api.efipay.com.br')).not.toBe(production)
})

test('amounts are exact', () => {
  for (const [units, text] of [
    [1n, '0.01'],
    [10n, '0.10'],
    [100n, '1.00'],
    [10n ** 18n - 1n, '9999999999999999.99'],
  ] as const) {
    expect(toReais(units)).toBe(text)
    expect(fromReais(text)).toBe(units)
  }
})

test('a notice names payments, and nothing else is believed of it', () => {
  const endToEndId = 'E09089356202611181200abcdefghijk'
  const pix = [
    { endToEndId, tipo: 'SOLICITACAO', status: 'REALIZADO', valor: '1.00', gnExtras: { idEnvio: 'TRILHO1' } },
    { endToEndId, gnExtras: { idEnvio: "x' OR 1=1" } },
    { gnExtras: { idEnvio: 'x'.repeat(36) } },
    null,
    7,
  ]
  expect(readNotice({ pix })).toEqual([
    { send_id: 'TRILHO1', end_to_end_id: endToEndId },
    { end_to_end_id: endToEndId },
  ])
  const paid = efi.bank.pay({ amount: 1n })
  efi.bank.giveBack(paid.end_to_end_id)
  expect(readNotice(receivedNotice(paid))).toEqual([{ end_to_end_id: paid.end_to_end_id }])
  for (const body of [undefined, null, '', [], { pix: 7 }, { evento: 'teste_webhook' }])
    expect(readNotice(body)).toEqual([])
  const many = { pix: Array.from({ length: 900 }, (_, i) => ({ gnExtras: { idEnvio: `T${i}` } })) }
  expect(readNotice(many)).toHaveLength(100)
})

describe('the certificate', () => {
  const { cert, key } = selfSigned('client')
  test('is PEM with its key, in any order', () => {
    for (const text of [`${cert}${key}`, `Bag Attributes\n${key}\n${cert}`])
      expect(readClientCertificate(text)).toEqual({ cert: cert.trim(), key: key.trim() })
  })

  test.each([
    ['a .p12 file', Buffer.from('3082096402010330', 'hex').toString('utf8'), 'openssl pkcs12 -legacy'],
    ['no key', cert, 'has no private key'],
    ['no certificate', key, 'has no certificate'],
    ['an encrypted key', `${cert}${key.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE')}`, 'encrypted'],
    ['the key of another', `${cert}${selfSigned('client').key}`, 'do not belong together'],
    ['a broken certificate', `${cert.replace(/MII./, 'AAAA')}${key}`, 'cannot be read'],
  ])('%s is refused with what to do', (_, text, message) => {
    expect(() => readClientCertificate(text)).toThrow(message)
  })
})
