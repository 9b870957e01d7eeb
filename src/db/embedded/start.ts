import { setTimeout as sleep } from 'node:timers/promises'
import { ensureCluster, ensureDatabase, urlOf } from './cluster.ts'
import { claimFolder, clusterFolder, removeConnection, writeConnection } from './folder.ts'
import { chooseInstallation } from './installation.ts'
import type { Lock } from './lock.ts'
import type { Running } from './process.ts'
import { bringUp, oldServerGone, type Plan, removePresence } from './server.ts'

const GIVE_UP_AFTER = 5
const GIVE_UP_WITHIN_MS = 60_000

export type EmbeddedDatabase = {
  readonly url: string
  /** Lets other processes of this user find the API that runs on it. */
  announce(api_url: string): Promise<void>
  stop(): Promise<void>
}

type EmbeddedOptions = {
  data_dir: string
  log?: ((line: string) => void) | undefined
  /** PostgreSQL settings, over the usual ones. */
  settings?: Record<string, string> | undefined
  /** Called when the server keeps dying and is not started any more. */
  onGiveUp?: ((error: Error) => void) | undefined
  /** How root starts PostgreSQL; detected by default. */
  run_as?: 'unshare' | 'nobody' | undefined
}

/** A server that lives as long as this process, and is started again when it dies. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { data_dir, lock } = await claimFolder(options.data_dir, options.log ?? (() => {}))
  try {
    return await startOn(data_dir, lock, options)
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function startOn(data_dir: string, lock: Lock, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { settings = {}, log = () => {} } = options
  // First of all: the server of a killed process may still be writing the files.
  await oldServerGone(data_dir, await clusterFolder(data_dir))
  const installation = await chooseInstallation(data_dir, options.run_as, log)
  const password = await ensureCluster(installation)

  const stopping = new AbortController()
  const plan: Plan = { installation, settings, signal: stopping.signal, log }
  let { server, port } = await bringUp(plan)
  const url = urlOf(password, port)
  let api_url: string | undefined
  try {
    await ensureDatabase(data_dir, password, port)
    await announce()
  } catch (error) {
    stopping.abort()
    await server.ended
    throw error
  }
  const kept_up = keepUp()

  function announce(): Promise<void> {
    return writeConnection(data_dir, { url, pid: server.pid, server_pid: process.pid, api_url })
  }

  async function keepUp(): Promise<void> {
    let deaths: number[] = []
    let reason = (await server.ended).how
    while (!stopping.signal.aborted) {
      deaths = [...deaths.filter((time) => time > Date.now() - GIVE_UP_WITHIN_MS), Date.now()]
      if (deaths.length === GIVE_UP_AFTER) return giveUp(reason)
      const pause = 100 * 3 ** (deaths.length - 1)
      log(`database: PostgreSQL ended unexpectedly (${reason}); starting it again in ${pause} ms`)
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {})
      reason = await bringUp(plan, port).then(runAgain, (error: Error) => error.message)
    }
  }

  async function runAgain(up: { server: Running }): Promise<string> {
    server = up.server
    await announce().catch((error) =>
      log(`database: the new pid of PostgreSQL could not be written: ${error.message}`),
    )
    log('database: PostgreSQL runs again')
    return (await server.ended).how
  }

  function giveUp(reason: string): void {
    const error = new Error(
      `PostgreSQL on ${installation.cluster} ended ${GIVE_UP_AFTER} times within a minute and is not started ` +
        `again. The last time: ${reason}`,
    )
    log(`database: ${error.message}`)
    options.onGiveUp?.(error)
  }

  async function stop(): Promise<void> {
    stopping.abort()
    try {
      await kept_up
    } finally {
      if (await lock.isHeld()) {
        await removeConnection(data_dir)
        await removePresence(data_dir)
      }
      await lock.release()
    }
  }

  let stopped: Promise<void> | undefined
  return {
    url,
    announce(address) {
      api_url = address
      return announce()
    },
    stop: () => (stopped ??= stop()),
  }
}
