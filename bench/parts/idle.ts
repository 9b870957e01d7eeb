import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { rounded } from '../slices.ts'
import { countWritten } from '../written.ts'

const SECONDS = 30
/** A node rests when nobody has called for five minutes. */
const SILENCE_MS = 330_000
/** Backends tell what they did up to ten seconds later. */
const TELLING_MS = 12_000

/** What a node that nobody calls asks of its database, and whether any of it writes. */
export async function measureIdle(bench: Bench) {
  const stage = await bench.small()
  const transactions = async (): Promise<number> => {
    const [{ count }] = await stage.sql(
      `SELECT (xact_commit + xact_rollback)::int AS count FROM pg_stat_database WHERE datname = current_database()`,
    )
    return count
  }
  await sleep(SILENCE_MS)
  const counting = await countWritten(stage)
  const [before, cpu, started] = [await transactions(), stage.usage(), performance.now()]
  await sleep(SECONDS * 1000)
  const seconds = (performance.now() - started) / 1000
  const now = stage.usage()
  const used = (now.server_cpu + now.database_cpu - cpu.server_cpu - cpu.database_cpu) / seconds
  const written = await counting.end(seconds)
  await sleep(TELLING_MS)
  const asked = ((await transactions()) - before) / ((performance.now() - started) / 1000)
  const writing = Object.entries(written.by_table).filter(
    ([, { inserts, updates, deletes }]) => inserts + updates + deletes > 0,
  )
  return {
    seconds: SECONDS,
    transactions_per_second: rounded(asked, 1),
    wal_bytes_per_second: rounded(
      Object.values(written.by_writer).reduce((sum, { bytes }) => sum + bytes, 0),
      0,
    ),
    /** Rows a second, by table. */
    written: Object.fromEntries(
      writing.map(([table, { inserts, updates, deletes }]) => [
        table,
        rounded(inserts + updates + deletes, 2),
      ]),
    ),
    busy_cores: rounded(used, 3),
  }
}
