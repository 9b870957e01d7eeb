import { randomBytes } from 'node:crypto'
import { type Bank, openBank, type SentEnd, type SentPayment } from './bank.ts'
import { askedChargeBody, centavos, chargeBody, reais, receivedBody, sentBody } from './efi-answers.ts'
import { type ProviderStub, type StubCall, type StubReply, startProviderStub } from './provider-stub.ts'

/** Efí as its documentation describes it: a bank, and the calls that reach it. */
export type EfiCallName =
  | 'token'
  | 'send'
  | 'status'
  | 'returns'
  | 'balance'
  | 'list'
  | 'charge'
  | 'asked_charge'
  | 'received'
  | 'payment'
  | 'webhook'

export type EfiStub = ProviderStub<EfiCallName> & {
  readonly client_id: string
  readonly client_secret: string
  readonly pix_key: string
  readonly bank: Bank
  /** The payments that Efí took, by their id. */
  readonly payments: ReadonlyMap<string, StubPayment>
  /** How payments end from now on, as their bodies come in. */
  decide(end: (body: SendBody) => PaymentEnd): void
  /** What Efí answers in place of carrying a call out; undefined: it carries the call out. */
  answerInstead(choose: (name: EfiCallName, call: StubCall) => StubReply | undefined): void
  /** Status queries find payments only so long after they were taken. */
  hideFor(ms: number): void
  /** Payments that came in are found only so long after they were seen. */
  hideReceivedFor(ms: number): void
  /** From now on calls with a token that was given out before are refused. */
  expireTokens(): void
  /** Every token that was given out. */
  readonly tokens: ReadonlySet<string>
  /** The scopes of further tokens. */
  grant(scope: string): void
  hold(balance: { saldo: string; total: string }): void
  /** The address that the key's webhook has; undefined: none is registered. */
  setWebhook(url: string | undefined): void
}

export type SendBody = {
  readonly valor: string
  readonly pagador: { readonly chave: string; readonly infoPagador?: string }
  readonly favorecido: Readonly<Record<string, unknown>>
}

/** `EM_PROCESSAMENTO`: it stays open. */
export type PaymentEnd = 'REALIZADO' | 'EM_PROCESSAMENTO' | { readonly refused: string }

/** A payment in the words of Efí. */
type StubPayment = {
  readonly idEnvio: string
  readonly endToEndId: string
  readonly body: SendBody
  end: PaymentEnd
}

const SCOPES =
  'pix.send gn.pix.send.read gn.balance.read webhook.write webhook.read cob.write cob.read pix.read'
const TXID = /^[A-Za-z0-9]{26,35}$/

export async function startEfiStub(bank: Bank = openBank()): Promise<EfiStub> {
  const client_id = `Client_Id_${randomBytes(20).toString('hex')}`
  const client_secret = `Client_Secret_${randomBytes(20).toString('hex')}`
  const pix_key = 'pagador@example.com'
  const payments = new Map<string, StubPayment>()
  const given = new Set<string>()
  let tokens = new Set<string>()
  const hidden = { sent_ms: 0, received_ms: 0 }
  const webhook: { url?: string | undefined } = {}
  let scope = SCOPES
  let instead: Parameters<EfiStub['answerInstead']>[0] = () => undefined

  function signIn({ headers }: StubCall): StubReply {
    const expected = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
    if (headers.authorization !== expected) return { http: 401, body: { error: 'invalid_client' } }
    const access_token = randomBytes(24).toString('base64url')
    tokens.add(access_token)
    given.add(access_token)
    return { http: 200, body: { access_token, token_type: 'Bearer', expires_in: 3600, scope } }
  }

  const calls = efiCalls({ bank, pix_key, hidden, payments, webhook })
  const stub = await startProviderStub<EfiCallName>({
    nameOf,
    carryOut(name, call) {
      const { authorization = '' } = call.headers
      if (name !== 'token' && !tokens.has(String(authorization).replace('Bearer ', '')))
        return named(401, 'nao_autorizado')
      return name === 'token' ? signIn(call) : (instead(name, call) ?? calls[name](call))
    },
  })
  return {
    ...stub,
    ...{ client_id, client_secret, pix_key, bank, payments, tokens: given },
    decide: (end) => bank.decide(({ order }) => toBank(end(order as SendBody))),
    answerInstead(choose) {
      instead = choose
    },
    hideFor(ms) {
      hidden.sent_ms = ms
    },
    hideReceivedFor(ms) {
      hidden.received_ms = ms
    },
    expireTokens() {
      tokens = new Set()
    },
    grant(scopes) {
      scope = scopes
    },
    hold: ({ saldo, total }) => bank.hold({ available: centavos(saldo), blocked: centavos(total) }),
    setWebhook(url) {
      webhook.url = url
    },
  }
}

type CallParts = {
  readonly bank: Bank
  readonly pix_key: string
  readonly hidden: { readonly sent_ms: number; readonly received_ms: number }
  readonly payments: Map<string, StubPayment>
  readonly webhook: { readonly url?: string | undefined }
}

/** What Efí does when it is called with a token. */
function efiCalls({
  bank,
  pix_key,
  hidden,
  payments,
  webhook,
}: CallParts): Record<Signed, (call: StubCall) => StubReply> {
  function send({ path, text }: StubCall): StubReply {
    const idEnvio = lastOf(path)
    if (bank.sent.has(idEnvio)) return named(409, 'id_envio_duplicado')
    const body = JSON.parse(text) as SendBody
    if (body.pagador.chave !== pix_key) return named(400, 'chave_invalida')
    const payment = bank.take({ id: idEnvio, amount: centavos(body.valor), order: body })!
    payments.set(idEnvio, inWordsOfEfi(payment))
    const horario = { solicitacao: new Date().toISOString() }
    const taken = { idEnvio, e2eId: payment.end_to_end_id, valor: body.valor, horario }
    return { http: 201, body: { ...taken, status: 'EM_PROCESSAMENTO' } }
  }

  function charge({ path, text }: StubCall): StubReply {
    const body = JSON.parse(text)
    const { expiracao: seconds } = body.calendario
    const amount = centavos(body.valor.original)
    if (body.chave !== pix_key) return named(400, 'chave_invalida')
    if (amount === 0n || !(seconds > 0) || !TXID.test(lastOf(path))) return named(400, 'valor_invalido')
    const order = { txid: lastOf(path), amount, pix_key, seconds, description: body.solicitacaoPagador }
    const made = bank.charge(order)
    return made ? { http: 201, body: chargeBody(made) } : named(409, 'txid_duplicado')
  }

  function askedCharge({ path }: StubCall): StubReply {
    const found = bank.charges.get(lastOf(path))
    if (!found) return named(400, 'cobranca_nao_encontrada')
    return { http: 200, body: askedChargeBody(found, [...bank.received.values()]) }
  }

  const seen = () =>
    [...bank.received.values()].filter(({ seen_at }) => Date.now() >= seen_at + hidden.received_ms)
  const sentOr404 = (payment: SentPayment | undefined, hidden_ms: number): StubReply =>
    payment && Date.now() >= payment.taken_at + hidden_ms ? { http: 200, body: sentBody(payment) } : notFound

  return {
    send,
    charge,
    asked_charge: askedCharge,
    status: ({ path }) => sentOr404(bank.sent.get(lastOf(path)), hidden.sent_ms),
    returns: ({ path }) =>
      sentOr404(
        [...bank.sent.values()].find(({ end_to_end_id }) => end_to_end_id === lastOf(path)),
        0,
      ),
    list: ({ query }) =>
      pageOf([...bank.sent.values()].filter(isAsked(query, ({ taken_at }) => taken_at)).map(sentBody), query),
    received: ({ query }) =>
      pageOf(
        seen()
          .filter(isAsked(query, ({ paid_at }) => paid_at.getTime()))
          .map(receivedBody),
        query,
      ),
    payment({ path }) {
      const found = seen().find(({ end_to_end_id }) => end_to_end_id === lastOf(path))
      return found ? { http: 200, body: receivedBody(found) } : named(400, 'pix_nao_encontrado')
    },
    webhook: () =>
      webhook.url === undefined
        ? named(404, 'webhook_nao_encontrado')
        : {
            http: 200,
            body: { webhookUrl: webhook.url, chave: pix_key, criacao: new Date().toISOString() },
          },
    balance() {
      const { available, blocked } = bank.balance()
      return { http: 200, body: { saldo: reais(available), bloqueios: { total: reais(blocked) } } }
    },
  }
}

type Signed = Exclude<EfiCallName, 'token'>

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
export const named = (http: number, nome: string): StubReply => ({ http, body: { nome, mensagem: 'x' } })

const toBank = (end: PaymentEnd): SentEnd =>
  typeof end === 'string' ? (end === 'REALIZADO' ? 'settled' : 'open') : end

const inWordsOfEfi = (payment: SentPayment): StubPayment => ({
  idEnvio: payment.id,
  endToEndId: payment.end_to_end_id,
  body: payment.order as SendBody,
  get end() {
    const { end } = payment
    return typeof end === 'string' ? (end === 'settled' ? 'REALIZADO' : 'EM_PROCESSAMENTO') : end
  },
  set end(end) {
    payment.end = toBank(end)
  },
})

type Listed = { readonly returns: readonly unknown[] }

/** Whether a list has the payment: its time, and whether something of it went back. */
const isAsked =
  <P extends Listed>(query: URLSearchParams, timeOf: (payment: P) => number) =>
  (payment: P): boolean =>
    Date.parse(query.get('inicio')!) <= timeOf(payment) &&
    timeOf(payment) <= Date.parse(query.get('fim')!) &&
    (query.get('devolucaoPresente') !== 'true' || payment.returns.length > 0)

/** One page of a list. */
function pageOf(all: readonly unknown[], query: URLSearchParams): StubReply {
  const page = Number(query.get('paginacao.paginaAtual'))
  const per_page = Number(query.get('paginacao.itensPorPagina'))
  const paginacao = {
    paginaAtual: page,
    itensPorPagina: per_page,
    quantidadeDePaginas: Math.max(1, Math.ceil(all.length / per_page)),
    quantidadeTotalDeItens: all.length,
  }
  const pix = all.slice(page * per_page, (page + 1) * per_page)
  return { http: 200, body: { parametros: { paginacao }, pix } }
}

const ROUTES: readonly (readonly [name: EfiCallName, method: string, path: RegExp])[] = [
  ['token', 'POST', /^\/oauth\/token$/],
  ['send', 'PUT', /^\/v3\/gn\/pix\/[A-Za-z0-9]{1,35}$/],
  ['status', 'GET', /^\/v2\/gn\/pix\/enviados\/id-envio\/[A-Za-z0-9]{1,35}$/],
  ['returns', 'GET', /^\/v2\/gn\/pix\/enviados\/[A-Za-z0-9]{32}$/],
  ['list', 'GET', /^\/v2\/gn\/pix\/enviados$/],
  ['balance', 'GET', /^\/v2\/gn\/saldo$/],
  ['charge', 'PUT', /^\/v2\/cob\/[A-Za-z0-9]{1,35}$/],
  ['asked_charge', 'GET', /^\/v2\/cob\/[A-Za-z0-9]{1,35}$/],
  ['received', 'GET', /^\/v2\/pix$/],
  ['webhook', 'GET', /^\/v2\/webhook\/[^/]+$/],
  ['payment', 'GET', /^\/v2\/pix\/[A-Za-z0-9]{1,64}$/],
]

const nameOf = ({ method, path }: StubCall): EfiCallName | undefined =>
  ROUTES.find(([, verb, pattern]) => verb === method && pattern.test(path))?.[0]

export const notFound: StubReply = {
  http: 404,
  body: {
    type: 'https://pix.bcb.gov.br/api/v2/error/PixEnviadoNaoEncontrado',
    title: 'Não Encontrado',
    status: 404,
  },
}

/** The settings of a service that pays over the stub. */
export const efiSettings = (stub: EfiStub): Record<string, string> => ({
  EFI_URL: stub.url,
  EFI_CA: stub.ca,
  EFI_CLIENT_ID: stub.client_id,
  EFI_CLIENT_SECRET: stub.client_secret,
  EFI_CERTIFICATE: stub.certificate,
  EFI_PIX_KEY: stub.pix_key,
  EFI_NOTICE_TOKEN: NOTICE_TOKEN,
})

export const NOTICE_TOKEN = 'notice-token-of-the-tests-0123456789'
