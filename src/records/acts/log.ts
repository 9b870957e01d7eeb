import { randomBytes } from 'node:crypto'
import type { Sealer } from '../../core/seal.ts'
import { type Db, type Pool, transaction } from '../../db/pool.ts'
import { type StoragePlace, sealInForce } from '../../db/sealing.ts'
import { type Held, type Write, writeTo } from '../../ledger/command.ts'
import { type ActEntry, type LogActor, lineAfter, logPlaces, type Noted, type Pen } from './line.ts'
import {
  actsKeyOf,
  addLine,
  HEAD,
  type HeldHead,
  headRows,
  insertActs,
  insertLogKey,
  KEY_ID,
  lockHead,
  lockLogKey,
  moveHead,
  readLogKey,
  updateLogKey,
} from './store.ts'

/**
 * The log of the acts of people. A line is written in the transaction of its act and chained to the line before it
 * with an HMAC key, which the database stores only encrypted (decision 0024).
 */
export type ActLog = {
  readonly pools: Readonly<Record<StoragePlace, Pool>>
  /** For writing to the log of a place. The first call creates the key and the first line of all logs. */
  pen(place: StoragePlace, actor: LogActor): Promise<Pen>
  /** Creates the key and the first lines ahead of time, so that no act waits for that. */
  begin(): Promise<void>
  /** For verification: undefined if no line was ever written. */
  key(): Promise<LogKey | undefined>
}

/** The HMAC key of all three logs. `begun`: each log has its first line, and none may begin again. */
export type LogKey = { readonly bytes: Buffer; readonly begun: boolean }

const KEY_BYTES = 32
/**
 * Appended to the key before encryption once all logs have begun, so that nobody without SECRET_KEY can set or clear
 * the mark.
 */
const BEGUN = Buffer.from('begun')

export function openActLog(options: {
  readonly pools: Readonly<Record<StoragePlace, Pool>>
  readonly sealer: Sealer
}): ActLog {
  const { pools, sealer } = options
  const of = actsKeyOf(KEY_ID)
  let known: LogKey | undefined

  async function key(): Promise<LogKey | undefined> {
    if (known?.begun) return known
    const sealed = await readLogKey(pools.shared)
    known = sealed && keyIn(sealer.open(sealed.secret, of))
    return known
  }

  async function begunKey(): Promise<LogKey> {
    const before = (await key()) ?? (await newKey())
    if (before.begun) return before
    for (const place of logPlaces) await beginOne({ place, key: before.bytes, actor: { kind: 'service' } })
    await markBegun()
    return (await key())!
  }

  async function newKey(): Promise<LogKey> {
    await transaction(pools.shared, async (tx) => {
      await insertLogKey(tx, await sealInForce(tx, sealer, randomBytes(KEY_BYTES), of))
    })
    return (await key())!
  }

  function beginOne(pen: Pen): Promise<void> {
    return transaction(pools[pen.place], async (tx) => {
      const { head, now } = await lockHead(tx)
      if (head && head.seq > 0n) return
      const entry: ActEntry = { action: 'begin', object_id: null, before: null, after: null }
      await addLine(tx, lineAfter(freeHead(pen, head), pen, entry, now))
    })
  }

  function markBegun(): Promise<void> {
    return transaction(pools.shared, async (tx) => {
      const { bytes, begun } = keyIn(sealer.open((await lockLogKey(tx)).secret, of))
      if (!begun) await updateLogKey(tx, await sealInForce(tx, sealer, Buffer.concat([bytes, BEGUN]), of))
    })
  }

  return {
    pools,
    key,
    async pen(place, actor) {
      return { place, key: (await begunKey()).bytes, actor }
    },
    async begin() {
      await begunKey()
    },
  }
}

/** Reads the key of the log for other purposes than the log. It exists once a service has started. */
export function openLogKey(options: {
  readonly shared: Pool
  readonly sealer: Sealer
}): () => Promise<Buffer> {
  const { shared, sealer } = options
  return async () => {
    const sealed = await readLogKey(shared)
    if (!sealed) throw new Error('The audit log has no key yet: no service has started on this database.')
    return keyIn(sealer.open(sealed.secret, actsKeyOf(KEY_ID))).bytes
  }
}

const keyIn = (opened: Buffer): LogKey => ({
  bytes: opened.subarray(0, KEY_BYTES),
  begun: opened.subarray(KEY_BYTES).equals(BEGUN),
})

/**
 * The head, if the next line can follow it. Someone with access to the database may have deleted the head or taken
 * the number.
 */
function freeHead({ place }: Pen, head: HeldHead | undefined): HeldHead {
  const wrong = !head
    ? 'has no row in acts_head'
    : head.taken && `has a line ${head.seq + 1n} that the service did not write`
  if (!head || wrong)
    throw new Error(
      `The log of ${place} ${wrong}, so nothing was done. See: trilho log verify, and docs/operate/incidents.md`,
    )
  return head
}

/** Call last in a transaction that moves no money. */
export async function note(tx: Db, pen: Pen, entry: ActEntry): Promise<Noted> {
  const { head, now } = await lockHead(tx)
  const line = lineAfter(freeHead(pen, head), pen, entry, now)
  await addLine(tx, line)
  return { place: pen.place, seq: line.seq, hash: line.hash }
}

/** The row that a money command locks to write a line. */
export const headRef = { source: headRows, id: HEAD }

/** For a money command that holds the head. */
export function noteHeld(held: Held, pen: Pen, entry: ActEntry): { noted: Noted; writes: Write[] } {
  const head = freeHead(pen, held.row(headRows, HEAD))
  const line = lineAfter(head, pen, entry, held.now)
  const { seq, hash } = line
  const writes = [writeTo(insertActs, line), writeTo(moveHead, { id: HEAD, seq, hash })]
  return { noted: { place: pen.place, seq, hash }, writes }
}
