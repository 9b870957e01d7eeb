import { type Static, Type as T, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { UNITS_MAX } from '../../../core/money.ts'
import type { BankAccount, PixOrder, SentPix, UnreadEntry } from '../rail.ts'
import { transferStates } from './catalogue.ts'

/** The bodies that go to Stark Bank and come from it. Amounts are JSON integers in centavos; one that is no safe integer is invalid. */
const Amount = T.Integer({ minimum: 1, maximum: Math.min(Number.MAX_SAFE_INTEGER, Number(UNITS_MAX)) })
const Id = T.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })
const Word = T.String({ pattern: '^[A-Za-z]{1,40}$' })

export const TransferBody = T.Object({
  externalId: T.Optional(T.Union([T.String({ maxLength: 255 }), T.Null()])),
  amount: Amount,
  status: Word,
  created: T.Refine(
    T.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,20}(?:Z|[+-][0-9]{2}:[0-9]{2})$' }),
    (text) => !Number.isNaN(Date.parse(text as string)),
  ) as unknown as ReturnType<typeof T.String>,
  metadata: T.Optional(T.Union([T.Record(T.String(), T.Unknown()), T.Null()])),
})
export type Transfer = Static<typeof TransferBody>

const Made = T.Object({ transfers: T.Array(TransferBody, { minItems: 1, maxItems: 1 }) })
const Page = T.Object({
  transfers: T.Array(T.Unknown(), { maxItems: 1000 }),
  cursor: T.Optional(T.Union([T.String({ maxLength: 2000 }), T.Null()])),
})
const Balance = T.Object({
  balances: T.Array(
    T.Object({
      amount: T.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      currency: T.Literal('BRL'),
    }),
    { minItems: 1, maxItems: 1 },
  ),
})
const Text = T.String({ minLength: 1, maxLength: 200 })
const DictKey = T.Object({
  key: T.Object({
    name: Text,
    taxId: T.String({ pattern: '^[0-9*./-]{11,18}$' }),
    ispb: T.String({ pattern: '^[0-9A-Z]{8}$' }),
    branchCode: Text,
    accountNumber: Text,
    accountType: T.Optional(T.Union([T.String({ maxLength: 40 }), T.Null()])),
  }),
})
const Errors = T.Object({ errors: T.Array(T.Object({ code: Word }), { minItems: 1 }) })
const EndToEnd = T.Object({ authentication: Id })
const ExternalIdField = T.Object({ externalId: T.String({ pattern: '^[A-Za-z0-9]{1,35}$' }) })

const reader =
  <S extends TSchema>(schema: S) =>
  (body: unknown): Static<S> | undefined =>
    Value.Check(schema, body) ? (body as Static<S>) : undefined

export const readMade = reader(Made)
export const readPage = reader(Page)
export const readTransfer = reader(TransferBody)
export const readBalance = reader(Balance)
const readDictKey = reader(DictKey)

/** The first error's code. */
export const wordOf = (body: unknown): string | undefined =>
  Value.Check(Errors, body) ? body.errors[0]!.code : undefined

/** The id of the Pix network, which Stark Bank calls `authentication`. */
export const endToEndIdOf = ({ metadata }: Transfer): string | undefined =>
  Value.Check(EndToEnd, metadata) ? metadata.authentication : undefined

/** The ids of an entry whose other fields cannot be read. */
export const idsOf = (entry: unknown): Pick<UnreadEntry, 'end_to_end_id' | 'send_id'> => {
  const { metadata } = (entry ?? {}) as { metadata?: unknown }
  return {
    ...(Value.Check(EndToEnd, metadata) ? { end_to_end_id: metadata.authentication } : {}),
    ...(Value.Check(ExternalIdField, entry) ? { send_id: entry.externalId } : {}),
  }
}

/** Where a transfer goes. */
export type Receiver = {
  readonly name: string
  readonly taxId: string
  readonly bankCode: string
  readonly branchCode: string
  readonly accountNumber: string
  readonly accountType: string
}

const ACCOUNT_TYPES: Readonly<Record<string, BankAccount['account_type']>> = {
  ...{ checking: 'checking', savings: 'savings', saving: 'savings', salary: 'salary', payment: 'payment' },
}

/** The account behind a Pix key; undefined if the answer cannot be read. `is_other`: its holder has another document than the order. */
export function receiverOfKey(
  body: unknown,
  { document, name }: PixOrder['to'],
): (Receiver & { readonly is_other: boolean }) | undefined {
  const key = readDictKey(body)?.key
  const accountType = ACCOUNT_TYPES[key?.accountType ?? 'checking']
  if (!key || accountType === undefined) return undefined
  return {
    name: name === '' ? key.name : name,
    taxId: document,
    bankCode: key.ispb,
    branchCode: key.branchCode,
    accountNumber: key.accountNumber,
    accountType,
    is_other: !fitsMask(key.taxId, document),
  }
}

/**
 * A CPF is masked, such as ***.345.678-**: the digits that show must be those of the document, each in its place. A masked CPF never fits a
 * CNPJ, which may contain the same digits.
 */
function fitsMask(shown: string, document: string): boolean {
  const digits = shown.replaceAll(/[./-]/g, '')
  if (digits.length !== document.length) return false
  return [...digits].every((digit, index) => digit === '*' || digit === document[index])
}

export const receiverOfAccount = (
  { name, document }: PixOrder['to'],
  { ispb, branch, account_number, account_type }: BankAccount,
): Receiver => ({
  ...{ name, taxId: document, bankCode: ispb, branchCode: branch },
  ...{ accountNumber: account_number, accountType: account_type },
})

/** The send id is the idempotency key and a tag: lists can be filtered by tags alone. */
export const transferBody = ({ send_id, amount, description }: PixOrder, receiver: Receiver): object => ({
  transfers: [
    {
      ...{ amount: Number(amount.units), ...receiver, externalId: send_id, tags: [send_id.toLowerCase()] },
      ...(description === null ? {} : { description }),
    },
  ],
})

export function sentOf(transfer: Transfer): SentPix {
  const { externalId, amount, status } = transfer
  const end_to_end_id = endToEndIdOf(transfer)
  const state = transferStates[status]
  return {
    ...(externalId ? { send_id: externalId } : {}),
    ...(end_to_end_id === undefined ? {} : { end_to_end_id }),
    amount: BigInt(amount),
    state: state === 'settled' || state === 'refused' ? state : 'open',
  }
}
