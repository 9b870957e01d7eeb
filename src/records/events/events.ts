import { afterCommit, type Db } from '../../db/pool.ts'
import { type Write, writeTo } from '../../ledger/command.ts'
import type { World } from '../../world.ts'
import { insertEvents, insertUnplacedEvents } from './store.ts'
import type { EventType, TEST_TYPE } from './types.ts'

type NewEvent = {
  readonly partner_id: string
  readonly type: EventType | typeof TEST_TYPE
  readonly object: { readonly id: string } & Readonly<Record<string, unknown>>
  /** The object as JSON text, if the caller has rendered it already. */
  readonly text?: string
  /** Rises per object, so that a receiver can drop events that arrive late. */
  readonly sequence: number
}

/** An event as part of a money command. */
export function eventWrite(world: World, event: NewEvent, now: Date): Write {
  return writeTo(insertEvents, rowOf(world, event, now))
}

/**
 * Records the event of a change that moves no money, in the transaction of the change. COMMIT gives the event its position in
 * the log (decision 0015). Returns the event's id.
 */
export async function recordEvent(tx: Db, world: World, event: NewEvent): Promise<string> {
  const row = rowOf(world, event, new Date(world.clock.now()))
  await tx.query(
    insertUnplacedEvents.sql,
    insertUnplacedEvents.columns.map((column) => [row[column]]),
  )
  afterCommit(tx, world.wakeEventReaders)
  return row.id
}

function rowOf(
  world: World,
  { partner_id, type, object, text = JSON.stringify(object), sequence }: NewEvent,
  now: Date,
) {
  return {
    id: world.newId('event'),
    partner_id,
    type,
    object_id: object.id,
    sequence,
    data: text,
    created_at: now,
  }
}
