import fs, { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../support/api.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { size } from '../support/size.ts'
import { type Running, start } from './program.ts'

let service: TestService
let api: Api
let key: string
let customer_id: string
let folder: string

beforeAll(async () => {
  service = await startTestService({ SANDBOX_BROADCAST_MS: '20', SANDBOX_CONFIRM_MS: '40' })
  ;({ api, key } = await service.partner())
  customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json.id
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '100000000' })
  folder = mkdtempSync(join(tmpdir(), 'trilho-treasury-'))
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const to = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
type Options = { kill_at?: number; amount?: string; address?: string; cwd?: string }
const run = (
  name: string,
  { kill_at, amount = '1000.00', address = to, cwd = folder }: Options = {},
): Running =>
  start('treasury/withdraw.js', {
    args: ['--run', name, '--amount', amount, '--to', address],
    env: { TRILHO_URL: service.url, TRILHO_KEY: key, CUSTOMER: customer_id },
    cwd,
    kill_at,
  })

const transfersOf = async (name: string) =>
  (await api.get(`/v1/onchain/transfers?idempotency_key=${name}-withdrawal`)).json.data
const trades = async () => (await api.get('/v1/trades?limit=100')).json.data.length

test('converts, withdraws what came of it, and waits until it is confirmed', async () => {
  const script = run('plain')
  expect(await script.ended).toBe(0)
  const [transfer, ...more] = await transfersOf('plain')
  expect(more).toEqual([])
  expect(transfer).toMatchObject({ status: 'confirmed', amount_gross: '184259259', fee: '1000000' })
  expect(script.printed().split('\n')).toEqual([
    'converted: 1000.00 BRL are 184.259259 USDT',
    `on its way: ${transfer.id}`,
    `confirmed: ${transfer.tx_hash}`,
    '',
  ])
})

test('a run is about one withdrawal', async () => {
  const script = run('plain', { amount: '2000.00' })
  expect(await script.ended).toBe(2)
  expect(script.printed()).toMatch(
    /^The run 'plain' is about 1000\.00 BRL of cus_\w+ to 0x\w+\. For anything else/,
  )
})

test('a run is not taken up where its notes are not, and converts nothing there', async () => {
  const cwd = mkdtempSync(join(folder, 'elsewhere-'))
  const before = await trades()
  for (const other of [{ amount: '2000.00' }, { address: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359' }]) {
    const script = run('plain', { cwd, ...other })
    expect(await script.ended).toBe(2)
    expect(script.printed()).toMatch(
      /^A run 'plain' that is not in these notes sent tr_\w+, 183\.259259 USDT of cus_\w+ to 0x5aA\w+\. Start it/,
    )
  }
  expect(await trades()).toBe(before)
})

test('two processes are never at the same run', async () => {
  const locks = () => readdirSync(folder).filter((name) => name.startsWith('treasury-alone.lock'))
  const mine = join(folder, `treasury-alone.lock.${process.pid}`)
  writeFileSync(mine, '')
  const script = run('alone')
  expect(await script.ended).toBe(2)
  expect(script.printed()).toBe(
    `Process ${process.pid} is at the run 'alone'. Start this again when that has ended.\n`,
  )
  rmSync(mine)
  // One that is gone counts for nothing.
  writeFileSync(join(folder, `treasury-alone.lock.${script.process.pid}`), '')
  const before = await trades()
  await Promise.all([run('alone').ended, run('alone').ended])
  expect(await run('alone').ended).toBe(0)
  expect(await trades()).toBe(before + 1)
  expect(locks()).toEqual([])
})

test('converts nothing that could not be sent', async () => {
  const before = await trades()
  const small = run('small', { amount: '1.00' })
  expect(await small.ended).toBe(2)
  expect(small.printed()).toBe("1.00 BRL are 0.183333 USDT, and the network's fee is 1.000000 USDT.\n")
  const astray = run('astray', { address: '0x12' })
  expect(await astray.ended).toBe(1)
  expect(astray.printed()).toMatch(/^invalid_address: /)
  expect(await trades()).toBe(before)
  // Nothing was begun: the same run may be given what is right.
  expect(readdirSync(folder).filter((name) => /small|astray/.test(name))).toEqual([])
})

test('notes are on the disk when they are saved, and so is their name', async () => {
  const { Notes } = await import(new URL('../../examples/treasury/notes.js', import.meta.url).href)
  const done: string[] = []
  const { fsyncSync, renameSync } = fs
  fs.fsyncSync = (file) => {
    done.push(fs.fstatSync(file).isDirectory() ? 'folder' : 'file')
    fsyncSync(file)
  }
  fs.renameSync = (from, to) => {
    done.push('rename')
    renameSync(from, to)
  }
  syncBuiltinESMExports()
  try {
    new Notes(join(folder, 'synced.json')).save({ received: '1' })
  } finally {
    Object.assign(fs, { fsyncSync, renameSync })
    syncBuiltinESMExports()
  }
  expect(done).toEqual(['file', 'rename', 'folder'])
})

test('asks for another quote when the one it noted has expired', async () => {
  const amounts = { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '100000' }
  const quote = (await api.post('/v1/quotes', amounts)).json
  await api.post(`/v1/sandbox/quotes/${quote.id}/expire`)
  writeFileSync(join(folder, 'treasury-expired.json'), JSON.stringify({ quote_id: quote.id }))
  const before = await trades()
  const script = run('expired')
  expect(await script.ended).toBe(0)
  expect(script.printed()).toMatch(/^the quote expired: asking for another$/m)
  expect(await trades()).toBe(before + 1)
})

test('says what is wrong when there is not enough money, and changes nothing', async () => {
  const script = run('too-much', { amount: '9999999.00' })
  expect(await script.ended).toBe(1)
  expect(script.printed()).toMatch(/^insufficient_balance: .* \(req_\w+\)$/m)
  expect(await transfersOf('too-much')).toEqual([])
})

test('without its options it says which there are', async () => {
  const script = start('treasury/withdraw.js', { env: {}, cwd: folder })
  expect(await script.ended).toBe(2)
  expect(script.printed()).toMatch(/^Usage: /)
})

describe('killed at any step and started again', () => {
  const once = async (name: string, before: number) => {
    expect(await trades()).toBe(before + 1)
    expect(await transfersOf(name)).toMatchObject([{ status: 'confirmed' }])
  }

  test('it converts once and sends once', async () => {
    const before = await trades()
    let kills = 0
    let script = run('rising', { kill_at: 1 })
    while ((await script.ended) === 'SIGKILL') script = run('rising', { kill_at: ++kills + 1 })
    expect(await script.ended, script.printed()).toBe(0)
    expect(kills).toBeGreaterThanOrEqual(5)
    await once('rising', before)
  })

  test.runIf(size(1, 0))('at each step of a run of its own', { timeout: 300_000 }, async () => {
    for (let kill_at = 1; ; kill_at++) {
      const before = await trades()
      const name = `fresh-${kill_at}`
      const killed = (await run(name, { kill_at }).ended) === 'SIGKILL'
      if (killed) expect(await run(name).ended).toBe(0)
      await once(name, before)
      if (!killed) return expect(kill_at).toBeGreaterThan(15)
    }
  })
})
