import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openApi } from '../../test/support/api.ts'
import { nobodyOn, type Ran, runCli, startCli, tempDataDir } from '../../test/support/cli.ts'
import { codeNow } from '../../test/support/code.ts'
import { asAdmin, createDatabase } from '../../test/support/database.ts'
import { startNode } from '../../test/support/node.ts'
import { openReceiver, verifies } from '../../test/support/receiver.ts'
import { someCpf, spawnServer } from '../../test/support/service.ts'
import { until } from '../../test/support/wait.ts'
import { type ConfigError, describeConfig, readConfig } from '../node/config.ts'

/** One server on an embedded database of its own; the command line works beside it. */
let place: Awaited<ReturnType<typeof tempDataDir>>
let server: Awaited<ReturnType<typeof spawnServer>>
let database_url: string
let demo: { partner_id: string; key: string; customer_id: string }

beforeAll(async () => {
  place = await tempDataDir()
  server = await spawnServer({ DATA_DIR: place.data_dir, PORT: '0', LOG_LEVEL: 'silent' })
  const printed = (pattern: RegExp) => pattern.exec(server.output())![1]!
  demo = {
    partner_id: printed(/partner +(ptn_\w+)/),
    key: printed(/sandbox key +(svc_test_sk_\w+)/),
    customer_id: printed(/customer +(cus_\w+)/),
  }
  database_url = JSON.parse(readFileSync(`${place.data_dir}/connection.json`, 'utf8')).url
})
afterAll(async () => {
  await server.kill('SIGTERM')
  await place.remove()
})

/** Every command that was run here, by its words. */
const used: string[] = ['serve']
function run(args: readonly string[], env: Record<string, string>): Promise<Ran> {
  used.push(args.join(' '))
  return runCli(args, env)
}
/** Once there are operators, whoever types here is one of them. */
type Person = { readonly email: string; readonly password: string }
let ana: Person | undefined
let bea: Person
const asPerson = (person: Person | undefined, args: readonly string[], env: Record<string, string> = {}) =>
  run(person ? [...args, '--as', person.email] : args, {
    DATA_DIR: place.data_dir,
    ...(person ? { OPERATOR_PASSWORD: person.password } : {}),
    ...env,
  })
const trilho = (...args: string[]) => asPerson(args[0] === 'help' ? undefined : ana, args)
const json = async (...args: string[]) => {
  const ran = await trilho(...args, '--json')
  expect(ran.err).toBe('')
  expect(ran.code, ran.out).toBe(0)
  return ran.json
}

/** A mistake: said on stderr, for people, and nothing on stdout that a script could take for an answer. */
function isMistake(ran: Ran, message: RegExp): void {
  expect(ran.err).toMatch(message)
  expect(ran.err).not.toMatch(/\n +at /)
  expect(ran.out).toBe('')
  expect(ran.code).toBe(1)
}

describe('how a command is typed', () => {
  test.concurrent('help lists the commands, and each explains itself', async () => {
    const [help, one, version] = await Promise.all([
      trilho('help'),
      trilho('keys', 'create', '--help'),
      trilho('--version'),
    ])
    expect(help.out).toMatch(/keys create .*\n/)
    expect(one.out).toMatch(/^trilho keys create\n[\s\S]*--environment production\|sandbox[\s\S]*--json/)
    expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/)
    for (const { code } of [help, one, version]) expect(code).toBe(0)
  })

  test.concurrent.each<[string, RegExp]>([
    ['frobnicate now', /Unknown command: frobnicate now\. See: trilho help/],
    ['keys list --frob', /Unknown option '--frob'[\s\S]*trilho keys list/],
    ['keys revoke', /KEY is missing[\s\S]*trilho keys revoke KEY/],
    ['partners list extra', /Too much: extra/],
    ['customers credit cus_x --asset BRL', /--amount is missing[\s\S]*--reference TEXT/],
    ['keys create --environment staging', /--environment must be production or sandbox/],
    ['keys create --expires yesterday', /--expires must be a time in the future/],
    ['keys create --scopes reed', /Unknown scope reed\. Scopes are read, customers/],
    [
      'keys create --allow 10.0.0.1/8',
      /10\.0\.0\.1\/8 has host bits set. For the range write 10\.0\.0\.0\/8/,
    ],
    ['keys create --allow ,', /--allow is empty/],
    ['keys revoke key_none', /No key key_none/],
    ['partners show ptn_none', /No partner ptn_none/],
    ['bench', /not installed with the service.*npm ci && npm run bench/],
    ['partners set-tier ptn_none gold', /The tier must be one of standard, growth, enterprise/],
  ])('trilho %s', async (line, message) => {
    isMistake(await trilho(...line.split(' ')), message)
  })

  test.concurrent('the first word alone lists the commands that begin with it', async () => {
    const [alone, asked, wrong] = await Promise.all([
      trilho('keys'),
      trilho('keys', '--help'),
      trilho('keys', 'frobnicate'),
    ])
    expect(alone).toMatchObject({ code: 0, err: '' })
    expect(alone.out).toMatch(/^ {2}keys create .*\n {2}keys list /m)
    expect(alone.out).not.toMatch(/^ {2}(?!keys )/m)
    expect(asked).toEqual(alone)
    isMistake(wrong, /Unknown command: keys frobnicate\. See: trilho help\n\n[\s\S]* {2}keys create /)
  })

  test.concurrent('with --json errors are JSON too, for programs', async () => {
    const errorOf = async (line: string, env = {}) => {
      const { code, out, err } = await run([...line.split(' '), '--json'], {
        DATA_DIR: place.data_dir,
        ...env,
      })
      expect([code, out]).toEqual([1, ''])
      return JSON.parse(err).error
    }
    const [unknown, typed, refused, wrong] = await Promise.all([
      errorOf('frobnicate'),
      errorOf('keys revoke'),
      errorOf('partners show ptn_00000000000000000000000000'),
      errorOf('config check', { PORT: 'eighty' }),
    ])
    expect(unknown).toEqual({
      code: 'usage',
      message: 'Unknown command: frobnicate. See: trilho help',
    })
    expect(typed).toEqual({ code: 'usage', message: 'KEY is missing.' })
    expect(refused).toMatchObject({ code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) })
    expect(wrong).toMatchObject({
      code: 'configuration',
      mistakes: ['PORT must be a whole number from 0 to 65535, not "eighty"'],
    })
  })

  test.concurrent('a role that there is not is refused, before anything starts', async () => {
    isMistake(await trilho('serve', '--role', 'both'), /--role must be one of all, api, worker\./)
  })
})

describe('partners and users', () => {
  let partner_id: string

  test('without --partner the only one is taken; with several, one must be named', async () => {
    const made = await json('keys', 'create', '--environment', 'sandbox')
    expect(made).toMatchObject({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^svc_test_sk_/),
      partner_id: demo.partner_id,
      environment: 'sandbox',
      scopes: ['read', 'customers', 'payouts', 'transfers', 'quotes', 'webhooks'],
      ip_allowlist: [],
      expires_at: null,
      revoked_at: null,
    })
    expect((await openApi(server.url, made.key).get('/v1/usage')).status).toBe(200)
    const created = await json('partners', 'create', '--name', 'Acme')
    partner_id = created.id
    expect(created).toMatchObject({ id: expect.stringMatching(/^ptn_/), name: 'Acme', tier: 'standard' })
    const [unnamed, live] = await Promise.all([
      trilho('keys', 'create', '--json'),
      json('keys', 'create', '--environment', 'production', '--partner', partner_id),
    ])
    isMistake(unnamed, /There are several partners: say which one with --partner ID/)
    expect(live).toMatchObject({ partner_id, environment: 'production' })
    expect(live.key).toMatch(/^svc_live_sk_/)
  })

  test('are listed, shown and changed', async () => {
    const [list, shown] = await Promise.all([json('partners', 'list'), json('partners', 'show', partner_id)])
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual([demo.partner_id, partner_id])
    expect(list.data[1]).toEqual(shown)
    expect(await json('partners', 'set-tier', partner_id, 'growth')).toMatchObject({ tier: 'growth' })
    expect(
      await json('partners', 'set-limits', partner_id, '--per-minute', '700', '--endpoint-per-minute', '90'),
    ).toMatchObject({ per_minute: 700, per_day: null, endpoint_per_minute: 90 })
    expect(await json('partners', 'set-fees', partner_id, '--service-bps', '30')).toMatchObject({
      service_fee_bps: 30,
      partner_fee_share_pct: 0,
    })
    expect(await json('partners', 'allow-third-party', partner_id)).toMatchObject({
      third_party_payouts: true,
    })
    expect(await json('partners', 'allow-third-party', partner_id, '--off')).toMatchObject({
      id: partner_id,
      tier: 'growth',
      per_minute: 700,
      service_fee_bps: 30,
      third_party_payouts: false,
    })
    const [nothing, odd] = await Promise.all([
      trilho('partners', 'set-limits', partner_id),
      trilho('partners', 'set-limits', partner_id, '--per-minute', '0'),
    ])
    isMistake(nothing, /Say at least one of --per-minute/)
    isMistake(odd, /--per-minute must be a whole number from 1/)
  })

  test('users get a password once, and a new one when they lost it', async () => {
    const args = ['users', 'create', '--email', 'Ana@Acme.example', '--partner', partner_id]
    const user = await json(...args, '--role', 'finance')
    expect(user).toMatchObject({ email: 'ana@acme.example', role: 'finance', partner_id })
    const [again, reset, unknown] = await Promise.all([
      trilho(...args),
      json('users', 'reset-password', 'ana@acme.example'),
      trilho('users', 'reset-password', 'nobody@acme.example'),
    ])
    isMistake(again, /A user with the e-mail ana@acme\.example exists already/)
    isMistake(unknown, /No user with the e-mail nobody@acme\.example/)
    expect(reset).toMatchObject({ id: user.id, email: user.email })
    // What a viewer was called before.
    const member = await json('users', 'set-role', 'ana@acme.example', '--role', 'member')
    expect(member).toMatchObject({ id: user.id, role: 'viewer' })
    const leaving = ['--email', 'leaves@acme.example', '--role', 'viewer', '--partner', partner_id]
    const gone = await json('users', 'create', ...leaving)
    expect(await json('users', 'remove', gone.email)).toMatchObject({ id: gone.id, removed: true })
    isMistake(await trilho('users', 'reset-password', gone.email), /No user with the e-mail/)
    expect(reset.password).toMatch(/^(\w{5}-){3}\w{5}$/)
    expect(reset.password).not.toBe(user.password)
    const [row] = await asAdmin(database_url, [
      'SELECT string_agg(u::text, $$ $$) AS all FROM shared.users u',
    ])
    expect(row!.all).toContain('$argon2id$')
    for (const { password } of [user, reset]) expect(row!.all).not.toContain(password)
  })
})

test('contract §17.13: an operator signs in once, with a code if there is a second factor, and out again', async () => {
  const home = await mkdtemp(join(tmpdir(), 'trilho-home-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const { url } = await createDatabase()
  const there = { DATABASE_URL: url, SECRET_KEY: '00'.repeat(32) }
  const create = ['users', 'create', '--operator', '--json', '--email']
  const ada = (await run([...create, 'ada@operator.example'], there)).json
  const asAda = (...args: string[]) =>
    run([...args, '--as', ada.email], { ...there, OPERATOR_PASSWORD: ada.password })
  const eva = (await asAda(...create, 'Eva@operator.example', '--role', 'resolver')).json
  expect(eva).toMatchObject({ email: 'eva@operator.example', role: 'operator', operator_role: 'resolver' })
  const ran: Ran[] = []
  const at = async (env: Record<string, string>, ...args: string[]) => {
    const one = await run(args, { ...there, XDG_CONFIG_HOME: home, ...env })
    ran.push(one)
    return one
  }
  const known = { OPERATOR_PASSWORD: eva.password }
  const login = ['login', '--operator', 'EVA@operator.example']
  const [nobody, silent, wrong] = await Promise.all([
    at({}, 'whoami'),
    at({}, ...login),
    at({ OPERATOR_PASSWORD: 'wrong' }, ...login),
  ])
  expect(nobody.out).toMatch(/^Nobody is signed in here/)
  isMistake(silent, /Set OPERATOR_PASSWORD to your password, or run this at a terminal/)
  isMistake(wrong, /No operator with this e-mail and password/)
  expect((await at(known, ...login)).out).toMatch(/^Signed in as eva@operator\.example \(resolver\)\./)
  const [signed_in, other] = await Promise.all([
    at({}, 'whoami', '--json'),
    at({}, 'whoami', '--as', 'other@operator.example'),
  ])
  expect(signed_in.json).toMatchObject({
    actor: {
      kind: 'operator',
      email: eva.email,
      role: 'resolver',
      session_id: expect.stringMatching(/^ses_/),
    },
    second_factor: false,
  })
  isMistake(
    other,
    /You are signed in as eva@operator\.example, not as other@operator\.example\. Set OPERATOR_PASSWORD/,
  )

  const begun = (await at(known, 'factor', 'enroll', '--json')).json
  expect(begun).toMatchObject({ second_factor: false, uri: expect.stringContaining(begun.secret) })
  const first = { ...known, OPERATOR_CODE: codeNow(begun.secret) }
  const enrolled = (await at(first, 'factor', 'enroll', '--confirm', '--json')).json
  expect(enrolled).toMatchObject({ second_factor: true, recovery_codes: expect.any(Array) })
  const [one, two] = enrolled.recovery_codes as string[]
  const [codeless, used, renewed] = await Promise.all([
    at(known, ...login),
    at(first, ...login),
    at({ ...known, OPERATOR_CODE: one! }, 'factor', 'recovery-codes', '--json'),
  ])
  isMistake(codeless, /set OPERATOR_CODE to its code/)
  isMistake(used, /This code is wrong, too old, or was used before/)
  const [three, four] = renewed.json.recovery_codes as string[]
  const [replaced, still, alone] = await Promise.all([
    at({ ...known, OPERATOR_CODE: two! }, 'factor', 'disable'),
    at({}, 'whoami'),
    at({ ...known, OPERATOR_CODE: three! }, 'whoami', '--as', eva.email),
  ])
  isMistake(replaced, /This code is wrong/)
  expect(still.out).toMatch(/With a second factor; (9|10) recovery codes are left\./)
  expect(alone.code).toBe(0)
  expect((await at({ ...known, OPERATOR_CODE: four! }, 'factor', 'disable')).code).toBe(0)
  const { new_password } = (await at(known, 'password', '--json')).json
  const [old, own] = await Promise.all([
    at(known, 'whoami', '--as', eva.email),
    at({ OPERATOR_PASSWORD: new_password }, 'whoami', '--as', eva.email),
  ])
  isMistake(old, /No operator with this e-mail and password/)
  expect(own.code).toBe(0)

  const lowering = (await asAda('users', 'set-role', eva.email, '--role', 'reader', '--json')).json
  expect(lowering).toMatchObject({ status: 'proposed' })
  expect((await at({}, 'proposals', 'approve', lowering.proposal_id, '--yes')).code).toBe(0)
  const [no_factor, list, ended] = await Promise.all([
    asAda('users', 'reset-factor', eva.email),
    asAda('users', 'list'),
    at({}, 'whoami'),
  ])
  isMistake(no_factor, /has no second factor/)
  expect(list.out).toMatch(/eva@operator\.example .* reader +the operator +no\n/)
  isMistake(ended, /Your session has ended\. Sign in again: trilho login --operator EMAIL/)
  expect((await at({}, 'logout')).out).toBe('Signed out.\n')
  expect((await at({}, 'logout')).out).toBe('Nobody is signed in here.\n')
  // What was typed is not told again, by any of them.
  const typed = [eva.password, new_password, first.OPERATOR_CODE, one!, two!, three!, four!]
  for (const { err } of ran) for (const secret of typed) expect(err).not.toContain(secret)
}, 180_000)

describe('keys', () => {
  test('are created with scopes, allowlist and expiry, listed without their values, limited, rotated, revoked', async () => {
    const made = await json(
      ...['keys', 'create', '--partner', demo.partner_id, '--name', 'Reader', '--scopes', 'read, customers'],
      ...['--allow', '127.0.0.1,10.0.0.0/8', '--expires', '2090-01-01T00:00:00Z'],
    )
    expect(made).toMatchObject({
      name: 'Reader',
      scopes: ['read', 'customers'],
      ip_allowlist: ['127.0.0.1', '10.0.0.0/8'],
      expires_at: '2090-01-01T00:00:00.000Z',
      last_four: made.key.slice(-4),
    })
    const limits = (key: string) => openApi(server.url, key).get('/v1/usage')
    expect((await limits(made.key)).json.minute.limit).toBe(100)
    const [listed, text, set] = await Promise.all([
      json('keys', 'list', '--environment', 'sandbox', '--partner', demo.partner_id),
      trilho('keys', 'list'),
      json('keys', 'set-limits', made.id, '--per-minute', '321'),
    ])
    const { key: _, log: __, ...without } = made
    const found = listed.data.find(({ id }: { id: string }) => id === made.id)
    expect(found).toMatchObject({
      ...without,
      last_used_at: found.last_used_at,
      last_used_address: found.last_used_address,
    })
    expect(text.out).toMatch(new RegExp(`${made.id} +sandbox +Reader +${made.last_four}`))
    for (const shown of [JSON.stringify(listed), text.out]) expect(shown).not.toMatch(/svc_(live|test)_sk_/)
    expect(set).toMatchObject({ id: made.id, per_minute: 321, per_day: null })
    await until(async () => (await limits(made.key)).json.minute?.limit === 321, 1000)

    const rotated = await json('keys', 'rotate', made.id, '--grace-hours', '0')
    expect(rotated).toMatchObject({ id: made.id, key: expect.stringMatching(/^svc_test_sk_/) })
    await until(async () => (await limits(made.key)).json.error?.code === 'revoked_api_key', 1000)
    expect((await limits(rotated.key)).status).toBe(200)
    const revoked = await json('keys', 'revoke', made.id)
    expect(revoked.revoked_at).toMatch(/Z$/)
    await until(async () => (await limits(rotated.key)).json.error?.code === 'revoked_api_key', 1000)
    isMistake(await trilho('keys', 'rotate', made.id), /is revoked; create a new one/)
  })
})

const balance = async (schema: 'live' | 'sandbox', customer_id: string, asset = 'BRL') => {
  const [row] = await asAdmin(database_url, [
    `SELECT balance FROM ${schema}.balances WHERE customer_id = '${customer_id}' AND asset = '${asset}'`,
  ])
  return Number(row!.balance)
}
const newCustomer = async (key: string): Promise<string> =>
  (await openApi(server.url, key).post('/v1/customers', { name: 'Ana', document: someCpf() })).json.id

describe('customers', () => {
  test('a credit happens once per reference, and a reference stands for one credit', async () => {
    const customer = await newCustomer(demo.key)
    const credit = (amount: string, reference: string) =>
      trilho(
        ...['customers', 'credit', customer, '--asset', 'BRL', '--amount', amount],
        ...['--reason', 'Goodwill', '--reference', reference, '--json'],
      )
    const first = await credit('500', 'ticket-1')
    expect(first).toMatchObject({ code: 0, json: { status: 'completed' } })
    expect(first.json.id).toMatch(/^dep_/)
    const [again, other, next, wrong] = await Promise.all([
      credit('500', 'ticket-1'),
      credit('501', 'ticket-1'),
      credit('7', 'ticket-2'),
      credit('1.5', 'ticket-3'),
    ])
    expect(again).toMatchObject({ code: 0, json: { id: first.json.id, status: 'completed' } })
    isMistake(other, /The reference ticket-1 was used for another credit/)
    expect(next.code).toBe(0)
    expect(next.json.id).not.toBe(first.json.id)
    isMistake(wrong, /An amount is a string holding a whole number/)
    expect(await balance('sandbox', customer)).toBe(507)
  })

  test('a blocked customer’s money stands still until it is unblocked', async () => {
    const customer_id = await newCustomer(demo.key)
    const api = openApi(server.url, demo.key)
    const deposit = () => api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '5' })
    expect((await deposit()).status).toBe(201)
    expect(await json('customers', 'block', customer_id)).toMatchObject({
      id: customer_id,
      status: 'blocked',
    })
    expect((await deposit()).json.error.code).toBe('customer_blocked')
    const refused = await trilho(
      ...['customers', 'credit', customer_id, '--asset', 'BRL', '--amount', '1', '--reason', 'x'],
      ...['--reference', 'blocked'],
    )
    isMistake(refused, /This customer is blocked/)
    expect((await api.get(`/v1/customers/${customer_id}`)).json.status).toBe('blocked')
    expect(await json('customers', 'unblock', customer_id)).toMatchObject({ status: 'active' })
    expect((await deposit()).status).toBe(201)
    expect(await balance('sandbox', customer_id)).toBe(10)
  })

  test('contract §16: in production a credit is proposed by one operator and approved by another', async () => {
    const first = await json('users', 'create', '--email', 'ana@operator.example', '--operator')
    expect(first).toMatchObject({ role: 'operator', partner_id: null })
    isMistake(
      await trilho('users', 'create', '--email', 'bea@operator.example', '--operator'),
      /takes an operator who is signed in: trilho login/,
    )
    ana = first as Person
    bea = await json('users', 'create', '--email', 'bea@operator.example', '--operator')
    const live = await json('keys', 'create', '--environment', 'production', '--partner', demo.partner_id)
    const customer = await newCustomer(live.key)
    const as = (user: { email: string; password: string } | undefined, ...args: string[]) =>
      run([...args, ...(user ? ['--operator', user.email] : []), '--json'], {
        DATA_DIR: place.data_dir,
        ...(user ? { OPERATOR_PASSWORD: user.password } : {}),
      })
    const credit = [
      ...['customers', 'credit', customer, '--asset', 'USDT', '--amount', '900', '--reason', 'Wire'],
      ...['--reference', 'wire-1'],
    ]
    const [nobody, impostor, proposed] = await Promise.all([
      as(undefined, ...credit),
      as({ email: ana.email, password: bea.password }, ...credit),
      as(ana, ...credit),
    ])
    isMistake(nobody, /takes an operator who is signed in/)
    isMistake(impostor, /No operator with this e-mail and password/)
    expect(proposed).toMatchObject({ code: 0, json: { status: 'proposed' } })
    const { proposal_id } = proposed.json
    expect(proposal_id).toMatch(/^prp_/)
    expect(await balance('live', customer, 'USDT')).toBe(0)
    isMistake(
      await as(ana, 'proposals', 'approve', proposal_id),
      /approved by another operator than the one who made it/,
    )
    expect(await balance('live', customer, 'USDT')).toBe(0)
    // Two approvals at once, and one more: the money comes once.
    const approvals = [
      ...(await Promise.all([1, 2].map(() => as(bea, 'proposals', 'approve', proposal_id)))),
      await as(bea, 'proposals', 'approve', proposal_id),
    ]
    for (const approved of approvals) {
      expect(approved).toMatchObject({ code: 0, json: { proposal_id, status: 'completed' } })
      expect(approved.json.id).toBe(approvals[0]!.json.id)
    }
    expect(await balance('live', customer, 'USDT')).toBe(900)
    const { data } = await json('proposals', 'list')
    expect(data).toMatchObject([
      { id: proposal_id, action: 'credit', proposed_by: ana.email, approved_by: bea.email },
    ])
  })

  test('in production a correction is seen whole before it is approved, and can be rejected or withdrawn', async () => {
    const [carla, dora] = [ana!, bea]
    const live = await json('keys', 'create', '--environment', 'production', '--partner', demo.partner_id)
    const customer = await newCustomer(live.key)
    const as = (user: { email: string; password: string }, ...args: string[]) =>
      run([...args, '--operator', user.email], {
        DATA_DIR: place.data_dir,
        OPERATOR_PASSWORD: user.password,
      })
    const proposed = async (...args: string[]) => {
      const ran = await as(carla, ...args, '--json')
      expect(ran.err).toBe('')
      return ran.json.proposal_id as string
    }
    const book = (name: string, amount: string, reference: string) => [
      ...['customers', name, customer, '--asset', 'BRL', '--amount', amount],
      ...['--reason', 'Wire 8841', '--reference', reference],
    ]
    const credit = await proposed(...book('credit', '90000', 'correct-1'))
    const seen = await trilho('proposals', 'show', credit)
    for (const part of [
      /what +Credit 900\.00 BRL to cus_/,
      /customer +cus_\w+ +Ana +\*\*\*\.\d{3}\.\d{3}-\*\* +\(active\)/,
      /partner +ptn_\w+ +\S/,
      /amount +900\.00 BRL/,
      /reason +Wire 8841/,
      /reference +correct-1/,
      /proposed +by ana@operator\.example at \d{4}-/,
      /state +open/,
      /expires +\d{4}-/,
    ])
      expect(seen.out).toMatch(part)
    const approved = await as(dora, 'proposals', 'approve', credit)
    expect(approved.out).toMatch(
      /^About to do this in production:\n[\s\S]*900\.00 BRL[\s\S]*Done: dep_\w+\nLine \d+ of the log of production: [0-9a-f]{64}\n$/,
    )
    const deposit = /Done: (dep_\w+)/.exec(approved.out)![1]!

    const [reversal, debit, taken_back] = await Promise.all([
      proposed('customers', 'reverse-credit', deposit, '--reason', 'Twice', '--reference', 'correct-2'),
      proposed(...book('debit', '90001', 'correct-3')),
      proposed(...book('debit', '1', 'correct-4')),
    ])
    isMistake(await as(dora, 'proposals', 'approve', debit, '--json'), /has 900\.00 BRL available/)
    const [rejected, withdrawn, wrong] = await Promise.all([
      as(dora, 'proposals', 'reject', debit, '--reason', 'Not this customer', '--json'),
      as(carla, 'proposals', 'withdraw', taken_back),
      as(dora, 'proposals', 'withdraw', reversal),
    ])
    expect(rejected.json).toMatchObject({
      state: 'rejected',
      ended_by: dora.email,
      ended_reason: 'Not this customer',
    })
    expect(withdrawn.out).toMatch(/state +withdrawn\n/)
    isMistake(wrong, /Only who made a proposal can withdraw it/)
    // Killed when the money has moved, and before that is noted: it has happened, and is only completed.
    const killed = await run(['proposals', 'approve', reversal, '--operator', dora.email], {
      DATA_DIR: place.data_dir,
      OPERATOR_PASSWORD: dora.password,
      CRASH_AT: 'after_commit',
    })
    expect(killed.signal).toBe('SIGKILL')
    const [late, too_late, done] = await Promise.all([
      as(dora, 'proposals', 'approve', debit),
      as(carla, 'proposals', 'withdraw', reversal),
      as(dora, 'proposals', 'approve', reversal, '--yes', '--json'),
    ])
    isMistake(too_late, /was approved by bea@operator\.example/)
    isMistake(late, /was rejected by bea@operator\.example \(Not this customer\)/)
    expect(done.json.id).toMatch(/^adj_/)
    expect(await balance('live', customer)).toBe(0)
    isMistake(
      await as(carla, 'customers', 'reverse-credit', deposit, '--reason', 'x', '--reference', 'correct-5'),
      /was reversed before, by adj_/,
    )
    const listed = await trilho('proposals', 'list')
    expect(listed.out).toMatch(new RegExp(`${reversal} +done +reverse_credit +900\\.00 BRL +${customer} Ana`))
  })

  test('in the sandbox a correction happens at once; what is no amount is refused', async () => {
    const customer_id = await newCustomer(demo.key)
    const made = await openApi(server.url, demo.key).post('/v1/sandbox/deposits', {
      customer_id,
      asset: 'BRL',
      amount: '500',
    })
    const debit = (amount: string, reference: string) =>
      trilho(
        ...['customers', 'debit', customer_id, '--asset', 'BRL', `--amount=${amount}`],
        ...['--reason', 'x', '--reference', reference],
      )
    const wrong = ['-5', '1.5', '1e3', '9'.repeat(19)]
    for (const ran of await Promise.all(wrong.map((amount) => debit(amount, 'odd'))))
      isMistake(ran, /An amount is a string holding a whole number/)
    isMistake(await debit('9'.repeat(18), 'odd'), /has 5\.00 BRL available/)
    expect((await debit('200', 'sandbox-1')).out).toMatch(
      /^adj_\w+ debited\.\nLine \d+ of the log of sandbox: /,
    )
    const reverse = (...more: string[]) =>
      trilho('customers', 'reverse-credit', made.json.id, '--reason', 'x', '--reference', ...more)
    isMistake(await reverse('sandbox-2'), /has 3\.00 BRL available, which does not cover 5\.00 BRL/)
    expect(await balance('sandbox', customer_id)).toBe(300)
  })

  test('may be given limits of money, in their own figures or their partner’s', async () => {
    const customer_id = await newCustomer(demo.key)
    const set = ['customers', 'set-money-limits', customer_id]
    const own = await json(
      ...set,
      '--payout-day',
      '1000',
      '--transfer-day',
      'USDT=5',
      '--transfer-day',
      'BTC=7',
    )
    expect(own).toEqual({
      subject_id: customer_id,
      environment: 'sandbox',
      money_limits: {
        payout_order: null,
        payout_day: '1000',
        payout_night: null,
        transfer_order_usdt: null,
        transfer_order_btc: null,
        transfer_day_usdt: '5',
        transfer_day_btc: '7',
      },
      log: { environment: 'sandbox', seq: expect.any(String), hash: expect.any(String) },
    })
    const partner = (...more: string[]) =>
      json('partners', 'set-money-limits', demo.partner_id, '--environment', 'sandbox', ...more)
    await partner('--payout-order', '600', '--payout-day', '9')
    const shown = await json('customers', 'money-limits', customer_id)
    expect(shown.in_force).toMatchObject({ payout_order: '600', payout_day: '1000', payout_day_used: '0' })
    const pay = (amount: string, idempotency_key: string) =>
      openApi(server.url, demo.key).post('/v1/pix/payouts', {
        customer_id,
        amount,
        counterparty: { type: 'pix_key', pix_key: 'a@example.com' },
        idempotency_key,
      })
    expect((await pay('601', 'limit-1')).json.error).toMatchObject({
      code: 'limit_exceeded',
      details: { limit: 'payout_order', allowed: '600' },
    })
    await partner('--payout-order', 'none', '--payout-day', 'none')
    expect(
      (await json('partners', 'money-limits', demo.partner_id, '--environment', 'sandbox')).money_limits,
    ).toMatchObject({
      payout_order: null,
      payout_day: null,
    })
    expect((await pay('601', 'limit-2')).json.error.code).toBe('insufficient_balance')
    const wrong: [string[], RegExp][] = [
      [[], /Say at least one of --payout-order/],
      [['--payout-day=-5'], /--payout-day must be a whole number/],
      [['--transfer-day', 'BRL=5'], /--transfer-day must be USDT=… or BTC=…/],
      [['--transfer-day', 'USDT=5', '--transfer-day', 'USDT=6'], /names USDT twice/],
    ]
    await Promise.all(wrong.map(async ([more, message]) => isMistake(await trilho(...set, ...more), message)))
  })

  test('may be given an arrangement of their own', async () => {
    const customer = await newCustomer(demo.key)
    expect((await trilho('customers', 'allow-third-party', customer)).code).toBe(0)
    const [row] = await asAdmin(database_url, [
      `SELECT third_party_payouts FROM sandbox.customers WHERE id = '${customer}'`,
    ])
    expect(row!.third_party_payouts).toBe(true)
  })
})

test('what stays open on a rail is listed, and settled by hand with evidence', async () => {
  const api = openApi(server.url, demo.key)
  const payout = await api.post('/v1/pix/payouts', {
    customer_id: demo.customer_id,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key: 'slow@sandbox.test' },
    idempotency_key: 'open',
  })
  const transfer = await api.post('/v1/onchain/transfers', {
    customer_id: demo.customer_id,
    asset: 'USDT',
    network: 'polygon',
    amount: '1009003',
    destination_address: '0x52908400098527886e0f7030069857d2e4169ee7',
    idempotency_key: 'open',
  })
  const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
  const [payouts, transfers, vague] = await Promise.all([
    json('payouts', 'unknown', '--older-than', '0'),
    json('transfers', 'unknown', '--older-than', '0'),
    trilho('payouts', 'resolve', payout.json.id, '--outcome', 'maybe', '--evidence', 'x'),
  ])
  expect(ids(payouts)).toEqual([payout.json.id])
  expect(ids(transfers)).toEqual([transfer.json.id])
  isMistake(vague, /--outcome must be completed or failed/)
  const evidence = ['--evidence', 'Statement of today']
  const failed = ['--outcome', 'failed', ...evidence]
  const resolving = ['payouts', 'resolve', payout.json.id, ...failed, '--json']
  let of_payout: Ran | undefined
  // Refused for as long as whoever accepted it may be sending it.
  await until(async () => {
    of_payout = await run(resolving, { DATA_DIR: place.data_dir, RAIL_TIMEOUT_MS: '500' })
    return of_payout.code === 0
  }, 14_000)
  expect(JSON.parse(of_payout!.out)).toMatchObject({ id: payout.json.id, status: 'failed' })
  // Once it is signed, only the chain can fail a transfer.
  await until(
    async () => (await api.get(`/v1/onchain/transfers/${transfer.json.id}`)).json.status === 'processing',
    20_000,
  )
  const [signed, of_transfer] = [
    await trilho('transfers', 'resolve', transfer.json.id, ...failed),
    await json('transfers', 'resolve', transfer.json.id, '--outcome', 'confirmed', ...evidence),
  ]
  expect(signed).toMatchObject({ code: 1, err: expect.stringContaining('was signed') })
  expect(of_transfer).toMatchObject({ id: transfer.json.id, status: 'confirmed' })
  expect((await api.get(`/v1/pix/payouts/${payout.json.id}`)).json.status).toBe('failed')
  expect((await api.get(`/v1/onchain/transfers/${transfer.json.id}`)).json.status).toBe('confirmed')
  expect(await balance('sandbox', demo.customer_id, 'USDT')).toBe(2_000_000_000 - 2_009_003)
})

test('what may be wrong with money is listed, shown and closed with a reason', async () => {
  const seen = (schema: string, id: string) =>
    `INSERT INTO ${schema}.exceptions (id, kind, rail, object_id, details, opened_at)
     VALUES ('${id}', 'contradiction', 'pix', 'po_${id}', '{"booked":"failed","told":"settled"}', clock_timestamp())`
  await asAdmin(database_url, [seen('live', 'exc_live'), seen('sandbox', 'exc_sandbox')])
  const operator = ana!
  const ids = async (...more: string[]) =>
    (await json('exceptions', 'list', ...more)).data.map(({ id }: { id: string }) => id)
  const close = ['exceptions', 'close', 'exc_live', '--reason', 'Paid once; the rail was asked']
  const [both, one, shown, nobody, absent] = await Promise.all([
    ids(),
    ids('--environment', 'sandbox'),
    trilho('exceptions', 'show', 'exc_live'),
    asPerson(undefined, close),
    trilho('exceptions', 'show', 'exc_none'),
  ])
  expect([both, one]).toEqual([['exc_live', 'exc_sandbox'], ['exc_sandbox']])
  expect(shown.out).toMatch(/details +\{"booked":"failed","told":"settled"\}/)
  isMistake(nobody, /takes an operator who is signed in/)
  isMistake(absent, /No exception exc_none/)
  const closed = await run([...close, '--operator', operator.email, '--json'], {
    DATA_DIR: place.data_dir,
    OPERATOR_PASSWORD: operator.password,
  })
  expect(closed.json).toMatchObject({
    id: 'exc_live',
    closed_by: operator.email,
    closed_reason: 'Paid once; the rail was asked',
  })
  const [again, sandbox] = await Promise.all([
    run([...close, '--operator', operator.email], {
      DATA_DIR: place.data_dir,
      OPERATOR_PASSWORD: operator.password,
    }),
    asPerson(undefined, ['exceptions', 'close', 'exc_sandbox', '--reason', 'A test', '--json']),
  ])
  isMistake(again, /was closed by ana@operator\.example before/)
  expect(sandbox.json.closed_by).toBe('command line')
  expect([await ids(), await ids('--all')]).toEqual([[], ['exc_live', 'exc_sandbox']])
})

test('the treasury is shown and limited, and a partner is paid the fees it earned, once', async () => {
  const { partner_id, customer_id, key } = demo
  const api = openApi(server.url, key)
  const order = { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '10000', partner_fee_bps: 100 }
  const { id } = (await api.post('/v1/quotes', order)).json
  expect((await api.post(`/v1/quotes/${id}/execute`)).json.status).toBe('completed')

  const { data } = await json('treasury', 'show', '--environment', 'sandbox')
  expect(data[0]).toMatchObject({ asset: 'BRL', position: '9850', cost: '9850', unrealised: '0' })
  expect(data[1]).toMatchObject({ asset: 'USDT', position: '-18240740', price: '5.4' })
  expect((await json('treasury', 'show')).data[1]).toMatchObject({ position: '0', price: null })

  const limits = ['--lowest=-500', '--highest', '900']
  expect(await json('treasury', 'set-limits', 'BTC', ...limits)).toMatchObject({
    asset: 'BTC',
    lowest: '-500',
    highest: '900',
  })
  expect(await json('treasury', 'set-limits', 'BTC', '--lowest', 'none')).toMatchObject({
    lowest: null,
    highest: '900',
  })
  isMistake(await trilho('treasury', 'set-limits', 'BTC', '--lowest', '901'), /must not be above/)
  isMistake(await trilho('treasury', 'set-limits', 'ETH', '--lowest', '1'), /must be one of BRL, USDT, BTC/)
  isMistake(await trilho('treasury', 'set-limits', 'BTC'), /at least one of/)

  const sandbox = ['--environment', 'sandbox']
  expect(await json('partners', 'fees', partner_id, ...sandbox)).toEqual({
    data: [{ asset: 'BRL', amount: '100' }],
  })
  const pay = (...more: string[]) =>
    trilho('partners', 'pay-fees', partner_id, ...sandbox, '--asset', 'BRL', '--reason', 'October', ...more)
  const toCustomer = ['--amount', '60', '--customer', customer_id, '--reference', 'fees-1']
  const first = await pay(...toCustomer, '--json')
  expect(first.json).toMatchObject({ status: 'completed' })
  expect((await pay(...toCustomer)).out).toMatch(/had been paid before/)
  isMistake(await pay('--amount', '41', '--reference', 'fees-2'), /have come to 0\.40 BRL, not to 0\.41 BRL/)
  isMistake(await pay('--amount', '1', '--customer', 'cus_x', '--reference', 'fees-3'), /No customer cus_x/)
  expect((await pay('--amount', '40', '--reference', 'wire-77')).out).toMatch(/^fp_\w+ paid\.\nLine /)
  expect((await json('audit')).ok).toBe(true)
})

test('audit proves the ledger, and finds a single unit that is not where it belongs', async () => {
  const proof = await json('audit')
  expect(proof).toMatchObject({
    ok: true,
    environments: {
      production: { ok: true, findings: [] },
      sandbox: { ok: true, findings: [], assets: { BTC: { customer: '5000000', external: '-5000000' } } },
    },
  })
  const where = `WHERE customer_id = '${demo.customer_id}' AND asset = 'BTC'`
  const tampers: [string, string, RegExp][] = [
    [
      'entries',
      `UPDATE sandbox.entries SET amount = amount + 1 WHERE owner = '${demo.customer_id}' AND asset = 'BTC'`,
      /sum to zero/,
    ],
    [
      'balances',
      `UPDATE sandbox.balances SET balance = balance + 1 ${where}`,
      /every balance is the sum of its entries/,
    ],
    [
      'deposits',
      `UPDATE sandbox.deposits SET amount = amount + 1 ${where}`,
      /every deposit is booked once and in full/,
    ],
  ]
  for (const [table, sql, finding] of tampers) {
    await asAdmin(database_url, [sql])
    const [found, elsewhere] = await Promise.all([
      trilho('audit', '--json'),
      table === 'entries' ? trilho('audit', '--environment', 'production') : undefined,
    ])
    await asAdmin(database_url, [sql.replace('+ 1', '- 1')])
    expect(found.code, table).toBe(1)
    expect(found.json.ok).toBe(false)
    expect(found.json.environments.production.ok).toBe(true)
    expect(found.json.environments.sandbox.findings.map(({ check }: { check: string }) => check)).toEqual(
      expect.arrayContaining([expect.stringMatching(finding)]),
    )
    if (elsewhere) expect(elsewhere).toMatchObject({ code: 0, out: expect.stringMatching(/all checks hold/) })
  }
})

test('the log of acts is listed and proved, and what was changed by hand is named', async () => {
  const [listed, whole] = await Promise.all([
    json('log', 'list', '--environment', 'production', '--limit', '3'),
    trilho('log', 'verify'),
  ])
  const [newest] = listed.data
  expect(newest).toMatchObject({ environment: 'production', actor_kind: 'operator' })
  expect(whole).toMatchObject({ code: 0, out: expect.stringMatching(/production: \d+ lines, unbroken/) })
  const anchor = `${newest.seq}:${newest.hash}`
  const change = (to: string) => `UPDATE live.acts SET action = '${to}' WHERE seq = ${newest.seq}`
  await asAdmin(database_url, [change('x')])
  const [changed, audited] = await Promise.all([
    trilho('log', 'verify', '--anchor', anchor, '--json'),
    trilho('audit', '--environment', 'production'),
  ])
  await asAdmin(database_url, [change(newest.action)])
  expect(changed).toMatchObject({ code: 1, json: { ok: false } })
  expect(changed.json.logs[0].broken).toEqual([
    { object_id: `line ${newest.seq} of production`, wrong: expect.stringMatching(/^changed/) },
  ])
  expect(audited).toMatchObject({ code: 1, out: expect.stringMatching(/unbroken log: 1 found/) })
  const [there, gone] = await Promise.all([
    trilho('log', 'verify', '--anchor', anchor, '--anchor', `production:${anchor}`),
    trilho('log', 'verify', '--anchor', `shared:999:${newest.hash}`),
  ])
  expect([there.code, gone.code]).toEqual([0, 1])
  isMistake(await trilho('log', 'adopt', 'prp_none', '--reason', 'x'), /No proposal prp_none/)
  expect(gone.out).toMatch(/line 999 of shared: removed: it was noted/)
})

describe('config check', () => {
  test('tells what is in force and where the running database is, so that a second node can join', async () => {
    const checked = await json('config', 'check')
    expect(checked).toMatchObject({
      ok: true,
      settings: {
        DATA_DIR: { value: place.data_dir, source: 'set' },
        PORT: { value: '8080', source: 'default' },
        SECRET_KEY: { value: '', source: 'default' },
      },
    })
    // The owner's password is in a file of the owner's, and nowhere else.
    const { password } = new URL(database_url)
    expect(password.length).toBeGreaterThan(10)
    expect(JSON.stringify(checked)).not.toContain(password)
    expect(checked.database_url).toBe(database_url.replace(password, '********'))
    expect(checked.connection_file).toBe(`${place.data_dir}/connection.json`)
    expect(checked.secret_key_file).toBe(`${place.data_dir}/secret.key`)
    expect(statSync(checked.secret_key_file).mode & 0o777).toBe(0o600)
    const { url } = JSON.parse(readFileSync(checked.connection_file, 'utf8'))
    const node = await startNode(url, {
      SECRET_KEY: '',
      SECRET_KEY_FILE: checked.secret_key_file,
    })
    expect((await openApi(node.url, demo.key).get('/v1/usage')).status).toBe(200)
    await node.stop()
  })

  test('masks secrets, and names every mistake at once', async () => {
    const secrets = {
      DATABASE_URL: 'postgresql://app:hunter2@db.example.com/app',
      SECRET_KEY: 'ab'.repeat(32),
      METRICS_TOKEN: 'letmein',
    }
    const [masked, text, wrong] = await Promise.all([
      runCli(['config', 'check', '--json'], secrets),
      runCli(['config', 'check'], secrets),
      runCli(['config', 'check', '--json'], {
        PORT: 'eighty',
        LOG_LEVEL: 'loud',
        TRUST_PROXY: '10.0.0.1/8',
        DEMO: 'yes',
        PUBLIC_URL: 'example.com',
        DATABASE_URL: 'mysql://x',
        SECRET_KEY: 'abc',
        METRICS_TOKEN_FILE: '/nowhere/token',
      }),
    ])
    for (const name of Object.keys(secrets))
      expect(masked.json.settings[name]).toEqual({ value: '********', source: 'set' })
    expect(masked.json).not.toHaveProperty('database_url')
    for (const { out } of [masked, text]) expect(out).not.toMatch(/hunter2|abab|letmein/)
    isMistake(wrong, /8 mistakes/)
    for (const name of [
      'PORT',
      'LOG_LEVEL',
      'TRUST_PROXY',
      'DEMO',
      'PUBLIC_URL',
      'DATABASE_URL',
      'SECRET_KEY',
      'METRICS_TOKEN',
    ])
      expect(wrong.err).toMatch(new RegExp(`  - ${name} `))
    expect(wrong.err).not.toContain('mysql://x')
  })
})

test('a secret may come from a file, which must hold something, and from one place only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-config-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [full, empty] = [join(folder, 'full'), join(folder, 'empty')]
  await writeFile(full, 'letmein\n')
  await writeFile(empty, '\n')
  const mistakes = (env: Record<string, string>) => {
    try {
      readConfig(env)
      return []
    } catch (error) {
      return (error as ConfigError).mistakes
    }
  }
  expect(readConfig({ METRICS_TOKEN_FILE: full }).metrics_token).toBe('letmein')
  expect(describeConfig({ METRICS_TOKEN_FILE: full })).toContainEqual({
    name: 'METRICS_TOKEN',
    value: '********',
    source: 'file',
  })
  expect(mistakes({ METRICS_TOKEN_FILE: empty })).toEqual([expect.stringMatching(/^METRICS_TOKEN is empty/)])
  expect(mistakes({ METRICS_TOKEN_FILE: full, METRICS_TOKEN: 'x' })).toEqual([
    expect.stringMatching(/^METRICS_TOKEN and METRICS_TOKEN_FILE are both set/),
  ])
  // Only what is secret is looked for in a file.
  expect(readConfig({ PORT_FILE: empty }).port).toBe(8080)
})

test('what the database refuses is told by its code, without what was to be written', async () => {
  const name = 'Maria Aparecida'
  await asAdmin(database_url, [`ALTER TABLE shared.partners ADD CONSTRAINT odd CHECK (name <> '${name}')`])
  const ran = await trilho('partners', 'create', '--name', name)
  await asAdmin(database_url, ['ALTER TABLE shared.partners DROP CONSTRAINT odd'])
  expect(ran.code).toBe(1)
  expect(ran.err).toContain('the database answered with 23514 (partners, odd)')
  expect(ran.err + ran.out).not.toContain(name)
})

describe('the key that secrets are sealed under', () => {
  const endpoint = { url: 'https://example.com/hook', events: ['*'] }
  const keyFile = () => readFileSync(`${place.data_dir}/secret.key`, 'utf8')

  test('is rotated in the data folder while the server runs, at whatever moment that is cut off', async () => {
    const api = openApi(server.url, demo.key)
    expect((await api.post('/v1/webhook_endpoints', endpoint)).status).toBe(201)
    const before = await json('secrets', 'check')
    const old = keyFile()
    expect(before).toMatchObject({ ok: true, known: [before.in_force] })
    for (const point of [
      'after_key_written',
      'after_key_named',
      'after_sealed_again',
      'before_key_promoted',
    ]) {
      const cut = await asPerson(ana, ['secrets', 'rotate'], { CRASH_AT: point })
      expect(cut.signal, point).toBe('SIGKILL')
      // The key that is on disk is never taken away before another one does in its place.
      expect(keyFile()).toBe(old)
      expect(await json('secrets', 'check'), point).toMatchObject({ ok: true })
      // The server knows nothing of it, and finds the key when it needs it.
      expect((await api.post('/v1/webhook_endpoints', endpoint)).status, point).toBe(201)
    }
    const told = await trilho('secrets', 'rotate')
    expect(told.out).toMatch(
      /Nothing is left under another key than [0-9a-f]{16}\.\nThe new key is in .*secret\.key.*\nLine \d+ of the log of shared/,
    )
    expect(keyFile()).not.toBe(old)
    expect(statSync(`${place.data_dir}/secret.key`).mode & 0o777).toBe(0o600)
    expect(existsSync(`${place.data_dir}/secret.key.next`)).toBe(false)
    const after = await json('secrets', 'check')
    expect(after).toMatchObject({ ok: true, known: [after.in_force] })
    expect(after.in_force).not.toBe(before.in_force)
    expect(after.sealed).toEqual([
      { environment: 'sandbox', object: 'webhook secret', key_id: after.in_force, opens: true, count: 5 },
      { environment: 'shared', object: 'key of the log', key_id: after.in_force, opens: true, count: 1 },
    ])
    expect((await api.post('/v1/webhook_endpoints', endpoint)).status).toBe(201)
    expect(await json('audit')).toMatchObject({ ok: true })
  })

  test('is never lost, however many rotate at once, and whoever of them is killed', async () => {
    const rotate = (CRASH_AT = '') => asPerson(ana, ['secrets', 'rotate'], { CRASH_AT })
    const slow = rotate('before_key_promoted:pause')
    await until(() => existsSync(`${place.data_dir}/secret.key.next`), 20_000)
    const swift = rotate()
    const killed = swift.then(() => rotate('after_key_written'))
    const ends = await Promise.all([slow, swift, killed])
    expect(ends.map(({ code, signal }) => signal ?? code)).toEqual([0, 0, 'SIGKILL'])
    expect(await json('secrets', 'check')).toMatchObject({ ok: true })
    expect((await rotate()).code).toBe(0)
    expect(await json('secrets', 'check')).toMatchObject({ ok: true })
  })

  test('is known by its name only: what another key cannot open is counted, and a start with it is refused', async () => {
    const SECRET_KEY = 'cd'.repeat(32)
    const checked = await run(['secrets', 'check'], { DATABASE_URL: database_url, SECRET_KEY })
    expect(checked.code).toBe(1)
    expect(checked.out).toMatch(/webhook secret +6 .* NO/)
    isMistake(
      await run(['secrets', 'rotate'], { DATABASE_URL: database_url, SECRET_KEY }),
      /SECRET_KEY is not the key[\s\S]*6 webhook secrets in sandbox under the key [0-9a-f]{16}: whe_/,
    )
    isMistake(
      await run(['serve'], { DATABASE_URL: database_url, SECRET_KEY, PORT: '0', LOG_LEVEL: 'silent' }),
      /SECRET_KEY is not the key[\s\S]*6 webhook secrets in sandbox/,
    )
    const rotate = ['secrets', 'rotate', '--json', '--as', ana!.email]
    const moved = await run(rotate, {
      OPERATOR_PASSWORD: ana!.password,
      DATABASE_URL: database_url,
      SECRET_KEY,
      SECRET_KEY_PREVIOUS: keyFile().trim(),
    })
    expect(moved.json).toMatchObject({ ok: true, sealed_again: 7, sealed: 7 })
    // And back, so that the server's own key is the one in force again.
    const back = await run(rotate, {
      OPERATOR_PASSWORD: ana!.password,
      DATABASE_URL: database_url,
      SECRET_KEY: keyFile().trim(),
      SECRET_KEY_PREVIOUS: `${'ef'.repeat(32)}, ${SECRET_KEY}`,
    })
    expect(back.json).toMatchObject({ ok: true, sealed_again: 7 })
  })
})

describe('where no server runs', () => {
  test('the embedded database is started for a moment, and nothing stays behind', async () => {
    const own = await tempDataDir()
    const alone = (...args: string[]) => run([...args, '--json'], { DATA_DIR: own.data_dir })
    isMistake(
      await alone('keys', 'create'),
      /There is no partner yet\. Create one: trilho partners create --name NAME/,
    )
    const partner = await alone('partners', 'create', '--name', 'First')
    expect(partner).toMatchObject({ code: 0, json: { name: 'First' } })
    const key = await alone('keys', 'create')
    expect(key).toMatchObject({ code: 0, json: { partner_id: partner.json.id } })
    await nobodyOn(own.data_dir)
    expect(existsSync(`${own.data_dir}/lock`)).toBe(false)
    await own.remove()
  })

  test('a database that is not set up, or not there, is said to be so', async () => {
    const database = await createDatabase({ migrated: false })
    const with_url = (url: string, ...args: string[]) =>
      run(args, { DATABASE_URL: url, SECRET_KEY: '00'.repeat(32) })
    const [empty, absent] = await Promise.all([
      with_url(database.url, 'partners', 'list'),
      with_url('postgresql://nobody:secret@127.0.0.1:1/nothing', 'partners', 'list'),
    ])
    isMistake(
      empty,
      /The database is not set up yet, or it was with another SECRET_KEY.* Run: trilho migrate/,
    )
    isMistake(absent, /The database cannot be reached: .*ECONNREFUSED/)
    expect(absent.err).not.toContain('secret')
    const migrated = await with_url(database.url, 'migrate', '--json')
    expect(migrated.json.applied).toEqual(
      expect.arrayContaining(['shared/0001-partners.sql', 'live/0001-keys.sql']),
    )
    const [again, list] = await Promise.all([
      with_url(database.url, 'migrate'),
      with_url(database.url, 'partners', 'list'),
    ])
    expect(again).toMatchObject({ code: 0, out: 'Nothing to do.\n' })
    expect(list).toMatchObject({ code: 0, out: '(none)\n' })
    await database.drop()
  })
})

describe('events', () => {
  let key: string
  beforeAll(async () => {
    const owner = await json('partners', 'create', '--name', 'Events')
    const made = await json('keys', 'create', '--partner', owner.id)
    await json('keys', 'set-limits', made.id, '--per-minute', '1000000', '--per-day', '1000000')
    key = made.key
  })
  const as = (...args: string[]) =>
    run([...args, '--url', server.url], { DATA_DIR: place.data_dir, TRILHO_KEY: key })

  test('samples are made, forwarded with a signature that holds, and sent again', async () => {
    const triggered = await as('trigger', 'pix.payout.failed', '--json')
    expect(triggered.json).toMatchObject({ type: 'pix.payout.failed', environment: 'sandbox' })
    const { id } = triggered.json
    const target = await openReceiver()
    onTestFinished(target.stop)
    await until(async () => {
      const { json } = await openApi(server.url, key).get('/v1/events?type=pix.payout.failed')
      return json.data.length === 1
    }, 10_000)
    const listened = await as('listen', '--forward-to', target.url, '--after', 'start', '--once')
    expect(listened.err).toBe('')
    const [, secret] = /secret (whsec_\S+)/.exec(listened.out)!
    expect(target.received.map(({ json }) => json.type)).toEqual(['api_key.created', 'pix.payout.failed'])
    for (const request of target.received) expect(verifies(secret!, request)).toBe(true)
    expect(target.received.map(({ json }) => json.id)).toContain(id)
    expect(listened.out).toMatch(new RegExp(`${id}  pix\\.payout\\.failed  po_\\w+  → 200 \\(`))
    expect(listened.out.trim().split('\n')).toHaveLength(target.received.length + 1)

    const before = target.received.length
    const only = ['--events', 'pix.payout.failed', '--secret', secret!]
    const again = await as('listen', '--forward-to', target.url, '--after', 'start', '--once', ...only)
    expect(again.code).toBe(0)
    expect(target.received.slice(before).map(({ json }) => json.id)).toEqual([id])
    expect(verifies(secret!, target.received.at(-1)!)).toBe(true)

    expect((await as('events', 'resend', id)).out).toBe('Sending 0 again.\n')
    const made = await openApi(server.url, key).post('/v1/webhook_endpoints', {
      url: 'https://nobody.invalid/',
      events: ['pix.payout.failed'],
    })
    expect((await as('events', 'resend', id, '--json')).json).toEqual({ redelivered: 1 })
    const range = ['--from', '2020-01-01T00:00:00Z', '--endpoint', made.json.id]
    expect((await as('events', 'resend', ...range, '--json')).json).toEqual({ redelivered: 1 })
  })

  test('the server that runs on the data folder is found by itself, whatever its port', async () => {
    const { api_url } = JSON.parse(readFileSync(`${place.data_dir}/connection.json`, 'utf8'))
    expect(api_url).toBe(server.url)
    const found = await run(['trigger', 'deposit.completed', '--json'], {
      DATA_DIR: place.data_dir,
      TRILHO_KEY: key,
    })
    expect(found.json).toMatchObject({ type: 'deposit.completed' })
  })

  test('what is wrong is said in a sentence', async () => {
    isMistake(await run(['trigger', 'pix.payout.failed'], {}), /TRILHO_KEY is not set/)
    isMistake(await as('trigger', 'no.such.kind'), /KIND must be one of/)
    isMistake(await as('events', 'resend', 'evt_none'), /No such event in this environment/)
    isMistake(await as('listen', '--forward-to', 'nonsense'), /must be a URL/)
    const nowhere = ['--url', 'http://127.0.0.1:1']
    isMistake(
      await run(['trigger', 'deposit.completed', ...nowhere], { TRILHO_KEY: 'x' }),
      /cannot be reached/,
    )
  })

  test('listen goes on until it is told to stop, whatever the receiver does', async () => {
    const target = await openReceiver((_, response) => void response.writeHead(500).end())
    onTestFinished(target.stop)
    const env = { DATA_DIR: place.data_dir, TRILHO_KEY: key }
    const started = await startCli(['listen', '--url', server.url, '--forward-to', target.url], env)
    await until(() => started.out().includes('Forwarding'), 10_000)
    await as('trigger', 'customer.created')
    await until(() => started.out().includes('→ 500'), 10_000)
    started.process.kill('SIGTERM')
    expect((await started.ended).signal).toBe('SIGTERM')
  })
})

test('every command of the help was run by a test of this file', async () => {
  const { out } = await trilho('help')
  const names = [...out.matchAll(/^ {2}([a-z]+(?: [a-z-]+)?)(?= )/gm)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => !used.some((line) => `${line} `.startsWith(`${name} `)))).toEqual([])
})
