import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { exitOfStop } from '../exit.ts'

const SLOW_END_MS = 5000

export type Program = {
  /** Aborted when it has ended by itself. */
  readonly ended: AbortSignal
  exitCode(): number
  /** Ends it, if it runs still. */
  stop(signal: NodeJS.Signals): Promise<void>
}

/** What stands behind `--`: it lives no longer than the command that started it, and its end ends that. */
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
