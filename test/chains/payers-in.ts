import { randomInt } from 'node:crypto'
import type { Network } from '../../src/core/networks.ts'

/**
 * Strangers who pay to the deposit addresses of one chain, many payments in a transaction and many transactions in a block, and a
 * chain that replaces its newest blocks. What the chain has in the end is read from the chain, not from what was sent.
 */
export type PayersIn = {
  readonly network: Network
  readonly counted: PaidCounts
  /** Sends some transactions, and mines them in one new block. */
  pay(): Promise<void>
  /** The transactions in the newest blocks that a service must note. */
  inNewest(depth: number): Promise<readonly string[]>
  /** Replaces the newest blocks. Some transactions are in other blocks then, some come back later, some never. */
  reorganize(depth: number): Promise<void>
  /** Mines blocks that make everything final. */
  settle(): Promise<void>
  /** Each payment to one of the addresses that is in the chain, and more than zero. */
  payments(): Promise<readonly PaidIn[]>
}

export type PaidIn = {
  readonly tx_hash: string
  readonly output_index: number
  readonly address: string
  readonly amount: bigint
}

export type PaidCounts = {
  /** Payments above zero in transactions that do not fail. */
  sent: number
  transactions: number
  zero: number
  failed: number
  small: number
  /** Reorganisations that removed payments; those of depth 1 come first. */
  readonly reorganizations: number[]
  moved: number
  later: number
  never: number
}

export const REORGANIZED_MOST = 6

export const noCounts = (): PaidCounts => ({
  ...{ sent: 0, transactions: 0, zero: 0, failed: 0, small: 0, moved: 0, later: 0, never: 0 },
  reorganizations: Array.from({ length: REORGANIZED_MOST }, () => 0),
})

/** What becomes of a transaction in a block that is replaced. */
export const fates = ['moved', 'never', 'later', 'moved'] as const

/** One after the other, so that each of them is sure to happen. */
export function inTurn<T>(values: readonly T[]): () => T {
  let turn = 0
  return () => values[turn++ % values.length]!
}

export const anyOf = <T>(values: readonly T[]): T => values[randomInt(values.length)]!
