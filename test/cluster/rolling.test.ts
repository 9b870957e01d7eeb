import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openApi } from '../support/api.ts'
import { asAdmin, createDatabase } from '../support/database.ts'
import { inParallel } from '../support/parallel.ts'
import { openPayers } from '../support/payers.ts'
import { NOT_HERE, unpackPreviousRelease } from '../support/previous-release.ts'
import { noteFact } from '../support/proof.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../support/service.ts'
import { size } from '../support/size.ts'
import { until } from '../support/wait.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The sources of the previous release, ready to run; undefined where they cannot be had. */
async function previousRelease(): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-before-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const paths = ['src', 'package.json', 'tsconfig.json', 'openapi.json']
  if (!unpackPreviousRelease(folder, paths)) return undefined
  for (const name of ['node_modules', 'sdk']) await symlink(join(root, name), join(folder, name))
  return folder
}

/** Orders of every kind of transfer: paid, refused, reverted, waiting, replaced, canceled. */
function openTransfers(customer_id: string) {
  let made = 0
  return {
    async order(api: ReturnType<typeof openApi>) {
      for (const amount of ['1000000', '1009001', '1009002', '1009003', '1009005', '1009006']) {
        const order = {
          customer_id,
          asset: 'USDT',
          network: 'tron',
          amount,
          destination_address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
          idempotency_key: `transfer-${++made}`,
        }
        expect((await api.post('/v1/onchain/transfers', order)).status).toBe(201)
      }
    },
  }
}

test('nodes of the version before pay on while a newer one migrates the database under them, and beside it', {
  timeout: 600_000,
}, async ({ skip }) => {
  const before = await previousRelease()
  if (!before) return skip(NOT_HERE)
  const database = await createDatabase({ migrated: false })
  // The first start makes the tables of its own version.
  const watchful = { AUDIT_EVERY_MS: '200', AUDIT_SHARE_PCT: '100', LOG_LEVEL: 'error' }
  const old = [await spawnServer(testEnv(database.url, watchful), before)]
  onTestFinished(async () => void (await Promise.all(old.map((node) => node.kill('SIGKILL')))))
  old.push(await spawnServer(testEnv(database.url, watchful), before))
  const trilho = (...args: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, ['--import', 'tsx', 'src/cli/trilho.ts', ...args, '--json'], {
        cwd: before,
        env: { PATH: process.env.PATH, HOME: process.env.HOME, ...testEnv(database.url) },
        encoding: 'utf8',
      }),
    )
  const partner = trilho('partners', 'create', '--name', 'Ana & Co')
  const { key, id: key_id } = trilho('keys', 'create', '--partner', partner.id, '--environment', 'sandbox')
  const lots = ['--per-minute', '--per-day', '--endpoint-per-minute'].flatMap((name) => [name, '10000000'])
  trilho('keys', 'set-limits', key_id, ...lots)
  const api = openApi(old[0]!.url, key)
  const pix_key = someCpf()
  const customer_id = (await api.post('/v1/customers', { name: 'Ana', document: pix_key })).json.id
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1000000000' })

  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'USDT', amount: '1000000000000' })

  const transfers = openTransfers(customer_id)
  for (const { url } of old) await transfers.order(openApi(url, key))

  const load = { key, customer_id, pix_key, pause_ms: 60 }
  const olds = openPayers({ ...load, nodes: old.map(({ url }) => url), payers: 4, prefix: 'old' })
  const lists: number[] = []
  let stopped = false
  const reading = (async () => {
    const apis = old.map(({ url }) => openApi(url, key))
    for (let turn = 0; !stopped; turn++) {
      const paths = [
        '/v1/pix/payouts?limit=2',
        '/v1/customers?limit=2',
        `/v1/customers/${customer_id}/balances`,
        '/v1/events?limit=2',
        '/v1/events?limit=2&after=start',
      ]
      lists.push((await apis[turn % 2]!.get(paths[turn % paths.length]!)).status)
      await sleep(50)
    }
  })()
  await until(() => olds.acknowledged.length > 20, 120_000)

  const newer = await spawnServer(testEnv(database.url, { LOG_LEVEL: 'error' }))
  onTestFinished(() => newer.kill('SIGKILL'))
  const direct = openDirectAccess(database)
  onTestFinished(direct.stop)
  const from = olds.asks.length
  const news = openPayers({ ...load, nodes: [newer.url], payers: 4, prefix: 'new' })
  for (const { url } of [...old, newer, ...old, newer]) await transfers.order(openApi(url, key))
  const enough = size(500, 40)
  await until(() => olds.asks.length > from + enough && news.acknowledged.length > enough, 300_000)
  stopped = true
  await Promise.all([olds.stop(), news.stop(), reading])

  // A lock that a migration takes may be waited for; nothing may break.
  const statuses = [...olds.asks, ...news.asks].map(({ status }) => status).concat(lists)
  const logged = [...old, newer].map((node) => node.output()).join('\n')
  expect(
    statuses.filter((status) => ![200, 201, 503].includes(status)),
    logged,
  ).toEqual([])
  const last = olds.asks.slice(from).slice(-enough / 2)
  expect(last.filter(({ status }) => status !== 201)).toEqual([])
  const acknowledged = [...olds.acknowledged, ...news.acknowledged]
  const rows = await asAdmin(database.url, ['SELECT id, idempotency_key FROM sandbox.payouts'])
  const ids = new Map(rows.map(({ id, idempotency_key }) => [idempotency_key, id]))
  for (const { order, id } of acknowledged) expect(ids.get(order.idempotency_key)).toBe(id)
  expect(rows).toHaveLength(acknowledged.length)
  // Either version answers for what the other one did.
  const again = await inParallel(acknowledged, 100, ({ order }, i) =>
    i < olds.acknowledged.length ? news.replay(order, 0) : olds.replay(order, i % 2),
  )
  expect(again).toEqual(acknowledged.map(({ body }) => body))
  await until(async () => {
    const open = await asAdmin(database.url, [
      `SELECT 1 FROM sandbox.payouts WHERE status IN ('pending', 'processing')
       UNION ALL SELECT 1 FROM sandbox.transfers WHERE status IN ('pending', 'processing') AND amount_net % 10000 <> 9003`,
    ])
    return open.length === 0
  }, 120_000)
  // Either version ends by hand what the other one has broadcast.
  const waiting = await asAdmin(database.url, [
    `SELECT id FROM sandbox.transfers WHERE status IN ('pending', 'processing')`,
  ])
  expect(waiting.length).toBeGreaterThan(3)
  for (const [i, { id }] of waiting.entries()) {
    const at = openApi([...old, newer][i % 3]!.url, key)
    const { status } = await at.post(`/v1/sandbox/onchain/transfers/${id}/${i % 2 ? 'fail' : 'confirm'}`, {})
    expect(status).toBe(200)
  }
  const { production, sandbox } = await direct.audit()
  expect([...sandbox.findings, ...production.findings]).toEqual([])
  // Nor did the audit of the version before take for a fault what this one writes.
  expect(await asAdmin(database.url, ['SELECT kind, object_id, details FROM sandbox.exceptions'])).toEqual([])
  const refused = statuses.filter((status) => status === 503).length
  noteFact(
    `rolling upgrade: ${acknowledged.length} payouts on two nodes of the previous version and one of this version, while the database was migrated: none lost, ${refused} times 503, audit clean`,
  )
})
