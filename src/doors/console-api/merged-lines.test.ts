import { expect, test } from 'vitest'
import type { StoragePlace } from '../../db/sealing.ts'
import { logPlaces } from '../../records/acts/line.ts'
import { newestOf } from './merged-lines.ts'

/** Logs whose clock was set back and forth while they were written. */
const logOf = (length: number) =>
  Array.from({ length }, (_, i) => {
    const at = new Date(1_800_000_000_000 + i * 1000 + Math.round((Math.random() - 0.5) * 40_000))
    return { seq: BigInt(i + 1), at } as never as { seq: bigint; at: Date }
  }).reverse()

async function everyPage(logs: Readonly<Record<StoragePlace, ReturnType<typeof logOf>>>, limit: number) {
  const shown: string[] = []
  let after: Record<string, string> | undefined
  for (;;) {
    const { lines, next } = await newestOf(
      async (place, before, most) =>
        logs[place].filter(({ seq }) => before === undefined || seq < before).slice(0, most) as never,
      { limit, after },
    )
    expect(lines.length).toBeLessThanOrEqual(limit)
    shown.push(...lines.map(({ place, seq }) => `${place} ${seq}`))
    if (next === null) return shown
    after = next
  }
}

test('every line is shown once, and each log in its own order, whatever its clock says', async () => {
  for (let round = 0; round < 50; round++) {
    const logs = { production: logOf(40), sandbox: logOf(35), shared: logOf(25) }
    const shown = await everyPage(logs, 7)
    for (const place of logPlaces)
      expect(shown.filter((line) => line.startsWith(place))).toEqual(
        logs[place].map(({ seq }) => `${place} ${seq}`),
      )
  }
})

test('if the clocks agree, the newest line comes first', async () => {
  const at = (ms: number) => ({ seq: BigInt(ms), at: new Date(ms) })
  const logs = { production: [at(5), at(2)], sandbox: [at(4), at(1)], shared: [at(3)] }
  const shown = await everyPage(logs, 2)
  expect(shown.map((line) => line.split(' ')[1])).toEqual(['5', '4', '3', '2', '1'])
})
