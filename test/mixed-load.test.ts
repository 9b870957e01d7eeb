import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Refusal } from '../src/core/errors.ts'
import { money } from '../src/core/money.ts'
import { operatorCredit } from '../src/money/deposits/deposits.ts'
import { payFees } from '../src/money/treasury/fee-payouts.ts'
import { foldTrades } from '../src/money/treasury/treasury.ts'
import { rotateKey } from '../src/parties/keys/keys.ts'
import type { Api, Reply } from './support/api.ts'
import { asAdmin } from './support/database.ts'
import { allFinal, payoutOrder, transferOrder } from './support/once.ts'
import { times } from './support/parallel.ts'
import { noteFact } from './support/proof.ts'
import { someCpf } from './support/service.ts'
import { size } from './support/size.ts'
import { openStage, type Stage } from './support/stage.ts'
import { until } from './support/wait.ts'

/** Whatever comes together in a batch, and in whatever order: neither the database's processes nor the server's own grow with it. */
const LOAD_MS = size(600_000, 8_000)
/** Enough that ever other kinds meet in a batch. */
const LANES = 48
const SAMPLE_MS = size(5000, 1000)
const BACKEND_MAX_BYTES = 60 * 2 ** 20
const TIMEOUT_MS = LOAD_MS + 240_000

/** What the process has for itself, without the memory that all processes of the database share. */
function privateBytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const parts = [...rollup.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)]
  return parts.reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0)
}

async function backendsOf({ database }: Stage): Promise<{ name: string; bytes: number }[]> {
  const rows = await asAdmin(database.url, [
    `SELECT pid, application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  ])
  return rows.flatMap(({ pid, name }) => {
    try {
      return [{ name: name as string, bytes: privateBytes(pid as number) }]
    } catch {
      // It ended while we looked.
      return []
    }
  })
}

type Kinds = Record<string, () => Promise<Reply | unknown>>

/** Kinds of commands, most through the server, some by an operator beside it. */
async function kindsOf(stage: Stage, api: Api): Promise<Kinds> {
  const rich = { BRL: 10n ** 15n, USDT: 10n ** 15n, BTC: 10n ** 12n }
  const customers = await Promise.all(times(8, () => stage.customer(rich)))
  const { key_id } = await stage.partner('', { partner_id: stage.partner_id })
  const world = stage.worlds.sandbox
  const { partner_id } = stage
  let turn = 0
  let last: Promise<unknown> = Promise.resolve()
  /** One after the other, as an operator does: beside the server there are few connections. */
  const byHand = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
  const customer = () => customers[turn++ % customers.length]!
  const pay = (pix_key: string) => api.post('/v1/pix/payouts', payoutOrder(customer(), pix_key))
  const send = (amount: string) => api.post('/v1/onchain/transfers', transferOrder(customer(), amount))
  const quote = (from_asset: string, to_asset: string) =>
    api.post('/v1/quotes', {
      customer_id: customer(),
      from_asset,
      to_asset,
      amount: '100000',
      partner_fee_bps: 100,
    })
  const trade = async (from_asset: string, to_asset: string) =>
    api.post(`/v1/quotes/${(await quote(from_asset, to_asset)).json.id}/execute`)
  return {
    deposit: () => api.post('/v1/sandbox/deposits', { customer_id: customer(), asset: 'BRL', amount: '100' }),
    'payout completed': () => pay('ana@example.com'),
    'payout failed': () => pay('ac03@sandbox.test'),
    'payout sent again': () => pay('lost@sandbox.test'),
    'transfer confirmed': () => send('1000000'),
    'transfer refused': () => send('1009001'),
    'transfer reverted': () => send('1009002'),
    quote: () => quote('BRL', 'BTC'),
    'quote expired': async () =>
      api.post(`/v1/sandbox/quotes/${(await quote('USDT', 'BRL')).json.id}/expire`),
    'trade bought': () => trade('BRL', 'USDT'),
    'trade sold': () => trade('USDT', 'BRL'),
    customer: () => api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() }),
    'refused payout': () =>
      api.post('/v1/pix/payouts', payoutOrder(customer(), 'ana@example.com', '9'.repeat(17))),
    'operator credit': () =>
      world.commit(
        operatorCredit(world, {
          partner_id,
          customer_id: customer(),
          money: money('BRL', 100n),
          reason: 'mixed load',
          reference: `credit-${turn++}`,
        }),
      ),
    'fees paid': async () => {
      await trade('BRL', 'USDT')
      await byHand(() => foldTrades(world.db))
      const paid = { money: money('BRL', 1n), reason: 'mixed load', reference: `fees-${turn++}` }
      // Another node may be at the sums: then there is nothing to pay yet.
      await world.commit(payFees(world, { partner_id, customer_id: customer(), ...paid })).catch(() => {})
    },
    'key rotated': () => byHand(() => rotateKey(world, key_id, 60)),
  }
}

/** Of a command that does not go through the server: 503 if it was refused because it had waited too long, else 200. */
async function statusOf(command: () => Promise<Reply | unknown>): Promise<number> {
  try {
    const reply = (await command()) as Partial<Reply> | undefined
    return reply?.status ?? 200
  } catch (error) {
    if (error instanceof Refusal && error.status === 503) return error.status
    throw error
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0)

test.skipIf(!existsSync('/proc/self/smaps_rollup'))(
  'many kinds of commands mixed: every process of the database stays small, and the server flat',
  async () => {
    const stage = await openStage({
      nodes: 0,
      env: { PIX_WAIT_MS: '200', SANDBOX_BROADCAST_MS: '50', SANDBOX_CONFIRM_MS: '100' },
    })
    try {
      const server = await stage.start()
      const kinds = await kindsOf(stage, stage.client(server.url))
      const done = new Map(Object.keys(kinds).map((kind) => [kind, 0]))
      const unexpected: string[] = []
      /** When commands were refused because they had waited too long. */
      const refused: number[] = []
      const ends_at = performance.now() + LOAD_MS

      const names = Object.keys(kinds)
      const lane = async (index: number) => {
        // Each kind comes first in some lane, however few commands a busy machine gets done.
        for (
          let kind = names[index % names.length]!;
          ;
          kind = names[Math.floor(Math.random() * names.length)]!
        ) {
          const status = await statusOf(kinds[kind]!)
          if (status === 503) refused.push(performance.now())
          else if (status >= 500) unexpected.push(`${kind} ${status}`)
          else done.set(kind, done.get(kind)! + 1)
          if (performance.now() >= ends_at) return
        }
      }
      const rss: number[] = []
      let largest = { name: '', bytes: 0 }
      const watch = async () => {
        // Four samples make two halves of the second half.
        while (performance.now() < ends_at || rss.length < 4) {
          await sleep(SAMPLE_MS)
          for (const one of await backendsOf(stage)) if (one.bytes > largest.bytes) largest = one
          rss.push(privateBytes(server.process.pid!))
        }
      }
      await Promise.all([...times(LANES, lane), watch()])
      await until(() => allFinal(stage), 120_000)

      expect(unexpected).toEqual([])
      expect(done.size).toBeGreaterThanOrEqual(10)
      for (const [kind, count] of done) expect(count, kind).toBeGreaterThan(0)
      const commands = [...done.values()].reduce((sum, count) => sum + count, 0)
      expect((await stage.audit()).sandbox.findings).toEqual([])
      // Of the second half, its two halves: what leaks leaks on, what warms up has done so.
      const half = rss.slice(rss.length >> 1)
      const [earlier, later] = [half.slice(0, half.length >> 1), half.slice(half.length >> 1)].map(median)
      noteFact(
        `${done.size} kinds of commands mixed for ${LOAD_MS / 1000} s through one server, ${commands} in all, and ${refused.length} refused as too late: the largest database process («${largest.name}») had ${megabytes(largest.bytes)} MB of its own, the server ${megabytes(earlier!)} MB in the third quarter and ${megabytes(later!)} MB in the fourth; audit clean`,
      )
      expect(largest.bytes).toBeGreaterThan(0)
      expect(largest.bytes, largest.name).toBeLessThan(BACKEND_MAX_BYTES)
      expect(later!).toBeLessThan(earlier! * size(1.15, 1.5) + 20 * 2 ** 20)
    } finally {
      await stage.stop()
    }
  },
  TIMEOUT_MS,
)
