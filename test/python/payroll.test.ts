import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWire, type Wire } from '../../sdk/test/support/wire.ts'
import { depositsOf, entriesIn, reconcile } from '../examples/book.ts'
import type { Api } from '../support/api.ts'
import { moveIntoThePast } from '../support/past.ts'
import { openPython, type Python, pythonIsMissing } from '../support/python.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'

/** examples/payroll as a partner runs it: 200 lines, killed and cut off on the way. */
const program = fileURLToPath(new URL('../../examples/payroll/payroll.py', import.meta.url))
const LINES = 200

let service: TestService
let wire: Wire
let python: Python
let api: Api
let key: string
let customer_id: string

beforeAll(async () => {
  python = openPython()
  service = await startTestService()
  wire = await openWire(service.url)
  ;({ api, key } = await service.partner())
  customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json.id
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '100000000' })
})
afterAll(async () => {
  await wire?.stop()
  await service?.stop()
  python?.stop()
})

/** Some lines fail at the network, and some are refused. */
const recipient = (line: number) =>
  line % 40 === 7 ? 'ac03' : line % 40 === 8 ? 'notfound' : line % 50 === 9 ? 'garbage' : 'anyone'
const lines = Array.from({ length: LINES }, (_, line) => ({
  id: `salary-${line}`,
  amount: 100_000 + line,
  pix_key: `${recipient(line)}@sandbox.test`,
}))

function write(name: string, of: readonly (typeof lines)[number][]): string {
  const rows = of.map(
    ({ id, amount, pix_key }) => `${id},${customer_id},${pix_key},${(amount / 100).toFixed(2)}`,
  )
  const path = join(python.folder, name)
  writeFileSync(path, `id,customer_id,pix_key,amount\n${rows.join('\n')}\n`)
  return path
}

const bookOf = (run: string) => join(python.folder, `${run}.jsonl`)

function start(run: string, file: string, url = wire.url) {
  const child = spawn('python3', [program, '--run', run, '--file', file, '--book', bookOf(run)], {
    env: { ...python.env, TRILHO_URL: url, TRILHO_KEY: key },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => (text += chunk))
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code!)),
  )
  return { child, ended, printed: () => text }
}

const payments = () => wire.seen.filter(({ method }) => method === 'POST').length

type Payout = { id: string; idempotency_key: string; amount: string; status: string }

async function payoutsOf(run: string): Promise<Payout[]> {
  const found: any[] = []
  let cursor = ''
  do {
    const page = (await api.get(`/v1/pix/payouts?limit=100${cursor && `&cursor=${cursor}`}`)).json
    found.push(...page.data)
    cursor = page.has_more ? page.next_cursor : ''
  } while (cursor)
  return found.filter(({ idempotency_key }) => idempotency_key.startsWith(`${run}:`))
}

test.skipIf(pythonIsMissing)(
  'a payroll that is killed, cut off and left without a server pays each line once',
  { timeout: 300_000 },
  async () => {
    const file = write('salaries.csv', lines)
    for (const [index, fault] of (
      ['cut before', 'cut after', 'cut within', '503 after', '429 before'] as const
    ).entries())
      for (let line = index * 7; line < LINES; line += 61) wire.breakFor(`"november:salary-${line}"`, fault)

    let kills = 0
    for (const enough of [15, 60, 110]) {
      const run = start('november', file)
      await until(() => payments() >= enough, 60_000)
      if (enough === 60) wire.cut()
      run.child.kill('SIGKILL')
      expect(await run.ended, run.printed()).toBe('SIGKILL')
      expect(existsSync(bookOf('november'))).toBe(false)
      kills++
    }
    const last = start('november', file)
    const before = wire.seen.length
    await until(() => wire.seen.length > before + 10, 60_000)
    await wire.leadTo(undefined)
    await wire.leadTo(service.url)
    expect(await last.ended, last.printed()).toBe(1) // some were refused or failed
    expect(kills).toBe(3)
    const idsOf = (prefix: string) =>
      lines
        .filter(({ pix_key }) => pix_key.startsWith(prefix))
        .map(({ id }) => id)
        .join(' ')
    const unpaid = `november, 200 lines:\n  5 failed, not paid: ${idsOf('ac03')}\n  5 refused, not paid: ${idsOf('notfound')}\n`
    expect(last.printed()).toContain(unpaid)
    // At 110 payments 100 lines or more had been paid, some of them by the requests that were cut.
    const [, now, earlier] = /\n {2}190 completed: (\d+) now, (\d+) earlier\n/.exec(last.printed())!
    expect(Number(now) + Number(earlier)).toBe(190)
    expect(Number(earlier)).toBeGreaterThan(50)

    const paid = await payoutsOf('november')
    const payable = lines.filter(({ pix_key }) => !pix_key.startsWith('notfound'))
    const rows = (of: readonly { id: string; amount: number }[]) =>
      of.map(({ id, amount }) => `november:${id} ${amount}`)
    expect(paid.map(({ idempotency_key, amount }) => `${idempotency_key} ${amount}`).toSorted()).toEqual(
      rows(payable).toSorted(),
    )

    // The same again pays nothing, and a line that has changed is left to a person.
    const again = start('november', file, service.url)
    expect(await again.ended, again.printed()).toBe(1)
    expect(again.printed()).toContain(`${unpaid}  190 completed: 0 now, 190 earlier\n`)
    const booked = entriesIn(readFileSync(bookOf('november'), 'utf8'))
    const changed = start('november', write('changed.csv', [{ ...lines[0]!, amount: 1 }]), service.url)
    expect(await changed.ended, changed.printed()).toBe(2)
    expect(changed.printed()).toContain('for another customer, recipient or amount')
    expect(await payoutsOf('november')).toHaveLength(paid.length)

    const spent = paid
      .filter(({ status }) => status === 'completed')
      .reduce((sum, { amount }) => sum + Number(amount), 0)
    const { data } = (await api.get(`/v1/customers/${customer_id}/balances`)).json
    expect(data[0]).toMatchObject({ asset: 'BRL', available: String(100_000_000 - spent), in_transit: '0' })
    expect((await service.audit()).sandbox.findings).toEqual([])

    // The program of the guide finds no difference, and names a line of the book that was changed.
    const partner = { url: service.url, key, folder: python.folder }
    const book = [...(await depositsOf(api)), ...booked]
    expect(booked).toHaveLength(paid.length)
    const compared = `1 customers, ${1 + paid.length + 5} statement lines, ${1 + paid.length} entries`
    expect(await reconcile(book, partner)).toEqual({ code: 0, printed: [`${compared}: 0 differences`] })
    const name = 'november:salary-120'
    const withChange = book.map((entry) => (entry.idempotency_key === name ? { ...entry, amount: 1 } : entry))
    const { id, amount } = paid.find(({ idempotency_key }) => idempotency_key === name)!
    expect(await reconcile(withChange, partner)).toEqual({
      code: 1,
      printed: [
        `${compared}: 1 differences`,
        `payout ${id} (${name}): amount is 1 in your book, ${amount} at Trilho`,
      ],
    })
  },
)

test.skipIf(pythonIsMissing)(
  'two processes at the same run pay each line once',
  { timeout: 120_000 },
  async () => {
    const few = lines.filter(({ pix_key }) => pix_key.startsWith('anyone')).slice(0, 40)
    const file = write('few.csv', few)
    const runs = [start('december', file, service.url), start('december', file, service.url)]
    for (const run of runs) expect(await run.ended, run.printed()).toBe(0)
    expect(await payoutsOf('december')).toHaveLength(few.length)
    expect((await service.audit()).sandbox.findings).toEqual([])
  },
)

test.skipIf(pythonIsMissing)('a line is not paid again after its idempotency key is free again', async () => {
  const file = write('one.csv', lines.slice(0, 1))
  expect(await start('january', file, service.url).ended).toBe(0)
  const [paid] = await payoutsOf('january')
  await moveIntoThePast(service.database.url, { table: 'payouts', id: paid!.id, by: '25 hours' })
  expect(await start('january', file, service.url).ended).toBe(0)
  expect(await payoutsOf('january')).toHaveLength(1)
})
