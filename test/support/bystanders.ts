import { setTimeout as sleep } from 'node:timers/promises'
import type { ConsoleClient } from './console.ts'
import { type Ask, openPayers } from './payers.ts'
import type { Receiver } from './receiver.ts'
import { size } from './size.ts'
import { until } from './wait.ts'

/** What bystanders of an attack saw in one slice of time. Durations are in milliseconds. */
export type Slice = {
  readonly payouts: readonly Ask[]
  /** From the moment an event was made to its receipt. */
  readonly webhook_lags: readonly number[]
  /** An operator's page. */
  readonly pages: readonly number[]
  readonly probes: number
  /** Answers that are not the expected ones: of payouts, pages and readiness probes. */
  readonly failures: readonly string[]
}

export type Bystanders = {
  readonly url: string
  readonly payer: {
    readonly key: string
    readonly customer_id: string
    readonly pix_key: string
    readonly receiver: Receiver
  }
  readonly operator: ConsoleClient
}

const PAYERS = 4
const PAUSE_MS = 80
const PAGE = '/operator/sandbox/overview'
const PAGE_PAUSE_MS = 100
const PROBE_PAUSE_MS = 200

let slices = 0

/** The status of /readyz, or why there is none. */
const probe = (url: string): Promise<number | string> =>
  fetch(`${url}/readyz`).then(
    async (reply) => {
      await reply.text()
      return reply.status
    },
    (error: Error) => error.message,
  )

/** Pays, opens the operator's page and probes /readyz for a while, then waits for the webhook of every payout. */
export async function observe({ url, payer, operator }: Bystanders, slice_ms: number): Promise<Slice> {
  const { receiver, ...load } = payer
  const received = receiver.received.length
  const payers = openPayers({
    ...load,
    nodes: [url],
    payers: PAYERS,
    pause_ms: PAUSE_MS,
    prefix: `slice-${++slices}`,
  })
  const failures: string[] = []
  const pages: number[] = []
  let probes = 0
  let over = false
  const repeat = async (pause_ms: number, act: () => Promise<void>) => {
    while (!over) {
      await act()
      await sleep(pause_ms)
    }
  }
  const opening = repeat(PAGE_PAUSE_MS, async () => {
    const started = performance.now()
    const status = await operator.get(PAGE).then(
      (reply) => reply.status,
      (error: Error) => error.message,
    )
    pages.push(performance.now() - started)
    if (status !== 200) failures.push(`page ${status}`)
  })
  const probing = repeat(PROBE_PAUSE_MS, async () => {
    let status = await probe(url)
    // Balancers want several failures in a row too. In the small size one alone says that others used the machine.
    for (let again = size(0, 5); status !== 200 && again > 0; again--) {
      await sleep(PROBE_PAUSE_MS)
      status = await probe(url)
    }
    probes++
    if (status !== 200) failures.push(`readiness ${status}`)
  })
  await sleep(slice_ms)
  over = true
  await Promise.all([payers.stop(), opening, probing])
  for (const { status } of payers.asks) if (status !== 201) failures.push(`payout ${status}`)
  const ids = new Set(payers.acknowledged.map(({ id }) => id))
  const told = () => receiver.received.slice(received).filter(({ json }) => ids.has(json.data.object.id))
  await until(() => new Set(told().map(({ json }) => json.id)).size >= ids.size, 60_000)
  return {
    payouts: payers.asks,
    webhook_lags: told().map(({ at, json }) => at - Date.parse(json.created_at)),
    pages,
    probes,
    failures,
  }
}
