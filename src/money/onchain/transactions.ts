import { batched } from '../../db/batched.ts'
import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'
import { type Command, type Decision, insertInto, targetOf, writeTo } from '../../ledger/command.ts'
import { readSigned } from '../../rails/chain/bitcoin/bytes.ts'
import { coinThatStandsFor } from '../../rails/chain/bitcoin/transaction.ts'
import type { Attempt, Block, ChosenCoin, Reservation, WalletState } from '../../rails/chain/rail.ts'
import type { SignedBefore } from '../../rails/signer/hourly.ts'
import { holdRows } from '../../records/desk/holds.ts'
import { pausedRows } from '../custody/controls-store.ts'
import { isAhead, updateWallets, walletIdOf, walletRows } from '../custody/wallets.ts'
import { coinLocks, reservationOfCoins } from './coins/reservation.ts'
import { foreignRows } from './coins/store.ts'
import { isFinalTransfer, type Transfer, transferRows, updateTransfers } from './store.ts'

/**
 * What a transfer spends, and the transactions that were signed for it (contract §9). A nonce is reserved before anything is signed, and a
 * transaction is stored before it is broadcast; neither ever changes.
 *
 * `reserveNonce` reserves the wallet's next nonce and returns the transfer. Nothing is reserved if the transfer has ended or is held by a
 * proposal, its rail is paused, `reserved_most` nonces of the wallet are not mined yet, or the chain knows nonces that the database does
 * not (custody/guard.ts). `coins` are reserved with the nonce; if one of them is not free any more, nothing is reserved.
 */
export function reserveNonce(
  { id, partner_id, network }: Transfer,
  state: WalletState,
  reserved_most: number,
  {
    although_paused = false,
    coins = [],
  }: { readonly although_paused?: boolean; readonly coins?: readonly ChosenCoin[] } = {},
): Command<Transfer | undefined> {
  const { mined } = state
  const wallet_id = walletIdOf(network, state.wallet)
  const of_coins = coinLocks(coins)
  return {
    partner_id,
    locks: {
      rows: [{ source: transferRows, id }, { source: walletRows, id: wallet_id }, ...of_coins.rows],
      reads: [
        ...[
          { source: holdRows, id },
          { source: pausedRows, id: network },
        ],
        ...[{ source: foreignRows, id: wallet_id }, ...of_coins.reads],
      ],
    },
    decide(held): Decision<Transfer | undefined> {
      const before = held.row(transferRows, id)
      const from = held.row(walletRows, wallet_id)
      if (!before || !from || isFinalTransfer(before) || before.nonce !== null) return { result: before }
      const is_full = from.next_nonce - mined >= reserved_most
      const is_behind = isAhead(state, from.next_nonce) || held.row(foreignRows, wallet_id) !== undefined
      const is_paused = !although_paused && held.row(pausedRows, network) !== undefined
      if (is_full || is_behind || is_paused || held.row(holdRows, id) !== undefined) return { result: before }
      const reserved = reservationOfCoins(held, { transfer_id: id, network, wallet_id, coins })
      if (!reserved) return { result: before }
      const after = { ...before, wallet_id, nonce: from.next_nonce }
      return {
        writes: [
          writeTo(updateTransfers, after),
          writeTo(updateWallets, { id: wallet_id, next_nonce: from.next_nonce + 1n }),
          ...reserved.writes,
        ],
        keeps: reserved.keeps,
        result: after,
      }
    },
  }
}

export const reservationOf = ({ wallet_id, nonce }: Transfer): Reservation => ({
  wallet: wallet_id!.slice(wallet_id!.indexOf(':') + 1),
  nonce: nonce!,
})

export const insertTransactions = insertInto('transactions', {
  transfer_id: 'text',
  attempt: 'integer',
  network: 'text',
  purpose: 'text',
  tx_hash: 'text',
  signed: 'text',
  terms: 'json',
  created_at: 'timestamptz',
})

/** The block in which a transaction is for good, and what it cost. Null again if another transaction of the transfer took its place. */
export const updateMined = targetOf(
  'update transactions: mined',
  {
    transfer_id: 'text',
    attempt: 'integer',
    block_height: 'bigint?',
    block_hash: 'text?',
    gas_paid_wei: 'numeric?',
  },
  (
    rows,
  ) => `UPDATE transactions AS old SET block_height = new.block_height, block_hash = new.block_hash, gas_paid_wei = new.gas_paid_wei
    FROM ${rows} WHERE old.transfer_id = new.transfer_id AND old.attempt = new.attempt RETURNING 1`,
  { counted: true },
)

/** A transaction of a transfer and its final block. */
export type Mined = Block & {
  readonly attempt: Attempt
  /** What the network charged in the coin that pays for gas; null if no node told it. */
  readonly gas_paid_wei: bigint | null
}

/** An attempt and the block in which it is final, if it was mined. */
export type StoredAttempt = Attempt & {
  readonly transfer_id: string
  readonly block_height: bigint | null
  readonly block_hash: string | null
  /** Null if the transaction is not final, or no node told it. */
  readonly gas_paid_wei: bigint | null
}

const readAttempts = batched<string, readonly StoredAttempt[]>(async (db, ids) => {
  const { rows } = await db.query<StoredAttempt>({
    name: 'transactions of transfers',
    text: `SELECT ${columnsOf('transactions')} FROM transactions WHERE transfer_id = ANY($1::text[]) ORDER BY transfer_id, attempt`,
    values: [ids],
  })
  const found = new Map<string, StoredAttempt[]>(ids.map((id) => [id, []]))
  for (const row of rows) found.get(row.transfer_id)?.push(row)
  return ids.map((id) => found.get(id))
})

/**
 * What was signed within the last hour: the nonce or a coin (on Tron the payment itself), what it may pay, and what it may cost. A signer
 * that starts counts it towards its hourly limits.
 */
export async function signedWithinAnHour(db: Db): Promise<SignedBefore[]> {
  const { rows } = await db.query({
    name: 'signed within an hour',
    text: `SELECT x.network, t.nonce, x.tx_hash, CASE x.purpose WHEN 'pay' THEN t.amount_net ELSE 0 END AS amount, x.created_at AS at,
        CASE x.network WHEN 'bitcoin' THEN x.signed END AS signed,
        coalesce((x.terms ->> 'max_fee_per_gas')::numeric * (x.terms ->> 'gas_limit')::numeric,
          (x.terms ->> 'fee')::numeric, (x.terms ->> 'fee_limit')::numeric, 0)::text AS cost
      FROM transactions x JOIN transfers t ON t.id = x.transfer_id
      WHERE x.created_at > clock_timestamp() - interval '1 hour' ORDER BY x.created_at`,
  })
  return rows.map(({ network, nonce, tx_hash, amount, at, signed, cost }) => ({
    ...{ network, amount, at, cost: BigInt(cost) },
    spends:
      network === 'tron'
        ? tx_hash
        : signed === null
          ? String(nonce)
          : coinThatStandsFor(readSigned(signed).inputs),
  }))
}

/** The transactions of a transfer, oldest first. */
export const attemptsOf = async (db: Db, transfer_id: string): Promise<readonly StoredAttempt[]> =>
  (await readAttempts(db, transfer_id)) ?? []
