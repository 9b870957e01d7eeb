import type { Bench } from '../bench.ts'
import { summarize } from '../load.ts'
import { pages, samplesOf } from '../pages.ts'
import { openReader, type Reader } from '../reader.ts'
import { middle, rounded } from '../slices.ts'

const WARM = 6
const READS = 40

/**
 * Every page of every list, over little and over much history: read in turns, one from here and one from there, so that a drift
 * of the machine hits both.
 */
export async function measureLists(bench: Bench) {
  const [small, large] = [await bench.small(), await bench.large()]
  const slices = bench.slices(small, () => {})
  const readers = [await openReader(small.url, small.key), await openReader(large.url, large.key)] as const
  const samples = [await samplesOf(small), await samplesOf(large)] as const
  const rows = []
  for (const page of pages()) {
    const paths = [page.pathOf(samples[0]), page.pathOf(samples[1])] as const
    const counts = [await rowsOf(readers[0], paths[0]), await rowsOf(readers[1], paths[1])] as const
    let times: readonly [number[], number[]] = [[], []]
    const { others } = await slices.measure(page.name, async () => {
      times = [[], []]
      const started = performance.now()
      for (let i = -WARM; i < READS; i++)
        for (const at of [0, 1] as const) {
          const { ms } = await readers[at].get(paths[at])
          if (i >= 0) times[at].push(ms)
        }
      return summarize(times.flat(), (performance.now() - started) / 1000)
    })
    const [few, many] = [middle(times[0]), middle(times[1])]
    const row = {
      page: page.name,
      small_ms: few,
      large_ms: many,
      ratio: rounded(many / few, 2),
      rows: counts,
      others,
    }
    console.log(
      `${row.page.padEnd(70)} ${few.toFixed(2)} → ${many.toFixed(2)} ms  × ${row.ratio}  rows ${counts.join('/')}  others ${others}`,
    )
    rows.push(row)
  }
  for (const reader of readers) reader.close()
  return { rows }
}

async function rowsOf(reader: Reader, path: string): Promise<number> {
  const { status, body } = await reader.get(path)
  if (status !== 200) throw new Error(`${path}: ${status} ${body}`)
  return JSON.parse(body).data.length
}
