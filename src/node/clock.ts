import type { Logger } from 'pino'
import type { Clock } from '../core/clock.ts'
import { measureOffset } from '../db/clock.ts'
import type { Db } from '../db/pool.ts'

const SKEW_WARNING_MS = 500

/** Corrects this node's clock by the database's, which decides. */
export async function setClock(clock: Clock, db: Db, log: Logger): Promise<void> {
  const { offset_ms } = await measureOffset(db)
  clock.adjust(offset_ms)
  if (Math.abs(offset_ms) > SKEW_WARNING_MS)
    log.warn(
      { offset_ms },
      'clock: this machine differs from the database; the service corrects it, set up NTP',
    )
}
