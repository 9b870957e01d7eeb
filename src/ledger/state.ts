import type { AccountRef, Claim, HeldAccount, IdempotencyRecord } from './command.ts'

/** What a batch holds between its two round trips: filled by lock.ts, changed in memory by decide.ts, written by write.ts. */
export type State = {
  now: Date
  /** Whether commits wait for a standby. */
  replicated: boolean
  readonly accounts: Map<string, HeldAccount>
  readonly rows: Map<string, Map<string, HeldRow>>
  readonly claims: Map<string, HeldClaim>
}

export type HeldRow = { id: string } & Record<string, unknown>

export type HeldClaim = {
  readonly claim: Pick<Claim, 'scope' | 'operation' | 'key'>
  /** The claim existed at the lock, and is locked. */
  readonly there: boolean
  /** Only the response was read, without a lock. */
  readonly read_only?: true
  record: IdempotencyRecord | undefined
  /** A command of this batch has set the record. */
  changed?: true
}

export const accountKey = ({ customer_id, asset }: AccountRef): string => `${customer_id} ${asset}`
export const claimKey = ({ scope, operation, key }: Pick<Claim, 'scope' | 'operation' | 'key'>): string =>
  // No text in the database contains NUL.
  `${scope}\0${operation}\0${key}`
