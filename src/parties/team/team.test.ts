import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { seedOf } from '../../../test/support/code.ts'
import { asAdmin, createDatabase, seatAt, TEST_KEY } from '../../../test/support/database.ts'
import { times } from '../../../test/support/parallel.ts'
import { countSealed } from '../../control/secrets/check.ts'
import { rotateSecrets } from '../../control/secrets/rotate.ts'
import { createSealer, keyIdOf } from '../../core/seal.ts'
import { openPool, type Pool, transaction } from '../../db/pool.ts'
import { openShared } from '../partners/partners.ts'
import { accountAtPlace } from './attempts.ts'
import {
  base32,
  beginFactor,
  codeAt,
  confirmFactor,
  disableFactor,
  findFactor,
  type NotedTeam,
  newActivation,
  renewRecoveryCodes,
  stepAt,
  type Team,
} from './factor.ts'
import { invite } from './links.ts'
import { makePassword, NOBODYS_HASH } from './password.ts'
import {
  createUser,
  describeUser,
  findUser,
  operatorActor,
  type PersonRole,
  personRoleOf,
  raises,
  resetFactor,
  resetPassword,
  setRole,
} from './people.ts'
import { endSession, findSession } from './sessions.ts'
import { identify, renewPassword, type SignInCredentials, signIn } from './sign-in.ts'
import { countRecoveryCodes, forgetSignIns, selectOperators, selectUsers, type User } from './store.ts'

/** The thread hashes for real; the test counts its work, and can act right after a password was verified. */
const argon2 = vi.hoisted(() => ({
  verified: 0,
  hashed: 0,
  busy: 0,
  most_busy: 0,
  afterVerifying: undefined as (() => Promise<void>) | undefined,
}))
vi.mock('./hash-thread.ts', async (original) => {
  const real = await original<typeof import('./hash-thread.ts')>()
  const watched = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    argon2.most_busy = Math.max(argon2.most_busy, ++argon2.busy)
    return work().finally(() => argon2.busy--)
  }
  return {
    openHashThread() {
      const thread = real.openHashThread()
      return {
        hash(password: string) {
          argon2.hashed++
          return watched(() => thread.hash(password))
        },
        async verify(password_hash: string, password: string) {
          argon2.verified++
          const fits = await watched(() => thread.verify(password_hash, password))
          await argon2.afterVerifying?.()
          return fits
        },
      }
    },
  }
})

let database: Awaited<ReturnType<typeof createDatabase>>
let db: Pool
let team: NotedTeam
beforeAll(async () => {
  database = await createDatabase()
  db = openPool({ ...seatAt(database.url, 'shared'), max: 4 })
  team = { ...openShared(db), sealer: createSealer([TEST_KEY]), note: async () => {} }
  await asAdmin(database.url, [
    `INSERT INTO shared.partners (id, name) VALUES ('ptn_1', 'Acme'), ('ptn_2', 'Bolt')`,
  ])
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const admin = (...statements: string[]) => asAdmin(database.url, statements)

let made = 0
type Person = { user: User; password: string; email: string }
async function person(role: PersonRole = 'admin', partner_id: string | null = null): Promise<Person> {
  const email = `person${++made}@op.example`
  const wanted = { id: team.newId('user'), email, name: 'Somebody', partner_id, role }
  const fresh = await makePassword()
  return { ...(await transaction(db, (tx) => createUser(tx, wanted, fresh))), email }
}

const resetOf = async (email: string, activation_hash?: string) => {
  const fresh = await makePassword()
  return transaction(db, (tx) => resetPassword(tx, email, fresh, activation_hash))
}

const outcomeOf = async (proof: SignInCredentials) => (await identify(team, proof)).outcome

async function tokenOf({ email, password }: Person, code?: string): Promise<string> {
  const known = await signIn(team, { email, password, code })
  if (known.outcome !== 'known') throw new Error(known.outcome)
  return known.token
}
const goesOn = async (token: string) => (await findSession(db, token)) !== undefined

/** A user with a confirmed second factor, whose used code is of an old time step. */
async function enrolled(): Promise<Person & { seed: Buffer; codes: string[] }> {
  const one = await person()
  const { secret } = await beginFactor(team, one.user)
  const seed = seedOf(secret)
  const codes = await confirmFactor(team, one.user, codeAt(seed, await stepNow()))
  await admin(`UPDATE shared.factors SET step = 0 WHERE id = '${one.user.id}'`)
  return { ...one, seed, codes }
}

/** By the database's clock. */
async function stepNow(): Promise<number> {
  const [row] = await admin('SELECT extract(epoch FROM clock_timestamp())::float8 AS now')
  return stepAt(row!.now as number)
}

/** Repeats the work if the next time step began meanwhile, because its result would mean nothing. */
async function inOneStep(work: (step: number) => Promise<void>): Promise<void> {
  for (;;) {
    const step = await stepNow()
    const failure = await work(step).then(
      () => undefined,
      (error: unknown) => error,
    )
    if ((await stepNow()) !== step) continue
    if (failure) throw failure
    return
  }
}

describe('codes', () => {
  // RFC 6238, appendix B, SHA-1. The table has eight digits; the last six of them are the code of six.
  test.each([
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ])('are those of RFC 6238: at %i s', (seconds, code) => {
    expect(codeAt(Buffer.from('12345678901234567890'), stepAt(seconds))).toBe(code.slice(2))
  })

  test('seeds are encoded as in RFC 4648', () => {
    expect(base32(Buffer.from('fooba'))).toBe('MZXW6YTB')
    expect(base32(Buffer.from('12345678901234567890'))).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
  })
})

describe('a second factor', () => {
  test('takes effect with its first code, and not before', async () => {
    const one = await person()
    const { secret, uri } = await beginFactor(team, one.user)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(uri).toBe(
      `otpauth://totp/Trilho:${encodeURIComponent(one.email)}?secret=${secret}&issuer=Trilho&algorithm=SHA1&digits=6&period=30`,
    )
    expect(await outcomeOf(one)).toBe('known')
    const before = await tokenOf(one)
    const kept = await tokenOf(one)
    await expect(confirmFactor(team, one.user, '000000x')).rejects.toThrow('The code does not belong')
    expect(await findFactor(db, one.user.id)).toBeUndefined()

    const step = await stepNow()
    const codes = await confirmFactor(team, one.user, codeAt(seedOf(secret), step), kept)
    expect(new Set(codes).size).toBe(10)
    for (const code of codes) expect(code).toMatch(/^([a-z2-9]{4}-){3}[a-z2-9]{4}$/)
    // Earlier sessions end, but for the one that confirmed the factor.
    expect([await goesOn(before), await goesOn(kept)]).toEqual([false, true])
    expect(await outcomeOf(one)).toBe('code_needed')
    // The code that confirmed the factor is used up.
    expect(await outcomeOf({ ...one, code: codeAt(seedOf(secret), step) })).toBe('wrong_code')
    await expect(beginFactor(team, one.user)).rejects.toThrow('You have a second factor already')
    await expect(confirmFactor(team, one.user, '000000')).rejects.toThrow('You have a second factor already')
  })

  test('accepts the time step before and the one after, no other, and each once', () =>
    inOneStep(async (step) => {
      const { seed, ...one } = await enrolled()
      const at = (offset: number) => outcomeOf({ ...one, code: codeAt(seed, step + offset) })
      expect([await at(-2), await at(2)]).toEqual(['wrong_code', 'wrong_code'])
      expect([await at(-1), await at(-1)]).toEqual(['known', 'wrong_code'])
      expect([await at(0), await at(0)]).toEqual(['known', 'wrong_code'])
      const spaced = codeAt(seed, step + 1).replace(/(...)/, '$1 ')
      expect(await outcomeOf({ ...one, code: spaced })).toBe('known')
      // A code of an earlier time step does not work any more.
      expect(await at(0)).toBe('wrong_code')
    }))

  test('of two concurrent uses of a code one is accepted', async () => {
    const { seed, ...one } = await enrolled()
    const code = codeAt(seed, await stepNow())
    const arrivals = await Promise.all([1, 2, 3, 4].map(() => signIn(team, { ...one, code })))
    expect(arrivals.map(({ outcome }) => outcome).sort()).toEqual([
      'known',
      'wrong_code',
      'wrong_code',
      'wrong_code',
    ])
  })

  test('recovery codes work once each, in any spelling, and only for their user', async () => {
    const { codes, ...one } = await enrolled()
    const other = await enrolled()
    expect(await outcomeOf({ ...other, code: codes[0]! })).toBe('wrong_code')
    expect(await outcomeOf({ ...one, code: codes[0]!.toUpperCase().replaceAll('-', ' ') })).toBe('known')
    expect(await outcomeOf({ ...one, code: codes[0]! })).toBe('wrong_code')
    const twice = await Promise.all([1, 2].map(() => outcomeOf({ ...one, code: codes[1]! })))
    expect(twice.sort()).toEqual(['known', 'wrong_code'])
    expect(await countRecoveryCodes(db, one.user.id)).toBe(8)
    const fresh = await renewRecoveryCodes(team, one.user)
    expect(await outcomeOf({ ...one, code: codes[2]! })).toBe('wrong_code')
    expect(await outcomeOf({ ...one, code: fresh[0]! })).toBe('known')
  })

  test('is removed by its user, or by a reset, with its recovery codes', async () => {
    const one = await enrolled()
    const other = await enrolled()
    const [before, kept] = [await tokenOf(one, one.codes[0]), await tokenOf(one, one.codes[1])]
    await disableFactor(team, one.user, kept)
    expect([await goesOn(before), await goesOn(kept)]).toEqual([false, true])
    await expect(disableFactor(team, one.user)).rejects.toThrow('You have no second factor')
    expect(await outcomeOf(one)).toBe('known')
    const token = await tokenOf(other, other.codes[0])
    await transaction(db, (tx) => resetFactor(tx, other.email))
    expect(await goesOn(token)).toBe(false)
    expect(await outcomeOf(other)).toBe('known')
    expect(await countRecoveryCodes(db, other.user.id)).toBe(0)
    await expect(transaction(db, (tx) => resetFactor(tx, other.email))).rejects.toThrow(
      'has no second factor',
    )
  })

  test('its seed is encrypted for its user, and is encrypted again when the key is rotated', async () => {
    const { seed, ...one } = await enrolled()
    const next = Buffer.alloc(32, 7)
    const both = createSealer([next, TEST_KEY])
    const [live, sandbox] = ['live', 'sandbox'].map((schema) =>
      openPool({ ...seatAt(database.url, schema as 'live'), max: 1 }),
    )
    onTestFinished(async () => {
      await Promise.all([live!.end(), sandbox!.end()])
    })
    const reached = { shared: db, production: live!, sandbox: sandbox! }
    const sealed = async (sealer = team.sealer) =>
      (await countSealed(reached, sealer)).find(({ object }) => object === 'second factor')!
    const { count } = await sealed()
    expect(await sealed()).toMatchObject({ environment: 'shared', opens: true, key_id: keyIdOf(TEST_KEY) })
    expect(await sealed(createSealer([next]))).toMatchObject({ opens: false, count })
    await rotateSecrets(reached, both, keyIdOf(next))
    expect(await sealed(createSealer([next]))).toMatchObject({ opens: true, count, key_id: keyIdOf(next) })
    const rotated = { ...team, sealer: createSealer([next]) }
    const code = codeAt(seed, await stepNow())
    expect((await identify(rotated, { ...one, code })).outcome).toBe('known')
    await rotateSecrets(reached, both, keyIdOf(TEST_KEY))
    // In the row of another user the seed does not decrypt.
    const { user } = await enrolled()
    await admin(
      `UPDATE shared.factors SET seed = (SELECT seed FROM shared.factors WHERE id = '${one.user.id}') WHERE id = '${user.id}'`,
    )
    expect(await sealed()).toMatchObject({ opens: true })
    expect((await countSealed(reached, team.sealer)).filter(({ opens }) => !opens)).toMatchObject([
      { object: 'second factor', count: 1 },
    ])
    await admin(`DELETE FROM shared.factors WHERE id = '${user.id}'`)
  })
})

describe('signing in', () => {
  test('a wrong password and an unknown e-mail get the same answer after the same work', async () => {
    const one = await person()
    const owner = await person('owner', 'ptn_1')
    const work = async (proof: SignInCredentials) => {
      argon2.verified = 0
      return { answer: await identify(team, { ...proof, operator_only: true }), count: argon2.verified }
    }
    const wrong = await work({ email: one.email, password: 'wrong' })
    expect(wrong).toEqual({ answer: { outcome: 'wrong' }, count: 1 })
    expect(await work({ email: 'nobody@op.example', password: 'wrong' })).toEqual(wrong)
    expect(await work({ email: owner.email, password: owner.password })).toEqual(wrong)
    expect((await work(one)).count).toBe(1)
    // The hash for unknown e-mails has the same parameters, so it costs as much to verify.
    const parameters = (hash: string) => hash.split('$').slice(0, 4)
    expect(parameters(NOBODYS_HASH)).toEqual(parameters((await makePassword()).password_hash))
    expect(NOBODYS_HASH.length).toBe(one.user.password_hash.length)
  })

  test.each(['somebody', 'nobody'])(
    'the sixth attempt of %s is refused until the first of five failures is 15 minutes old',
    async (who) => {
      const one = who === 'somebody' ? await person() : { email: `nobody${++made}@op.example`, password: 'x' }
      const fail = () => identify(team, { email: one.email.toUpperCase(), password: 'wrong' })
      for (let i = 0; i < 5; i++) expect(await fail()).toEqual({ outcome: 'wrong' })
      argon2.verified = 0
      const refused = await identify(team, one)
      expect(refused).toMatchObject({ outcome: 'too_many_failures', wait_seconds: expect.any(Number) })
      const { wait_seconds } = refused as { wait_seconds: number }
      expect(wait_seconds).toBeGreaterThan(600)
      expect(wait_seconds).toBeLessThanOrEqual(900)
      expect(argon2.verified).toBe(0)
      // Refusals are not counted: once the first failure is old, one more attempt is allowed.
      const subject = accountAtPlace({ email: one.email, address: undefined }).toString('hex')
      await admin(
        `UPDATE shared.sign_in_failures SET failed_at[1] = failed_at[1] - interval '15 minutes' WHERE subject = '\\x${subject}'`,
      )
      expect(await fail()).toEqual({ outcome: 'wrong' })
      expect((await fail()).outcome).toBe('too_many_failures')
    },
  )

  test('a success clears the failures, and so does a new password', async () => {
    const one = await person()
    const fail = async (times: number) => {
      for (let i = 0; i < times; i++) await identify(team, { ...one, password: 'wrong' })
    }
    await fail(4)
    expect(await outcomeOf(one)).toBe('known')
    await fail(4)
    expect(await outcomeOf(one)).toBe('known')
    await fail(5)
    expect(await outcomeOf(one)).toBe('too_many_failures')
    const { password } = await resetOf(one.email)
    expect(await outcomeOf({ ...one, password })).toBe('known')
  })

  test('of many concurrent guesses five are judged; the others learn nothing', async () => {
    const one = await person()
    const guesses = await Promise.all(
      Array.from({ length: 12 }, (_, i) => outcomeOf({ email: one.email, password: `guess ${i}` })),
    )
    expect(guesses.filter((outcome) => outcome === 'wrong')).toHaveLength(5)
    expect(guesses.filter((outcome) => outcome === 'too_many_failures')).toHaveLength(7)
    expect(await outcomeOf(one)).toBe('too_many_failures')
  })

  test('of many concurrent codes, over many connections, at most five are judged', async () => {
    const { codes, ...one } = await enrolled()
    const pools = times(5, () => openPool({ ...seatAt(database.url, 'shared'), max: 4 }))
    onTestFinished(async () => {
      await Promise.all(pools.map((pool) => pool.end()))
    })
    let judged = 0
    const sealer: Team['sealer'] = {
      ...team.sealer,
      open(...sealed) {
        judged++
        return team.sealer.open(...sealed)
      },
    }
    const guesses = [...times(40, (i) => `guess ${i}`), codes[0]!]
    const outcomes = await Promise.all(
      guesses.map(async (code, i) => {
        const through = { ...team, sealer, db: pools[i % pools.length]! }
        return (await identify(through, { ...one, code })).outcome
      }),
    )
    // The right code, if it was among the first, has cleared the failures before it.
    const known = outcomes.filter((outcome) => outcome === 'known').length
    const wrong = outcomes.filter((outcome) => outcome === 'wrong_code').length
    expect(judged).toBe(known + wrong)
    expect(known).toBeLessThanOrEqual(1)
    expect(wrong).toBeGreaterThanOrEqual(5)
    expect(wrong).toBeLessThanOrEqual(5 + 4 * known)
    expect(outcomes.filter((outcome) => outcome === 'too_many_failures')).toHaveLength(41 - known - wrong)
  })

  test('a user whose password was set by two people signs in with the password of one and the code of the other', async () => {
    const { code, activation_hash } = newActivation()
    const wanted = { id: team.newId('user'), name: 'Somebody', partner_id: null, role: 'reader' } as const
    const email = `person${++made}@op.example`
    const fresh = await makePassword()
    const { password } = await transaction(db, (tx) =>
      createUser(tx, { ...wanted, email, activation_hash }, fresh),
    )
    expect(await signIn(team, { email, password })).toEqual({ outcome: 'code_needed', of: 'activation' })
    // A single command is refused: there would be nobody to show the new password to.
    expect(await outcomeOf({ email, password, code })).toBe('activation_needed')
    const signInOf = async (proof: SignInCredentials) => (await signIn(team, proof)).outcome
    expect(await signInOf({ email, password: 'wrong', code })).toBe('wrong')
    expect(await signInOf({ email, password, code: newActivation().code })).toBe('wrong_code')
    const twice = await Promise.all([1, 2].map(() => signIn(team, { email, password, code })))
    const [first, ...others] = twice.flatMap((one) => (one.outcome === 'known' ? [one] : []))
    expect(others).toEqual([])
    // The password that the approver saw does not work any more.
    expect(await outcomeOf({ email, password })).toBe('wrong')
    expect(await outcomeOf({ email, password: first!.new_password! })).toBe('known')
    expect(await findSession(db, first!.token)).toBeDefined()

    const next = newActivation()
    const reset = await resetOf(email, next.activation_hash)
    expect(await signInOf({ email, password: reset.password, code })).toBe('wrong_code')
    expect(await signInOf({ email, password: reset.password, code: next.code.toUpperCase() })).toBe('known')
  })

  test('a user with a second factor needs no activation code after a reset, and none stays open', async () => {
    const { codes, ...one } = await enrolled()
    const { code, activation_hash } = newActivation()
    const { password } = await resetOf(one.email, activation_hash)
    const proof = { email: one.email, password }
    expect(await signIn(team, proof)).toEqual({ outcome: 'code_needed', of: 'factor' })
    expect((await signIn(team, { ...proof, code })).outcome).toBe('wrong_code')
    const known = await signIn(team, { ...proof, code: codes[0]! })
    expect(known).toMatchObject({ outcome: 'known', new_password: expect.any(String) })
    expect((await findUser(db, one.email)).activation_hash).toBeNull()
  })

  test('a user renews the password with password and code, which ends the other sessions', async () => {
    const { codes, ...one } = await enrolled()
    const [here, elsewhere] = [await tokenOf(one, codes[0]), await tokenOf(one, codes[1])]
    expect(await renewPassword(team, one)).toEqual({ outcome: 'code_needed', of: 'factor' })
    expect((await renewPassword(team, { ...one, code: 'not a code' })).outcome).toBe('wrong_code')
    expect((await renewPassword(team, { ...one, password: 'wrong', code: codes[2] })).outcome).toBe('wrong')
    // Of two concurrent renewals with the same password one succeeds.
    const twice = await Promise.all(
      [codes[2], codes[3]].map((code) => renewPassword(team, { ...one, code }, here)),
    )
    expect(twice.map(({ outcome }) => outcome).sort()).toEqual(['known', 'wrong'])
    const [made] = twice.flatMap((answer) => (answer.outcome === 'known' ? [answer.new_password] : []))
    expect([await goesOn(here), await goesOn(elsewhere)]).toEqual([true, false])
    expect(await outcomeOf(one)).toBe('wrong')
    expect(await outcomeOf({ ...one, password: made! })).toBe('code_needed')

    const { code, activation_hash } = newActivation()
    const reset = await resetOf(one.email, activation_hash)
    const given = { email: one.email, password: reset.password, code }
    expect((await renewPassword(team, given)).outcome).toBe('activation_needed')
  })

  test('wrong codes count like wrong passwords; a missing code does not count', async () => {
    const { codes, ...one } = await enrolled()
    for (let i = 0; i < 7; i++) expect(await outcomeOf(one)).toBe('code_needed')
    for (let i = 0; i < 5; i++) expect(await outcomeOf({ ...one, code: 'not a code' })).toBe('wrong_code')
    expect(await outcomeOf({ ...one, code: codes[0]! })).toBe('too_many_failures')
    expect(await countRecoveryCodes(db, one.user.id)).toBe(10)
  })
})

describe('a session', () => {
  test('belongs to its user until the sign-out', async () => {
    const one = await person('resolver')
    const [token, other] = [await tokenOf(one), await tokenOf(one)]
    const session = await findSession(db, token)
    expect(session!.id).toMatch(/^ses_/)
    expect(operatorActor(session!.user)).toEqual({
      kind: 'operator',
      user_id: one.user.id,
      email: one.email,
      role: 'resolver',
    })
    await transaction(db, (tx) => endSession(tx, team, token))
    expect([await goesOn(token), await goesOn(other)]).toEqual([false, true])
    expect(await goesOn('x'.repeat(43))).toBe(false)
  })

  test.each([
    ['used', 29, true],
    ['used', 30, false],
    ['created', 719, true],
    ['created', 720, false],
  ])('that was %s %i minutes ago goes on: %s', async (which, minutes, expected) => {
    const token = await tokenOf(await person())
    const hash = createHash('sha256').update(token).digest('hex')
    await admin(
      `UPDATE shared.sessions SET ${which}_at = ${which}_at - interval '${minutes} minutes' WHERE token_hash = '\\x${hash}'`,
    )
    expect(await goesOn(token)).toBe(expected)
    // The lookup has counted as a use.
    if (which === 'used' && expected) expect(await goesOn(token)).toBe(true)
  })

  test('is written once a minute, however many calls use it', async () => {
    const token = await tokenOf(await person())
    const hash = createHash('sha256').update(token).digest('hex')
    const rowOf = () => admin(`SELECT xmin, used_at FROM shared.sessions WHERE token_hash = '\\x${hash}'`)
    const before = await rowOf()
    for (let i = 0; i < 3; i++) expect(await goesOn(token)).toBe(true)
    expect(await rowOf()).toEqual(before)
    await admin(
      `UPDATE shared.sessions SET used_at = used_at - interval '2 minutes' WHERE token_hash = '\\x${hash}'`,
    )
    const aged = await rowOf()
    expect(await goesOn(token)).toBe(true)
    expect(await rowOf()).not.toEqual(aged)
    const fresh = `SELECT FROM shared.sessions WHERE token_hash = '\\x${hash}' AND used_at > clock_timestamp() - interval '1 minute'`
    expect(await admin(fresh)).toHaveLength(1)
  })

  test('ends with a new password and with another role; sessions of other users stay', async () => {
    const [one, two] = [await person('resolver'), await person('resolver')]
    const tokens = [await tokenOf(one), await tokenOf(one)]
    const others = await tokenOf(two)
    await transaction(db, (tx) => setRole(tx, one.email, 'resolver'))
    expect(await goesOn(tokens[0]!)).toBe(true)
    await transaction(db, (tx) => setRole(tx, one.email.toUpperCase(), 'reader'))
    expect([await goesOn(tokens[0]!), await goesOn(tokens[1]!), await goesOn(others)]).toEqual([
      false,
      false,
      true,
    ])
    const again = await tokenOf(one)
    await resetOf(one.email)
    expect([await goesOn(again), await goesOn(others)]).toEqual([false, true])
  })

  test('that is opened during a password reset does not outlive it', async () => {
    const one = await person()
    // The old password was verified; then comes the reset.
    const fresh = await makePassword()
    argon2.afterVerifying = async () => {
      argon2.afterVerifying = undefined
      await transaction(db, (tx) => resetPassword(tx, one.email, fresh))
    }
    expect((await signIn(team, one)).outcome).toBe('wrong')
    expect(await admin(`SELECT FROM shared.sessions WHERE user_id = '${one.user.id}'`)).toEqual([])
  })

  test('housekeeping deletes what has ended, and nothing else', async () => {
    const one = await person()
    const [old, idle, young] = [await tokenOf(one), await tokenOf(one), await tokenOf(one)]
    const hex = (token: string) => createHash('sha256').update(token).digest('hex')
    const terminal = (email: string) => accountAtPlace({ email, address: undefined }).toString('hex')
    await identify(team, { email: 'late@op.example', password: 'x' })
    await identify(team, { email: 'early@op.example', password: 'x' })
    const [begun, left] = [await person(), await person()]
    for (const { user } of [begun, left]) await beginFactor(team, user)
    await admin(
      `UPDATE shared.sessions SET created_at = created_at - interval '12 hours' WHERE token_hash = '\\x${hex(old)}'`,
      `UPDATE shared.sessions SET used_at = used_at - interval '30 minutes' WHERE token_hash = '\\x${hex(idle)}'`,
      `UPDATE shared.sign_in_failures SET failed_at = ARRAY[clock_timestamp() - interval '61 minutes'] WHERE subject = '\\x${terminal('early@op.example')}'`,
      `UPDATE shared.factors SET created_at = created_at - interval '1 hour' WHERE id = '${left.user.id}'`,
    )
    await forgetSignIns(db)
    const sessions = await admin(
      `SELECT encode(token_hash, 'hex') AS hash FROM shared.sessions WHERE user_id = '${one.user.id}'`,
    )
    expect(sessions).toEqual([{ hash: hex(young) }])
    const failures = (await admin(`SELECT encode(subject, 'hex') AS hash FROM shared.sign_in_failures`)).map(
      ({ hash }) => hash,
    )
    expect(failures).toContain(terminal('late@op.example'))
    expect(failures).not.toContain(terminal('early@op.example'))
    const factors = (await admin('SELECT id FROM shared.factors')).map(({ id }) => id)
    expect(factors).toContain(begun.user.id)
    expect(factors).not.toContain(left.user.id)
    expect(factors.length).toBeGreaterThan(1)
  })
})

test('owners invite no more than 500 people into a team, so that a list of it stays small', async () => {
  await admin(
    `INSERT INTO shared.partners (id, name) VALUES ('ptn_large', 'Large')`,
    `INSERT INTO shared.users (id, email, name, password_hash, partner_id, role, partner_role)
     SELECT 'usr_large' || n, 'p' || n || '@large.example', 'Rui', 'x', 'ptn_large', 'member', 'viewer' FROM generate_series(1, 498) n`,
  )
  const owner = { partner_id: 'ptn_large', email: 'owner@large.example' }
  const inviteTo = (email: string) => invite(team, owner, { email, name: 'Rui', role: 'viewer' })
  await inviteTo('one@large.example')
  await inviteTo('two@large.example')
  await expect(inviteTo('three@large.example')).rejects.toThrow('A team has at most 500 people')
})

describe('roles', () => {
  test('of operators and of partners’ users do not mix', async () => {
    const [operator, owner] = [await person('reader'), await person('owner', 'ptn_2')]
    const change = (email: string, role: PersonRole) => transaction(db, (tx) => setRole(tx, email, role))
    await expect(change(operator.email, 'owner')).rejects.toThrow(
      'belongs to the operator: the role must be one of admin, resolver, reader',
    )
    await expect(change(owner.email, 'admin')).rejects.toThrow(
      'belongs to a partner: the role must be one of owner, developer, finance, viewer',
    )
    await expect(change('nobody@op.example', 'admin')).rejects.toThrow(
      'No user with the e-mail nobody@op.example. See: trilho users list',
    )
    await expect(person('admin', 'ptn_2')).rejects.toThrow('belongs to a partner')
    expect(personRoleOf(await change(operator.email, 'admin'))).toBe('admin')
    expect(() => operatorActor(owner.user)).toThrow('is not an operator')
    expect(describeUser(owner.user)).toEqual({
      id: owner.user.id,
      email: owner.email,
      name: 'Somebody',
      role: 'owner',
      partner_id: 'ptn_2',
    })
    const listed = (await selectUsers(db)).map(({ id }) => id)
    expect(listed).toContain(owner.user.id)
    expect((await selectOperators(db)).map(({ id }) => id)).not.toContain(owner.user.id)
  })

  test('an only owner cannot step down, and of two only one can', async () => {
    const first = await person('owner', 'ptn_2')
    const lower = (email: string) => transaction(db, (tx) => setRole(tx, email, 'viewer'))
    const owners = (await selectUsers(db)).filter(
      (user) => user.partner_id === 'ptn_2' && user.role === 'owner',
    )
    for (const { email } of owners) if (email !== first.email) await lower(email)
    await expect(lower(first.email)).rejects.toThrow('is the only owner of ptn_2')
  })

  test('the last admin cannot be lowered, not even by two who lower each other concurrently', async () => {
    const [one, two] = [await person(), await person()]
    const rest = `role = 'operator' AND id NOT IN ('${one.user.id}', '${two.user.id}')`
    await admin(`UPDATE shared.users SET operator_role = 'reader' WHERE ${rest}`)
    const lowered = await Promise.allSettled(
      [one, two].map(({ email }) => transaction(db, (tx) => setRole(tx, email, 'resolver'))),
    )
    const refused = lowered.filter((one) => one.status === 'rejected')
    expect(refused).toHaveLength(1)
    expect((refused[0] as PromiseRejectedResult).reason.message).toMatch(
      /is the only operator with the role admin.*Make another admin first/,
    )
  })

  test('an operator without a role counts as a reader, and not as the last admin', async () => {
    const [one, old] = [await person(), await person()]
    await admin(
      `UPDATE shared.users SET operator_role = 'reader' WHERE role = 'operator' AND id <> '${one.user.id}'`,
      `UPDATE shared.users SET operator_role = NULL WHERE id = '${old.user.id}'`,
    )
    expect(operatorActor(await findUser(db, old.email)).role).toBe('reader')
    const change = (email: string, role: PersonRole) => transaction(db, (tx) => setRole(tx, email, role))
    await expect(change(one.email, 'reader')).rejects.toThrow('is the only operator with the role admin')
    expect(personRoleOf(await change(old.email, 'admin'))).toBe('admin')
    expect(personRoleOf(await change(one.email, 'reader'))).toBe('reader')
  })

  test('have an order that tells which may do more', () => {
    expect(raises('reader', 'resolver')).toBe(true)
    expect(raises('resolver', 'admin')).toBe(true)
    expect(raises('admin', 'resolver')).toBe(false)
    expect(raises('admin', 'admin')).toBe(false)
    expect(raises('viewer', 'owner')).toBe(true)
  })
})

test('no password, token, seed or code is in any table', async () => {
  const { seed, codes, ...one } = await enrolled()
  const code = codeAt(seed, await stepNow())
  const token = await tokenOf(one, code)
  // A user may type the password where the e-mail belongs.
  await identify(team, { email: one.password, password: 'wrong' })
  const secrets = [one.password, token, base32(seed), seed.toString('hex'), code, ...codes]
  const bytes = [
    Buffer.from(token, 'base64url').toString('hex'),
    ...codes.map((one) => Buffer.from(one).toString('hex')),
  ]
  const rows = await admin(`
    SELECT coalesce((SELECT string_agg(u::text, ' ') FROM shared.users u), '')
        || coalesce((SELECT string_agg(s::text, ' ') FROM shared.sessions s), '')
        || coalesce((SELECT string_agg(f::text, ' ') FROM shared.factors f), '')
        || coalesce((SELECT string_agg(r::text, ' ') FROM shared.recovery_codes r), '')
        || coalesce((SELECT string_agg(n::text, ' ') FROM shared.sign_in_failures n), '') AS text`)
  const text = rows[0]!.text as string
  expect(text).toContain(createHash('sha256').update(token).digest('hex'))
  // Six digits alone may be part of a longer number.
  const found = [...secrets, ...bytes].filter((secret) =>
    new RegExp(`(?<![0-9a-f])${secret}(?![0-9a-f])`).test(text),
  )
  expect(found).toEqual([])
})
