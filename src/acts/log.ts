import { randomBytes } from 'node:crypto'
import type { Sealer } from '../core/seal.ts'
import { type Db, type Pool, transaction } from '../db/pool.ts'
import { type Place, sealInForce } from '../db/sealing.ts'
import { type Held, type Write, writeTo } from '../ledger/command.ts'
import { type Entry, type Line, type LogActor, lineAfter, type Noted, type Pen, places } from './line.ts'
import {
  actsKeyOf,
  addLine,
  HEAD,
  headRows,
  insertActs,
  insertKey,
  KEY_ID,
  lockHead,
  moveHead,
  readHead,
  readKey,
} from './store.ts'

/**
 * The log of what people do. A line is written in the very transaction that does it, and each is chained to the one before
 * with a key of which the database has only the sealed form (decision 0052).
 */
export type ActLog = {
  readonly pools: Readonly<Record<Place, Pool>>
  /** To write in the log of a place. The first one that is asked for begins it. */
  pen(place: Place, actor: LogActor): Promise<Pen>
  /** All of them at once, so that no act waits for it. */
  begin(): Promise<void>
  /** For reading: undefined while nobody has ever written. */
  key(): Promise<Buffer | undefined>
}

const KEY_BYTES = 32

export function openActLog(options: {
  readonly pools: Readonly<Record<Place, Pool>>
  readonly sealer: Sealer
  /** What the first line of a log says of that which was there before it. */
  readonly found: (tx: Db) => Promise<unknown>
}): ActLog {
  const { pools, sealer, found } = options
  let known: Buffer | undefined
  const begun = new Set<Place>()

  async function key(): Promise<Buffer | undefined> {
    const sealed = known ? undefined : await readKey(pools.shared)
    if (sealed) known = sealer.open(sealed.secret, actsKeyOf(KEY_ID))
    return known
  }

  async function keyOrNew(): Promise<Buffer> {
    const before = await key()
    if (before) return before
    await transaction(pools.shared, async (tx) => {
      await insertKey(tx, await sealInForce(tx, sealer, randomBytes(KEY_BYTES), actsKeyOf(KEY_ID)))
    })
    return (await key())!
  }

  async function begin(pen: Pen): Promise<void> {
    const pool = pools[pen.place]
    if ((await readHead(pool)).seq === 0n) {
      await transaction(pool, async (tx) => {
        const head = await lockHead(tx)
        if (head.seq > 0n) return
        const after = { found: await found(tx) }
        await addLine(
          tx,
          lineAfter(head, pen, { action: 'begin', object_id: null, before: null, after }, head.now),
        )
      })
    }
    begun.add(pen.place)
  }

  async function pen(place: Place, actor: LogActor): Promise<Pen> {
    const key = await keyOrNew()
    if (!begun.has(place)) await begin({ place, key, actor: { kind: 'service' } })
    return { place, key, actor }
  }

  return {
    pools,
    key,
    pen,
    async begin() {
      for (const place of places) await pen(place, { kind: 'service' })
    },
  }
}

const notedOf = (pen: Pen, { seq, hash }: Line): Noted => ({ place: pen.place, seq, hash })

/** Last in a transaction beside the door for money. */
export async function note(tx: Db, pen: Pen, entry: Entry): Promise<Noted> {
  const head = await lockHead(tx)
  const line = lineAfter(head, pen, entry, head.now)
  await addLine(tx, line)
  return notedOf(pen, line)
}

/** What a money command locks to write a line. */
export const headRef = { source: headRows, id: HEAD }

/** As part of a money command that holds the head. */
export function noteHeld(held: Held, pen: Pen, entry: Entry): { noted: Noted; writes: Write[] } {
  const head = held.row(headRows, HEAD)!
  const line = lineAfter(head, pen, entry, held.now)
  const writes = [writeTo(insertActs, line), writeTo(moveHead, { id: HEAD, seq: line.seq, hash: line.hash })]
  return { noted: notedOf(pen, line), writes }
}
