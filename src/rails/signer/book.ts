import { createHash } from 'node:crypto'
import type { Network } from '../../core/networks.ts'
import { coinThatStandsFor, decodePsbt, outpointText } from '../chain/bitcoin/transaction.ts'
import { openExpiringPayments } from './expiring.ts'
import type { SignatureName, SignedBefore } from './hourly.ts'
import type { SignatureLine, SweepEntry, TransferEntry } from './log.ts'
import { type PaymentAhead, SignatureRefused, type SignRequest } from './signer.ts'
import { spentBySweep } from './sweeps.ts'

/**
 * What the log of signatures says about earlier signatures, in memory. It answers two kinds of questions: what was signed within the last
 * hour, and whether a payment contradicts an earlier one.
 *
 * Bound: the newest `transfers_most` transfers with a payment, as many that were only canceled, and the signatures of one hour, which the
 * hourly limits bound. Of forgotten transfers the highest nonce of each wallet is kept: no payment is signed with it or a lower one.
 */
export type SignatureBook = {
  apply(line: SignatureLine): void
  /** Throws `SignatureRefused` if the transaction contradicts one that was signed before. */
  checkTransfer(request: SignRequest): void
  /**
   * Throws `SignatureRefused` if a payment of the transfer was signed before: then the transfer has a nonce or coins already. On Tron only
   * if that payment may still be mined, or is not among the named ones.
   */
  checkUnpaid(payment: Pick<PaymentAhead, 'transfer_id' | 'network' | 'earlier'>): void
  /** Whether this very signature was made within the last hour. */
  hasRecent(signature: SignatureName): boolean
  /** `wallet`: the present wallet. The same nonce of another wallet counts separately. */
  signedWithinAnHour(kind: 'transfer' | 'sweep', wallet?: string): readonly SignedBefore[]
}

const HOUR_MS = 3_600_000
const TRANSFERS_MOST = 100_000
/** A nonce further above the highest signed one is refused: once its transfer is forgotten, all lower nonces would be refused. */
const NONCES_AHEAD_MOST = 10_000n

/** What is known of one transfer. `paid_with`: the wallet and the nonce, or the coin that stands for its coins. */
type KnownTransfer = {
  readonly order: string
  readonly network: Network
  /** The wallet that pays it, or the one of its first cancel. */
  readonly wallet: string
  readonly paid_with?: string
  readonly coins: readonly string[]
}

type Recent = SignedBefore & {
  readonly kind: 'transfer' | 'sweep'
  /** Of a nonce. */
  readonly wallet: string | undefined
  readonly name: string
}

export function openSignatureBook({
  clock,
  transfers_most = TRANSFERS_MOST,
}: {
  readonly clock: { now(): number }
  readonly transfers_most?: number
}): SignatureBook {
  const transfers = indexOfTransfers(transfers_most, clock)
  let recent: Recent[] = []
  const withinAnHour = (): readonly Recent[] => {
    const now = clock.now()
    // Lines are in the order of their time.
    const first = recent.findIndex(({ at }) => now - at.getTime() < HOUR_MS)
    if (first !== 0) recent = first === -1 ? [] : recent.slice(first)
    return recent
  }

  return {
    ...transfers,
    apply(line) {
      if (line.kind !== 'transfer' && line.kind !== 'sweep') return
      if (line.kind === 'transfer') transfers.apply(line)
      const { kind, network } = line
      const amount = kind === 'transfer' && line.purpose === 'pay' ? BigInt(line.amount) : 0n
      // Gas that is sent to a deposit address counts as a cost.
      const sent = kind === 'sweep' && line.purpose === 'fund' ? BigInt(line.amount) : 0n
      const spends = kind === 'transfer' ? spentBy(line) : spentByLoggedSweep(line)
      const cost = BigInt(line.cost) + sent
      const has_nonce = kind === 'transfer' && line.nonce !== undefined && line.network !== 'tron'
      const wallet = has_nonce ? line.wallet.toLowerCase() : undefined
      recent.push({
        kind,
        network,
        wallet,
        name: nameOfLine(line),
        spends,
        amount,
        cost,
        at: new Date(line.at),
      })
      withinAnHour()
    },
    hasRecent(signature) {
      const name = nameOf({ ...signature, unsigned: hashOfUnsigned(signature.unsigned) })
      return withinAnHour().some((one) => one.name === name)
    },
    signedWithinAnHour: (kind, wallet) =>
      withinAnHour()
        .filter((one) => one.kind === kind)
        .map((one) =>
          one.wallet === undefined || one.wallet === wallet?.toLowerCase()
            ? one
            : { ...one, spends: nonceName(one.wallet, one.spends) },
        ),
  }
}

function indexOfTransfers(transfers_most: number, clock: { now(): number }) {
  const expiring = openExpiringPayments(clock, transfers_most)
  /** By first signature: the oldest is forgotten first. Cancels have a map of their own, so that cheap cancels push out no payment. */
  const paid = new Map<string, KnownTransfer>()
  const only_canceled = new Map<string, KnownTransfer>()
  const knownOf = (transfer_id: string) => paid.get(transfer_id) ?? only_canceled.get(transfer_id)
  /** The transfer that each nonce of a wallet, or coin, pays. */
  const payers = new Map<string, string>()
  const coin_amounts = new Map<string, string>()
  /** By network and wallet: nonces up to this one belong to transfers that are forgotten. */
  const forgotten_nonces = openHighest()
  /** By network and wallet. */
  const highest_nonces = openHighest()

  function forgetOldest(transfers: Map<string, KnownTransfer>): void {
    const transfer_id: string = transfers.keys().next().value!
    const { network, wallet, paid_with, coins } = transfers.get(transfer_id)!
    transfers.delete(transfer_id)
    for (const id of coins) {
      const payer = payers.get(`${network} ${id}`)
      if (payer !== undefined && payer !== transfer_id) continue
      coin_amounts.delete(id)
      payers.delete(`${network} ${id}`)
    }
    if (coins.length > 0 || paid_with === undefined) return
    payers.delete(`${network} ${paid_with}`)
    forgotten_nonces.raise(`${network} ${wallet}`, nonceOf(paid_with))
  }

  return {
    apply(entry: TransferEntry): void {
      const { transfer_id, network, purpose, coins = [] } = entry
      const wallet = entry.wallet.toLowerCase()
      const known = knownOf(transfer_id)
      const ids = coins.map(({ id }) => id)
      const spent_now = entry.nonce === undefined ? spentBy(entry) : nonceName(wallet, entry.nonce)
      const paid_with = purpose === 'pay' ? spent_now : known?.paid_with
      const transfers = paid_with === undefined ? only_canceled : paid
      if (transfers === paid) only_canceled.delete(transfer_id)
      transfers.set(transfer_id, {
        ...{ order: orderOf(entry), network, wallet: purpose === 'pay' ? wallet : (known?.wallet ?? wallet) },
        ...{ coins: [...new Set([...(known?.coins ?? []), ...ids])] },
        ...(paid_with === undefined ? {} : { paid_with }),
      })
      for (const { id, amount } of coins) coin_amounts.set(id, amount)
      const { tx_hash, expires_at = '' } = entry
      // On Tron a payment is not known by its number: after the restore of a database another transfer may have the same one.
      if (network === 'tron') expiring.note({ transfer_id, tx_hash, expires_ms: Date.parse(expires_at) })
      else if (purpose === 'pay')
        for (const spent of ids.length > 0 ? ids : [spent_now]) payers.set(`${network} ${spent}`, transfer_id)
      if (entry.nonce !== undefined) highest_nonces.raise(`${network} ${wallet}`, BigInt(entry.nonce))
      while (transfers.size > transfers_most) forgetOldest(transfers)
    },

    checkTransfer(request: SignRequest): void {
      const { transfer_id, network } = request.intent
      const known = knownOf(transfer_id)
      if (known) checkSameOrder(known, request.intent)
      const { rule, spends, parts, amounts, account } = spendingOf(request)
      const refusal = (problem: string) => new SignatureRefused(rule, transfer_id, problem)
      for (const [id, told] of amounts)
        if ((coin_amounts.get(id) ?? told) !== told)
          throw refusal('a coin had another amount before, as the signer’s log says.')
      const highest = rule === 'nonce' ? highest_nonces.get(account) : undefined
      if (highest !== undefined && nonceOf(spends) > highest + NONCES_AHEAD_MOST)
        throw refusal(`the nonce is more than ${NONCES_AHEAD_MOST} above the highest one of this wallet.`)
      // A cancel pays nobody, so it may compete with every payment.
      if (request.purpose !== 'pay') return
      if (network === 'tron') expiring.check(request)
      else checkSpending(request.intent, known, { rule, spends, parts }, payers)
      const is_unpaid = known?.paid_with === undefined
      const forgotten = rule === 'nonce' && is_unpaid ? forgotten_nonces.get(account) : undefined
      if (forgotten !== undefined && nonceOf(spends) <= forgotten)
        throw refusal('the nonce belongs to an older transfer.')
    },

    checkUnpaid(payment: Pick<PaymentAhead, 'transfer_id' | 'network' | 'earlier'>): void {
      const { transfer_id, network } = payment
      if (network === 'tron') return expiring.checkFurther(payment)
      if (knownOf(transfer_id)?.paid_with === undefined) return
      throw new SignatureRefused(
        network === 'bitcoin' ? 'coins' : 'nonce',
        transfer_id,
        'its payment was signed before, as the signer’s log says, and the service has lost the record of that. The database may be restored from a backup.',
      )
    },
  }
}

/** The highest nonce of each account. */
function openHighest() {
  const nonces = new Map<string, bigint>()
  return {
    get: (account: string) => nonces.get(account),
    raise(account: string, nonce: bigint): void {
      if (nonce > (nonces.get(account) ?? -1n)) nonces.set(account, nonce)
    },
  }
}

function checkSameOrder(
  { order }: KnownTransfer,
  { transfer_id, network, destination_address: destination, amount }: SignRequest['intent'],
): void {
  if (order === orderOf({ network, destination, amount: amount.toString() })) return
  throw new SignatureRefused(
    'transfer',
    transfer_id,
    'it was signed before for another network, destination or amount, as the signer’s log says.',
  )
}

/** All transactions that pay a transfer spend the same nonce, or share their coins, so at most one of them is mined. */
function checkSpending(
  { transfer_id, network }: SignRequest['intent'],
  known: KnownTransfer | undefined,
  { rule, spends, parts }: Pick<ReturnType<typeof spendingOf>, 'rule' | 'spends' | 'parts'>,
  payers: ReadonlyMap<string, string>,
): void {
  const refusal = (problem: string) => new SignatureRefused(rule, transfer_id, problem)
  const same = rule === 'nonce' ? 'nonce' : 'coins'
  if (known?.paid_with !== undefined && known.paid_with !== spends)
    throw refusal(`its payment was signed before with another ${same}: it could be paid twice.`)
  const payer = parts.map((part) => payers.get(`${network} ${part}`)).find((id) => id && id !== transfer_id)
  if (payer !== undefined) throw refusal(`the payment of ${payer} was signed before with the same ${same}.`)
}

/** What a request spends: the nonce, or the coins with the amounts that the reservation and the PSBT tell. */
function spendingOf({ intent, reservation, unsigned }: SignRequest) {
  const wallet = reservation.wallet.toLowerCase()
  const account = `${intent.network} ${wallet}`
  if ('nonce' in reservation) {
    const spends = nonceName(wallet, `${reservation.nonce}`)
    return { rule: 'nonce', spends, parts: [spends], amounts: [], account } as const
  }
  const { coins } = reservation
  // A signature commits to the amounts of the PSBT. A PSBT that cannot be decoded is refused by the signer.
  const told = [...coins, ...(decodePsbt(unsigned)?.coins ?? [])]
  const amounts = told.map((coin) => [outpointText(coin), `${coin.amount}`] as const)
  return {
    ...({ rule: 'coins', spends: coinThatStandsFor(coins), amounts, account } as const),
    parts: coins.map(outpointText),
  }
}

/** Each wallet has its own nonces: after a change of the key the new wallet begins with those that the old one has used. */
const nonceName = (wallet: string, nonce: string): string => `${wallet} ${nonce}`
const nonceOf = (name: string): bigint => BigInt(name.slice(name.lastIndexOf(' ') + 1))

/** `unsigned` is the hash of the bytes. */
const nameOf = ({ kind, purpose, sender, id, unsigned }: SignatureName): string =>
  JSON.stringify([kind, purpose, sender.toLowerCase(), id, unsigned])

const nameOfLine = (line: TransferEntry | SweepEntry): string =>
  line.kind === 'transfer'
    ? nameOf({ ...line, sender: line.wallet, id: line.transfer_id })
    : nameOf({ ...line, id: line.sweep_id })

export const hashOfUnsigned = (unsigned: string): string =>
  createHash('sha256').update(unsigned).digest('hex')

const orderOf = ({
  network,
  destination,
  amount,
}: Pick<TransferEntry, 'network' | 'destination' | 'amount'>): string =>
  createHash('sha256')
    .update(JSON.stringify([network, destination, amount]))
    .digest('base64url')

/** Two payments on Tron do not exclude each other on the chain, so each counts for itself, by its hash. */
const spentBy = ({ network, tx_hash, nonce, coins = [] }: TransferEntry): string =>
  network === 'tron' ? tx_hash : (nonce ?? coins.map(({ id }) => id).sort()[0] ?? '')

const spentByLoggedSweep = ({ purpose, address_index, nonce }: SweepEntry): string =>
  spentBySweep({ purpose, address_index, nonce: BigInt(nonce) })
