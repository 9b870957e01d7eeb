import type { AccountRef, Claim, HeldAccount, IdempotencyRecord } from './command.ts'

/** What a batch holds between its two round trips: filled by lock.ts, changed in memory by decide.ts, stored by write.ts. */
export type State = {
  now: Date
  /** Commits wait for a standby. */
  replicated: boolean
  readonly accounts: Map<string, HeldAccount>
  readonly rows: Map<string, Map<string, Row>>
  readonly claims: Map<string, HeldClaim>
}

export type Row = { id: string } & Record<string, unknown>

export type HeldClaim = {
  readonly claim: Pick<Claim, 'scope' | 'operation' | 'key'>
  /** It was there when everything was locked, and is locked too. */
  readonly there: boolean
  /** Only its answer was read, under no lock. */
  readonly read_only?: true
  record: IdempotencyRecord | undefined
  /** Decided on in this batch. */
  changed?: true
}

export const accountKey = ({ customer_id, asset }: AccountRef): string => `${customer_id} ${asset}`
export const claimKey = ({ scope, operation, key }: Pick<Claim, 'scope' | 'operation' | 'key'>): string =>
  // No text that the database keeps has this character.
  `${scope}\0${operation}\0${key}`
