import type { Network } from '../../../core/networks.ts'
import { type Held, type Kept, keep, type RowRef, type Write, writeTo } from '../../../ledger/command.ts'
import type { ChosenCoin } from '../../../rails/chain/rail.ts'
import { madeRows } from '../made-rows.ts'
import { transferRows } from '../store.ts'
import { coinRows, insertCoins, reserveCoins, spentFurtherRows } from './store.ts'

/**
 * Reserves coins for a transfer, in the command that reserves its nonce. A coin of a transaction that is not mined yet has no row
 * before: the transfer that makes it is locked, so that it is not replaced in the same moment.
 */
export function coinLocks(coins: readonly ChosenCoin[]): {
  readonly rows: readonly RowRef[]
  readonly reads: readonly RowRef[]
} {
  const makers = coins.flatMap(({ made_by }) => made_by ?? [])
  return {
    rows: [
      ...coins.map(({ id }) => ({ source: coinRows, id })),
      ...makers.map((id) => ({ source: transferRows, id })),
    ],
    reads: makers.map((id) => ({ source: madeRows, id })),
  }
}

type CoinReservation = { readonly writes: readonly Write[]; readonly keeps: readonly Kept[] }

/** Undefined if one of the coins is not free any more. */
export function reservationOfCoins(
  held: Held,
  {
    transfer_id,
    network,
    wallet_id,
    coins,
  }: {
    readonly transfer_id: string
    readonly network: Network
    readonly wallet_id: string
    readonly coins: readonly ChosenCoin[]
  },
): CoinReservation | undefined {
  if (!coins.every((coin) => isFree(held, coin, wallet_id))) return undefined
  const makers = coins.flatMap(({ made_by }) => made_by ?? [])
  const is_new = ({ id }: ChosenCoin) => held.row(coinRows, id) === undefined
  return {
    writes: coins.map((coin) => {
      const { id, amount, script, made_by } = coin
      if (!is_new(coin)) return writeTo(reserveCoins, { id, reserved_by: transfer_id })
      const made = { id, network, wallet_id, script, amount, is_coinbase: false, made_by }
      return writeTo(insertCoins, { ...made, reserved_by: transfer_id })
    }),
    // The next commands of the batch must find new rows as reserved, and their makers as spent.
    keeps: [
      ...coins.filter(is_new).map(({ id }) => keep(coinRows, { id, wallet_id, reserved_by: transfer_id })),
      ...makers.map((id) => keep(spentFurtherRows, { id })),
    ],
  }
}

function isFree(held: Held, { id, made_by }: ChosenCoin, wallet_id: string): boolean {
  const row = held.row(coinRows, id)
  if (row && (row.wallet_id !== wallet_id || row.reserved_by !== null || row.spent_by !== null)) return false
  if (row && row.block_height !== null) return true
  const maker = made_by === null ? undefined : held.row(transferRows, made_by)
  const made = made_by === null ? undefined : held.row(madeRows, made_by)?.made
  return maker?.status === 'processing' && maker.cancel_requested_at === null && made === 1
}
