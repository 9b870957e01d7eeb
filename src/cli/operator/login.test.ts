import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { ioOf } from '../../../test/support/cli.ts'
import { codeNow } from '../../../test/support/code.ts'
import { createDatabase } from '../../../test/support/database.ts'
import { times } from '../../../test/support/parallel.ts'
import { openDirectAccess, testEnv } from '../../../test/support/service.ts'
import { verifyLog } from '../../control/operator/verify.ts'
import { readConfig } from '../../node/config.ts'
import { createKey } from '../../parties/keys/keys.ts'
import { createPartner } from '../../parties/partners/partners.ts'
import { newActivation } from '../../parties/team/factor.ts'
import { makePassword } from '../../parties/team/password.ts'
import { createUser, findUser } from '../../parties/team/people.ts'
import { findSession } from '../../parties/team/sessions.ts'
import { newestLines } from '../../records/acts/store.ts'
import type { Reach } from '../command.ts'
import { keyCommands } from '../commands/operator/keys.ts'
import { loginCommands } from '../commands/operator/login.ts'
import { shownOnce } from './people.ts'
import { readSession, sessionPlace } from './session-file.ts'

/** What people do to their own sign-in, in this process. */
let hands: ReturnType<typeof openDirectAccess>
let reach: Reach
beforeAll(async () => {
  hands = openDirectAccess(await createDatabase())
  const { shared, worlds, office, database } = hands
  const logKey = async () => Buffer.alloc(32)
  reach = { url: database.url, shared, worlds, office, logKey, remote_signer: undefined }
})
afterAll(() => hands.stop())
let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trilho-home-'))
  onTestFinished(async () => {
    await rm(home, { recursive: true, force: true })
  })
})

let made = 0
async function person() {
  const email = `person${++made}@operator.example`
  const wanted = {
    id: hands.shared.newId('user'),
    email,
    name: 'P',
    partner_id: null,
    role: 'admin',
  } as const
  const { user, password } = await createUser(hands.shared.db, wanted, await makePassword())
  return { id: user.id, email, password }
}

const config = () => readConfig(testEnv(hands.database.url))

async function run(
  name: string,
  options: Record<string, unknown>,
  env: Record<string, string> = {},
  positionals: readonly string[] = [],
) {
  const command = [...loginCommands, ...keyCommands].find((one) => one.name === name)
  if (!command || !('runWith' in command)) throw new Error(`no command ${name}`)
  const output = await command.runWith(
    { io: ioOf({ XDG_CONFIG_HOME: home, ...env }), config: config(), positionals, options } as never,
    reach,
  )
  return output!.json as Record<string, string> & { recovery_codes: string[] }
}

test('changes of one’s own sign-in are in the audit log, without secrets', async () => {
  const one = await person()
  const known = { OPERATOR_PASSWORD: one.password }
  await run('login', { operator: one.email }, known)
  const session = await findSession(
    hands.shared.db,
    (await readSession(sessionPlace(config(), { XDG_CONFIG_HOME: home })))!,
  )
  const { secret } = await run('factor enroll', {}, known)
  const code = codeNow(secret!)
  const confirmed = await run('factor enroll', { confirm: true }, { ...known, OPERATOR_CODE: code })
  const [first] = confirmed.recovery_codes
  const renewed = await run('factor recovery-codes', {}, { ...known, OPERATOR_CODE: first! })
  const [second, third] = renewed.recovery_codes
  const { new_password } = await run('password', {}, { ...known, OPERATOR_CODE: second! })
  const changed = { OPERATOR_PASSWORD: new_password! }
  await run('factor disable', {}, { ...changed, OPERATOR_CODE: third! })
  await run('logout', {})
  const lines = (await newestLines(hands.shared.db, 100)).filter(({ object_id }) => object_id === one.id)
  expect(lines.map(({ action, session_id }) => [action, session_id])).toEqual([
    ['sign_out', session!.id],
    ['disable_factor', null],
    ['renew_password', null],
    ['renew_recovery_codes', null],
    ['confirm_factor', null],
    ['sign_in', session!.id],
  ])
  for (const { actor_kind, actor_id, actor_email } of lines)
    expect({ actor_kind, actor_id, actor_email }).toEqual({
      actor_kind: 'operator',
      actor_id: one.id,
      actor_email: one.email,
    })
  const text = JSON.stringify(lines, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  const secrets = [
    one.password,
    new_password!,
    secret!,
    ...confirmed.recovery_codes,
    ...renewed.recovery_codes,
  ]
  for (const typed of secrets) expect(text).not.toContain(typed)
  expect((await verifyLog(hands.office, 'shared')).broken).toEqual([])
})

test('a refused attempt writes no line', async () => {
  const one = await person()
  await expect(run('login', { operator: one.email }, { OPERATOR_PASSWORD: 'wrong' })).rejects.toThrow(
    'No operator with this e-mail and password',
  )
  await run('logout', {})
  const lines = await newestLines(hands.shared.db, 100)
  expect(lines.filter(({ object_id }) => object_id === one.id)).toEqual([])
})

test('a key can be revoked with an expired session or an untrusted session file', async () => {
  const one = await person()
  const { id: partner_id } = await createPartner(hands.shared, 'Acme')
  const revoke = async (options: Record<string, unknown> = {}) => {
    const { key } = await createKey(hands.worlds.production, { partner_id, name: 'K' })
    const { revoked_at } = await run('keys revoke', options, {}, [key.id])
    const [line] = await newestLines(hands.worlds.production.db, 1)
    return { revoked: revoked_at !== null, by: line!.actor_email ?? line!.actor_kind }
  }
  await run('login', { operator: one.email }, { OPERATOR_PASSWORD: one.password })
  expect(await revoke()).toEqual({ revoked: true, by: one.email })
  await hands.shared.db.query('DELETE FROM sessions WHERE user_id = $1', [one.id])
  expect(await revoke()).toEqual({ revoked: true, by: 'shell' })
  // With --as an expired session is an error: the act must not be logged as the shell's.
  await expect(revoke({ as: one.email })).rejects.toThrow('Your session has ended')
  await chmod(sessionPlace(config(), { XDG_CONFIG_HOME: home }).file, 0o666)
  expect(await revoke()).toEqual({ revoked: true, by: 'shell' })
  await expect(run('whoami', {})).rejects.toThrow('can be read or changed by others')
})

const sessionsOf = async (user_id: string) =>
  (await hands.shared.db.query('SELECT FROM sessions WHERE user_id = $1', [user_id])).rowCount

test('concurrent sign-ins leave one session, and signing out ends it', async () => {
  const one = await person()
  const known = { OPERATOR_PASSWORD: one.password }
  await Promise.all(times(3, () => run('login', { operator: one.email }, known)))
  expect(await sessionsOf(one.id)).toBe(1)
  expect(await run('whoami', {})).toMatchObject({ actor: { email: one.email } })
  await run('logout', {})
  expect(await sessionsOf(one.id)).toBe(0)
})

test('--as and --operator must not name different operators', async () => {
  const named = { as: 'ana@operator.example', operator: 'bea@operator.example' }
  for (const name of ['login', 'whoami', 'password'])
    await expect(run(name, named, { OPERATOR_PASSWORD: 'x' })).rejects.toThrow(
      '--as says ana@operator.example and --operator says bea@operator.example',
    )
  const one = await person()
  const twice = { as: one.email, operator: one.email.toUpperCase() }
  expect(await run('whoami', twice, { OPERATOR_PASSWORD: one.password })).toMatchObject({
    actor: { email: one.email },
  })
})

test('one person who creates an operator alone is actOutput that the password must be replaced', async () => {
  const { email } = await person()
  const user = await findUser(hands.shared.db, email)
  const { activation_hash } = newActivation()
  expect(shownOnce({ user, password: 'p' }).text).toContain(
    `trilho login --operator ${email}, then trilho password`,
  )
  // No hint if two operators created the user, or for a partner's user, who has no such command.
  const two = { ...user, activation_hash: Buffer.from(activation_hash, 'hex') }
  const owner = { ...user, role: 'owner', operator_role: null } as const
  for (const other of [two, owner])
    expect(shownOnce({ user: other, password: 'p' }).text).toMatch(/This password is shown once\.\n$/)
})
