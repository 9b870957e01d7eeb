import { writeSync } from 'node:fs'
import type { Config } from '../../node/config.ts'
import { type Role, roles } from '../../node/role.ts'
import { startService } from '../../node/serve.ts'
import { type Input, type Output, option, usage } from '../command.ts'

const SLOW_STOP_MS = 25_000

export async function serve(input: Input): Promise<Output> {
  const config = withRole(input)
  let fail: (error: Error) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {})
  const stopping = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  const told = new AbortController()
  void stopping.then(() => told.abort())
  void Promise.race([stopping, failed.catch(() => {})]).then(forceLater)
  const starting = startService({
    config,
    print: (text) => void writeSync(1, text),
    onFatal: fail,
    signal: told.signal,
  }).catch((error: unknown) => {
    // Told to stop while it waited for something: there is nothing to stop any more.
    if (!told.signal.aborted) throw error
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

/** Whoever asks twice, or waits too long, gets an end without ceremony: everything acknowledged is on disk. */
function forceLater(): void {
  const force = () => process.exit(1)
  process.once('SIGTERM', force)
  process.once('SIGINT', force)
  setTimeout(force, SLOW_STOP_MS).unref()
}
