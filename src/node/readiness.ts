import { Refusal } from '../core/errors.ts'
import { sqlState } from '../db/failure.ts'
import type { Pool } from '../db/pool.ts'
import type { PrimaryState } from '../db/primary.ts'

const READY_MS = 1000
/** A write that went through so recently speaks for the server, as long as its heartbeat does. */
const WRITTEN_MS = 3000

export type Readiness = { ready(): boolean }

/** Throws why this node should get no traffic. */
export type AssertReady = () => Promise<void>

export function openReadiness(options: {
  readonly db: Pool
  readonly readiness: Readiness
  /** What the heartbeat says of the database. */
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
 * Whether money could move right now: the server is a primary, takes a write, and whoever must confirm it, such as a
 * synchronous standby, does. Reading would prove nothing, for a standby reads as well.
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

/** A few bytes in the log of the server and nowhere else, committed like everything else. */
async function writeNothing(db: Pool): Promise<void> {
  try {
    await db.query(`SELECT pg_logical_emit_message(true, 'trilho', '')`)
  } catch (error) {
    if (sqlState(error) !== NOT_ALLOWED) throw error
    await db.query('SELECT pg_current_xact_id()')
  }
}

/** Undefined when it takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
