import { createHash, createHmac } from 'node:crypto'
import type { Place } from '../db/sealing.ts'

/** Where acts are noted: each schema has a log of its own, for a line is written in the transaction of its act. */
export const places: readonly Place[] = ['production', 'sandbox', 'shared']

/** Whoever acted: a person who signed in, one at a shell who did not, or the service when a time was over. */
export type LogActor =
  | {
      readonly kind: 'operator'
      readonly user_id: string
      readonly email: string
      readonly session_id?: string
      /** In the console. */
      readonly address?: string
    }
  | {
      /** Of a partner. */
      readonly kind: 'person'
      readonly user_id: string
      readonly email: string
      readonly session_id: string
      readonly partner_id: string
      readonly address: string
    }
  | { readonly kind: 'shell' }
  | { readonly kind: 'service' }

/** What is to be said of an act. Never a password, a hash, a key's value, sealed bytes or a whole document. */
export type Entry = {
  readonly action: string
  readonly object_id: string | null
  readonly before: unknown
  readonly after: unknown
  readonly proposal_id?: string | null
}

export type Line = {
  readonly seq: bigint
  readonly at: Date
  readonly actor_kind: LogActor['kind']
  readonly actor_id: string | null
  readonly actor_email: string | null
  readonly session_id: string | null
  readonly action: string
  readonly object_id: string | null
  /** JSON, to the byte. */
  readonly before: string | null
  readonly after: string | null
  readonly proposal_id: string | null
  readonly previous_hash: string
  readonly hash: string
  /** Of a partner's person; the chained text of `after` says it too, and from which address. */
  readonly partner_id: string | null
}

/** The newest line of a log; 0 and nothing before there is one. */
export type Head = { readonly seq: bigint; readonly hash: string }

/** Whoever writes: the log, the key that it is chained with, and on whose behalf. */
export type Pen = { readonly place: Place; readonly key: Buffer; readonly actor: LogActor }

/** What is told of a line to whoever acted: noted down elsewhere, it proves later that the line is still there. */
export type Noted = { readonly place: Place; readonly seq: bigint; readonly hash: string }

export function lineAfter(head: Head, pen: Pen, entry: Entry, at: Date): Line {
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

/** Chained with the rest, and without another form of the chain, which the version before could not read. */
const withOrigin = (after: unknown, actor: LogActor): unknown => {
  const origin = originOf(actor)
  return origin ? { ...(after as object | null), origin } : after
}

function originOf(actor: LogActor): object | undefined {
  if (actor.kind === 'person') return { partner_id: actor.partner_id, address: actor.address }
  return actor.kind === 'operator' && actor.address !== undefined ? { address: actor.address } : undefined
}

/** Only who has the key can make it. The place is part of it: a line of one log is none of another. */
export function hashOf({ place, key }: Pick<Pen, 'place' | 'key'>, line: Omit<Line, 'hash'>): string {
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

/** The same text for the same value, whatever the order of its fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item) => {
    if (typeof item === 'bigint') return item.toString()
    if (item === null || typeof item !== 'object' || Array.isArray(item)) return item
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** What a row was, in 64 characters. */
export const digestOf = (row: unknown): string => createHash('sha256').update(canonical(row)).digest('hex')
