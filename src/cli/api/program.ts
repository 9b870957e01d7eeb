import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { exitOfStop } from '../exit.ts'

const SLOW_END_MS = 5000

type Program = {
  /** Aborted when the program exits by itself. */
  readonly ended: AbortSignal
  exitCode(): number
  /** Sends the signal to the program if it still runs, and waits for its exit. */
  stop(signal: NodeJS.Signals): Promise<void>
}

/** Starts the program given after `--`. The command stops the program when it ends, and ends when the program exits. */
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
    stop: (signal) => end(child, signal),
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  const force = setTimeout(() => child.kill('SIGKILL'), SLOW_END_MS)
  await gone
  clearTimeout(force)
}
