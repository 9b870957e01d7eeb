import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../../test/support/cli.ts'
import { type CliStage, isMistake, openCliStage } from '../../../test/support/cli-stage.ts'
import { compiledCli } from '../../../test/support/compiled.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { someCpf } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { exit } from '../exit.ts'

/** Every command with an API key, run against a real server. */
let stage: CliStage
let live: string
beforeAll(async () => {
  stage = await openCliStage()
  live = (await stage.json('keys', 'create', '--environment', 'production')).key
  await stage.json(
    'partners',
    'set-limits',
    stage.demo.partner_id,
    '--per-minute',
    '1000000',
    '--per-day',
    '1000000',
  )
})
afterAll(() => stage.stop())

const trilho = (line: string, env: Record<string, string> = {}) => stage.withKey(line.split(' '), env)
const atTerminal = (line: string) =>
  runCli(line.split(' '), { TRILHO_KEY: stage.demo.key, TRILHO_URL: stage.url }, { terminal: true })
const json = async (line: string) => {
  const ran = await trilho(`${line} --json`)
  expect(ran.code, ran.err).toBe(exit.done)
  return ran.json
}

describe('customers and payouts', () => {
  test('creates a customer, credits it, and reads it', async () => {
    const made = await json(`customers create --name Rita --document ${someCpf()} --external-id rita`)
    expect(made).toMatchObject({ name: 'Rita', external_id: 'rita' })
    await json(`sandbox deposit --customer ${made.id} --amount 10.50`)
    const balances = await trilho(`customers balances ${made.id}`)
    expect(balances.out).toMatch(/BRL +10\.50 +0\.00 +10\.50\n/)
    const statement = await trilho(`customers statement ${made.id} --asset BRL`)
    expect(statement.out).toMatch(/BRL +10\.50 +10\.50 +deposit +dep_\w{26}\n/)
    expect(await json(`customers get ${made.id}`)).toEqual(made)
    expect((await json('customers list --external-id rita')).data).toEqual([made])
    const [deposit] = (await json(`deposits list --customer ${made.id}`)).data
    expect(await json(`deposits get ${deposit.id}`)).toEqual(deposit)
  })

  test('shows the address at which a customer receives, and what arrives there', async () => {
    const { id } = await json(`customers create --name Rui --document ${someCpf()}`)
    const address = await json(`customers deposit-address ${id} --network polygon`)
    expect(await json(`customers deposit-address ${id} --network polygon`)).toEqual(address)
    const listed = await trilho(`customers deposit-addresses ${id}`)
    expect(listed.out).toMatch(new RegExp(`polygon +USDT +${address.address} +1\\.000000\n`))
    // The amount stays pending.
    const made = await json(`sandbox receive --customer ${id} --network polygon --amount 25.009003`)
    expect(made).toMatchObject({ status: 'pending', address: address.address, amount: '25009003' })
    const { data } = await json(`deposits list --customer ${id} --status pending`)
    expect(data).toMatchObject([{ id: made.id, network: 'polygon' }])
  })

  test('makes a charge, pays a part of it, lets it expire, and pays the rest', async () => {
    const { id } = await json(`customers create --name Caio --document ${someCpf()}`)
    const made = await json(`charges create --customer ${id} --amount 10.50 --idempotency-key charge-${id}`)
    expect(made).toMatchObject({ status: 'open', amount: '1050' })
    expect(await json(`sandbox pay ${made.id} --amount 5.00`)).toMatchObject({ amount: '500' })
    expect(await json(`sandbox expire ${made.id}`)).toMatchObject({ status: 'expired' })
    await json(`sandbox pay ${made.id} --amount 5.50`)
    const listed = await trilho(`charges list --customer ${id}`)
    expect(listed.out).toMatch(/chg_\w{26} +paid +10\.50 BRL +10\.50 BRL/)
    expect(await json(`charges get ${made.id}`)).toMatchObject({ status: 'paid', amount_received: '1050' })
  })

  test('lets payments go back, and prints what went back as an amount', async () => {
    const { id: customer } = await json(`customers create --name Caio --document ${someCpf()}`)
    const made = await json(
      `charges create --customer ${customer} --amount 10.50 --idempotency-key r-${customer}`,
    )
    const { end_to_end_id, deposit_id } = await json(`sandbox pay ${made.id}`)
    const returned = await json(`sandbox return ${end_to_end_id} --amount 4.50`)
    expect(returned).toMatchObject({ id: deposit_id, amount_returned: '450' })
    expect((await trilho(`deposits get ${deposit_id}`)).out).toMatch(/^amount_returned +4\.50 BRL$/m)
    isMistake(
      await trilho(`sandbox return ${end_to_end_id} --amount 6.01`),
      /No more can go back than was paid: 6\.00 BRL are left/,
      1,
    )
    isMistake(
      await trilho('sandbox return E00000000202611151200a1b2c3d4e5f'),
      /No deposit of your customers in the sandbox has this end_to_end_id/,
      1,
    )
    isMistake(await trilho(`sandbox return ${made.id}`), /A payout’s id starts with po_/, 2)
    const order = `--customer ${customer} --amount 5.00 --to ana@example.com --idempotency-key back-${customer}`
    const payout = await json(`payouts create ${order}`)
    await until(async () => (await json(`payouts get ${payout.id}`)).status === 'completed', 10_000)
    expect(await json(`sandbox return ${payout.id}`)).toMatchObject({ amount_returned: '500' })
    expect((await trilho(`payouts get ${payout.id}`)).out).toMatch(/^amount_returned +5\.00 BRL$/m)
  })

  test('a payout prints its idempotency key before it is sent, and happens once under it', async () => {
    const order = `--customer ${stage.demo.customer_id} --amount 10.50 --to ana@example.com`
    expect(await json(`payouts check ${order}`)).toMatchObject({ dry_run: true, asset: 'BRL' })
    isMistake(await trilho(`payouts create ${order}`), /A script must give --idempotency-key TEXT/, 2)
    const first = await atTerminal(`payouts create ${order} --json`)
    const [, key] = /^idempotency key: (\S+)\n$/.exec(first.err)!
    const again = await trilho(`payouts create ${order} --idempotency-key ${key} --json`)
    expect(again.json).toEqual(first.json)
    expect((await trilho(`payouts get ${first.json.id}`)).out).toMatch(/^amount +10\.50 BRL$/m)
    const { data } = await json(`payouts list --idempotency-key ${key}`)
    expect(data.map(({ id }: { id: string }) => id)).toEqual([first.json.id])
    await until(async () => (await json(`payouts get ${first.json.id}`)).status === 'completed', 10_000)
    expect((await trilho('payouts list')).out).toMatch(
      new RegExp(`${first.json.id} +completed +10\\.50 BRL +cus_`),
    )
    for (const all of ['', ' --all']) {
      const csv = (await trilho(`payouts list --idempotency-key ${key} --output csv${all}`)).out
      expect(csv).toMatch(
        new RegExp(
          `^id,status,amount,amount_asset,customer,created_at\\n${first.json.id},completed,10\\.50,BRL,cus_\\w+,\\S+Z\\n$`,
        ),
      )
    }
    const file = join(await mkdtemp(join(tmpdir(), 'trilho-receipt-')), 'receipt.pdf')
    onTestFinished(() => rm(dirname(file), { recursive: true }))
    const save = `payouts receipt ${first.json.id} --lang en --file ${file}`
    await until(async () => (await trilho(save)).code === 0, 30_000)
    const saved = await trilho(save)
    const bytes = await readFile(file)
    expect(saved.out).toBe(`Wrote ${file} (${bytes.length} bytes).\n`)
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
    isMistake(await trilho(`payouts receipt ${first.json.id} --lang fr`), /--lang must be pt or en/, 2)
    isMistake(
      await trilho(`payouts receipt ${first.json.id} --file ${file}/below`),
      /cannot be written \(ENOTDIR\)\. Name another place with --file/,
      2,
    )
  })

  test('with a live key a script needs --yes and a person is asked; nothing is sent before', async () => {
    const order = ['payouts', 'create', '--customer', 'cus_x', '--amount', '1.00', '--to', 'a@example.com']
    const env = { TRILHO_KEY: live, TRILHO_URL: stage.url }
    isMistake(
      await runCli(order, env),
      /Pay 1\.00 BRL to a@example\.com moves real money: a script must give --yes/,
      2,
    )
    // A key with white space around it, as pasted.
    isMistake(await runCli(order, { ...env, TRILHO_KEY: ` ${live}\n` }), /moves real money/, 2)
    isMistake(
      await runCli([...order, '--yes'], { TRILHO_KEY: live, DATA_DIR: '/nowhere' }),
      /A live key needs an address: give --url URL/,
      2,
    )
    const asked = await runCli(order, env, { terminal: true, input: 'no\n' })
    expect(asked.err).toMatch(/This is real money\. Do it\? Type yes: [\s\S]*Nothing was sent/)
    expect(asked.err).not.toContain('idempotency key')
    const meant = await runCli([...order, '--yes', '--idempotency-key', 'real-1'], env)
    expect(meant.err).toMatch(/^idempotency key: \S+\n[a-z_]+: /)
    expect(meant.code).toBe(exit.refused)
  })
})

test('an amount of zero is a usage error that shows how amounts are typed', async () => {
  for (const amount of ['0', '0.00', '=-5'])
    isMistake(
      await trilho(
        `payouts check --customer cus_x --to a@example.com --amount${amount.startsWith('=') ? '' : ' '}${amount}`,
      ),
      /--amount must be above zero, such as 10\.50\./,
      2,
    )
})

test('transfers, quotes, trades and prices', async () => {
  const { customer_id } = stage.demo
  expect((await trilho('transfers fees')).out).toMatch(/polygon +[\d.]+ USDT\n/)
  const address = '0x52908400098527886e0f7030069857d2e4169ee7'
  const order = `--customer ${customer_id} --asset USDT --network polygon --amount 5.00 --to ${address}`
  const sent = (await trilho(`transfers create ${order} --idempotency-key t-1 --json`)).json
  isMistake(await trilho(`transfers receipt ${sent.id}`), /^receipt_not_available: /, 1)
  expect(sent).toMatchObject({ amount_net: '5000000', idempotency_key: 't-1' })
  expect((await json('transfers list --asset USDT')).data[0].id).toBe(sent.id)
  await until(async () => (await trilho(`sandbox confirm ${sent.id}`)).code === 0, 20_000)
  await until(async () => (await json(`transfers get ${sent.id}`)).status === 'confirmed', 20_000)

  expect((await json('prices set USDT/BRL 5.50')).data[0]).toMatchObject({ pair: 'USDT/BRL', price: '5.5' })
  expect((await trilho('prices list')).out).toMatch(/USDT\/BRL +5\.5 /)
  const quote = await json(`quotes create --customer ${customer_id} --from BRL --to USDT --amount 100.00`)
  expect(quote).toMatchObject({ from_amount: '10000', status: 'pending' })
  const trade = await json(`quotes execute ${quote.id}`)
  expect((await json(`trades list --quote ${quote.id}`)).data).toEqual([trade])
  expect(await json(`trades get ${trade.id}`)).toEqual(trade)
  expect((await json(`quotes get ${quote.id}`)).status).toBe('executed')
  const other = await json(`quotes create --customer ${customer_id} --from BRL --to USDT --amount 1.00`)
  await json(`sandbox expire ${other.id}`)
  expect((await json('quotes list --status expired')).data.map(({ id }: { id: string }) => id)).toEqual([
    other.id,
  ])
  isMistake(
    await trilho(`quotes execute ${other.id}`),
    /^quote_expired: [\s\S]*request +req_\w+[\s\S]*read more +http\S+\/docs\/errors\/quote_expired/,
    1,
  )
})

test('in the sandbox a waiting payout can be completed or failed', async () => {
  const pay = async (key: string) =>
    (
      await trilho(
        `payouts create --customer ${stage.demo.customer_id} --amount 1.00 --to slow@sandbox.test --idempotency-key ${key} --json`,
      )
    ).json.id
  const [one, two] = [await pay('s-1'), await pay('s-2')]
  await json(`sandbox complete ${one}`)
  await json(`sandbox fail ${two}`)
  await until(async () => (await json(`payouts get ${one}`)).status === 'completed', 10_000)
  await until(async () => (await json(`payouts get ${two}`)).status === 'failed', 10_000)
  isMistake(await trilho('sandbox fail cus_x'), /starts with po_/, 2)
})

test('webhooks and events', async () => {
  const made = await json('webhooks create https://nobody.invalid/hook?tenant=1 --events pix.payout.failed')
  expect(made).toMatchObject({ events: ['pix.payout.failed'], secret: expect.stringMatching(/^whsec_/) })
  expect((await json('webhooks list')).data.map(({ id }: { id: string }) => id)).toContain(made.id)
  expect(await json(`webhooks get ${made.id}`)).toMatchObject({ url: 'https://nobody.invalid/hook?tenant=1' })
  expect((await json(`webhooks rotate-secret ${made.id} --grace-hours 1`)).secret).not.toBe(made.secret)
  expect((await trilho(`webhooks test ${made.id}`)).code).toBe(0)
  const event = await json('trigger pix.payout.failed --override amount=777 --override fee=0')
  expect(event.data.object).toMatchObject({ amount: '777', fee: '0' })
  // The event is listed once no earlier event can still be committed.
  await until(
    async () => (await json(`events list --object ${event.data.object.id}`)).data[0]?.id === event.id,
    10_000,
  )
  expect(await json(`events get ${event.id}`)).toEqual(event)
  expect(await json(`events resend ${event.id} --endpoint ${made.id}`)).toEqual({ redelivered: 1 })
  expect(await json(`webhooks redeliver ${made.id} --from 2020-01-01T00:00:00Z`)).toEqual({ redelivered: 2 })
  expect((await trilho(`webhooks delete ${made.id}`)).out).toBe(`${made.id} is deleted.\n`)
  isMistake(await trilho(`webhooks get ${made.id}`), /^webhook_endpoint_not_found: /, 1)
})

test('usage and requests', async () => {
  expect((await trilho('usage')).out).toMatch(/requests this minute +1000000 +\d+/)
  await until(async () => (await json('requests list --status 404')).data.length > 0, 10_000)
  const [request] = (await json('requests list --status 404')).data
  expect(await json(`requests get ${request.id}`)).toEqual(request)
})

test('a list prints one page, or with --all every page as it arrives', async () => {
  for (let i = 0; i < 3; i++)
    await json(`sandbox deposit --customer ${stage.demo.customer_id} --amount 0.0${i + 1}`)
  const page = await trilho('deposits list --limit 2')
  expect(page.err).toMatch(/There are more: --all shows everything, --cursor \S+ the next page/)
  expect(page.out.trimEnd().split('\n')).toHaveLength(3)
  const [lines, whole, table] = [
    await trilho('deposits list --all --limit 2 --output jsonl'),
    await json('deposits list --all --limit 2'),
    await trilho('deposits list --all --limit 2'),
  ]
  const ids = lines.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id)
  expect(ids.length).toBeGreaterThan(4)
  expect(whole.data.map(({ id }: { id: string }) => id)).toEqual(ids)
  // Ids are never truncated, and the header is printed once.
  for (const id of ids) expect(table.out).toContain(`${id} `)
  expect(table.out.match(/^id /gm)).toHaveLength(1)
})

describe('exit codes', () => {
  test('1 for refused, 3 for not allowed, with the API’s message', async () => {
    const refused = await trilho(
      `payouts create --customer ${stage.demo.customer_id} --amount 99999999.00 --to a@example.com --idempotency-key too-much --json`,
    )
    expect(refused.code).toBe(exit.refused)
    expect(JSON.parse(refused.err.split('\n')[1]!).error).toMatchObject({
      code: 'insufficient_balance',
      type: 'business_error',
      request_id: expect.stringMatching(/^req_/),
      doc_url: expect.stringContaining('/docs/errors/insufficient_balance'),
      details: expect.anything(),
    })
    isMistake(
      await trilho('customers get cus_none'),
      /^customer_not_found: [\s\S]* request +req_/,
      exit.refused,
    )
    isMistake(
      await trilho('usage', { TRILHO_KEY: 'svc_test_sk_wrong' }),
      /^invalid_api_key: /,
      exit.not_allowed,
    )
    isMistake(
      await trilho('usage', { TRILHO_KEY: '' }),
      /There is no API key\. Set TRILHO_KEY/,
      exit.not_allowed,
    )
    isMistake(
      await trilho('trigger deposit.completed', { TRILHO_KEY: live }),
      /^sandbox_only: /,
      exit.not_allowed,
    )
  })

  /** A server with a fixed response. */
  async function answering(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test('4 for a daily limit and for an unreachable server: nothing happened', async () => {
    const url = await answering((_, response) =>
      response
        .writeHead(429, { 'retry-after': '3600', 'content-type': 'application/json' })
        .end(
          '{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"The day is used up.","request_id":"req_1"}}',
        ),
    )
    isMistake(
      await trilho(`usage --url ${url}`),
      /^rate_limit_exceeded: The day is used up\.\n[\s\S]*try again +in 3600 s/,
      exit.later,
    )
    const port = await freePort()
    isMistake(
      await trilho(`usage --url http://127.0.0.1:${port}`),
      /It was not sent\.\nIs the service running there\? --url, TRILHO_URL/,
      exit.later,
    )
  })

  test('5 for an unknown outcome, with a command line that is safe to repeat', async () => {
    const url = await answering((_, response) => response.destroy())
    const line = `payouts create --customer cus_x --amount 1.00 --to a@b.c --url ${url}`
    const paid = await runCli(
      [...line.split(' '), '--description', "Ana's $rent"],
      { TRILHO_KEY: stage.demo.key },
      { terminal: true },
    )
    expect(paid.code).toBe(exit.unknown)
    const [, key] = /^idempotency key: (\S+)\n/.exec(paid.err)!
    expect(paid.err).toMatch(/This line is safe to run: it happens once\.\n {2}trilho /)
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${paid.err.trimEnd().split('\n').at(-1)}`])
    expect(words.toString()).toBe(
      ['trilho', ...line.split(' '), '--description', "Ana's $rent", '--idempotency-key', key, ''].join('\n'),
    )
    const lost = await trilho(`sandbox deposit --customer cus_x --amount 1.00 --url ${url} --json`)
    expect(lost.code).toBe(exit.unknown)
    expect(JSON.parse(lost.err).error).toMatchObject({ code: 'outcome_unknown' })
  })
})

test('a result that cannot be printed is 5, with the command line that shows it again', async () => {
  const order = ['--customer', stage.demo.customer_id, '--amount', '1.00', '--to', 'ana@example.com']
  const line = ['payouts', 'create', ...order, '--idempotency-key', 'full-1']
  const env = { PATH: process.env.PATH, TRILHO_KEY: stage.demo.key, TRILHO_URL: stage.url }
  const lost = promisify(execFile)(
    'sh',
    ['-c', 'exec "$@" >/dev/full', 'sh', process.execPath, await compiledCli(), ...line],
    { env },
  )
  await expect(lost).rejects.toMatchObject({
    code: exit.unknown,
    stderr: [
      'idempotency key: full-1',
      'The command ran, but its result could not be printed (ENOSPC).',
      'This line is safe to run: it happens once.',
      `  trilho ${line.join(' ')}`,
      '',
    ].join('\n'),
  })
  expect((await json('payouts list --idempotency-key full-1')).data).toHaveLength(1)
})

describe('profiles', () => {
  let home: string
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'trilho-home-'))
  })
  afterAll(() => rm(home, { recursive: true, force: true }))
  const at = (line: string, typed = {}, env = {}) =>
    runCli(line.split(' '), { XDG_CONFIG_HOME: home, DATA_DIR: '/nowhere', ...env }, typed)

  test('`profiles add` asks for a key without echo, tries it, and stores it readable by its owner only', async () => {
    const added = await at(`profiles add demo --url ${stage.url}`, {
      terminal: true,
      input: `${stage.demo.key}\n`,
    })
    expect(added).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^demo is kept in .*: sandbox at http\S+ It is in use\.\n$/),
    })
    expect(added.err + added.out).not.toContain(stage.demo.key)
    const file = join(home, 'trilho', 'profiles.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      current: 'demo',
      profiles: { demo: { url: stage.url, key: stage.demo.key } },
    })
    isMistake(
      await at(`profiles add other --url ${stage.url}`, { terminal: true, input: 'svc_test_sk_no\n' }),
      /invalid_api_key/,
      3,
    )
    isMistake(await at('profiles add other'), /Give --key-file FILE, or run this at a terminal/, 2)
  })

  test('the current profile is used, another by name, and command-line options override both', async () => {
    expect((await at('usage')).code).toBe(0)
    const key_file = join(home, 'key')
    await writeFile(key_file, `${live}\n`)
    expect((await at(`profiles add real --url ${stage.url} --key-file ${key_file}`)).out).toMatch(
      /To use it: trilho profiles use real/,
    )
    const listed = await at('profiles list')
    expect(listed.out).toMatch(new RegExp(`demo +${stage.url} +sandbox +${stage.demo.key.slice(-4)} +yes\n`))
    expect(listed.out).not.toContain('svc_')
    const environment = async (line: string, typed = {}, env = {}) =>
      JSON.parse((await at(`customers list --json ${line}`.trim(), typed, env)).out).data.length
    expect(await environment('')).toBeGreaterThan(0)
    expect(await environment('--profile real')).toBe(0)
    expect(await environment('', {}, { TRILHO_PROFILE: 'real' })).toBe(0)
    expect(
      await environment(`--key-file - --url ${stage.url}`, { input: `${stage.demo.key}\n` }),
    ).toBeGreaterThan(0)
    // The key of a profile goes to the profile's address, unless the command line says otherwise.
    const forgotten = { TRILHO_URL: 'http://127.0.0.1:9' }
    isMistake(
      await at('usage', {}, forgotten),
      new RegExp(`whose service is ${stage.url}, but TRILHO_URL is http://127\\.0\\.0\\.1:9\\. Unset`),
      2,
    )
    expect((await at('usage', {}, { TRILHO_URL: `${stage.url}/` })).code).toBe(0)
    expect((await at('usage --profile demo', {}, forgotten)).code).toBe(0)
    expect((await at(`usage --url ${stage.url}`, {}, forgotten)).code).toBe(0)
    expect((await at('profiles use real')).out).toBe('real is in use.\n')
    expect(await environment('')).toBe(0)
    expect((await at('profiles remove real')).code).toBe(0)
    isMistake(await at('usage'), /There is no API key/, 3)
    isMistake(await at('profiles use real'), /There is no profile real/, 2)
  })
})
