import type { Socket } from 'node:net'
import type { Client } from './pool.ts'

/**
 * Buffers everything that is sent on a pipelining connection until the returned function writes it as one buffer. A corked
 * stream would pass many small buffers to the system, which costs more than copying them.
 */
export function gather(client: Client): () => void {
  const { stream } = (client as Client & { connection: { stream: Socket } }).connection
  const parts: Uint8Array[] = []
  stream.write = (part: Uint8Array | string) => {
    parts.push(typeof part === 'string' ? Buffer.from(part) : part)
    return true
  }
  return () => {
    Reflect.deleteProperty(stream, 'write')
    stream.write(Buffer.concat(parts))
  }
}

/** Waits for every answer, also after a failure, and throws the first failure: later ones are its consequences. */
export async function allOf(answers: readonly Promise<unknown>[]): Promise<void> {
  const settled = await Promise.allSettled(answers)
  const failed = settled.find((answer) => answer.status === 'rejected')
  if (failed) throw failed.reason
}
