import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Static, Type as T, type TObject } from 'typebox'
import { Value } from 'typebox/value'
import { networkNames } from '../../core/networks.ts'
import { signerRules } from './signer.ts'

/** What a service and a remote signer say to each other: JSON over HTTP, one POST per question (decision 0070). */
const strict = { additionalProperties: false } as const
const Id = T.String({ pattern: '^[0-9A-Za-z_]{1,64}$' })
const Digits = T.String({ pattern: '^(?:0|[1-9][0-9]{0,77})$' })
const Hash = T.String({ pattern: '^[0-9a-f]{64}$' })
const NetworkName = T.Enum([...networkNames])
const Address = T.String({ pattern: '^[0-9A-Za-z]{1,100}$' })
const Index = T.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })
const COINS_MOST = 200
/** A transfer gets at most one more payment every twelve minutes, so this is enough for a week. */
const EARLIER_MOST = 1000
const Earlier = T.Optional(T.Array(Hash, { maxItems: EARLIER_MOST }))
const UnsignedHex = T.String({ pattern: '^(?:0x)?(?:[0-9a-f]{2}){1,60000}$' })
const SignedHex = UnsignedHex

const CoinForm = T.Object(
  {
    txid: Hash,
    vout: T.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }),
    amount: Digits,
    script: T.String({ pattern: '^(?:[0-9a-f]{2}){1,100}$' }),
    address_index: T.Optional(Index),
  },
  strict,
)

const SignReply = T.Object({ signed: SignedHex }, strict)

export const calls = {
  hello: {
    path: '/v1/hello',
    request: T.Object({ challenge: Hash }, strict),
    reply: T.Object(
      {
        version: T.String({ maxLength: 50 }),
        /** The wallet of each network that the signer has a key for. */
        wallets: T.Partial(T.Record(NetworkName, Address)),
        /** The account m/1/0 of the deposit key of EVM networks. Null: the signer has no such key. */
        gas_account: T.Union([Address, T.Null()]),
        /** The address m/0/0 of the deposit key of bitcoin. Null: the signer has no such key. */
        bitcoin_deposits: T.Union([Address, T.Null()]),
        /** The most that is signed in an hour on one network, in smallest units. */
        amounts_per_hour: T.Object({ usdt: Digits, btc: Digits }, strict),
        log: T.Object({ lines: T.Integer({ minimum: 0 }), head: Hash }, strict),
        proof: Hash,
      },
      strict,
    ),
  },
  keepRoom: {
    path: '/v1/keep-room',
    request: T.Object(
      { transfer_id: Id, network: NetworkName, amount: Digits, cost: Digits, earlier: Earlier },
      strict,
    ),
    reply: T.Object(
      {
        exceeded: T.Union([T.Enum(['count_per_hour', 'amount_per_hour', 'costs_per_hour']), T.Null()]),
      },
      strict,
    ),
  },
  sign: {
    path: '/v1/sign',
    request: T.Object(
      {
        intent: T.Object(
          {
            transfer_id: Id,
            network: NetworkName,
            destination_address: Address,
            amount: Digits,
            seal: T.String({ pattern: '^[0-9a-f]{0,64}$' }),
          },
          strict,
        ),
        purpose: T.Enum(['pay', 'cancel']),
        unsigned: UnsignedHex,
        reservation: T.Union([
          T.Object({ wallet: Address, nonce: Digits }, strict),
          T.Object({ wallet: Address, coins: T.Array(CoinForm, { maxItems: COINS_MOST }) }, strict),
        ]),
        earlier: Earlier,
      },
      strict,
    ),
    reply: SignReply,
  },
  signSweep: {
    path: '/v1/sweeps/sign',
    request: T.Object(
      {
        sweep_id: Id,
        network: NetworkName,
        purpose: T.Enum(['fund', 'sweep']),
        address_index: Index,
        unsigned: UnsignedHex,
      },
      strict,
    ),
    reply: SignReply,
  },
} as const satisfies Record<string, { path: string; request: TObject; reply: TObject }>

export type CallName = keyof typeof calls
export type RequestOf<Name extends CallName> = Static<(typeof calls)[Name]['request']>
export type ReplyOf<Name extends CallName> = Static<(typeof calls)[Name]['reply']>

/** Larger than a request with as many coins as may be, and than every reply. */
export const BODY_MOST_BYTES = 200_000

/** `refused`: by a rule of the signer; nothing was signed. All others say nothing about the transaction. */
export const ErrorReply = T.Object({
  error: T.Object({
    kind: T.Enum(['refused', 'invalid', 'busy', 'failed']),
    rule: T.Optional(T.Enum([...signerRules])),
    problem: T.String({ maxLength: 500 }),
  }),
})
export type ErrorReply = Static<typeof ErrorReply>

/** Which field is not valid. The value is not repeated. */
export function problemWith(form: TObject, body: unknown): string | undefined {
  if (Value.Check(form, body)) return undefined
  const [first] = Value.Errors(form, body)
  const place = (first as { instancePath?: string } | undefined)?.instancePath || '/'
  return `the field ${place.slice(0, 100)} is missing, unknown or not valid`
}

/** Names the purpose: no proof can be used as the seal of a transfer. */
const PROOF_FORM = 'trilho signer hello 1'

/** Shows that the signer has the same seal key, over a challenge that the service chose. */
export const proofOf = (seal_key: Buffer, challenge: string): string =>
  createHmac('sha256', seal_key)
    .update(JSON.stringify([PROOF_FORM, challenge]))
    .digest('hex')

export function isProof(seal_key: Buffer, challenge: string, proof: string): boolean {
  const right = Buffer.from(proofOf(seal_key, challenge))
  const given = Buffer.from(proof)
  return given.length === right.length && timingSafeEqual(given, right)
}
