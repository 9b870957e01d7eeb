import { generateKeyPairSync, verify } from 'node:crypto'
import { type Bank, openBank, type SentPayment } from './bank.ts'
import { type ProviderStub, type StubCall, type StubReply, startProviderStub } from './provider-stub.ts'
import {
  balanceAnswer,
  dictKeyAnswer,
  errorsAnswer,
  type TransferOrder,
  transferAnswer,
} from './starkbank-answers.ts'

/** Stark Bank as its public SDKs and reference describe it: a bank, and the calls that reach it. */
export type StarkCallName = 'send' | 'transfer' | 'list' | 'balance' | 'key'

export type StarkStub = ProviderStub<StarkCallName> & {
  readonly bank: Bank
  readonly project_id: string
  readonly private_key: string
  /** The document of whoever holds a Pix key; undefined: nobody does. */
  holds(key: string, document: string | undefined): void
  /** Lists show transfers only so long after they were taken. */
  hideFor(ms: number): void
  /** What a repeated `externalId` gets: the sources differ. */
  repeat(answer: 'first' | 'error'): void
}

const PROJECT_ID = '5656565656565656'
const CLOCK_MS = 300_000

export async function startStarkStub(bank: Bank = openBank({ ispb: '20018183' })): Promise<StarkStub> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const keys = new Map<string, string | undefined>()
  let hidden_ms = 0
  let repeated: 'first' | 'error' = 'first'
  const all = () =>
    [...bank.sent.values()].map((payment, number) => ({ payment, shown: transferAnswer(payment, number) }))
  const isShown = ({ taken_at }: SentPayment) => Date.now() >= taken_at + hidden_ms

  function isSigned({ headers, text }: StubCall): boolean {
    const [id, time, signature] = ['access-id', 'access-time', 'access-signature'].map((name) =>
      String(headers[name] ?? ''),
    )
    if (id !== `project/${PROJECT_ID}` || Math.abs(Date.now() - Number(time) * 1000) > CLOCK_MS) return false
    return verify(
      'sha256',
      Buffer.from(`${id}:${time}:${text}`),
      publicKey,
      Buffer.from(signature!, 'base64'),
    )
  }

  function send({ text }: StubCall): StubReply {
    const [order] = JSON.parse(text).transfers as TransferOrder[]
    const { externalId: id, amount } = order!
    if (!Number.isSafeInteger(amount) || amount <= 0) return error('invalidAmount')
    const taken = bank.take({ id, amount: BigInt(amount), order })
    if (!taken && repeated === 'error') return error('duplicatedExternalId')
    const made = all().find(({ payment }) => payment.id === id)!
    return { http: 200, body: { message: 'Transfer(s) successfully created', transfers: [made.shown] } }
  }

  function list({ query }: StubCall): StubReply {
    const [tags, after, before] = ['tags', 'after', 'before'].map((name) => query.get(name))
    const found = all().filter(
      ({ payment, shown }) =>
        isShown(payment) &&
        (tags === null || tags!.split(',').some((tag) => shown.tags.includes(tag))) &&
        (after === null || shown.created.slice(0, 10) >= after!) &&
        (before === null || shown.created.slice(0, 10) <= before!),
    )
    const from = Number(query.get('cursor') ?? 0)
    const to = from + Number(query.get('limit') ?? 100)
    const page = found.slice(from, to).map(({ shown }) => shown)
    return { http: 200, body: { cursor: to < found.length ? String(to) : null, transfers: page } }
  }

  const calls: Record<StarkCallName, (call: StubCall) => StubReply> = {
    send,
    list,
    transfer({ path }) {
      const found = all().find(({ shown }) => shown.id === lastOf(path))
      return found ? { http: 200, body: { transfer: found.shown } } : error('invalidTransferId')
    },
    balance: () => ({ http: 200, body: balanceAnswer(bank.balance().available) }),
    key({ path }) {
      const key = decodeURIComponent(lastOf(path))
      const document = keys.get(key)
      return document === undefined
        ? error('invalidDictKey')
        : { http: 200, body: dictKeyAnswer(key, document) }
    },
  }
  const stub = await startProviderStub<StarkCallName>({
    takes_anybody: true,
    nameOf: ({ method, path }) => ROUTES.find(([, verb, route]) => verb === method && route.test(path))?.[0],
    carryOut: (name, call) => (isSigned(call) ? calls[name](call) : error('invalidSignature')),
  })
  return {
    ...stub,
    bank,
    project_id: PROJECT_ID,
    private_key: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    holds: (key, document) => void keys.set(key, document),
    hideFor(ms) {
      hidden_ms = ms
    },
    repeat(answer) {
      repeated = answer
    },
  }
}

const ROUTES: readonly (readonly [name: StarkCallName, method: string, path: RegExp])[] = [
  ['send', 'POST', /^\/v2\/transfer$/],
  ['list', 'GET', /^\/v2\/transfer$/],
  ['transfer', 'GET', /^\/v2\/transfer\/[0-9]{1,30}$/],
  ['balance', 'GET', /^\/v2\/balance$/],
  ['key', 'GET', /^\/v2\/dict-key\/[^/]{1,100}$/],
]

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const error = (code: string): StubReply => ({ http: 400, body: errorsAnswer(code) })

/** The settings of a service that pays over the stub. */
export const starkSettings = (stub: StarkStub): Record<string, string> => ({
  STARKBANK_URL: stub.url,
  STARKBANK_CA: stub.ca,
  STARKBANK_PROJECT_ID: stub.project_id,
  STARKBANK_PRIVATE_KEY: stub.private_key,
})
