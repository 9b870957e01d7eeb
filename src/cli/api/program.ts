import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { exitOfStop } from '../exit.ts'

/** A program that has not exited this long after the signal is killed. */
const KILL_AFTER_MS = 5000

type Program = {
  /** Aborted when the program exits, or cannot be started. */
  readonly ended: AbortSignal
  /** Call it after `ended`. Throws if the program could not be started. */
  exitCode(): number
  /** Sends the signal to the program if it still runs, and waits for its exit. */
  stop(signal: NodeJS.Signals): Promise<void>
}

/**
 * Starts the program that the user gave to `trilho listen` after `--`. `listen` ends when the program exits, and stops the
 * program when `listen` itself is stopped. Without a program, `ended` is never aborted.
 */
export function startProgram([file, ...args]: readonly string[], env: Readonly<NodeJS.ProcessEnv>): Program {
  const ended = new AbortController()
  if (file === undefined) return { ended: ended.signal, exitCode: () => 0, stop: async () => {} }
  const child = spawn(file, args, { env, stdio: 'inherit' })
  let failure: Error | undefined
  child.once('error', (error) => {
    failure = new Error(`${file} cannot be started: ${error.message}`)
    ended.abort()
  })
  child.once('exit', () => ended.abort())
  return {
    ended: ended.signal,
    exitCode() {
      if (failure) throw failure
      return child.exitCode ?? exitOfStop(child.signalCode)
    },
    stop: (signal) => stopChild(child, signal),
  }
}

async function stopChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  const force = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
  await exited
  clearTimeout(force)
}
