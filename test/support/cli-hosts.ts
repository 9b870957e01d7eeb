import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Processes that run one command after the other: as many as there are commands at once, up to a few. */
const MOST = 3
const IDLE_MS = 5000
const idle: ChildProcess[] = []
const waiting: ((host: ChildProcess) => void)[] = []
const uses = new WeakMap<ChildProcess, number>()
let started = 0

export type Printed = { readonly code: number; readonly out: string; readonly err: string }

export async function runInHost(
  entry: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Printed> {
  const host = await takeHost(entry)
  return new Promise((resolve, reject) => {
    const gone = (code: number | null) => {
      started--
      reject(new Error(`trilho ${args.join(' ')} ended the process that it ran in with ${code}`))
    }
    host.once('exit', gone)
    host.once('message', (printed: Printed) => {
      host.off('exit', gone)
      giveBack(host)
      resolve(printed)
    })
    host.send({ args, env })
  })
}

function takeHost(entry: string): ChildProcess | Promise<ChildProcess> {
  const host = idle.pop()
  if (host) {
    host.ref()
    host.channel?.ref()
    return host
  }
  if (started === MOST) return new Promise((resolve) => waiting.push(resolve))
  started++
  return fork(fileURLToPath(new URL('./cli-host.mjs', import.meta.url)), [entry], { execArgv: [] })
}

/** One that nobody needs keeps nobody alive, and ends soon. */
function giveBack(host: ChildProcess): void {
  const next = waiting.shift()
  if (next) return next(host)
  idle.push(host)
  host.unref()
  host.channel?.unref()
  const used = (uses.get(host) ?? 0) + 1
  uses.set(host, used)
  setTimeout(() => {
    const at = idle.indexOf(host)
    if (at < 0 || uses.get(host) !== used) return
    idle.splice(at, 1)
    started--
    host.disconnect()
  }, IDLE_MS).unref()
}
