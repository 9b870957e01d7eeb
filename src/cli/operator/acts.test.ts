import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ioOf } from '../../../test/support/cli.ts'
import { asAdmin, createDatabase } from '../../../test/support/database.ts'
import { openDirectAccess, someCpf } from '../../../test/support/service.ts'
import { act } from '../../control/operator/act.ts'
import { verifyLog } from '../../control/operator/verify.ts'
import type { Environment } from '../../core/environment.ts'
import { readConfig } from '../../node/config.ts'
import { addCustomer } from '../../parties/customers/customers.ts'
import { createKey } from '../../parties/keys/keys.ts'
import { createPartner } from '../../parties/partners/partners.ts'
import { makePassword } from '../../parties/team/password.ts'
import { createUser, findUser, operatorActor } from '../../parties/team/people.ts'
import { selectOperators } from '../../parties/team/store.ts'
import { newestLines } from '../../records/acts/store.ts'
import { recordException } from '../../records/exceptions/store.ts'
import type { CliCommand, Output, Reach } from '../command.ts'
import { commands as all_commands } from '../commands/all.ts'

/**
 * Contract §17.13 through every command, in this process: what a user of the shell may do with and without a sign-in, with no
 * operator, one and two.
 */
type Kind =
  /** Changes nothing. */
  | 'reads'
  /** Runs or prepares the service, or calls it with an API key: not an act of an operator. */
  | 'other'
  /** An act that never needs a sign-in. */
  | 'open'
  /** An act on production, or on the shared schema. */
  | 'act'
  /** An act on production or the shared schema that concerns an operator. */
  | 'people'
  /** An act on production money. */
  | 'money'
  /** A change of a person's own sign-in, who proves their identity on the command. */
  | 'own'
  /** Decides on a proposal. */
  | 'decision'

type Made = { readonly [E in Environment]: { customer_id: string; key_id: string; exception_id: string } } & {
  readonly partner_id: string
}
type Typed = { readonly positionals?: readonly string[]; readonly options?: Record<string, unknown> }
type Row = { readonly kind: Kind; readonly typed?: (made: Made, environment: Environment) => Typed }

const onKey =
  (options: Record<string, unknown> = {}) =>
  (made: Made, environment: Environment) => ({
    positionals: [made[environment].key_id],
    options,
  })
const onCustomer =
  (options: Record<string, unknown> = {}) =>
  (made: Made, environment: Environment) => ({
    positionals: [made[environment].customer_id],
    options,
  })
const onPartner =
  (...more: string[]) =>
  (options: Record<string, unknown> = {}) =>
  ({ partner_id }: Made, environment: Environment) => ({
    positionals: [partner_id, ...more],
    options: { environment, ...options },
  })
const onRail =
  (options: Record<string, unknown> = {}) =>
  (_: Made, environment: Environment) => ({
    positionals: ['tron'],
    options: { environment, reason: 'x', ...options },
  })
const booking = { asset: 'BRL', amount: '5', reason: 'x', reference: 'r' }
const ofPerson = { email: 'second@operator.example', operator: true }

const table: Readonly<Record<string, Row>> = {
  serve: { kind: 'other' },
  migrate: { kind: 'other' },
  audit: { kind: 'reads' },
  'config check': { kind: 'reads' },
  // Tested in test/chains/remote-signer.test.ts.
  signer: { kind: 'other' },
  'signer seal-key': { kind: 'other' },
  'signer check': { kind: 'reads' },
  'signer verify-log': { kind: 'reads' },
  'secrets check': { kind: 'reads' },
  // Tested in secrets.test.ts, because it changes the key of the data folder; its rule is tested in rules.test.ts.
  'secrets rotate': { kind: 'act' },
  'partners create': { kind: 'act', typed: () => ({ options: { name: 'New' } }) },
  'partners list': { kind: 'reads' },
  'partners show': { kind: 'reads' },
  'partners set-tier': { kind: 'act', typed: onPartner('growth')() },
  'partners set-limits': { kind: 'act', typed: onPartner()({ 'per-day': '9' }) },
  'partners set-fees': { kind: 'act', typed: onPartner()({ 'pix-fee': '1' }) },
  'partners allow-third-party': { kind: 'act', typed: onPartner()() },
  'partners set-money-limits': { kind: 'act', typed: onPartner()({ 'payout-day': '5' }) },
  'partners money-limits': { kind: 'reads' },
  'partners fees': { kind: 'reads' },
  'partners pay-fees': { kind: 'money', typed: onPartner()(booking) },
  login: { kind: 'own' },
  logout: { kind: 'own' },
  whoami: { kind: 'reads' },
  password: { kind: 'own' },
  'factor enroll': { kind: 'own' },
  'factor disable': { kind: 'own' },
  'factor recovery-codes': { kind: 'own' },
  'users list': { kind: 'reads' },
  'users set-role': {
    kind: 'people',
    typed: () => ({ positionals: ['first@operator.example'], options: { role: 'resolver' } }),
  },
  'users reset-factor': { kind: 'people', typed: () => ({ positionals: ['first@operator.example'] }) },
  'users remove': { kind: 'people', typed: () => ({ positionals: ['first@operator.example'] }) },
  'users create': { kind: 'people', typed: () => ({ options: ofPerson }) },
  'users reset-password': { kind: 'people', typed: () => ({ positionals: ['first@operator.example'] }) },
  'keys create': {
    kind: 'act',
    typed: ({ partner_id }, environment) => ({ options: { environment, partner: partner_id } }),
  },
  'keys list': { kind: 'reads' },
  'keys revoke': { kind: 'open', typed: onKey() },
  'keys rotate': { kind: 'act', typed: onKey() },
  'keys set-limits': { kind: 'act', typed: onKey({ 'per-day': '9' }) },
  'customers credit': { kind: 'money', typed: onCustomer(booking) },
  'customers debit': { kind: 'money', typed: onCustomer(booking) },
  // The objects of these acts do not exist here: for money, permits are checked before the object is looked up.
  'customers reverse-credit': { kind: 'money' },
  'payouts resolve': { kind: 'money' },
  'transfers resolve': { kind: 'money' },
  'transfers cancel': { kind: 'money' },
  'customers allow-third-party': { kind: 'act', typed: onCustomer() },
  'customers block': { kind: 'act', typed: onCustomer() },
  'customers unblock': { kind: 'act', typed: onCustomer() },
  'customers set-money-limits': { kind: 'act', typed: onCustomer({ 'payout-day': '5' }) },
  'customers money-limits': { kind: 'reads' },
  'payouts unknown': { kind: 'reads' },
  'transfers unknown': { kind: 'reads' },
  'proposals list': { kind: 'reads' },
  'proposals show': { kind: 'reads' },
  'proposals approve': { kind: 'decision' },
  'proposals reject': { kind: 'decision' },
  'proposals withdraw': { kind: 'decision' },
  'exceptions list': { kind: 'reads' },
  'exceptions show': { kind: 'reads' },
  'exceptions close': {
    kind: 'act',
    typed: (made, environment) => ({
      positionals: [made[environment].exception_id],
      options: { reason: 'looked' },
    }),
  },
  'log list': { kind: 'reads' },
  'log verify': { kind: 'reads' },
  'treasury show': { kind: 'reads' },
  'treasury set-limits': { kind: 'act', typed: () => ({ positionals: ['BTC'], options: { lowest: '1' } }) },
  'rails check': { kind: 'reads' },
  reconcile: { kind: 'reads' },
  'custody moves': { kind: 'reads' },
  'custody move': { kind: 'money', typed: onRail({ in: true, amount: '5', reference: 'r' }) },
  'rails list': { kind: 'reads' },
  'sweeps list': { kind: 'reads' },
  'deposits unswept': { kind: 'reads' },
  'deposits unknown-tokens': { kind: 'reads' },
  'rails pause': { kind: 'open', typed: onRail() },
  'rails resume': { kind: 'money', typed: onRail() },
  'rails set-limits': {
    kind: 'act',
    typed: onRail({ 'day-most': '5' }),
  },
  'mail status': { kind: 'reads' },
  'mail test': { kind: 'other' },
  'backup create': { kind: 'other' },
  'backup verify': { kind: 'other' },
  'backup restore': { kind: 'other' },
  'backup note': {
    kind: 'open',
    typed: () => ({ options: { until: '2026-11-16T04:00:00Z', source: 'pgbackrest' } }),
  },
  golive: { kind: 'reads' },
  'database copy': { kind: 'other' },
  'database unmark': { kind: 'other' },
  bench: { kind: 'other' },
}

const folder = fileURLToPath(new URL('./', import.meta.url))
let commands: Map<string, CliCommand>
let hands: ReturnType<typeof openDirectAccess>
let reach: Reach
let made: Made

beforeAll(async () => {
  commands = new Map(
    all_commands.filter(({ who }) => who !== 'key').map((command) => [command.name, command]),
  )
  hands = openDirectAccess(await createDatabase())
  const { shared, worlds, office, database } = hands
  const logKey = async () => Buffer.alloc(32)
  reach = { url: database.url, shared, worlds, office, logKey, remote_signer: undefined }
  const { id: partner_id } = await createPartner(shared, 'Acme')
  const makeIn = async (environment: Environment) => {
    const world = worlds[environment]
    const { id: customer_id } = await addCustomer(world, { partner_id, name: 'Rita', document: someCpf() })
    const { key } = await createKey(world, { partner_id, name: 'K' })
    const seen = {
      kind: 'stuck',
      rail: 'pix',
      object_id: customer_id,
      partner_id: null,
      details: {},
    } as const
    await recordException(world.db, world.clock, seen)
    const { rows } = await world.db.query('SELECT id FROM exceptions')
    return { customer_id, key_id: key.id, exception_id: rows[0].id }
  }
  made = { partner_id, production: await makeIn('production'), sandbox: await makeIn('sandbox') }
})
afterAll(() => hands.stop())

test('every command is in the table, and nothing else is', () => {
  expect([...commands.keys()].sort()).toEqual(Object.keys(table).sort())
})

test('no command calls a rule that changes something but through act', () => {
  for (const name of readdirSync(folder).filter((file) => /(?<!\.test)\.ts$/.test(file))) {
    const text = readFileSync(`${folder}${name}`, 'utf8')
    // Commands must not import rules that change something: only `act` decides.
    expect(
      text.match(
        /\b(createKey|rotateKey|revokeKey|setKeyLimits|editPartner|createPartner|blockCustomer|allowThirdParties|setMoneyLimits|saveTreasuryLimit|closeByHand|pauseRail|resumeRail|setRailLimits|createUser|resetPassword|setRole|resetFactor|propose|approve|perform)\(/g,
      ),
      name,
    ).toBeNull()
  }
})

async function run(name: string, environment: Environment, who?: { email: string; password: string }) {
  const command = commands.get(name)
  if (!command || !('runWith' in command)) throw new Error(`${name} needs no database`)
  const { positionals = [], options = {} } = table[name]!.typed!(made, environment)
  const input = {
    io: ioOf({ HOME: '/nowhere', ...(who ? { OPERATOR_PASSWORD: who.password } : {}) }),
    config: readConfig({}),
    positionals,
    options: { ...options, ...(who ? { as: who.email } : {}) },
  }
  return command.runWith(input as never, reach).then(
    (output: Output) => {
      const { status, log } = output!.json as { status?: string; log?: object }
      return status === 'proposed' ? 'proposed' : log ? 'done' : 'done without a line'
    },
    (error: Error) =>
      /signed in: trilho login/.test(error.message)
        ? 'sign in'
        : /not two yet\. Make them/.test(error.message)
          ? 'make two'
          : error.message,
  )
}

/** Some acts can happen only once, so each state creates its own objects. */
const tried = (kinds: readonly Kind[]) =>
  Object.entries(table).filter(([, { kind, typed }]) => kinds.includes(kind) && typed)

const newPerson = async (email: string) => {
  const { user, password } = await createUser(
    hands.shared.db,
    {
      id: hands.shared.newId('user'),
      email,
      name: email,
      partner_id: null,
      role: 'admin',
    },
    await makePassword(),
  )
  return { email: user.email, password }
}

const outcomes = async (
  kinds: readonly Kind[],
  environment: Environment,
  who?: { email: string; password: string },
) => {
  const found: Record<string, string> = {}
  for (const [name] of tried(kinds)) found[name] = await run(name, environment, who)
  return found
}
const all = (kinds: readonly Kind[], outcome: string) =>
  Object.fromEntries(tried(kinds).map(([name]) => [name, outcome]))

describe('contract §17.13', () => {
  let first: { email: string; password: string }

  test('with no operator the shell may do everything except move production money, and each act is a line of the log', async () => {
    expect(await outcomes(['money'], 'production')).toEqual(all(['money'], 'make two'))
    expect(await outcomes(['act'], 'production')).toEqual(all(['act'], 'done'))
    const lines = await newestLines(hands.worlds.production.db, 100)
    expect(new Set(lines.map(({ actor_kind }) => actor_kind))).toEqual(new Set(['shell', 'service']))
  })

  test.each(['resolver', 'reader'] as const)(
    'the first operator cannot be a %s, who could not create others',
    async (role) => {
      const { email } = ofPerson
      const details = { email, name: 'S', partner_id: null, role }
      await expect(act(hands.office, { kind: 'shell' }, { name: 'create_user', details })).rejects.toThrow(
        `${email} would be the first operator, and with the role ${role} nobody could ever`,
      )
      expect(await selectOperators(hands.shared.db)).toEqual([])
    },
  )

  test('with one operator the shell may revoke a key and act on the sandbox; the rest takes a sign-in', async () => {
    first = await newPerson('first@operator.example')
    const kinds = ['act', 'people'] as const
    expect(await outcomes(kinds, 'production')).toEqual(all(kinds, 'sign in'))
    expect(await outcomes(['money'], 'production')).toEqual(all(['money'], 'make two'))
    expect(await outcomes(['money'], 'production', first)).toEqual(all(['money'], 'make two'))
    expect(await run('keys revoke', 'production')).toBe('done')
    expect(await run('rails pause', 'production')).toBe('done')
    expect(await run('backup note', 'production')).toBe('done')
    const inSandbox = await outcomes(['act'], 'sandbox')
    const shared = Object.keys(inSandbox).filter((name) => inSandbox[name] === 'sign in')
    expect(shared).toEqual([
      'partners create',
      'partners set-tier',
      'partners set-limits',
      'partners set-fees',
      'partners allow-third-party',
      'treasury set-limits',
    ])
    expect(new Set(Object.values(inSandbox))).toEqual(new Set(['sign in', 'done']))
    expect(await run('customers credit', 'sandbox')).toBe('done')
    // One signed-in operator is enough for acts that are not money: the key was revoked and the exception closed above.
    const signedIn = await outcomes(['act'], 'production', first)
    const not = Object.entries(signedIn).filter(([, outcome]) => outcome !== 'done')
    expect(not.map(([name]) => name)).toEqual(['keys rotate', 'exceptions close'])
    expect(await run('users create', 'production', first)).toBe('done')
  })

  test('with two operators, acts on money and operators are proposals, and the shell without a sign-in is refused', async () => {
    const kinds = ['act', 'people', 'money'] as const
    expect(await outcomes(kinds, 'production')).toEqual(all(kinds, 'sign in'))
    expect(await outcomes(['money', 'people'], 'production', first)).toEqual(
      all(['money', 'people'], 'proposed'),
    )
    expect(await run('keys revoke', 'production')).toBe('done')
    const { rows } = await hands.worlds.production.db.query('SELECT id FROM proposals ORDER BY id LIMIT 1')
    for (const name of ['proposals approve', 'proposals reject', 'proposals withdraw']) {
      const command = commands.get(name) as Extract<CliCommand, { runWith: unknown }>
      const input = {
        io: ioOf({ HOME: '/nowhere' }),
        config: readConfig({}),
        format: 'json',
        positionals: [rows[0].id],
        options: { reason: 'x' },
      }
      await expect(command.runWith(input as never, reach)).rejects.toThrow(/signed in: trilho login/)
    }
  })

  test('every act above is in three unbroken logs', async () => {
    for (const place of ['production', 'sandbox', 'shared'] as const)
      expect((await verifyLog(hands.office, place)).broken).toEqual([])
  })
})

test('with exactly two operators, one of them lost, what incidents.md tells the owner of the database works', async () => {
  const guide = readFileSync(new URL('../../../docs/operate/incidents.md', import.meta.url), 'utf8')
  const [lower, remove] = [
    ...guide.split('## A password or a device')[1]!.matchAll(/```sql\n(.*?)```/gs),
  ].map(([, sql]) => sql!)
  const alone = openDirectAccess(await createDatabase())
  onTestFinished(() => alone.stop())
  const { office, shared, database } = alone
  const wanted = { name: 'N', partner_id: null, role: 'admin' } as const
  const [maria, joao] = ['maria@operator.example', 'joao@operator.example']
  const first = { name: 'create_user', details: { ...wanted, email: maria } } as const
  await act(office, { kind: 'shell' }, first)
  const actor = operatorActor(await findUser(shared.db, maria))
  await act(office, actor, { name: 'create_user', details: { ...wanted, email: joao } })
  const reset = { name: 'reset_password', details: { email: joao } } as const
  expect(await act(office, actor, reset)).toHaveProperty('proposed')
  await asAdmin(database.url, [lower!])
  expect(await act(office, actor, reset)).toHaveProperty('done.password')
  expect(
    await act(office, actor, { name: 'set_role', details: { email: joao, role: 'admin' } }),
  ).toHaveProperty('done')
  await asAdmin(database.url, [remove!, remove!.replaceAll(maria, joao)])
  expect(await act(office, { kind: 'shell' }, first)).toHaveProperty('done.password')
})
