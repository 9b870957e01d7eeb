import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { Refusal, refuse } from '../core/errors.ts'
import { batched } from '../db/batched.ts'
import type { Db } from '../db/pool.ts'
import { balanceOf } from './balances.ts'
import { findRecords } from './claims.ts'
import type {
  AccountRef,
  Claim,
  Command,
  Decision,
  Held,
  IdempotencyRecord,
  StoredResponse,
} from './command.ts'
import type { Door } from './commit.ts'
import { isOver } from './decide.ts'

/**
 * Idempotency (contract §7). The key is claimed in the transaction that moves the money: `once` returns `record` in the same
 * decision as the movements, and write.ts inserts both before one COMMIT. The response to the first caller is stored byte for
 * byte, so that every equal request within 24 hours gets the same response.
 */
const VALID_MS = 24 * 3600 * 1000

/** The scope is the id of the API key, which a rotation keeps: a retry with the new key value does not pay twice. */
export function claimOf(scope: string, operation: string, body: { idempotency_key: string }): Claim {
  const { idempotency_key, ...rest } = body
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(sorted(rest)))
    .digest('base64')
  return { scope, operation, key: idempotency_key, fingerprint }
}

/** The order of fields and white space do not matter for a request; everything else does. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, part]) => [key, sorted(part)]),
  )
}

/** The record of a claim, read without a lock. */
export const readRecord = batched<Claim, IdempotencyRecord>(findRecords)

/**
 * The record of a claim that is safe to return to a caller. It is read under a lock, in a transaction that, with a
 * synchronous standby, writes a row of its own: once the standby has that row, it also has the record. A record that was
 * read in any other way may be lost in a fail-over, so it is confirmed with this command before it is replayed.
 */
export const recall = (partner_id: string, claim: Claim): Command<IdempotencyRecord | undefined> => ({
  partner_id,
  locks: { claim },
  decide: (held) => ({ result: held.record(claim) }),
})

/** Looks for a record before an external call is made. The command decides again under the lock. */
export async function findRecord(
  world: { db: Db; clock: Clock; commit: Door['commit'] },
  partner_id: string,
  claim: Claim,
): Promise<IdempotencyRecord | undefined> {
  return confirmRecord(world, partner_id, claim, await readRecord(world.db, claim))
}

/** Reads a record again under its lock, so that it may be returned to the caller. */
export async function confirmRecord(
  world: { clock: Clock; commit: Door['commit'] },
  partner_id: string,
  claim: Claim,
  seen: IdempotencyRecord | undefined,
): Promise<IdempotencyRecord | undefined> {
  if (!seen || isOver(seen, new Date(world.clock.now()))) return undefined
  assertSame(seen, claim)
  const record = await world.commit(recall(partner_id, claim))
  if (record) assertSame(record, claim)
  return record
}

function assertSame(record: IdempotencyRecord, claim: Claim): void {
  if (record.fingerprint !== claim.fingerprint) refuse('idempotency_conflict', { param: 'idempotency_key' })
}

/** An order under a caller's idempotency key. `bodyOf` renders the response body of a refusal. */
export type Requested<Order> = {
  readonly order: Order
  readonly claim: Claim
  readonly bodyOf: (refusal: Refusal) => string
  /** The id of the API request, if there is one. */
  readonly request_id?: string | null
}

/** The response under an idempotency key. */
export type Responded = { readonly response: StoredResponse; readonly replayed: boolean }

export type Once<Made> =
  | { readonly kind: 'made'; readonly made: Made; readonly response: StoredResponse | null }
  | { readonly kind: 'refused'; readonly response: StoredResponse }
  | { readonly kind: 'existing'; readonly record: IdempotencyRecord }

type Making<Made> = Omit<Decision<Made>, 'record'> & {
  readonly resource_id: string
  /** Null when the response is not known yet. */
  readonly response: StoredResponse | null
}

/**
 * Decides an operation that may happen once under its claim. A refusal by a business rule (422) is stored like a success:
 * the same key gets it again, and a new attempt needs a new key. Any other refusal leaves the key free.
 */
export function once<Made>(
  held: Held,
  claim: Claim,
  bodyOf: (refusal: Refusal) => string,
  make: () => Making<Made>,
): Decision<Once<Made>> {
  const record = held.record(claim)
  if (record) {
    assertSame(record, claim)
    return { result: { kind: 'existing', record } }
  }
  const kept = { fingerprint: claim.fingerprint, expires_at: new Date(held.now.getTime() + VALID_MS) }
  try {
    const { resource_id, response, result, ...decision } = make()
    return {
      ...decision,
      record: { ...kept, resource_id, final: false, response },
      result: { kind: 'made', made: result, response },
    }
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 422) throw error
    const response = { status: error.status, body: bodyOf(error) }
    return {
      record: { ...kept, resource_id: null, final: true, response },
      result: { kind: 'refused', response },
    }
  }
}

/** The result of a dry run of an operation under a claim. */
export type Tried<Made> =
  | ({ readonly kind: 'refused' } & Responded)
  | {
      readonly kind: 'accepted'
      readonly made: Made
      readonly balance_after: bigint
      /** The real call would return an earlier response, and move nothing. */
      readonly would_replay: boolean
    }

type Trial<Made> = {
  readonly partner_id: string
  readonly claim: Claim
  /** Does everything that the real call does before its command. */
  prepare(): Promise<Command<Once<Made>>>
  /** The account that is debited. */
  accountOf(made: Made): AccountRef
  find(id: string): Promise<Made | undefined>
}

/** A dry run: the same look-up, preparation and command as in the real call, and nothing is stored. */
export async function tryOnce<Made>(
  world: { db: Db; clock: Clock; preview: Door['preview'] },
  { partner_id, claim, prepare, accountOf, find }: Trial<Made>,
): Promise<Tried<Made>> {
  const commit: Door['commit'] = async (command) => (await world.preview(command)).result
  const wouldReplay = async ({ response, resource_id }: IdempotencyRecord): Promise<Tried<Made>> => {
    if (response && response.status >= 400) return { kind: 'refused', response, replayed: true }
    const made = (resource_id && (await find(resource_id))) || refuse('service_unavailable')
    const balance_after = await balanceOf(world.db, accountOf(made))
    return { kind: 'accepted', made, balance_after, would_replay: true }
  }
  const record = await findRecord({ ...world, commit }, partner_id, claim)
  if (record) return wouldReplay(record)
  const { result, account } = await world.preview(await prepare())
  switch (result.kind) {
    case 'made': {
      const { balance } = account(accountOf(result.made))!
      return { kind: 'accepted', made: result.made, balance_after: balance, would_replay: false }
    }
    case 'refused':
      return { ...result, replayed: false }
    case 'existing':
      return wouldReplay(result.record)
  }
}

export type Referenced = { readonly id: string; readonly replayed: boolean }

/** For operators' acts: the same reference again returns the first resource, or a refusal when the act differs. */
export function underReference(command: Command<{ id: string }>, claim: Claim): Command<Referenced> {
  return {
    ...command,
    locks: { ...command.locks, claim },
    decide(held) {
      const before = held.record(claim)
      if (before && before.fingerprint !== claim.fingerprint) {
        refuse('idempotency_conflict', {
          message: `The reference ${claim.key} was used for another ${claim.operation}.`,
        })
      }
      if (before?.resource_id) return { result: { id: before.resource_id, replayed: true } }
      const { result, ...decision } = command.decide(held)
      return {
        ...decision,
        record: {
          fingerprint: claim.fingerprint,
          resource_id: result.id,
          expires_at: null,
          final: true,
          response: null,
        },
        result: { id: result.id, replayed: false },
      }
    },
  }
}
