import { type Asset, assetNames } from '../../core/money.ts'
import type { Db } from '../../db/pool.ts'
import { newestLineAbout } from '../../records/acts/store.ts'

/**
 * What the accounts outside hold in an asset, as a statement of the bank or a wallet says. An operator notes the statement: an
 * act without movement, whose line in the act log is the only record (decision 0050). What the service itself reads of wallets
 * and of the Pix account is in `holdings` and `reconciliations` (money/custody).
 */
export type Statement = {
  readonly asset: Asset
  readonly amount: string
  /** The moment that the statement is about. */
  readonly as_of: string
  /** Where the figure comes from: the bank and the statement, or the wallet and the block. */
  readonly source: string
}

const NOTE_STATEMENT = 'note_statement'

/** The newest statement of an asset. */
export async function statementOf(db: Db, asset: Asset) {
  const line = await newestLineAbout(db, { object_id: asset, action: NOTE_STATEMENT })
  if (!line?.after) return undefined
  const { amount, as_of, source } = JSON.parse(line.after) as Statement
  return { asset, amount, as_of, source, noted_by: line.actor_email ?? 'shell' }
}

type Holding = {
  readonly asset: Asset
  /** What customers and partners own: available, in transit, and fees that partners earned. */
  readonly owed: bigint
  /** What is outside, by our books. */
  readonly held: bigint
  readonly statement:
    | (Omit<NonNullable<Awaited<ReturnType<typeof statementOf>>>, 'amount' | 'asset'> & {
        readonly amount: bigint
      })
    | null
}

/** Per asset and kind of account, as a proof of the ledger has them. */
type Sums = Readonly<Record<string, Readonly<Record<string, bigint>>>>

/** Owed against held, by the sums of a proof, with the newest statements beside them. */
export function holdingsOf(db: Db, sums: Sums): Promise<Holding[]> {
  return Promise.all(
    assetNames.map(async (asset) => {
      const sum = (account: string) => sums[asset]?.[account] ?? 0n
      const stated = await statementOf(db, asset)
      const { asset: _, amount = '0', ...statement } = stated ?? {}
      return {
        asset,
        owed: sum('customer') + sum('in_transit') + sum('partner_fees'),
        held: -sum('external'),
        statement: stated
          ? { ...(statement as Omit<typeof stated, 'asset' | 'amount'>), amount: BigInt(amount) }
          : null,
      }
    }),
  )
}
