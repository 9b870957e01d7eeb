import type { Bench } from '../bench.ts'
import { openEndpoint } from '../endpoint.ts'
import { caller } from '../http.ts'
import { payouts, settle } from '../payouts.ts'
import { grownPerPayout, tableSizes } from '../sizes.ts'
import type { Stage } from '../stage.ts'
import { countWritten, payoutsMade } from '../written.ts'

/**
 * Payouts from create to `completed`, alternating with the frozen and the current baseline rows, so that other load on the
 * machine affects all of them alike.
 */
export async function measurePayouts(bench: Bench) {
  const { seconds, rounds, soak_seconds } = bench.settings
  const [small, large] = [await bench.small(), await bench.large()]
  const [yardstick, rows] = [await bench.yardstick(), await bench.rows()]
  const [on_small, on_large] = [bench.slices(small), bench.slices(large)]
  const on = (slices: typeof on_small, name: string, connections: number, customers?: readonly string[]) => {
    const stage = slices === on_small ? small : large
    return slices.measure(name, () =>
      payouts(stage, { connections, seconds, ...(customers ? { customers } : {}) }),
    )
  }
  const written_by = (kind: typeof yardstick, name: string, clients: number) =>
    on_small.measure(name, () => kind.run('payout', { clients, seconds }))

  const before = { sizes: await tableSizes(small), made: await payoutsMade(small) }
  for (const stage of [small, large]) await payouts(stage, { connections: 64, seconds: WARM_SECONDS })
  for (const kind of [yardstick, rows]) await kind.run('payout', { clients: 16, seconds: 3 })
  for (let round = 0; round < rounds; round++) {
    await written_by(yardstick, 'yardstick, 16 clients', 16)
    await on(on_small, '64 connections', 64)
    await written_by(rows, 'own rows, 16 clients', 16)
    await on(on_large, '64 connections, much history', 64)
    await on(on_small, '256 connections', 256)
    await on(on_small, '64 connections, one customer', 64, small.customers.slice(0, 1))
    await written_by(yardstick, 'yardstick, 1 client', 1)
    await on(on_small, '1 connection', 1)
    await on(on_large, '1 connection, much history', 1)
  }
  const written = { small: await count(bench, small), large: await count(bench, large) }
  const disk = grownPerPayout(before.sizes, await tableSizes(small), (await payoutsMade(small)) - before.made)
  const endpoint = await openEndpoint(small)
  const subscribed = []
  for (let round = 0; round < rounds; round++) {
    const before = await endpoint.received()
    const slice = await on(on_small, '64 connections, webhooks subscribed', 64)
    const delivered = (await endpoint.received()) - before
    subscribed.push({ events: slice.count * 3, delivered_meanwhile: delivered })
  }
  await endpoint.close()
  const soak = await on_small.measure('256 connections, soak', () =>
    payouts(small, { connections: 256, seconds: soak_seconds }),
  )
  return {
    driver: yardstick.driver,
    caller,
    slices: [...on_small.all, ...on_large.all],
    written,
    disk,
    subscribed,
    server_mb: soak.server_mb,
    audit_ok: [small, large].every((stage) => stage.audit()),
  }
}

/** JIT warm-up: a server reaches its full speed after some ten thousand payouts. */
export const WARM_SECONDS = 15

async function count(bench: Bench, stage: Stage) {
  await settle()
  const counting = await countWritten(stage)
  await payouts(stage, { connections: 64, seconds: bench.settings.seconds })
  await settle()
  return counting.end()
}
