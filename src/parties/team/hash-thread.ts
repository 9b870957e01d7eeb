import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

/** Computes argon2id hashes in a thread of its own. */
export type HashThread = {
  hash(password: string): Promise<string>
  verify(password_hash: string, password: string): Promise<boolean>
}

/**
 * Linux gives each thread its own priority. 5 below that of the process, the thread gets about a quarter of a core that something
 * else keeps busy, and all of an idle one: payouts go first, and sign-ins still get done on a busy machine.
 */
const NICENESS = 5

/** Plain text, because the thread starts the same way from sources, from `dist` and from a bundle. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads')
if (process.platform === 'linux') {
  const os = require('node:os')
  try { os.setPriority(0, Math.min(19, os.getPriority(0) + workerData.niceness)) } catch {}
}
const { hashSync, verifySync } = require(workerData.argon2)
parentPort.on('message', ({ id, password_hash, password }) => {
  try {
    const result = password_hash === undefined ? hashSync(password) : verifySync(password_hash, password)
    parentPort.postMessage({ id, result })
  } catch (error) {
    parentPort.postMessage({ id, failure: String(error) })
  }
})`

type Reply = { readonly id: number; readonly result?: string | boolean; readonly failure?: string }
type Pending = { resolve(result: never): void; reject(error: Error): void }

/**
 * The asynchronous calls of the argon2 library run on libuv's thread pool, which the rest of the node needs for files, DNS
 * and cryptography. This thread leaves the pool alone. It starts with the first hash, and a process may end while the
 * thread is idle.
 */
export function openHashThread(): HashThread {
  const pending = new Map<number, Pending>()
  let worker: Worker | undefined
  let last_id = 0

  function start(): Worker {
    const argon2 = createRequire(import.meta.url).resolve('@node-rs/argon2')
    const started = new Worker(PROGRAM, { eval: true, workerData: { argon2, niceness: NICENESS } })
    started.on('message', ({ id, result, failure }: Reply) => {
      const one = pending.get(id)
      pending.delete(id)
      if (pending.size === 0) started.unref()
      if (failure === undefined) one?.resolve(result as never)
      else one?.reject(new Error(`argon2: ${failure}`))
    })
    const fail = (error: Error) => {
      if (worker !== started) return
      worker = undefined
      for (const one of pending.values()) one.reject(error)
      pending.clear()
    }
    started.on('error', fail)
    started.on('exit', (code) => fail(new Error(`argon2: the hashing thread ended with code ${code}`)))
    return started
  }

  function ask<Result>(job: { readonly password_hash?: string; readonly password: string }): Promise<Result> {
    return new Promise((resolve, reject) => {
      worker ??= start()
      const id = ++last_id
      pending.set(id, { resolve, reject })
      worker.ref()
      worker.postMessage({ id, ...job })
    })
  }

  return {
    hash: (password) => ask<string>({ password }),
    verify: (password_hash, password) => ask<boolean>({ password_hash, password }),
  }
}
