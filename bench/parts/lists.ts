import type { Bench } from '../bench.ts'
import { summarize } from '../load.ts'
import { makeCustomer, makeOneOfEach } from '../models.ts'
import { pages, type ReaderOf, samplesOf } from '../pages.ts'
import { openReader, type Reader } from '../reader.ts'
import { middle, rounded, type Slices } from '../slices.ts'
import { liftLimits, type Stage } from '../stage.ts'

const WARM = 6
const READS = 40
const FLAT = 1.15
const HALF_HISTORY_MS = 11 * 3_600_000

/**
 * Response times of every list page over a small and a large history, for the partner that has the history and for a small
 * partner beside it. Reads alternate between the two, so that a drift of the machine affects both.
 */
export async function measureLists(bench: Bench) {
  const stages = [await bench.small(), await bench.large()] as const
  const slices = bench.slices(stages[0], () => {})
  const owners = [ownerOf(stages[0]), ownerOf(stages[1])] as const
  const beside = [await smallPartnerOf(stages[0]), await smallPartnerOf(stages[1])] as const
  return {
    rows: [...(await readAll(slices, '', owners)), ...(await readAll(slices, 'small partner: ', beside))],
  }
}

type Side = ReaderOf & { readonly url: string; readonly key: string }

const ownerOf = ({ url, key, call, customers }: Stage): Side => ({
  url,
  key,
  call,
  customer_id: customers[7]!,
  middle: new Date(Date.now() - HALF_HISTORY_MS),
})

/** A partner with one page of each list. */
async function smallPartnerOf(stage: Stage): Promise<Side> {
  const { id } = stage.trilho('partners', 'create', '--name', 'small')
  const made = stage.trilho('keys', 'create', '--partner', id, '--environment', 'sandbox')
  liftLimits(stage.trilho, made.id)
  const call: Stage['call'] = (method, path, body) => stage.call(method, path, body, made.key)
  const customer_id = await makeCustomer(call)
  await Promise.all(Array.from({ length: 6 }, () => makeOneOfEach(call, customer_id)))
  return { url: stage.url, key: made.key, call, customer_id, middle: new Date() }
}

async function readAll(slices: Slices, whose: string, sides: readonly [Side, Side]) {
  const samples = [await samplesOf(sides[0]), await samplesOf(sides[1])] as const
  const open = ({ url, key }: Side) => openReader(url, key)
  const readers = [await open(sides[0]), await open(sides[1])] as const
  const rows: Row[] = []
  for (const { name, pathOf } of pages()) {
    const paths = [pathOf(samples[0]), pathOf(samples[1])] as const
    const page = whose + name
    const first = await compare(slices, page, readers, paths, READS)
    // Some pages are slower by chance: a page that looks slow is measured again with more reads, and the second result counts.
    rows.push(first.ratio > FLAT ? await compare(slices, page, readers, paths, READS * 4) : first)
    console.log(lineOf(rows.at(-1)!))
  }
  for (const reader of readers) reader.close()
  return rows
}

type Row = {
  readonly page: string
  readonly small_ms: number
  readonly large_ms: number
  readonly ratio: number
  readonly rows: readonly [number, number]
  readonly others: number
}

async function compare(
  slices: Slices,
  page: string,
  readers: readonly [Reader, Reader],
  paths: readonly [string, string],
  reads: number,
): Promise<Row> {
  const rows = [await rowsOf(readers[0], paths[0]), await rowsOf(readers[1], paths[1])] as const
  let times: [number[], number[]] = [[], []]
  const { others } = await slices.measure(page, async () => {
    times = [[], []]
    const started = performance.now()
    for (let i = -WARM; i < reads; i++)
      for (const at of [0, 1] as const) {
        const { ms } = await readers[at].get(paths[at])
        if (i >= 0) times[at].push(ms)
      }
    return summarize(times.flat(), (performance.now() - started) / 1000)
  })
  const [small_ms, large_ms] = [middle(times[0]), middle(times[1])]
  return { page, small_ms, large_ms, ratio: rounded(large_ms / small_ms, 2), rows, others }
}

const lineOf = ({ page, small_ms, large_ms, ratio, rows, others }: Row) =>
  `${page.padEnd(76)} ${small_ms} → ${large_ms} ms  × ${ratio}  rows ${rows.join('/')}  others ${others}`

async function rowsOf(reader: Reader, path: string): Promise<number> {
  const { status, body } = await reader.get(path)
  if (status !== 200) throw new Error(`${path}: ${status} ${body}`)
  return JSON.parse(body).data.length
}
