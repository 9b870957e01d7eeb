import type { Socket } from 'node:net'
import type pg from 'pg'
import type { Client } from '../../db/pool.ts'

/** The driver's connection, as it is passed to custom query objects. */
type Wire = {
  readonly stream: Socket
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

/** Streams rows from one COPY into another, with backpressure from the receiver. */
export async function pipeRows(
  source: { readonly client: Client; readonly sql: string },
  target: { readonly client: Client; readonly sql: string },
): Promise<void> {
  const receiver = new Receiver(target.sql)
  submit(target.client, receiver)
  const wire = await Promise.race([receiver.ready, receiver.ended.then(() => undefined)])
  if (!wire) throw new Error(`The target took no rows: ${target.sql}`)
  const sender = new Sender(source.sql, wire)
  // When the receiver fails, the remaining rows are dropped; otherwise the sender would wait for ever.
  receiver.ended.catch(() => sender.letGo())
  submit(source.client, sender)
  await sender.ended.then(
    () => wire.endCopyFrom(),
    (error: Error) => wire.sendCopyFail(error.message),
  )
  const [received, sent] = await Promise.allSettled([receiver.ended, sender.ended])
  // The receiver's error is only a consequence of the sender's.
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
