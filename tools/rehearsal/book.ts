import { type Asset, assetNames } from '../../src/core/money.ts'
import type { RailName } from '../../src/money/custody/controls-store.ts'

/**
 * What the rehearsal itself did outside of Trilho, customer by customer: payments that it made as a stranger, and orders whose end it saw at
 * the bank or on the chain. The balances that follow from it are compared with the ledger; nothing here is read from the ledger.
 */
export const columns = ['paid in', 'bought', 'sold', 'paid out', 'fees', 'came back', 'given back'] as const

export type Column = (typeof columns)[number]

type Fees = { readonly partner: bigint; readonly service: bigint }
type Line = {
  readonly customer_id: string
  readonly asset: Asset
  readonly column: Column
  /** A positive amount; the column says in which direction it moves. */
  readonly amount: bigint
  /** Absent for conversions and fees, which are the same money in other accounts. */
  readonly rail?: RailName
}

export type Book = ReturnType<typeof openBook>

/** Money leaves a customer by these. */
const debits: readonly Column[] = ['sold', 'paid out', 'fees', 'given back']

export function openBook() {
  const lines: Line[] = []
  const trade_fees = new Map<Asset, Fees>()
  const sumOf = (some: (line: Line) => boolean): bigint =>
    lines.reduce((sum, line) => (some(line) ? sum + line.amount : sum), 0n)
  const netOf = (some: (line: Line) => boolean): bigint =>
    sumOf((line) => some(line) && !debits.includes(line.column)) -
    sumOf((line) => some(line) && debits.includes(line.column))

  return {
    note(line: Line): void {
      if (line.amount < 0n) throw new Error('a line of the book is never negative')
      if (line.amount > 0n) lines.push(line)
    },
    noteTradeFees(asset: Asset, { partner, service }: Fees): void {
      const before = trade_fees.get(asset) ?? { partner: 0n, service: 0n }
      trade_fees.set(asset, { partner: before.partner + partner, service: before.service + service })
    },
    tradeFees: (asset: Asset): Fees => trade_fees.get(asset) ?? { partner: 0n, service: 0n },
    sum: (customer_id: string, asset: Asset, column: Column): bigint =>
      sumOf((line) => line.customer_id === customer_id && line.asset === asset && line.column === column),
    total: (asset: Asset, column: Column): bigint =>
      sumOf((line) => line.asset === asset && line.column === column),
    balance: (customer_id: string, asset: Asset): bigint =>
      netOf((line) => line.customer_id === customer_id && line.asset === asset),
    /** What customers brought to a rail, less what left there for them. */
    moved: (rail: RailName): bigint => netOf((line) => line.rail === rail),
    paidOut: (rail: RailName): bigint => sumOf((line) => line.rail === rail && line.column === 'paid out'),
    assetsOf: (customer_id: string): readonly Asset[] =>
      assetNames.filter((asset) =>
        lines.some((line) => line.customer_id === customer_id && line.asset === asset),
      ),
  }
}
