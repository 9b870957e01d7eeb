import { type Static, Type as T, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { parseDocument } from '../../../core/document.ts'
import { UNITS_MAX } from '../../../core/money.ts'
import { isCleanText } from '../../../core/text.ts'
import type { BankAccount, ChargeOrder, NoticedPix, PixOrder, ReceivedPix, UnreadEntry } from '../rail.ts'

/** The bodies that go to Efí and come from it. What comes is checked against a schema; unknown fields are ignored. */
const ACCOUNT_TYPES: Readonly<Partial<Record<BankAccount['account_type'], string>>> = {
  checking: 'cacc',
  savings: 'svgs',
}

export const efiAccountTypes = Object.keys(ACCOUNT_TYPES) as BankAccount['account_type'][]

/** Centavos as Efí writes reais: 1234n is "12.34". */
export function toReais(centavos: bigint): string {
  const digits = centavos.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

const NAME_MOST = 200
const REAIS = '^(?:0|[1-9][0-9]{0,15})\\.[0-9]{2}$'

/** Reais as text in centavos, exactly. The text has the form of `Reais`. */
export const fromReais = (reais: string): bigint => BigInt(reais.replace('.', ''))

const documentField = (document: string) => (document.length === 11 ? { cpf: document } : { cnpj: document })

/** For how many seconds a charge can be paid. Efí counts from the moment at which it takes the charge. */
export const secondsOf = ({ created_at, expires_at }: ChargeOrder): number =>
  Math.max(1, Math.ceil((expires_at.getTime() - created_at.getTime()) / 1000))

export const chargeBody = (order: ChargeOrder, pix_key: string): object => ({
  calendario: { expiracao: secondsOf(order) },
  valor: { original: toReais(order.amount.units) },
  chave: pix_key,
  ...(order.description === null ? {} : { solicitacaoPagador: order.description }),
})

/** Undefined: Efí cannot pay accounts of this type. */
export function sendBody({ amount, to, description }: PixOrder, pix_key: string): object | undefined {
  const tipoConta = 'bank_account' in to ? ACCOUNT_TYPES[to.bank_account.account_type] : ''
  if (tipoConta === undefined) return undefined
  return {
    valor: toReais(amount.units),
    pagador: { chave: pix_key, ...(description === null ? {} : { infoPagador: description }) },
    favorecido:
      'pix_key' in to
        ? // With the document Efí pays only if the key belongs to it.
          { chave: to.pix_key, ...documentField(to.document) }
        : {
            contaBanco: {
              nome: to.name,
              ...documentField(to.document),
              codigoBanco: to.bank_account.ispb,
              agencia: to.bank_account.branch,
              conta: to.bank_account.account_number,
              tipoConta,
            },
          },
  }
}

export const Reais = T.Refine(
  T.String({ pattern: REAIS }),
  (text) => fromReais(text as string) <= UNITS_MAX,
) as unknown as ReturnType<typeof T.String>
/**
 * Efí names errors by a word, problems of the Pix standard by a URL that ends with one. Words are logged: a word has no digits, so it is
 * no document, no phone number and no key that an answer repeats.
 */
const Word = T.String({ pattern: '^[A-Za-z_]{1,40}$' })
const EndToEndId = T.String({ pattern: '^[A-Za-z0-9]{1,64}$' })
const SendId = T.String({ pattern: '^[A-Za-z0-9]{1,35}$' })

const TokenBody = T.Object({
  access_token: T.String({ pattern: '^[\\x21-\\x7e]{1,8192}$' }),
  expires_in: T.Integer({ minimum: 1, maximum: 31_536_000 }),
  scope: T.Optional(T.String({ maxLength: 10_000 })),
})

const NamedError = T.Object({ nome: Word })
const OAuthError = T.Object({ error: Word })
const ProblemBody = T.Object({ type: T.String({ pattern: '^https://[!-~]{1,200}$' }) })
const StateBody = T.Object({ status: Word })

const TakenBody = T.Object({ idEnvio: SendId })

const FailureField = T.Object({ erro: T.Object({ codigo: T.String({ pattern: '^[A-Z0-9]{4}$' }) }) })

/** What went back of a payment; each return is checked when it is read. */
const Returns = T.Optional(T.Union([T.Array(T.Unknown(), { maxItems: 1000 }), T.Null()]))
export type ReturnBodies = Static<typeof Returns> | undefined

/** A payment that was sent. */
export const PaymentBody = T.Object({
  idEnvio: T.Optional(T.Union([SendId, T.Null()])),
  endToEndId: T.Optional(T.Union([EndToEndId, T.Null()])),
  valor: Reais,
  status: Word,
  devolucoes: Returns,
})

/** A payment that came in. Its reference and payer are read separately, because a valid payment may lack them. */
export const ReceivedBody = T.Object({
  endToEndId: EndToEndId,
  valor: Reais,
  horario: T.Refine(
    T.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,20}(?:Z|[+-][0-9]{2}:[0-9]{2})$' }),
    (text) => !Number.isNaN(Date.parse(text as string)),
  ) as unknown as ReturnType<typeof T.String>,
  devolucoes: Returns,
})

const TxidField = T.Object({ txid: T.String({ pattern: '^[A-Za-z0-9]{1,35}$' }) })
/** Lists have the payer beside the payment, notices in `gnExtras`. */
const PayerField = T.Object({ pagador: T.Object({}) })

/** A charge. Efí writes the seconds as a number when it is made, and as text when it is asked about. */
const ChargeBody = T.Object({
  txid: T.String({ pattern: '^[A-Za-z0-9]{1,35}$' }),
  calendario: T.Object({
    expiracao: T.Union([T.Integer({ minimum: 1 }), T.String({ pattern: '^[1-9][0-9]{0,9}$' })]),
  }),
  valor: T.Object({ original: Reais }),
  chave: T.String({ maxLength: 100 }),
  pixCopiaECola: T.Optional(T.String({ maxLength: 1000 })),
})

const BalanceBody = T.Object({
  saldo: Reais,
  bloqueios: T.Optional(T.Object({ total: Reais })),
})

const NoticeBody = T.Object({ pix: T.Array(T.Unknown(), { maxItems: 1000 }) })
const NoticedPayment = T.Object({ gnExtras: T.Object({ idEnvio: SendId }) })

const reader =
  <S extends TSchema>(schema: S) =>
  (body: unknown): Static<S> | undefined =>
    Value.Check(schema, body) ? (body as Static<S>) : undefined

export const readToken = reader(TokenBody)
export const readTaken = reader(TakenBody)
export const readPayment = reader(PaymentBody)
export const readBalance = reader(BalanceBody)
export const readReceived = reader(ReceivedBody)
export const readCharge = reader(ChargeBody)
export const readWebhook = reader(T.Object({ webhookUrl: T.String({ maxLength: 2000 }) }))

/** The reference of a payment that came in; undefined if it has none, or something else in its place. */
export const txidOf = (body: unknown): string | undefined =>
  Value.Check(TxidField, body) ? body.txid : undefined

const EndToEndIdField = T.Object({ endToEndId: EndToEndId })
const SendIdField = T.Object({ idEnvio: SendId })

/** The ids of an entry whose other fields cannot be read. */
export const idsOf = (entry: unknown): Pick<UnreadEntry, 'end_to_end_id' | 'send_id'> => ({
  ...(Value.Check(EndToEndIdField, entry) ? { end_to_end_id: entry.endToEndId } : {}),
  ...(Value.Check(SendIdField, entry) ? { send_id: entry.idEnvio } : {}),
})

/** Who paid, as far as Efí says it. */
export function payerOf(body: unknown): ReceivedPix['payer'] {
  const given = [body, (body as { gnExtras?: unknown }).gnExtras].find((one) => Value.Check(PayerField, one))
  const { nome, cpf, cnpj } = (given as { pagador: Record<string, unknown> } | undefined)?.pagador ?? {}
  const written = cpf ?? cnpj
  const document = typeof written === 'string' ? parseDocument(written)?.value : undefined
  const name = typeof nome === 'string' && nome.length <= NAME_MOST && isCleanText(nome) ? nome.trim() : ''
  if (name === '' && document === undefined) return undefined
  return { ...(name === '' ? {} : { name }), ...(document === undefined ? {} : { document }) }
}

/** The code of the Pix network with which a payment was refused. */
export const failureCodeOf = (body: unknown): string | undefined => {
  const extras = (body as { gnExtras?: unknown } | undefined)?.gnExtras
  return Value.Check(FailureField, extras) ? extras.erro.codigo : undefined
}

/** What an answer says in one word: the state of a payment, or the name of an error. */
export function wordOf(body: unknown): string | undefined {
  if (Value.Check(NamedError, body)) return body.nome
  if (Value.Check(OAuthError, body)) return body.error
  if (Value.Check(ProblemBody, body)) {
    const word = body.type.slice(body.type.lastIndexOf('/') + 1)
    return Value.Check(Word, word) ? word : undefined
  }
  return Value.Check(StateBody, body) ? body.status : undefined
}

const NOTICED_MOST = 100

/** The payments that the body of a notice names. What is not a notice names none. */
export function readNotice(body: unknown): readonly NoticedPix[] {
  if (!Value.Check(NoticeBody, body)) return []
  return body.pix.slice(0, NOTICED_MOST).flatMap((one): NoticedPix[] => {
    const noticed = {
      ...(Value.Check(NoticedPayment, one) ? { send_id: one.gnExtras.idEnvio } : {}),
      ...(Value.Check(EndToEndIdField, one) ? { end_to_end_id: one.endToEndId } : {}),
    }
    return Object.keys(noticed).length === 0 ? [] : [noticed]
  })
}
