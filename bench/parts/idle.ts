import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { rounded } from '../slices.ts'
import { countWritten } from '../written.ts'

const SECONDS = 30
/** A node becomes idle five minutes after the last request. */
const SILENCE_MS = 330_000
/** PostgreSQL backends report their statistics up to ten seconds late. */
const TELLING_MS = 12_000

/** The database load of an idle node, and whether any of it writes. */
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
    /** Rows per second, by table. */
    written: Object.fromEntries(
      writing.map(([table, { inserts, updates, deletes }]) => [
        table,
        rounded(inserts + updates + deletes, 2),
      ]),
    ),
    busy_cores: rounded(used, 3),
  }
}
