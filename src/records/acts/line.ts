import { createHash, createHmac } from 'node:crypto'
import type { StoragePlace } from '../../db/sealing.ts'
import type { LoggedAction } from './actions.ts'

/** The schemas that have an act log. Each has its own, because a line is written in the transaction of its act. */
export const logPlaces: readonly StoragePlace[] = ['production', 'sandbox', 'shared']

/**
 * The actor of a line: a signed-in operator or user, an unidentified shell, or the service itself (an expiry, the
 * first line).
 */
export type LogActor =
  | {
      readonly kind: 'operator'
      readonly user_id: string
      readonly email: string
      readonly session_id?: string
      /** Set in the console. */
      readonly address?: string
    }
  | {
      /** A user of a partner. */
      readonly kind: 'person'
      readonly user_id: string
      readonly email: string
      readonly session_id: string
      readonly partner_id: string
      readonly address: string
    }
  | { readonly kind: 'shell' }
  | { readonly kind: 'service' }

/** The content of a line. Never a password, a hash, a key's value, encrypted bytes or a whole document. */
export type ActEntry = {
  readonly action: LoggedAction
  readonly object_id: string | null
  readonly before: unknown
  readonly after: unknown
  readonly proposal_id?: string | null
}

export type LogLine = {
  readonly seq: bigint
  readonly at: Date
  readonly actor_kind: LogActor['kind']
  readonly actor_id: string | null
  readonly actor_email: string | null
  readonly session_id: string | null
  readonly action: string
  readonly object_id: string | null
  /** Canonical JSON; the hash covers its exact bytes. */
  readonly before: string | null
  readonly after: string | null
  readonly proposal_id: string | null
  readonly previous_hash: string
  readonly hash: string
  /**
   * Set for a user of a partner. The hash does not cover this column, but it covers `after`, whose `origin` repeats the
   * partner.
   */
  readonly partner_id: string | null
}

/** Number and hash of the newest line; 0 and an empty hash before the first. */
export type Head = { readonly seq: bigint; readonly hash: string }

/** What is needed to write a line: the log, its HMAC key and the actor. */
export type Pen = { readonly place: StoragePlace; readonly key: Buffer; readonly actor: LogActor }

/** Place, number and hash of a line, shown to the actor. Kept elsewhere, they prove later that the line still exists. */
export type Noted = { readonly place: StoragePlace; readonly seq: bigint; readonly hash: string }

export function lineAfter(head: Head, pen: Pen, entry: ActEntry, at: Date): LogLine {
  const { actor } = pen
  const person = actor.kind === 'operator' || actor.kind === 'person' ? actor : undefined
  const line = {
    seq: head.seq + 1n,
    at,
    actor_kind: actor.kind,
    actor_id: person?.user_id ?? null,
    actor_email: person?.email ?? null,
    session_id: person?.session_id ?? null,
    action: entry.action,
    object_id: entry.object_id,
    before: jsonOf(entry.before),
    after: jsonOf(withOrigin(entry.after, actor)),
    proposal_id: entry.proposal_id ?? null,
    previous_hash: head.hash,
    partner_id: actor.kind === 'person' ? actor.partner_id : null,
  }
  return { ...line, hash: hashOf(pen, line) }
}

/** The origin goes into `after`, which the hash covers: a new hashed field would be unreadable to an older version. */
function withOrigin(after: unknown, actor: LogActor): unknown {
  const was = after as object | null
  if (actor.kind === 'person')
    return { ...was, origin: { partner_id: actor.partner_id, address: actor.address } }
  if (actor.kind === 'operator' && actor.address !== undefined)
    return { ...was, origin: { address: actor.address } }
  return after
}

/** Only a holder of the key can compute the hash. It covers the place, so a line of one log is invalid in another. */
export function hashOf({ place, key }: Pick<Pen, 'place' | 'key'>, line: Omit<LogLine, 'hash'>): string {
  const said = [
    place,
    line.seq.toString(),
    line.at.toISOString(),
    line.actor_kind,
    line.actor_id,
    line.actor_email,
    line.session_id,
    line.action,
    line.object_id,
    line.before,
    line.after,
    line.proposal_id,
    line.previous_hash,
  ]
  return createHmac('sha256', key).update(JSON.stringify(said)).digest('hex')
}

const jsonOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : canonical(value)

/** The same text for the same value, whatever the order of the fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item) => {
    if (typeof item === 'bigint') return item.toString()
    if (item === null || typeof item !== 'object' || Array.isArray(item)) return item
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** SHA-256 of a row, in hex. */
export const rowDigest = (row: unknown): string => createHash('sha256').update(canonical(row)).digest('hex')
