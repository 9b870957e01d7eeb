import type { Db } from './pool.ts'

const SAMPLES = 5

/** How far this machine's clock is off. The error of the measurement is at most half of its round trip. */
type Offset = { readonly offset_ms: number; readonly round_trip_ms: number }

/**
 * Measures how far this machine's clock is from the database's. The database is assumed to read its clock halfway through
 * the round trip; the shortest of several round trips gives the smallest error.
 */
export async function measureOffset(db: Db, samples = SAMPLES): Promise<Offset> {
  let best: Offset | undefined
  for (let i = 0; i < samples; i++) {
    const sample = await takeSample(db)
    if (!best || sample.round_trip_ms < best.round_trip_ms) best = sample
  }
  return best!
}

async function takeSample(db: Db): Promise<Offset> {
  const asked_at = Date.now()
  const asked = performance.now()
  const { rows } = await db.query('SELECT clock_timestamp() AS now')
  const round_trip_ms = performance.now() - asked
  return { offset_ms: Math.round(rows[0].now.getTime() - (asked_at + round_trip_ms / 2)), round_trip_ms }
}
