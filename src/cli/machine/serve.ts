import { writeSync } from 'node:fs'
import type { Config } from '../../node/config.ts'
import { drainMsOf } from '../../node/drain.ts'
import { type Role, roles } from '../../node/role.ts'
import { startService } from '../../node/serve.ts'
import { type Input, type Output, option, usage } from '../command.ts'

/** How long a shutdown may take after the drain. */
const SLOW_STOP_MS = 25_000
/**
 * `npm start` forwards a SIGINT that the terminal sent to this process too: a second signal within this time is the same
 * Ctrl-C.
 */
const SAME_SIGNAL_MS = 500

export async function serve(input: Input): Promise<Output> {
  const config = withRole(input)
  let fail: (error: Error) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {})
  const stopping = new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  const aborting = new AbortController()
  void stopping.then(() => aborting.abort())
  const hurry = new AbortController()
  void Promise.race([stopping, failed.catch((error: Error) => error)]).then((reason) => {
    if (reason instanceof Error) hurry.abort('the service cannot go on')
    else if (reason === 'SIGINT' && process.stdin.isTTY) hurry.abort('Ctrl-C in a terminal')
    forceLater(hurry, drainMsOf(config))
  })
  const starting = startService({
    config,
    print: (text) => void writeSync(1, text),
    onFatal: fail,
    signal: aborting.signal,
    hurry: hurry.signal,
  }).catch((error: unknown) => {
    // A signal aborted the start: no service runs, so there is nothing to stop.
    if (!aborting.signal.aborted) throw error
  })
  const service = await Promise.race([starting, failed])
  if (!service) return undefined
  await Promise.race([stopping, failed]).finally(() => service.stop())
  return undefined
}

function withRole(input: Input): Config {
  const role = option(input, 'role')
  if (role === undefined) return input.config
  if (!roles.includes(role as Role)) usage(`--role must be one of ${roles.join(', ')}.`)
  return { ...input.config, role: role as Role }
}

/**
 * A second signal ends the drain. A signal after the drain, or a shutdown that takes too long, exits the process at once:
 * everything acknowledged is on disk.
 */
function forceLater(hurry: AbortController, drain_ms: number): void {
  const stopped_at = performance.now()
  const force = () => process.exit(1)
  const again = (signal: NodeJS.Signals) => {
    const passed_ms = performance.now() - stopped_at
    if (passed_ms < SAME_SIGNAL_MS) return
    if (hurry.signal.aborted || passed_ms > drain_ms) force()
    hurry.abort(`a second signal, ${signal}`)
  }
  process.on('SIGTERM', again)
  process.on('SIGINT', again)
  setTimeout(force, drain_ms + SLOW_STOP_MS).unref()
}
