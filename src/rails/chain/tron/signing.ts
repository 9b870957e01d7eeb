import type { Logger } from 'pino'
import { orNoSigner, SignatureRefused, type Signer, type SignerRule } from '../../signer/signer.ts'
import { TRON_EXPIRY_MS } from '../../signer/tron.ts'
import { orNone } from '../check.ts'
import type { Attempt, ChainOrder, Later, LaterReason, Made, Reservation, Seen } from '../rail.ts'
import type { Rpc } from '../rpc.ts'
import { lookOnTron, type MadeOnTron, type SoughtOnTron } from './evidence.ts'
import {
  assertWallet,
  draftPayment,
  signDraftOfTron,
  type TronDraft,
  type TronPlace,
  type TronScene,
} from './payment.ts'
import { decodeRaw, txIdOf } from './transaction.ts'

export type StoredDraft = TronDraft & { readonly tx_hash: string }

/**
 * Where drafts are stored before the signer sees them. An answer of the signer that got lost is asked for again with the same bytes, and a
 * draft counts as a payment until it has expired: the signer may have signed it.
 */
export type TronDrafts = {
  draftsOf(transfer_id: string): Promise<readonly StoredDraft[]>
  /** Returns the draft that was stored first under this number. Undefined: these very bytes pay another transfer. */
  keep(
    place: { readonly transfer_id: string; readonly number: number },
    draft: StoredDraft,
  ): Promise<StoredDraft | undefined>
}

export type TronSigningParts = {
  readonly rpc: Rpc
  readonly signer: Signer
  readonly drafts: TronDrafts
  readonly place: TronPlace
  readonly clock: { now(): number }
  readonly log: Pick<Logger, 'info' | 'warn'> | undefined
  checkedOnce(): Promise<void>
  sceneOf(): Promise<TronScene>
  later(order: ChainOrder, why: LaterReason): Later
}

type Sought = {
  readonly order: ChainOrder
  readonly reservation: Reservation
  readonly made: readonly Attempt[]
}

/** The reasons of a signer to refuse that pass with time. All others mean that something is wrong with the request. */
const passingRules: readonly SignerRule[] = ['fee_cap', 'count_per_hour', 'amount_per_hour', 'costs_per_hour']

export async function look(
  { rpc, place, clock, log }: Pick<TronSigningParts, 'rpc' | 'place' | 'clock' | 'log'>,
  sought: SoughtOnTron,
  signal: AbortSignal | undefined,
): Promise<Seen> {
  const { seen, contradiction } = await lookOnTron(rpc, place, sought, { now: clock.now(), signal })
  if (contradiction) {
    const { id } = sought.order
    log?.warn(
      { network: 'tron', transfer_id: id },
      `chain: endpoints of tron contradict each other about transfer ${id}; it waits until they agree`,
    )
  }
  return seen
}

/**
 * What the chain shows of a transfer, and whether a draft that the signer may have signed can still be mined: the money of a canceled
 * transfer is not given back until then. A draft that was mined is found among what leaves the wallet, where operators judge it.
 */
export async function lookBesideDrafts(
  parts: Pick<TronSigningParts, 'rpc' | 'place' | 'clock' | 'log' | 'drafts'>,
  sought: SoughtOnTron,
  signal: AbortSignal | undefined,
): Promise<Seen> {
  const seen = await look(parts, sought, signal)
  if (seen.kind !== 'expired') return seen
  const { made } = sought
  // No signer signs bytes that expire later, so such a row of the table is no draft of the service.
  const latest = BigInt(parts.clock.now() + LATEST_MS)
  const unanswered = unansweredOf(await parts.drafts.draftsOf(sought.order.id), made).filter(
    (draft) => expiryOf(draft) > 0n && expiryOf(draft) <= latest,
  )
  if (unanswered.length === 0) return seen
  const { kind } = await look(parts, { ...sought, made: [...made, ...unanswered] }, signal)
  const is_read = unanswered.every((draft) => expiryOf(draft) < BigInt(parts.clock.now() - READ_MS))
  return kind === 'expired' || (kind === 'mined' && is_read) ? seen : { ...seen, is_drafted: true }
}

/** An earlier payment that can still be mined would be a second one: nothing is signed until all of them have expired. */
export async function signPayment(
  parts: TronSigningParts,
  sought: Sought,
  signal: AbortSignal | undefined,
): Promise<Made> {
  const { order, reservation } = sought
  const { id, destination_address, amount } = order
  const ordered = { transfer_id: id, network: 'tron', destination_address, amount } as const
  // Without a seal the signer refuses.
  const intent = { ...ordered, seal: order.seal ?? '' }
  try {
    const made = await orNoSigner(async () => {
      const drafted = await orNone(() => nextDraft(parts, sought, intent, signal))
      if (drafted?.kind !== 'drafted') return parts.later(order, drafted?.why ?? 'endpoints_unavailable')
      signal?.throwIfAborted()
      const commission = { intent, reservation, earlier: drafted.earlier }
      const transaction = await signDraftOfTron(parts.signer, drafted.draft, commission)
      return { kind: 'signed', transaction } as const
    })
    return made ?? parts.later(order, 'signer_unavailable')
  } catch (error) {
    if (error instanceof SignatureRefused && passingRules.includes(error.rule))
      return parts.later(order, error.rule === 'fee_cap' ? 'fee_above_cap' : 'signer_limit')
    throw error
  }
}

type Drafted =
  | { readonly kind: 'drafted'; readonly draft: TronDraft; readonly earlier: readonly string[] }
  | { readonly kind: 'later'; readonly why: LaterReason }

/** The latest expiry that a signer accepts, and half a minute for the clocks. */
const LATEST_MS = TRON_EXPIRY_MS + 60_000

/** A payment of the wallet is read from its block within this time, or no money is given back meanwhile (`money/onchain/tron`). */
const READ_MS = 240_000

/** A draft that expires sooner is not signed any more: the signed bytes need time to reach the chain. */
const LEAST_LEFT_MS = 3000

/** The newest draft while it can be mined, or else a new one once everything before it is past. */
async function nextDraft(
  parts: TronSigningParts,
  { order, reservation, made }: Sought,
  intent: Parameters<typeof draftPayment>[2]['intent'],
  signal: AbortSignal | undefined,
): Promise<Drafted> {
  await parts.checkedOnce()
  const scene = await parts.sceneOf()
  assertWallet(scene, intent, reservation)
  const now = parts.clock.now()
  const drafts = await parts.drafts.draftsOf(order.id)
  const unanswered = unansweredOf(drafts, made)
  const hashes = [...new Set([...made, ...drafts].map(({ tx_hash }) => tx_hash))]
  const newest = unanswered.at(-1)
  if (newest && expiryOf(newest) > BigInt(now + LEAST_LEFT_MS))
    return { kind: 'drafted', draft: newest, earlier: hashes.filter((hash) => hash !== newest.tx_hash) }
  const all: readonly MadeOnTron[] = [...made, ...unanswered]
  const seen = await look(parts, { order, reservation, made: all }, signal)
  if (seen.kind === 'mined') assertSignatureKnown(order, made, seen.tx_hash)
  if (seen.kind !== 'expired') return { kind: 'later', why: 'not_worth_it' }
  const drafted = await draftPayment(parts.rpc, scene, { intent, now }, signal)
  if (drafted.kind === 'later') return drafted
  const { draft } = drafted
  // Asked before the draft is stored: a stored draft counts as signed until it has expired.
  const { transfer_id, network, amount } = intent
  const payment = { transfer_id, network, amount, cost: BigInt(draft.terms.fee_limit!), earlier: hashes }
  if (await parts.signer.keepRoom(payment)) return { kind: 'later', why: 'signer_limit' }
  const to_store = { ...draft, tx_hash: txIdOf(draft.raw) }
  const stored = await parts.drafts.keep({ transfer_id, number: drafts.length + 1 }, to_store)
  return stored ? { kind: 'drafted', draft: stored, earlier: hashes } : { kind: 'later', why: 'not_worth_it' }
}

const unansweredOf = (
  drafts: readonly StoredDraft[],
  made: readonly Pick<Attempt, 'tx_hash'>[],
): readonly StoredDraft[] => drafts.filter(({ tx_hash }) => !made.some((one) => one.tx_hash === tx_hash))

/** Throws if a mined payment is known as a draft only: the transfer would wait for ever, and nothing would say why. */
function assertSignatureKnown({ id }: ChainOrder, made: readonly Attempt[], mined: string): void {
  if (made.some(({ tx_hash }) => tx_hash === mined)) return
  throw new SignatureRefused(
    'earlier_payments',
    id,
    `its payment ${mined} was mined, and the service has the draft of it and no signature. The database may be restored from a backup.`,
  )
}

const expiryOf = ({ raw }: TronDraft): bigint => decodeRaw(raw)?.expiration ?? 0n
