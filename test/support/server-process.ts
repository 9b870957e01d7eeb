import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { testRun } from './test-run.ts'

/** A server in a process of its own, which can be killed. */
export type ServerProcess = {
  readonly url: string
  readonly process: ChildProcess
  /** The text that it has printed until now. */
  output(): string
  kill(signal: NodeJS.Signals): Promise<void>
}

/** What a server prints when it is ready, with its address. */
const READY = {
  serve: /Trilho is ready at (\S+)/,
  signer: /The signer is ready at (\S+)/,
}

/** Starts `trilho serve` or `trilho signer`; `program` is what Node.js runs as `trilho`. Returns when the server is ready. */
export async function startServerProcess({
  program,
  command = 'serve',
  env,
  cwd,
}: {
  program: readonly string[]
  command?: keyof typeof READY
  env: Record<string, string>
  cwd?: string
}): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...program, command], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...testRun(), DRAIN_MS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk
      const ready = READY[command].exec(text)
      if (ready) resolve(ready[1]!)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code, signal) =>
      reject(new Error(`the server ended with ${signal ?? code}:\n${text}`)),
    )
  })
  return {
    url,
    process: child,
    output: () => text,
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill(signal)
      await gone
    },
  }
}
