import { Refusal } from '../core/errors.ts'
import { sqlState } from '../db/failure.ts'
import type { Pool } from '../db/pool.ts'
import type { PrimaryState } from '../db/primary.ts'

const READY_MS = 1000
/** A write within this time proves that the server takes writes, as long as its heartbeat is answered. */
const WRITTEN_MS = 3000

type Readiness = { ready(): boolean }

/** Throws a refusal that says why this node should get no traffic. */
export type AssertReady = () => Promise<void>

export function openReadiness(options: {
  readonly db: Pool
  readonly readiness: Readiness
  /** The state of the primary, as the heartbeat knows it. */
  readonly primary: () => PrimaryState
}): AssertReady {
  const canWrite = openWriteCheck(options)
  return async () => {
    if (!options.readiness.ready())
      throw new Refusal('service_unavailable', { message: 'The server is starting or stopping.' })
    if (!(await canWrite()))
      throw new Refusal('service_unavailable', { message: 'The database does not take writes.' })
  }
}

/**
 * Whether money could move right now: the server is a primary, accepts a write, and a synchronous standby, if there is one,
 * confirms it. A read would prove nothing: a standby answers reads too.
 */
function openWriteCheck({ db, primary }: { db: Pool; primary: () => PrimaryState }): () => Promise<boolean> {
  let written: { readonly at: number; readonly epoch: number } | undefined
  let running: Promise<boolean> | undefined

  async function write(): Promise<boolean> {
    const { epoch } = primary()
    try {
      await writeNothing(db)
      written = { at: performance.now(), epoch }
      return true
    } catch {
      return false
    } finally {
      running = undefined
    }
  }

  return async () => {
    const { up, epoch } = primary()
    const recent = written?.epoch === epoch && performance.now() - written.at < WRITTEN_MS
    if (up && recent) return true
    running ??= write()
    return (await within(READY_MS, running)) ?? false
  }
}

const NOT_ALLOWED = '42501'

/** Writes a few bytes to the WAL and to no table, and commits like any other write. */
async function writeNothing(db: Pool): Promise<void> {
  try {
    await db.query(`SELECT pg_logical_emit_message(true, 'trilho', '')`)
  } catch (error) {
    if (sqlState(error) !== NOT_ALLOWED) throw error
    await db.query('SELECT pg_current_xact_id()')
  }
}

/** Resolves to undefined when the work takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
