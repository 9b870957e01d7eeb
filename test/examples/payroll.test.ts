import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installSdk } from '../../sdk/test/support/install.ts'
import { openWire, type Wire } from '../../sdk/test/support/wire.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { testRun } from '../support/test-run.ts'
import { until } from '../support/wait.ts'

/** A payroll of 200 lines, in a project that has the packed SDK, over a wire that is cut, in a process that is killed. */
const LINES = 200
const REFUSED = '1077'
const ARGUMENTS = ['--run', 'payroll-2026-11', '--file', 'salaries.csv']
const tsx = new URL('../../node_modules/tsx/dist/loader.mjs', import.meta.url).href

let service: TestService
let wire: Wire
let folder: string
let env: Record<string, string>
let customer_id: string

beforeAll(async () => {
  service = await startTestService()
  wire = await openWire(service.url)
  folder = installSdk()
  copyFileSync(
    fileURLToPath(new URL('../../examples/payroll/payroll.ts', import.meta.url)),
    join(folder, 'payroll.ts'),
  )
  const { key, api } = await service.partner()
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
    err: () => text.err,
  }
}

async function killAfter(results: number): Promise<void> {
  const { child, gone, lines } = startPayroll()
  await until(() => lines().length >= results, 60_000)
  child.kill('SIGKILL')
  await gone
}

test('200 lines, killed and cut off in the middle, are paid once each', { timeout: 300_000 }, async () => {
  await killAfter(20)
  await killAfter(70)
  const { gone, lines, err } = startPayroll()
  await until(() => lines().length >= 110, 60_000)
  await wire.leadTo(undefined)
  await until(() => err().includes('no_response'), 60_000)
  await wire.leadTo(service.url)
  // Not 0, because of the line that is refused.
  expect(await gone, err()).toEqual([1, null])

  const statuses = new Map(lines().map((line) => line.split(' ') as [string, string]))
  expect(statuses.size).toBe(LINES)
  expect([...statuses].filter(([, status]) => status !== 'completed')).toEqual([[REFUSED, 'refused']])
  const { rows } = await service.worlds.sandbox.db.query<{ key: string; count: number }>(
    'SELECT idempotency_key AS key, count(*)::int AS count FROM payouts WHERE customer_id = $1 GROUP BY 1',
    [customer_id],
  )
  expect(rows).toHaveLength(LINES - 1)
  expect(rows.filter(({ count }) => count !== 1)).toEqual([])
  const { production, sandbox } = await service.audit()
  expect([production.ok, sandbox.ok]).toEqual([true, true])
})
