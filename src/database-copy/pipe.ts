import type { Socket } from 'node:net'
import type pg from 'pg'
import type { Client } from '../db/pool.ts'

/** What the driver hands to whoever sends a statement of its own kind. */
type Wire = {
  readonly stream: Socket
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

/** Rows from one COPY into another, as they come. No faster than the receiver takes them. */
export async function pipeRows(
  source: { readonly client: Client; readonly sql: string },
  target: { readonly client: Client; readonly sql: string },
): Promise<void> {
  const receiver = new Receiver(target.sql)
  submit(target.client, receiver)
  const wire = await Promise.race([receiver.ready, receiver.ended.then(() => undefined)])
  if (!wire) throw new Error(`The target took no rows: ${target.sql}`)
  const sender = new Sender(source.sql, wire)
  // Rows that nobody takes any more are thrown away, or the sender would wait for ever.
  receiver.ended.catch(() => sender.letGo())
  submit(source.client, sender)
  await sender.ended.then(
    () => wire.endCopyFrom(),
    (error: Error) => wire.sendCopyFail(error.message),
  )
  const [received, sent] = await Promise.allSettled([receiver.ended, sender.ended])
  // A receiver whose sender failed only repeats that.
  for (const one of [sent, received]) if (one.status === 'rejected') throw one.reason
}

const submit = (client: Client, statement: Copying) =>
  void client.query(statement as unknown as pg.Submittable)

class Copying {
  readonly ended: Promise<void>
  protected end!: () => void
  protected fail!: (error: Error) => void
  readonly #sql: string

  constructor(sql: string) {
    this.#sql = sql
    this.ended = new Promise((resolve, reject) => {
      this.end = resolve
      this.fail = reject
    })
    this.ended.catch(() => {})
  }

  submit(wire: Wire): void {
    wire.query(this.#sql)
  }
  handleError(error: Error): void {
    this.fail(error)
  }
  handleReadyForQuery(): void {
    this.end()
  }
  handleCommandComplete(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

class Receiver extends Copying {
  readonly ready: Promise<Wire>
  #take!: (wire: Wire) => void

  constructor(sql: string) {
    super(sql)
    this.ready = new Promise((resolve) => {
      this.#take = resolve
    })
  }

  handleCopyInResponse(wire: Wire): void {
    this.#take(wire)
  }
}

class Sender extends Copying {
  #to: Wire | undefined
  #own: Wire | undefined

  constructor(sql: string, to: Wire) {
    super(sql)
    this.#to = to
  }

  handleCopyData({ chunk }: { chunk: Buffer }, own: Wire): void {
    this.#own = own
    if (!this.#to) return
    this.#to.sendCopyFromChunk(chunk)
    if (!this.#to.stream.writableNeedDrain || own.stream.isPaused()) return
    own.stream.pause()
    this.#to.stream.once('drain', () => own.stream.resume())
  }

  letGo(): void {
    this.#to = undefined
    this.#own?.stream.resume()
  }
}
