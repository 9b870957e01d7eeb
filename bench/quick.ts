import { WARM_SECONDS } from './parts/payouts.ts'
import { payouts, settle } from './payouts.ts'
import { openRows } from './rows.ts'
import { grownPerPayout, tableSizes } from './sizes.ts'
import { openSlices, rounded } from './slices.ts'
import { openStage } from './stage.ts'
import { countWritten, payoutsMade } from './written.ts'

/** Reported when the tables changed and bench/rows was not updated yet. */
const missing = (error: Error) => void console.log(`no own rows: ${error.message.trim()}`)

/** The main figures of payouts in about ninety seconds, for development: printed, not stored. */
export async function quick(): Promise<void> {
  const customers = 200
  const stage = await openStage({ customers, balance: '100000000000' })
  try {
    const yardstick = await openRows(stage, 'yardstick', customers)
    const rows = await openRows(stage, 'rows', customers).catch(missing)
    const sizes_before = await tableSizes(stage)
    const slices = openSlices(stage, { tries: 2 })
    const measure = slices.measure
    await payouts(stage, { connections: 64, seconds: WARM_SECONDS })
    for (const kind of [yardstick, rows])
      await kind?.run('payout', { clients: 16, seconds: 2 }).catch(missing)
    for (let round = 0; round < 2; round++) {
      await measure('yardstick, 16 clients', () => yardstick.run('payout', { clients: 16, seconds: 4 }))
      await measure('payouts, 64 connections', () => payouts(stage, { connections: 64, seconds: 4 }))
      if (rows)
        await measure('own rows, 16 clients', () => rows.run('payout', { clients: 16, seconds: 4 })).catch(
          missing,
        )
    }
    await measure('yardstick, 1 client', () => yardstick.run('payout', { clients: 1, seconds: 3 }))
    await measure('payouts, 1 connection', () => payouts(stage, { connections: 1, seconds: 3 }))
    await settle()
    const counting = await countWritten(stage)
    await payouts(stage, { connections: 64, seconds: 4 })
    await settle()
    const written = await counting.end()
    const disk = grownPerPayout(sizes_before, await tableSizes(stage), await payoutsMade(stage))
    console.log(`\nrows by ${yardstick.driver}`)
    console.table({
      'payouts 64 ÷ yardstick 16 (≥ 2.2)': slices.ratio(
        'payouts, 64 connections',
        'yardstick, 16 clients',
        'per_second',
      ),
      'payouts 64 ÷ own rows 16 (≥ 1.8)': slices.ratio(
        'payouts, 64 connections',
        'own rows, 16 clients',
        'per_second',
      ),
      'p99 at 64 connections, ms (< 60)': slices.median('payouts, 64 connections', 'p99'),
      'lone p50 ÷ yardstick p50 (≤ 1.8)': slices.ratio('payouts, 1 connection', 'yardstick, 1 client', 'p50'),
      'server CPU of a payout, ms': slices.median('payouts, 64 connections', 'server_ms'),
      'database CPU of a payout, ms': slices.median('payouts, 64 connections', 'database_ms'),
      'WAL of a payout, bytes (≤ 7000)': Math.round(written.payout.bytes),
      '  of it full pages': Math.round(written.payout.full_page_bytes),
      'WAL records of a payout': written.payout.records,
      'index entries of a payout (≤ 24)': written.payout.index_entries,
      'payouts HOT (≥ 0.95)': written.hot.payouts,
      'claims HOT (≥ 0.95)': written.hot.claims ?? 'no updates',
      'disk of a payout, bytes (≤ 4500)': disk.payout,
      'audit holds': stage.audit(),
    })
    console.log('per payout, by who wrote it')
    console.table(written.by_writer)
    console.log('per payout, by table')
    console.table(
      Object.fromEntries(
        Object.entries(written.by_table)
          .filter(([, { records }]) => records > 0.01)
          .sort(([, a], [, b]) => b.bytes - a.bytes)
          .map(([table, amounts]) => [table, { ...amounts, disk: rounded(disk.by_table[table] ?? 0, 0) }]),
      ),
    )
    await yardstick.close()
    await rows?.close()
  } finally {
    await stage.stop()
  }
}
