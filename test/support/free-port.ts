import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Systems give ports from 32768 up to whoever asks for any port, and to outgoing connections. A port below that stays free until the
 * program listens that it is chosen for.
 */
const FIRST = 20_000
const COUNT = 12_000

/** Ports that this process has handed out: their programs may not listen yet. */
const taken = new Set<number>()

/** A port for a program that must be told its port before it starts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (taken.has(port) || !(await isFree(port))) continue
    taken.add(port)
    return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const listener = createServer().listen(port, '127.0.0.1')
  try {
    await once(listener, 'listening')
  } catch {
    return false
  }
  listener.close()
  await once(listener, 'close')
  return true
}
