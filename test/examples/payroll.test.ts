import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installSdk } from '../../sdk/test/support/install.ts'
import { openWire, type Wire } from '../../sdk/test/support/wire.ts'
import type { Api } from '../support/api.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { testRun } from '../support/test-run.ts'
import { until } from '../support/wait.ts'
import { depositsOf, entriesIn, reconcile } from './book.ts'

/** A payroll of 200 lines, in a project that has the packed SDK, over a wire that is cut, in a process that is killed. */
const LINES = 200
const REFUSED = '1077'
const RUN = 'payroll-2026-11'
const ARGUMENTS = ['--run', RUN, '--file', 'salaries.csv', '--book', 'payroll.jsonl']
const tsx = new URL('../../node_modules/tsx/dist/loader.mjs', import.meta.url).href

let service: TestService
let wire: Wire
let folder: string
let env: Record<string, string>
let api: Api
let key: string
let customer_id: string

beforeAll(async () => {
  service = await startTestService()
  wire = await openWire(service.url)
  folder = installSdk()
  copyFileSync(
    fileURLToPath(new URL('../../examples/payroll/payroll.ts', import.meta.url)),
    join(folder, 'payroll.ts'),
  )
  ;({ key, api } = await service.partner())
  const { id } = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json
  await api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: '100000000' })
  // One line in forty takes longer than its call, and one is refused.
  const keyOf = (i: number) => (i % 40 === 5 ? 'garbage@sandbox.test' : `e${i}@example.com`)
  const lines = Array.from({ length: LINES }, (_, i) => {
    const number = String(1000 + i)
    return `${number},${id},${number === REFUSED ? 'notfound@sandbox.test' : keyOf(i)},${(i % 7) + 1}.50`
  })
  writeFileSync(join(folder, 'salaries.csv'), `${['id,customer_id,pix_key,amount', ...lines].join('\n')}\n`)
  customer_id = id
  env = { TRILHO_URL: wire.url, TRILHO_KEY: key }
})
afterAll(async () => {
  await wire?.stop()
  await service?.stop()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

type Payroll = {
  readonly child: ChildProcess
  readonly gone: Promise<unknown[]>
  lines(): string[]
  out(): string
  err(): string
}

function startPayroll(): Payroll {
  const child = spawn(process.execPath, ['--import', tsx, 'payroll.ts', ...ARGUMENTS], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...testRun(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (text.out += chunk))
  child.stderr.on('data', (chunk) => (text.err += chunk))
  return {
    child,
    gone: once(child, 'close'),
    lines: () => text.out.split('\n').filter((line) => /^\d+ /.test(line)),
    out: () => text.out,
    err: () => text.err,
  }
}

/** Returns the ids of the lines that it said to be paid. */
async function killAfter(results: number): Promise<string[]> {
  const { child, gone, lines } = startPayroll()
  await until(() => lines().length >= results, 60_000)
  child.kill('SIGKILL')
  await gone
  return lines().flatMap((line) => /^(\d+) completed (?:now|earlier) po_/.exec(line)?.[1] ?? [])
}

test('200 lines, killed and cut off in the middle, are paid once each', { timeout: 300_000 }, async () => {
  const told = new Set([...(await killAfter(20)), ...(await killAfter(70))])
  expect(told.size).toBeGreaterThan(50)
  expect(existsSync(join(folder, 'payroll.jsonl'))).toBe(false)
  const { gone, lines, out, err } = startPayroll()
  await until(() => lines().length >= 110, 60_000)
  await wire.leadTo(undefined)
  await until(() => err().includes('no_response'), 60_000)
  await wire.leadTo(service.url)
  // Not 0, because of the line that is refused.
  expect(await gone, err()).toEqual([1, null])

  const statuses = new Map(lines().map((line) => line.split(' ') as [string, string]))
  expect(statuses.size).toBe(LINES)
  expect([...statuses].filter(([, status]) => status !== 'completed')).toEqual([[REFUSED, 'refused']])
  // The resumed run says which lines it paid, and which had been paid.
  const earlier = lines().flatMap((line) => /^(\d+) completed earlier /.exec(line)?.[1] ?? [])
  expect([...told].filter((id) => !earlier.includes(id))).toEqual([])
  const paid = LINES - 1
  expect(out().split('\n').slice(-4)).toEqual([
    `${RUN}, ${LINES} lines:`,
    `  1 refused, not paid: ${REFUSED}`,
    `  ${paid} completed: ${paid - earlier.length} now, ${earlier.length} earlier`,
    '',
  ])
  const { rows } = await service.worlds.sandbox.db.query<{ key: string; count: number }>(
    'SELECT idempotency_key AS key, count(*)::int AS count FROM payouts WHERE customer_id = $1 GROUP BY 1',
    [customer_id],
  )
  expect(rows).toHaveLength(LINES - 1)
  expect(rows.filter(({ count }) => count !== 1)).toEqual([])
  const { production, sandbox } = await service.audit()
  expect([production.ok, sandbox.ok]).toEqual([true, true])
})

test('after it the program of the guide finds 0 differences, and names a line of the book that was changed', async () => {
  const partner = { url: service.url, key, folder }
  const booked = entriesIn(readFileSync(join(folder, 'payroll.jsonl'), 'utf8'))
  const deposits = await depositsOf(api)
  const book = [...deposits, ...booked]
  expect(booked).toHaveLength(LINES - 1)
  // One deposit, and one line for each payout: none failed.
  expect(await reconcile(book, partner)).toEqual({
    code: 0,
    printed: [`1 customers, ${LINES} statement lines, ${LINES} entries: 0 differences`],
  })

  const changed = booked[120]!
  const name = changed.idempotency_key
  const [{ id }] = (await api.get(`/v1/pix/payouts?idempotency_key=${name}`)).json.data
  const { amount } = changed
  expect(
    await reconcile(
      book.map((entry) => (entry === changed ? { ...entry, amount: `${amount}0` } : entry)),
      partner,
    ),
  ).toEqual({
    code: 1,
    printed: [
      `1 customers, ${LINES} statement lines, ${LINES} entries: 1 differences`,
      `payout ${id} (${name}): amount is ${amount}0 in your book, ${amount} at Trilho`,
    ],
  })
  const without = book.filter((entry) => entry !== changed)
  expect((await reconcile(without, partner)).printed.slice(1)).toEqual([
    `payout ${id} (${name}): at Trilho, not in your book`,
  ])
})
