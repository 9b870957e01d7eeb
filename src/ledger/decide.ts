import assert from 'node:assert/strict'
import { Refusal } from '../core/errors.ts'
import { UNITS_MAX } from '../core/money.ts'
import { accountColumns, type Movement } from './accounts.ts'
import { assertCovered } from './balances.ts'
import type { Command, Decision, Held, HeldAccount, IdempotencyRecord, RowSource, Write } from './command.ts'
import { accountKey, claimKey, type HeldRow, type State } from './state.ts'

/** Between the two round trips: decides the commands of a batch in order, each on the state that the earlier ones left. */
export type CommandResult =
  | { readonly result: unknown }
  | { readonly refusal: Refusal }
  | { readonly bug: unknown }

type Entry = {
  cause_id: string
  movement: string
  line: number
  partner_id: string
  account: string
  owner: string
  asset: string
  amount: bigint
  seq: bigint | null
  balance_after: bigint | null
  created_at: Date
}

export type Decided = {
  readonly results: readonly CommandResult[]
  readonly state: State
  readonly entries: readonly Entry[]
  readonly writes: readonly Write[]
  /** Accounts that changed, with the `seq` they had when they were locked. */
  readonly changed: ReadonlyMap<string, bigint>
}

export function decide(state: State, commands: readonly Command<unknown>[]): Decided {
  const entries: Entry[] = []
  const writes: Write[] = []
  const changed = new Map<string, bigint>()
  const held: Held = {
    now: state.now,
    account: (ref) => state.accounts.get(accountKey(ref)),
    row: <R extends { id: string }>(source: RowSource<R>, id: string) =>
      state.rows.get(source.name)?.get(id) as R | undefined,
    record: (claim) => {
      const record = state.claims.get(claimKey(claim))?.record
      return record && isOver(record, state.now) ? undefined : record
    },
  }
  const results = commands.map((command): CommandResult => {
    try {
      const decision = command.decide(held)
      const booked = book(state, command, decision.movements ?? [])
      const keep = keeper(state, command, decision)
      // From here on nothing can refuse or throw: the decision becomes part of what the next command sees.
      for (const [key, account] of booked.accounts) {
        if (!changed.has(key)) changed.set(key, state.accounts.get(key)!.seq)
        state.accounts.set(key, account)
      }
      entries.push(...booked.entries)
      writes.push(...(decision.writes ?? []))
      keep()
      return { result: decision.result }
    } catch (error) {
      return error instanceof Refusal ? { refusal: error } : { bug: error }
    }
  })
  return { results, state, entries, writes, changed }
}

/** Checks that everything the decision changes is held, and returns a function that applies all changes. */
function keeper(state: State, command: Command<unknown>, decision: Decision<unknown>): () => void {
  const updates = (decision.writes ?? []).flatMap(({ target, row }) => {
    if (!target.updates) return []
    const rows = state.rows.get(target.updates.name)
    const id = String(row.id)
    assert(rows, `${target.name}: row ${id} was not locked by the command`)
    assert(rows.has(id), `${target.name}: row ${id} was not locked by the command`)
    return [{ rows, id, row }]
  })
  const claim = decision.record && command.locks.claim && state.claims.get(claimKey(command.locks.claim))
  assert(claim || !decision.record, 'the command sets a record but locks no claim')
  return () => {
    for (const { rows, id, row } of updates) rows.set(id, { ...rows.get(id)!, ...row, id })
    for (const { source, row } of decision.keeps ?? []) {
      const rows = state.rows.get(source.name) ?? new Map<string, HeldRow>()
      state.rows.set(source.name, rows.set(row.id, { ...rows.get(row.id), ...row }))
    }
    if (claim && decision.record) {
      claim.record = decision.record
      claim.changed = true
    }
  }
}

/** A name is free again at exactly its expiry, unless the outcome of its resource is still open. */
export function isOver({ expires_at, final }: IdempotencyRecord, now: Date): boolean {
  return final && expires_at !== null && expires_at <= now
}

/** Turns movements into entries and new balances (contract §11). Refuses an uncovered debit; changes no state. */
function book(state: State, command: Command<unknown>, movements: readonly Movement[]) {
  const accounts = new Map<string, HeldAccount>()
  const entries: Entry[] = []
  for (const movement of movements) {
    const sums = new Map<string, bigint>()
    let line = 0
    for (const { account, asset, amount } of movement.lines) {
      if (amount === 0n) continue
      sums.set(asset, (sums.get(asset) ?? 0n) + amount)
      const { account: name, owner } = accountColumns(account)
      const entry: Entry = {
        cause_id: movement.cause_id,
        movement: movement.name,
        line: line++,
        partner_id: movement.partner_id,
        account: name,
        owner,
        asset,
        amount,
        seq: null,
        balance_after: null,
        created_at: state.now,
      }
      if (account.kind === 'customer' || account.kind === 'in_transit') {
        const key = accountKey({ customer_id: account.customer_id, asset })
        const before = accounts.get(key) ?? state.accounts.get(key)
        // The command must ask for the account itself: another command of the batch may hold it only by chance.
        const asked = command.locks.accounts?.some((ref) => accountKey(ref) === key)
        assert(before && asked, `account ${key} is not held`)
        const after =
          account.kind === 'customer'
            ? credit(before, amount)
            : { ...before, in_transit: before.in_transit + amount }
        assert(after.in_transit >= 0n, 'more left transit than was in it')
        accounts.set(key, after)
        if (account.kind === 'customer') {
          entry.seq = after.seq
          entry.balance_after = after.balance
        }
      }
      entries.push(entry)
    }
    for (const [asset, sum] of sums)
      assert(sum === 0n, `${movement.cause_id} ${movement.name}: ${asset} sums to ${sum}`)
  }
  for (const { balance, in_transit } of accounts.values()) {
    if (balance + in_transit > UNITS_MAX) throw new Refusal('amount_too_large', { param: 'amount' })
  }
  return { accounts, entries }
}

function credit(account: HeldAccount, amount: bigint): HeldAccount {
  assertCovered(account, -amount)
  return { ...account, balance: account.balance + amount, seq: account.seq + 1n }
}
