import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Ran, runCli } from '../../../test/support/cli.ts'
import { isMistake } from '../../../test/support/cli-stage.ts'
import { codeNow } from '../../../test/support/code.ts'
import { createDatabase, holdLock } from '../../../test/support/database.ts'
import { exit } from '../exit.ts'

test('contract §17.13: an operator signs in once, with a code if there is a second factor, and out again', async () => {
  const home = await mkdtemp(join(tmpdir(), 'trilho-home-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const { url } = await createDatabase()
  const there = { DATABASE_URL: url, SECRET_KEY: '00'.repeat(32) }
  const create = ['users', 'create', '--operator', '--json', '--email']
  const ada = (await runCli([...create, 'ada@operator.example'], there)).json
  const asAda = (...args: string[]) =>
    runCli([...args, '--as', ada.email], { ...there, OPERATOR_PASSWORD: ada.password })
  const eva = (await asAda(...create, 'Eva@operator.example', '--role', 'resolver')).json
  expect(eva).toMatchObject({ email: 'eva@operator.example', role: 'operator', operator_role: 'resolver' })
  const ran: Ran[] = []
  const at = async (env: Record<string, string>, ...args: string[]) => {
    const one = await runCli(args, { ...there, XDG_CONFIG_HOME: home, ...env })
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
  // No output repeats the password or the code.
  const typed = [eva.password, new_password, first.OPERATOR_CODE, one!, two!, three!, four!]
  for (const { err } of ran) for (const secret of typed) expect(err).not.toContain(secret)
}, 300_000)

test('while another transaction holds what a command needs, the exit code says that a later run may work', async () => {
  const { url } = await createDatabase()
  const there = { DATABASE_URL: url, SECRET_KEY: '00'.repeat(32) }
  expect((await runCli(['users', 'list'], there)).code).toBe(exit.done)
  const release = await holdLock(url, 'shared.users')
  onTestFinished(release)
  isMistake(
    await runCli(['users', 'list'], there),
    /^The database took too long, so this step was rolled back\. Run the command again\./,
    exit.later,
  )
})
