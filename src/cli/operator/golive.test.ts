import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type EfiStub, efiSettings, NOTICE_TOKEN, startEfiStub } from '../../../test/pix/efi-stub.ts'
import { selfSigned } from '../../../test/support/certificate.ts'
import { runCli } from '../../../test/support/cli.ts'
import { makePerson } from '../../../test/support/console.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { startExchangeStub } from '../../../test/support/exchange-stub.ts'
import { openMailServer } from '../../../test/support/mail-server.ts'
import { openDesk } from '../../../test/support/operators.ts'
import { silent } from '../../../test/support/rail-bench.ts'
import { someCpf, startTestService, type TestService, testEnv } from '../../../test/support/service.ts'
import { eventually } from '../../../test/support/wait.ts'
import { judgeGolive } from '../../control/golive/report.ts'
import { act } from '../../control/operator/act.ts'
import { readConfig, readSignerConfig } from '../../node/config.ts'
import { findOut } from '../../node/golive/find-out.ts'
import { gatherGolive, settingsOf } from '../../node/golive/gather.ts'
import { readOutsideClock, readPublicPage } from '../../node/golive/web.ts'
import { startSigner } from '../../node/signer.ts'
import { addCustomer } from '../../parties/customers/customers.ts'

/** A walk asks for everything anew, and a machine may be busy. */
const PATIENT = { timeout: 300_000 }
const PATIENT_TEST = { timeout: 600_000 }

type Line = {
  check: string
  subject: string | null
  state: string
  says: string
  found: string
  to_do: string | null
}

const shellOf = (service: TestService, env: Record<string, string>) => ({
  ...testEnv(service.database.url, env),
  PORT: new URL(service.url).port,
  DATA_DIR: '/tmp',
})

/** Walks the list as an operator does, and returns its lines by name and rail. */
async function walk(service: TestService, env: Record<string, string> = {}) {
  const ran = await runCli(['golive', '--json'], shellOf(service, env))
  const lines: readonly Line[] = ran.json.data
  const stateOf = (check: string, subject: string | null = null) => {
    const line = lines.find((one) => one.check === check && one.subject === subject)
    return line && `${line.state} ${line.says}`
  }
  return { code: ran.code, ok: ran.json.ok, lines, stateOf }
}

async function serve(answer: RequestListener) {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

describe('a first start, with the sandbox only', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ DEMO: 'true' })
  })
  afterAll(() => service.stop())

  test('is red, and every red line says what to do', async () => {
    const { code, ok, lines, stateOf } = await walk(service, { DEMO: 'true' })
    expect([code, ok]).toEqual([1, false])
    expect(stateOf('some_rail')).toBe('red none')
    expect(stateOf('unused_rail', 'polygon')).toBe('unused unused')
    expect(stateOf('public_url')).toBe('red absent')
    expect(stateOf('certificate')).toBe('unknown unknown')
    expect(stateOf('secret_key')).toBe('red weak')
    expect(stateOf('demo')).toBe('red left')
    expect(stateOf('second_factors')).toBe('red none')
    expect(stateOf('two_operators')).toBe('red few')
    expect(stateOf('backup')).toBe('red none')
    expect(stateOf('standby')).toBe('red none')
    expect(stateOf('prometheus')).toBe('red absent')
    expect(stateOf('alertmanager')).toBe('red absent')
    expect(stateOf('mail')).toBe('red absent')
    expect(stateOf('prices')).toBe('unused nowhere')
    expect(stateOf('outside_clock')).toBe('unused unasked')
    // Lines that are green are listed too.
    for (const good of ['metrics', 'database_clock', 'exceptions', 'egress', 'retention', 'database_tls'])
      expect(stateOf(good), good).toMatch(/^ok/)
    for (const { state, to_do, check } of lines)
      if (state === 'red' || state === 'unknown') expect(to_do, check).toMatch(/\.$/)
  })

  test('is printed by area, with a mark on each line; --red leaves out what is right', async () => {
    const ran = await runCli(['golive'], shellOf(service, {}))
    expect(ran.code).toBe(1)
    expect(ran.out).toMatch(/^Settings\n {2}RED {7}Partners reach the service over HTTPS\n/)
    expect(ran.out).toContain('→ Set PUBLIC_URL to the https address that partners use')
    expect(ran.out).toContain('  ok        Webhooks reach public addresses only')
    expect(ran.out).toMatch(/\d+ of \d+ lines are red or unknown\. .*run trilho golive again\.\n$/)
    const red = await runCli(['golive', '--red'], shellOf(service, {}))
    expect(red.out).not.toContain('  ok ')
    expect(red.out).toContain('RED')
  })

  test('a service that does not run here is not taken for one that answers', async () => {
    const away = await runCli(['golive', '--json'], { ...shellOf(service, {}), PORT: '1' })
    expect(away.json.data.find(({ check }: Line) => check === 'metrics')).toMatchObject({ state: 'unknown' })
  })
})

describe('an installation with Pix', () => {
  let efi: EfiStub
  let service: TestService
  let env: Record<string, string>
  const closing: (() => Promise<unknown>)[] = []
  const nodes = { count: '2', ready: 200 }

  beforeAll(async () => {
    efi = await startEfiStub()
    const markets = await startExchangeStub()
    const mail = await openMailServer()
    // A stub of Prometheus and Alertmanager: their readiness, and one query.
    const watchers = await serve(({ url = '' }, response) => {
      if (url.startsWith('/api/v1/query'))
        return response.end(
          JSON.stringify({ status: 'success', data: { result: [{ value: [1, nodes.count] }] } }),
        )
      response.writeHead(nodes.ready).end()
    })
    env = {
      ...efiSettings(efi),
      ...{ PRICES_FROM: 'exchanges', EXCHANGE_URLS: markets.setting },
      ...{ PUBLIC_URL: 'http://127.0.0.1:1', TRUST_PROXY: '127.0.0.1', DATABASE_STANDBY: 'provider' },
      ...{ PROMETHEUS_URL: watchers.url, ALERTMANAGER_URL: `${watchers.url}/` },
      ...{ SMTP_URL: `smtp://127.0.0.1:${mail.port}`, MAIL_FROM: 'no-reply@trilho.example' },
      ...{ RECONCILE_EVERY_MS: '1000', PIX_WAIT_MS: '100', AUDIT_EVERY_MS: '1000' },
    }
    service = await startTestService(env)
    closing.push(service.stop, efi.stop, markets.stop, mail.stop, watchers.stop)
    efi.hold({ saldo: '500.00', total: '0.00' })
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })

  const states = () => walk(service, env)

  test(
    'turns each line green when what it asks for is done, and red again when it breaks',
    PATIENT_TEST,
    async () => {
      // Asked before the test makes a key and people past the log, which the audit would name.
      await eventually(async () => expect((await states()).stateOf('audit')).toBe('ok ok'), PATIENT)
      const before = await states()
      expect(before.stateOf('rail_check', 'pix')).toBe('ok ok')
      expect(before.stateOf('rail_limits', 'pix')).toBe('red missing')
      expect(before.stateOf('rail_notices', 'pix')).toBe('red none')
      expect(before.stateOf('round_trip', 'pix')).toBe('red none')
      expect(before.stateOf('mail')).toBe('red untried')
      expect(before.stateOf('prices')).toBe('ok ok')
      expect(before.stateOf('prometheus')).toBe('ok ok')
      expect(before.stateOf('alertmanager')).toBe('ok ok')
      expect(before.stateOf('standby')).toBe('ok provider')
      expect(before.stateOf('test_settings')).toBe('red set')

      const shell = shellOf(service, env)
      const done = async (...args: string[]) =>
        expect((await runCli(args, shell)).code, args.join(' ')).toBe(0)
      await done(
        'rails',
        'set-limits',
        'pix',
        '--order-most',
        '5000',
        '--day-most',
        '9000',
        '--floor',
        '100',
        '--reason',
        'x',
      )
      await done('mail', 'test', 'maria@operator.example')
      await done('backup', 'note', '--until', new Date().toISOString(), '--source', 'pgbackrest')
      await done(
        'backup',
        'note',
        '--until',
        new Date().toISOString(),
        '--source',
        'pgbackrest',
        '--verified',
      )
      efi.setWebhook(`http://127.0.0.1:1/rails/pix/efi/${NOTICE_TOKEN}?ignorar=`)
      for (const role of ['admin', 'resolver'] as const) await makePerson(service, { role, factor: true })
      await payOnce()

      const after = await eventually(async () => {
        const now = await states()
        expect(now.stateOf('rail_reconciled', 'pix')).toMatch(/ok|differs/)
        return now
      })
      for (const name of ['rail_limits', 'rail_notices', 'round_trip', 'rail_open', 'rail_holdings'])
        expect(after.stateOf(name, 'pix'), name).toBe('ok ok')
      for (const name of [
        'mail',
        'backup',
        'backup_verified',
        'two_operators',
        'second_factors',
        'proxy',
        'demo',
      ])
        expect(after.stateOf(name), name).toBe('ok ok')
      expect(JSON.stringify(after.lines)).not.toContain(NOTICE_TOKEN)
    },
  )

  test.each<[check: string, subject: string | null, says: string, breaks: () => Promise<unknown> | unknown]>([
    ['rail_notices', 'pix', 'red elsewhere', () => efi.setWebhook('https://old.example/rails/pix/efi/x')],
    ['rail_holdings', 'pix', 'red low', () => efi.hold({ saldo: '1.00', total: '0.00' })],
    ['prometheus', null, 'red blind', () => void (nodes.count = '0')],
    ['alertmanager', null, 'red refused', () => void (nodes.ready = 503)],
    ['second_factors', null, 'red missing', () => makePerson(service, { role: 'reader' })],
    [
      'rail_open',
      'pix',
      'red paused',
      () =>
        act(
          service.office,
          { kind: 'shell' },
          {
            name: 'pause_rail',
            environment: 'production',
            details: { rail: 'pix', reason: 'odd' },
          },
        ),
    ],
    ['exceptions', null, 'red open', () => {}],
    [
      'backup',
      null,
      'red old',
      () =>
        act(
          service.office,
          { kind: 'shell' },
          {
            name: 'note_backup',
            details: { until: '2026-01-01T00:00:00.000Z', source: 'old', verified: false },
          },
        ),
    ],
    [
      'rail_check',
      'pix',
      'red wrong',
      () => {
        efi.grant('pix.read')
        efi.expireTokens()
      },
    ],
  ])('%s of %s is %s when it breaks', PATIENT_TEST, async (check, subject, says, breaks) => {
    await breaks()
    await eventually(async () => expect((await states()).stateOf(check, subject)).toBe(says), PATIENT)
  })

  async function payOnce() {
    const { worlds, office } = service
    const world = worlds.production
    const { api, partner_id } = await service.partner({ environment: 'production' })
    const { id: customer_id } = await addCustomer(world, { partner_id, name: 'Ana', document: someCpf() })
    const { propose, approve } = openDesk(() => office)
    const details = {
      partner_id,
      customer_id,
      asset: 'BRL',
      amount: '1000',
      reason: 'x',
      reference: 'r',
    } as const
    const { id } = await propose(world, { name: 'credit', details }, 'maria@operator.example')
    await approve(world, id, 'joao@operator.example')
    const made = await api.post('/v1/pix/payouts', {
      ...{ customer_id, amount: '100', idempotency_key: 'golive-pix' },
      counterparty: { type: 'pix_key', pix_key: 'ana@example.com' },
    })
    expect(made.status).toBe(201)
    await eventually(
      async () => expect((await api.get(`/v1/pix/payouts/${made.json.id}`)).json.status).toBe('completed'),
      PATIENT,
    )
  }
})

describe('the signer of a network', () => {
  let service: TestService
  let folder: string
  let nodes: Awaited<ReturnType<typeof serve>>
  beforeAll(async () => {
    service = await startTestService()
    folder = await mkdtemp(join(tmpdir(), 'trilho-golive-'))
    nodes = await serve(answerAsPolygon)
  }, 300_000)
  afterAll(async () => {
    await nodes.stop()
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test('counts as answering only if it answers now, and is not known where this node has no key', async () => {
    const key = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
    const chain = { POLYGON_RPC: nodes.url }
    const without_key = {
      ...{ ...chain, EVM_WALLET: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
    }
    const remote = { ...without_key, SIGNER_URL: `unix:${join(folder, 'signer.sock')}` }
    const stateWith = async (env: Record<string, string>) =>
      (await walk(service, env)).stateOf('rail_signer', 'polygon')
    expect(await stateWith(remote)).toBe('red wrong')
    expect(await stateWith({ ...without_key, ROLE: 'api' })).toBe('unknown unknown')
    expect(await stateWith({ ...chain, EVM_WALLET_KEY: key })).toBe('ok ok')
    const written = await runCli(['signer', 'seal-key', '--to', '-'], shellOf(service, remote))
    const signer = await startSigner({
      config: readSignerConfig({
        ...{ SIGNER_LISTEN: remote.SIGNER_URL, SIGNER_LOG_DIR: join(folder, 'log') },
        ...{ SIGNER_SEAL_KEY: written.out.trim(), EVM_WALLET_KEY: key },
      }),
      log: silent as never,
      onFatal(error) {
        throw error
      },
    })
    onTestFinished(() => signer.stop())
    expect(await stateWith(remote)).toBe('ok ok')
  }, 300_000)
})

/** A stub of a node of Polygon: it tells a fresh block, the contract of USDT and an unused wallet. */
const answerAsPolygon: RequestListener = (request, response) => {
  const block = () => ({
    ...{ number: '0x64', hash: `0x${'a'.repeat(64)}`, parentHash: `0x${'b'.repeat(64)}`, transactions: [] },
    ...{ timestamp: `0x${Math.floor(Date.now() / 1000).toString(16)}`, baseFeePerGas: '0x1' },
  })
  const results: Record<string, () => unknown> = {
    eth_chainId: () => '0x89',
    eth_syncing: () => false,
    eth_getCode: () => '0x60',
    eth_call: () => `0x${'0'.repeat(63)}6`,
    eth_getTransactionCount: () => '0x0',
    eth_getBlockByNumber: block,
  }
  const resultOf = ({ id, method }: { id: number; method: string }) => ({
    ...{ jsonrpc: '2.0', id, result: results[method]?.() ?? null },
  })
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    const asked = JSON.parse(body)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(resultOf) : resultOf(asked)))
  })
}

test('every setting for tests, of every rail, is named while it is set', () => {
  const namedWith = (env: Record<string, string>) =>
    settingsOf(readConfig(testEnv('postgresql://nobody@127.0.0.1:1/none', env))).for_tests
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const bank = {
    STARKBANK_PROJECT_ID: '5656565656565656',
    STARKBANK_PRIVATE_KEY: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  }
  const tron = {
    ...{ TRON_RPC: 'https://tron.example', TRON_WALLET_KEY: '59'.repeat(32) },
  }
  expect(namedWith({})).toEqual([])
  expect(namedWith({ ...bank, ...tron })).toEqual([])
  expect(namedWith({ EFI_URL: 'https://pix-h.api.efipay.com.br' })).toEqual(['EFI_URL'])
  expect(namedWith({ ...bank, STARKBANK_URL: 'https://sandbox.api.starkbank.com' })).toEqual([
    'STARKBANK_URL',
  ])
  expect(namedWith({ ...bank, STARKBANK_CA: selfSigned('127.0.0.1').cert })).toEqual(['STARKBANK_CA'])
  const on_test_chain = {
    TRON_USDT: 'TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj',
    TRON_GENESIS: '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc',
  }
  expect(namedWith({ ...tron, ...on_test_chain })).toEqual(['TRON_USDT', 'TRON_GENESIS'])
})

describe('facts from outside', () => {
  const { key, cert } = selfSigned('localhost')

  async function tls(answer: RequestListener) {
    const server = createTlsServer({ key, cert }, answer)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())))
    return `https://localhost:${(server.address() as AddressInfo).port}`
  }
  const health: RequestListener = (_, response) => response.end('{"status":"ok","role":"all"}')
  const never = new AbortController().signal

  test('a certificate of an unknown authority is told as such; with its authority it is good', async () => {
    const url = await tls(health)
    const seen = await readPublicPage(url, never)
    expect(seen).toMatchObject({
      http: 200,
      is_service: true,
      certificate: { problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    })
    const trusted = await readPublicPage(url, never, cert)
    expect(trusted.certificate).toMatchObject({ problem: null })
    const left_ms = trusted.certificate!.ends_at.getTime() - Date.now()
    expect(left_ms).toBeGreaterThan(0)
    expect(left_ms).toBeLessThan(2 * 86_400_000)
  })

  test('another page, and an endless one, are not taken for this service', async () => {
    const other = await tls((_, response) => response.end('<html>hello</html>'))
    expect(await readPublicPage(other, never)).toMatchObject({ http: 200, is_service: false })
    const endless = await tls((_, response) => {
      const more = () => response.write('x'.repeat(65_536), more)
      more()
    })
    expect(await readPublicPage(endless, never)).toMatchObject({ is_service: false })
  })

  test('a clock is compared with the header Date, and an answer without one tells nothing', async () => {
    const late = await serve((_, response) =>
      response.setHeader('date', new Date(Date.now() - 60_000).toUTCString()).end(),
    )
    const silent = await serve((_, response) => {
      response.sendDate = false
      response.end()
    })
    onTestFinished(async () => void (await Promise.all([late.stop(), silent.stop()])))
    const read = await readOutsideClock(late.url, never)
    expect(Math.abs(read.offset_ms - 60_000)).toBeLessThanOrEqual(read.within_ms + 1000)
    expect(await findOut((signal) => readOutsideClock(silent.url, signal))).toMatchObject({
      unknown: expect.stringContaining('does not tell the time'),
    })
  })

  test('an answer that never comes is not known after its deadline', async () => {
    let gave_up = false
    const asked = await findOut(
      (signal) =>
        new Promise<never>(() => {
          signal.addEventListener('abort', () => {
            gave_up = true
          })
        }),
      30,
    )
    expect(asked).toEqual({ unknown: 'no answer within 0.03 seconds' })
    expect(gave_up).toBe(true)
  })
})

test('a database that is away makes lines unknown, and nothing good of them', async () => {
  const service = await startTestService()
  const config = readConfig(testEnv(service.database.url))
  const { worlds, shared } = service
  const database_url = 'postgresql://nobody@127.0.0.1:1/none'
  onTestFinished(() => service.stop())
  await asAdmin(service.database.url, ['ALTER TABLE shared.users RENAME TO users_gone'])
  const report = judgeGolive(
    await gatherGolive({
      ...{ config, worlds, shared, database_url },
      ...{ remote_signer: undefined, local_url: undefined },
    }),
  )
  const stateOf = (name: string) => report.lines.find(({ check }) => check === name)?.state
  expect(report.is_ready).toBe(false)
  expect([stateOf('two_operators'), stateOf('standby'), stateOf('metrics')]).toEqual([
    'unknown',
    'unknown',
    'unknown',
  ])
  await asAdmin(service.database.url, ['ALTER TABLE shared.users_gone RENAME TO users'])
})
