import type { Bench } from '../bench.ts'
import { summarize } from '../load.ts'
import { makeCustomer, makeOneOfEach } from '../models.ts'
import { pages, type ReaderOf, samplesOf } from '../pages.ts'
import { openReader, type Reader } from '../reader.ts'
import { middle, rounded, type Slices } from '../slices.ts'
import { liftLimits, type Stage } from '../stage.ts'

const WARM = 6
const READS = 40
const HALF_HISTORY_MS = 11 * 3_600_000

/**
 * Every page of every list, over little and over much history: of the partner that has it, and of a small one beside it. Read
 * in turns, one from here and one from there, so that a drift of the machine hits both.
 */
export async function measureLists(bench: Bench) {
  const stages = [await bench.small(), await bench.large()] as const
  const slices = bench.slices(stages[0], () => {})
  const owners = [await ownerOf(stages[0]), await ownerOf(stages[1])] as const
  const beside = [await smallPartnerOf(stages[0]), await smallPartnerOf(stages[1])] as const
  return {
    rows: [...(await readAll(slices, '', owners)), ...(await readAll(slices, 'small partner: ', beside))],
  }
}

type Side = ReaderOf & { readonly reader: Reader }

const ownerOf = async ({ url, key, call, customers }: Stage): Promise<Side> => ({
  call,
  customer_id: customers[7]!,
  middle: new Date(Date.now() - HALF_HISTORY_MS),
  reader: await openReader(url, key),
})

/** A page of everything, and no more. */
async function smallPartnerOf(stage: Stage): Promise<Side> {
  const { id } = stage.trilho('partners', 'create', '--name', 'small')
  const made = stage.trilho('keys', 'create', '--partner', id, '--environment', 'sandbox')
  liftLimits(stage.trilho, made.id)
  const call: Stage['call'] = (method, path, body) => stage.call(method, path, body, made.key)
  const customer_id = await makeCustomer(call)
  await Promise.all(Array.from({ length: 6 }, () => makeOneOfEach(call, customer_id)))
  return { call, customer_id, middle: new Date(), reader: await openReader(stage.url, made.key) }
}

async function readAll(slices: Slices, whose: string, sides: readonly [Side, Side]) {
  const samples = [await samplesOf(sides[0]), await samplesOf(sides[1])] as const
  const rows = []
  for (const page of pages()) {
    const paths = [page.pathOf(samples[0]), page.pathOf(samples[1])] as const
    const counts = [await rowsOf(sides[0].reader, paths[0]), await rowsOf(sides[1].reader, paths[1])]
    let times: [number[], number[]] = [[], []]
    const { others } = await slices.measure(page.name, async () => {
      times = [[], []]
      const started = performance.now()
      for (let i = -WARM; i < READS; i++)
        for (const at of [0, 1] as const) {
          const { ms } = await sides[at].reader.get(paths[at])
          if (i >= 0) times[at].push(ms)
        }
      return summarize(times.flat(), (performance.now() - started) / 1000)
    })
    const [small_ms, large_ms] = [middle(times[0]), middle(times[1])]
    const row = {
      page: whose + page.name,
      small_ms,
      large_ms,
      ratio: rounded(large_ms / small_ms, 2),
      rows: counts,
      others,
    }
    console.log(
      `${row.page.padEnd(76)} ${small_ms} → ${large_ms} ms  × ${row.ratio}  rows ${counts.join('/')}  others ${others}`,
    )
    rows.push(row)
  }
  for (const { reader } of sides) reader.close()
  return rows
}

async function rowsOf(reader: Reader, path: string): Promise<number> {
  const { status, body } = await reader.get(path)
  if (status !== 200) throw new Error(`${path}: ${status} ${body}`)
  return JSON.parse(body).data.length
}
