import type { Socket } from 'node:net'
import type { Client } from './pool.ts'

/**
 * Holds back what is sent on a pipelining connection until the returned function is called: one write of one buffer. A
 * corked stream would hand the system many small ones, which costs more than copying them.
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

/** Waits for every answer, also after one has failed, and throws the first failure: the later ones only follow from it. */
export async function allOf(answers: readonly Promise<unknown>[]): Promise<void> {
  const settled = await Promise.allSettled(answers)
  const failed = settled.find((answer) => answer.status === 'rejected')
  if (failed) throw failed.reason
}
