import { type Static, Type as T, type TObject, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { parseDocument } from '../core/document.ts'
import type { Environment } from '../core/environment.ts'
import { refuse } from '../core/errors.ts'
import { UNITS_MAX } from '../core/money.ts'
import {
  type Block,
  type ChainRail,
  laterReasons,
  type Seen,
  type Signed,
  type WalletState,
} from './chain/rail.ts'
import {
  type ChargeOutcome,
  type Directory,
  type PixCharges,
  type PixRail,
  type ReceivedPix,
  refusalReasons,
} from './pix/rail.ts'
import { unreadEntry } from './pix/unread.ts'
import { type FedPrice, type FedPrices, fedPairs, type PriceFeed } from './prices/feed.ts'

/**
 * What rails may answer, one schema for each kind of answer. Every rail is wrapped in these checks, the simulated ones too: an
 * answer that does not fit is treated like no answer, and no value of it reaches the database.
 */
export class InvalidAnswer extends Error {
  readonly rail: string
  readonly call: string
  /** Which field is wrong, and its value; short, printable ASCII. */
  readonly problem: string

  constructor({ rail, call, problem }: { rail: string; call: string; problem: string }) {
    super(`${rail}: the answer to ${call} is not valid: ${problem}`)
    this.rail = rail
    this.call = call
    this.problem = problem
  }
}

const refined = <S extends TSchema>(schema: S, isValid: (value: Static<S>) => boolean): S =>
  T.Refine(schema, (value) => isValid(value as Static<S>)) as unknown as S

/** Later than any date of a rail, and within the range of PostgreSQL. */
const LAST_DATE = Date.UTC(2200, 0)
const ValidDate = refined(
  T.Unsafe<Date>({}),
  (value: unknown) => value instanceof Date && value.getTime() > 0 && value.getTime() < LAST_DATE,
)
const Units = T.BigInt({ minimum: 0n, maximum: UNITS_MAX })
const Figure = T.BigInt({ minimum: 0n, maximum: 10n ** 36n })
/** Reason code of a network: one word in printable ASCII. */
const RailCode = T.String({ pattern: '^[\\x21-\\x7e]{1,64}$' })
/** E, the ISPB (letters, too), the minute in UTC, eleven letters or digits: 32 characters. */
const EndToEndId = T.String({
  pattern:
    '^E[0-9A-Z]{8}20[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[01][0-9]|2[0-3])[0-5][0-9][0-9A-Za-z]{11}$',
})
const SignedBytes = T.String({ pattern: '^[\\x21-\\x7e]{1,200000}$' })
const Name = refined(
  T.String({ minLength: 1, maxLength: 500 }),
  (name) => name.isWellFormed() && !/\p{Cc}/u.test(name),
)
const BareDocument = refined(T.String(), (text) => parseDocument(text)?.value === text)

type Answers = Readonly<Record<string, TObject>>

const pixOutcomes = {
  settled: T.Object({ kind: T.Literal('settled'), end_to_end_id: EndToEndId }),
  refused: T.Object({
    kind: T.Literal('refused'),
    rail_code: RailCode,
    reason: T.Optional(T.Enum([...refusalReasons])),
    is_ours: T.Optional(T.Literal(true)),
  }),
  later: T.Object({ kind: T.Literal('later'), at: ValidDate }),
  accepted: T.Object({ kind: T.Literal('accepted'), ask_at: T.Optional(ValidDate) }),
  unknown: T.Object({ kind: T.Literal('unknown'), ask_at: T.Optional(ValidDate) }),
} satisfies Answers

const pixStatuses = { ...pixOutcomes, absent: T.Object({ kind: T.Literal('absent') }) } satisfies Answers

const HolderAnswer = T.Object({ name: Name, document: BareDocument })

const directories = {
  held: T.Object({ kind: T.Literal('held'), holder: T.Unknown() }),
  nobody: T.Object({ kind: T.Literal('nobody') }),
  unlisted: T.Object({ kind: T.Literal('unlisted'), document: T.Optional(BareDocument) }),
} satisfies Answers

const chargeOutcomes = {
  registered: T.Object({
    kind: T.Literal('registered'),
    br_code: T.String({ pattern: '^[\\x20-\\x7e]{20,2000}$' }),
  }),
  refused: T.Object({ kind: T.Literal('refused'), rail_code: RailCode }),
  later: T.Object({ kind: T.Literal('later'), at: ValidDate }),
  unknown: T.Object({ kind: T.Literal('unknown') }),
} satisfies Answers

/**
 * API Pix defines 32 characters. The ids of received payments are made by other banks, so other lengths are accepted too: a payment that
 * is left out of a list is never credited.
 */
const ReceivedId = T.String({ pattern: '^[0-9A-Za-z]{1,64}$' })

const ReceivedAnswer = T.Object({
  end_to_end_id: ReceivedId,
  txid: T.Optional(T.String({ pattern: '^[0-9A-Za-z]{1,35}$' })),
  amount: T.BigInt({ minimum: 1n, maximum: UNITS_MAX }),
  paid_at: ValidDate,
  // Only shown, masked: the payment is valid whatever name and document it has.
  payer: T.Optional(T.Object({ name: T.Optional(T.String()), document: T.Optional(T.String()) })),
  returns: T.Array(
    T.Object({
      id: T.String({ pattern: '^[0-9A-Za-z]{1,64}$' }),
      amount: T.BigInt({ minimum: 1n, maximum: UNITS_MAX }),
      state: T.Enum(['settled', 'refused', 'open']),
    }),
  ),
})

const hex = (pattern: string) => T.String({ pattern })
const hashWithPrefix = hex('^0x[0-9a-f]{64}$')
const plainHash = hex('^[0-9a-f]{64}$')
const hashOf = (network: string) => (network === 'bitcoin' || network === 'tron' ? plainHash : hashWithPrefix)

const Later = T.Object({ kind: T.Literal('later'), at: ValidDate, why: T.Enum([...laterReasons]) })

const screenings = {
  payable: T.Object({ kind: T.Literal('payable') }),
  refused: T.Object({ kind: T.Literal('refused'), rail_code: RailCode }),
  later: Later,
} satisfies Answers

const Nonce = T.BigInt({ minimum: 0n, maximum: 2n ** 63n - 1n })
const WalletName = T.String({ pattern: '^[0-9A-Za-z]{1,100}$' })
const WalletAnswer = T.Object({
  wallet: WalletName,
  final: Nonce,
  final_height: Nonce,
  mined: Nonce,
  pool: Nonce,
  claimed: Nonce,
  is_alone: T.Optional(T.Literal(true)),
  is_unclear: T.Optional(T.Literal(true)),
  spent_in_pool: T.Optional(T.Array(T.String({ pattern: '^[0-9a-f]{64}:[0-9]{1,10}$' }))),
})

const Terms = refined(
  T.Record(T.String({ pattern: '^[a-z_]{1,40}$' }), T.String({ pattern: '^[0-9]{1,40}$' })),
  (terms) => Object.keys(terms).length <= 10,
)

const answersWith = (tx_hash: typeof plainHash) => ({
  holdings: T.Object({
    wallet: WalletName,
    asset: Units,
    at_addresses: Units,
    held_at: T.Optional(T.Array(T.Object({ address: WalletName, amount: Units }))),
    native: Figure,
    block_height: Nonce,
    block_hash: tx_hash,
  }),
  transaction: T.Object({ purpose: T.Enum(['pay', 'cancel']), tx_hash, signed: SignedBytes, terms: Terms }),
  seen: {
    absent: T.Object({ kind: T.Literal('absent') }),
    waiting: T.Object({ kind: T.Literal('waiting') }),
    mined: T.Object({
      kind: T.Literal('mined'),
      tx_hash,
      effect: T.Enum(['paid', 'none', 'other']),
      block_height: Nonce,
      block_hash: tx_hash,
      charged: T.Optional(Units),
      gas_paid_wei: T.Optional(Figure),
    }),
    expired: T.Object({ kind: T.Literal('expired'), is_drafted: T.Optional(T.Literal(true)) }),
    taken: T.Object({ kind: T.Literal('taken') }),
  } satisfies Answers,
})
const chainAnswers = new Map([plainHash, hashWithPrefix].map((hash) => [hash, answersWith(hash)]))

const broadcasts = {
  accepted: T.Object({ kind: T.Literal('accepted') }),
  unknown: T.Object({ kind: T.Literal('unknown') }),
} satisfies Answers

const finalities: readonly unknown[] = ['final', 'open', 'gone']

const FeeAnswer = T.Object({ gas_price_wei: Figure, eth_price: Figure, sat_per_vbyte: Figure })

const PriceAnswer = T.Object({
  price: T.BigInt({ minimum: 1n, maximum: 10n ** 24n }),
  at: ValidDate,
  source: T.String({ pattern: '^[\\x20-\\x7e]{1,100}$' }),
  withdrawn: T.Optional(T.Literal(true)),
})

type Asked = { readonly rail: string; readonly call: string }

/** The answer with the fields of its schema only. */
function checked<Answer>(asked: Asked, schema: TObject, answer: unknown): Answer {
  if (!Value.Check(schema, answer)) throw new InvalidAnswer({ ...asked, problem: problemOf(schema, answer) })
  const given = answer as Record<string, unknown>
  const fields = Object.keys(schema.properties).filter((name) => given[name] !== undefined)
  return Object.fromEntries(fields.map((name) => [name, given[name]])) as Answer
}

function checkedKind<Answer>(asked: Asked, answers: Answers, answer: unknown): Answer {
  const kind: unknown = (answer as { kind?: unknown } | null | undefined)?.kind
  const schema = typeof kind === 'string' && Object.hasOwn(answers, kind) ? answers[kind] : undefined
  if (!schema) throw new InvalidAnswer({ ...asked, problem: `kind is ${shown(kind)}` })
  return checked(asked, schema, answer)
}

/** Which field of an answer does not fit to its schema. */
export function problemOf(schema: TObject, answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return `the answer is ${shown(answer)}`
  const wrong = Object.entries(schema.properties).find(([name, field]) => {
    const value = (answer as Record<string, unknown>)[name]
    const is_left_out = value === undefined && !schema.required?.includes(name)
    return !is_left_out && !Value.Check(field, value)
  })
  return wrong
    ? `${wrong[0]} is ${shown((answer as Record<string, unknown>)[wrong[0]])}`
    : 'it has no such form'
}

const SHOWN_MAX = 40

/** Any value, made safe for a log line and a table. A text with the digits of a document or phone number is not shown. */
function shown(value: unknown): string {
  if (value === '') return 'empty'
  if (typeof value === 'string') {
    const is_plain =
      value.length <= SHOWN_MAX && /^[\x20-\x7e]+$/.test(value) && value.replaceAll(/\D/g, '').length < 8
    return is_plain ? `"${value}"` : `a text of ${value.length} characters`
  }
  if (value === undefined || value === null) return String(value)
  if (typeof value === 'number' || typeof value === 'bigint') return String(value).slice(0, SHOWN_MAX)
  if (value instanceof Date) return 'a date that is not valid'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Called for an invalid answer that belongs to no order. Invalid answers about an order are thrown to the worker. */
export type ReportInvalid = (error: InvalidAnswer) => void

/** Before an order is accepted, an invalid answer is a reason to refuse it. */
function orUnavailable<Answer>(check: () => Answer, report: ReportInvalid): Answer {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof InvalidAnswer)) throw error
    report(error)
    return refuse('rail_unavailable', { retry_after_seconds: 5 })
  }
}

const pixCall = (call: string): Asked => ({ rail: 'pix', call })

/** A payment in a list that is not valid is handed on as unread: the others are read all the same. */
const withValidCharges = (charges: PixCharges): PixCharges => ({
  ...charges,
  register: async (order, signal) =>
    checkedKind<ChargeOutcome>(pixCall('register'), chargeOutcomes, await charges.register(order, signal)),
  async *received(window, signal) {
    for await (const answer of charges.received(window, signal)) {
      if ('is_unread' in answer) yield answer
      else if (Value.Check(ReceivedAnswer, answer))
        yield checked<ReceivedPix>(pixCall('received'), ReceivedAnswer, answer)
      else yield unreadEntry(answer, problemOf(ReceivedAnswer, answer), idOf(answer))
    }
  },
  async payment(end_to_end_id, signal) {
    const answer = await charges.payment(end_to_end_id, signal)
    if (answer === undefined) return undefined
    const seen = checked<ReceivedPix>(pixCall('payment'), ReceivedAnswer, answer)
    if (seen.end_to_end_id === end_to_end_id) return seen
    throw new InvalidAnswer({ ...pixCall('payment'), problem: 'the payment is another one' })
  },
})

const ReceivedIdField = T.Object({ end_to_end_id: ReceivedId })
const idOf = (answer: unknown): { end_to_end_id?: string } =>
  Value.Check(ReceivedIdField, answer) ? { end_to_end_id: answer.end_to_end_id } : {}

export function withValidAnswers<E extends Environment>(rail: PixRail<E>, report: ReportInvalid): PixRail<E> {
  const asked = pixCall
  const { charges } = rail
  return {
    ...rail,
    ...(charges && { charges: withValidCharges(charges) }),
    ready: () => rail.ready(),
    async holder(pix_key, asking) {
      const answer = await rail.holder(pix_key, asking)
      return orUnavailable(() => {
        const directory = checkedKind<Directory>(asked('holder'), directories, answer)
        if (directory.kind !== 'held') return directory
        return { kind: 'held', holder: checked(asked('holder'), HolderAnswer, directory.holder) }
      }, report)
    },
    send: async (order, signal) => checkedKind(asked('send'), pixOutcomes, await rail.send(order, signal)),
    status: async (order, signal) =>
      checkedKind(asked('status'), pixStatuses, await rail.status(order, signal)),
  }
}

export function withValidChainAnswers<E extends Environment>(
  rail: ChainRail<E>,
  report: ReportInvalid,
): ChainRail<E> {
  const asked = (call: string): Asked => ({ rail: rail.network, call })
  const answers = chainAnswers.get(hashOf(rail.network))!
  const { finality } = rail
  return {
    ...rail,
    ...(finality && {
      async finality(block: Block, signal?: AbortSignal) {
        const answer = await finality(block, signal)
        if (finalities.includes(answer)) return answer
        throw new InvalidAnswer({ ...asked('finality'), problem: `the answer is ${shown(answer)}` })
      },
    }),
    async feeInputs() {
      const answer = await rail.feeInputs()
      return orUnavailable(() => checked(asked('fees'), FeeAnswer, answer), report)
    },
    async wallet() {
      const state = checked<WalletState>(asked('wallet'), WalletAnswer, await rail.wallet())
      if (state.pool < state.mined)
        throw new InvalidAnswer({ ...asked('wallet'), problem: `pool is ${state.pool}` })
      if (state.claimed < state.pool)
        throw new InvalidAnswer({ ...asked('wallet'), problem: `claimed is ${state.claimed}` })
      if (state.final > state.mined)
        throw new InvalidAnswer({ ...asked('wallet'), problem: `final is ${state.final}` })
      return state
    },
    holdings: async (addresses) =>
      checked(asked('holdings'), answers.holdings, await rail.holdings(addresses)),
    screen: async (order, signal) =>
      checkedKind(asked('screen'), screenings, await rail.screen(order, signal)),
    async attempt(order, reservation, made, purpose, signal) {
      const answer = await rail.attempt(order, reservation, made, purpose, signal)
      if (answer?.kind !== 'signed') return checkedKind(asked('sign'), { later: Later }, answer)
      const transaction = checked<Signed>(asked('sign'), answers.transaction, answer.transaction)
      // The simulated chains cancel a transfer of a certain amount; a real one cancels only what it is told to.
      if (transaction.purpose !== purpose && rail.environment === 'production')
        throw new InvalidAnswer({ ...asked('sign'), problem: `purpose is ${transaction.purpose}` })
      return { kind: 'signed', transaction }
    },
    broadcast: async (order, attempt, signal) =>
      checkedKind(asked('broadcast'), broadcasts, await rail.broadcast(order, attempt, signal)),
    async look(order, reservation, made, signal) {
      const seen = checkedKind<Seen>(
        asked('look'),
        answers.seen,
        await rail.look(order, reservation, made, signal),
      )
      if (seen.kind !== 'mined') return seen
      const mined = made.find(({ tx_hash }) => tx_hash === seen.tx_hash)
      const invalid = (problem: string) => new InvalidAnswer({ ...asked('look'), problem })
      if (!mined) throw invalid('tx_hash is of no transaction of the transfer')
      if (mined.purpose === 'cancel' && seen.effect === 'paid') throw invalid('a cancel is said to have paid')
      return seen
    },
  }
}

/** An invalid price counts as unknown: there are no quotes from it. */
export function withValidPrices<E extends Environment>(
  feed: PriceFeed<E>,
  report: ReportInvalid,
): PriceFeed<E> {
  const { markets } = feed
  return {
    environment: feed.environment,
    ...(markets && { markets }),
    async latest() {
      const answer: FedPrices | null | undefined = await feed.latest()
      const prices: Partial<Record<string, FedPrice>> = {}
      for (const pair of fedPairs) {
        const price = answer?.[pair]
        if (price === undefined) continue
        try {
          prices[pair] = checked({ rail: 'prices', call: pair }, PriceAnswer, price)
        } catch (error) {
          if (!(error instanceof InvalidAnswer)) throw error
          report(error)
        }
      }
      return prices
    },
  }
}
