import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { seedOf } from '../../../test/support/code.ts'
import { asAdmin, createDatabase, seatAt, TEST_KEY } from '../../../test/support/database.ts'
import { times } from '../../../test/support/parallel.ts'
import { until } from '../../../test/support/wait.ts'
import { createSealer } from '../../core/seal.ts'
import { openPool, type Pool, transaction } from '../../db/pool.ts'
import { openSharedShares } from '../../http/shares.ts'
import { openShared } from '../partners/partners.ts'
import { findPlace } from './attempts.ts'
import { beginFactor, codeAt, confirmFactor, type NotedTeam, newActivation, stepAt } from './factor.ts'
import { openHashThread } from './hash-thread.ts'
import { Busy, openHashQueue } from './hashing.ts'
import { invite, useLink } from './links.ts'
import { makePassword } from './password.ts'
import { createUser, type PersonRole } from './people.ts'
import {
  choosePassword,
  identify,
  proveAgain,
  renewPassword,
  type SignInCredentials,
  signIn,
} from './sign-in.ts'
import type { User } from './store.ts'

/** The thread hashes for real; the test counts its work. */
const hashes = vi.hoisted(() => ({
  done: 0,
  busy: 0,
  most_busy: 0,
  /** Connections that were in use while a hash was computed. */
  connections: 0,
  pool: undefined as Pool | undefined,
}))
vi.mock('./hash-thread.ts', async (original) => {
  const real = await original<typeof import('./hash-thread.ts')>()
  const watched = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    hashes.done++
    hashes.most_busy = Math.max(hashes.most_busy, ++hashes.busy)
    const { pool } = hashes
    if (pool) hashes.connections = Math.max(hashes.connections, pool.totalCount - pool.idleCount)
    return work().finally(() => hashes.busy--)
  }
  return {
    openHashThread() {
      const thread = real.openHashThread()
      return {
        hash: (password: string) => watched(() => thread.hash(password)),
        verify: (password_hash: string, password: string) =>
          watched(() => thread.verify(password_hash, password)),
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
  hashes.pool = db
  team = { ...openShared(db), sealer: createSealer([TEST_KEY]), note: async () => {} }
  await asAdmin(database.url, [
    `INSERT INTO shared.partners (id, name) VALUES ('ptn_1', 'Acme'), ('ptn_2', 'Bolt')`,
  ])
})
afterAll(async () => {
  await db.end()
  await database.drop()
})
beforeEach(() => {
  Object.assign(hashes, { done: 0, most_busy: 0, connections: 0 })
})

let made = 0
const newEmail = () => `person${++made}@attempts.example`
type Person = { user: User; password: string; email: string }
async function person(
  role: PersonRole = 'admin',
  partner_id: string | null = null,
  activation_hash?: string,
): Promise<Person> {
  const email = newEmail()
  const wanted = { id: team.newId('user'), email, name: 'Ana Lima', partner_id, role, activation_hash }
  const fresh = await makePassword()
  return { ...(await transaction(db, (tx) => createUser(tx, wanted, fresh))), email }
}

/** Each test uses addresses of its own sites. */
let sites = 0
const newSite = () => `10.${Math.floor(++sites / 250)}.${sites % 250}`
const newAddress = () => `${newSite()}.1`
const at = (address: string | undefined): NotedTeam => ({
  ...team,
  ...(address ? { origin: { address } } : {}),
})
const signInAt = async (address: string | undefined, proof: SignInCredentials) =>
  (await signIn(at(address), proof)).outcome
const wrong = (email = newEmail()) => ({ email, password: 'wrong wrong wrong' })

async function sessionAt(address: string, { email, password }: Person, code?: string) {
  const known = await signIn(at(address), { email, password, code })
  if (known.outcome !== 'known') throw new Error(known.outcome)
  return { user: known.user, token: known.token }
}

/** Retries, as a person would, if the machine was too slow to give a turn in time. */
async function getIn(address: string, proof: SignInCredentials): Promise<void> {
  for (let tries = 0; tries < 10; tries++) {
    const outcome = await signInAt(address, proof)
    if (outcome !== 'busy') return expect(outcome).toBe('known')
  }
  expect.fail('never got a turn')
}

describe('hashing', () => {
  test('of hundreds of concurrent sign-ins one is hashed at a time, and those without a place are told to retry', async () => {
    const answers = await Promise.all(
      times(300, (i) => signIn(at(`10.${200 + (i % 50)}.${i % 7}.${i}`), wrong())),
    )
    const busy = answers.filter(({ outcome }) => outcome === 'busy')
    expect(answers.filter(({ outcome }) => outcome === 'wrong')).toHaveLength(300 - busy.length)
    for (const one of busy) expect(one).toEqual({ outcome: 'busy', wait_seconds: 2 })
    // One runs and 48 wait.
    expect(hashes.done).toBeLessThanOrEqual(49)
    expect(hashes.done).toBe(300 - busy.length)
    expect(hashes.most_busy).toBe(1)
  })

  test('of many concurrent wrong attempts from one address five are hashed', async () => {
    const address = newAddress()
    const tryMany = () => Promise.all(times(20, () => signIn(at(address), wrong())))
    // On a busy machine some of them get no turn, and are not hashed.
    while (hashes.done < 5) await tryMany()
    for (const _ of times(5, () => 0)) await tryMany()
    expect(hashes.done).toBe(5)
    expect(await signInAt(address, await person())).toBe('too_many_failures')
  })

  test('of many concurrent wrong attempts under one e-mail, from many addresses, twenty are hashed', async () => {
    const email = newEmail()
    const tryMany = () => Promise.all(times(20, () => signIn(at(newAddress()), wrong(email))))
    while (hashes.done < 20) await tryMany()
    for (const _ of times(3, () => 0)) await tryMany()
    expect(hashes.done).toBe(20)
  })

  test('a /48 has 25 failures in all, however many networks it has', async () => {
    const network = (i: number) => `2001:db8:77:${i.toString(16)}::1`
    for (const i of times(40, (index) => index)) await signIn(at(network(i)), wrong())
    expect(hashes.done).toBe(25)
    const one = await person()
    expect(await signInAt(network(1000), one)).toBe('too_many_failures')
    expect(await signInAt('2001:db8:78::1', one)).toBe('known')
  })

  test('a user can sign in during a flood from one address and from one /48', async () => {
    let flooding = true
    const flood = (address: (i: number) => string) =>
      times(20, async (i) => {
        while (flooding) {
          await signIn(at(address(i)), wrong())
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      })
    const one = await person()
    const site = newSite()
    const floods = [
      ...flood(() => '10.99.0.1'),
      ...flood((i) => `2001:db8:79:${i.toString(16)}::1`),
      ...flood((i) => `${site}.${i + 1}`),
    ]
    try {
      for (const _ of times(3, () => 0)) await getIn(newAddress(), one)
    } finally {
      flooding = false
      await Promise.all(floods)
    }
  })

  test('a user at a known place can sign in while strangers fill their queue', async () => {
    const one = await person()
    const home = newAddress()
    await sessionAt(home, one)
    let flooding = true
    const flood = times(100, async () => {
      while (flooding) {
        await signIn(at(newAddress()), wrong())
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    })
    try {
      for (const _ of times(3, () => 0)) await getIn(home, one)
    } finally {
      flooding = false
      await Promise.all(flood)
    }
  })

  test('a partner’s people at known places do not block an operator at a known place', async () => {
    const operator = await person()
    const home = newAddress()
    await sessionAt(home, operator)
    // With a second factor a right password alone is neither a failure nor a sign-in, and may be sent again and again.
    const team_of_one = await Promise.all(times(7, () => person('viewer', 'ptn_1')))
    const places = new Map<Person, string[]>()
    for (const one of team_of_one) {
      const { secret } = await beginFactor(team, one.user)
      const codes = await confirmFactor(team, one.user, codeAt(seedOf(secret), stepAt(Date.now() / 1000)))
      places.set(one, times(3, newAddress))
      for (const [i, address] of places.get(one)!.entries()) await sessionAt(address, one, codes[i])
    }
    let flooding = true
    const flood = [...places].flatMap(([one, addresses]) =>
      times(9, async (i) => {
        while (flooding) {
          const outcome = await signInAt(addresses[i % 3], one)
          if (outcome === 'busy') await sleep(100)
        }
      }),
    )
    try {
      await until(async () => hashes.done > 100, 20_000)
      for (const _ of times(3, () => 0)) expect(await signInAt(home, operator)).toBe('known')
    } finally {
      flooding = false
      await Promise.all(flood)
    }
  })

  test('a caller whose share of the connections is in use keeps nobody waiting for a hash', async () => {
    const poolFor = openSharedShares({ operators: db, people: db, visitors: db })
    const [busy, other] = [await person(), await person()]
    const [crowded, home] = [newAddress(), newAddress()]
    for (const [address, one] of [
      [crowded, busy],
      [home, other],
    ] as const)
      await sessionAt(address, one)
    const share = poolFor({ address: crowded })
    const connection = await share.connect()
    const waiting = signIn({ ...at(crowded), ...openShared(share) }, busy)
    try {
      await sleep(300)
      // A sign-in that waited for the connection of the crowded share would never get it while the test has it.
      await getIn(home, other)
    } finally {
      connection.release()
    }
    expect((await waiting).outcome).toBe('known')
  })

  test('no connection is held while a password is hashed', async () => {
    const { code, activation_hash } = newActivation()
    const invited = newEmail()
    const { token } = await invite(
      team,
      { partner_id: 'ptn_1', email: 'owner@attempts.example' },
      { email: invited, name: 'Rui', role: 'viewer' },
    )
    const [one, other, third] = [await person('viewer', 'ptn_1'), await person(), await person()]
    const session = await sessionAt(newAddress(), one)
    const activated = await person('admin', null, activation_hash)
    hashes.done = 0
    const first = await signIn(at(newAddress()), { ...activated, code })
    expect(first).toMatchObject({ outcome: 'known', new_password: expect.any(String) })
    const chosen = { email: one.email, password: one.password, new_password: 'tide marble oven crane' }
    expect((await choosePassword(at(newAddress()), chosen, session)).outcome).toBe('known')
    expect((await renewPassword(team, other)).outcome).toBe('known')
    const again = await sessionAt(newAddress(), third)
    expect((await proveAgain(team, again, third)).outcome).toBe('known')
    const used = await useLink(at(newAddress()), { token, password: 'tide marble oven crane' })
    expect(used.outcome).toBe('known')
    expect(hashes.done).toBe(9)
    expect(hashes.connections).toBe(0)
  })

  test('an address has 120 attempts a minute, right or wrong, and a /48 has 600', async () => {
    let now = 0
    const thread = { hash: async () => '', verify: async () => true }
    const queue = openHashQueue({ thread, now: () => now })
    const attempt = (address: string) =>
      queue.inTurn({ kind: 'stranger', address }, async () => 'done').catch((error: unknown) => error)
    for (const _ of times(120, () => 0)) expect(await attempt('10.0.0.1')).toBe('done')
    const refused = await attempt('10.0.0.1')
    expect(refused).toBeInstanceOf(Busy)
    expect((refused as Busy).wait_seconds).toBe(60)
    expect(await attempt('10.0.0.2')).toBe('done')
    for (const i of times(600, (index) => index))
      expect(await attempt(`2001:db8:1:${i.toString(16)}::1`)).toBe('done')
    expect(await attempt('2001:db8:1:ffff::1')).toBeInstanceOf(Busy)
    now = 60_000
    expect(await attempt('10.0.0.1')).toBe('done')
  })

  test.runIf(process.platform === 'linux')('runs in a thread of low priority', async () => {
    await openHashThread().hash('x')
    const nices = readdirSync('/proc/self/task').map((id) => {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17])
    })
    const low = Math.min(19, getPriority() + 5)
    expect(nices).toContain(low)
    expect(nices.filter((nice) => nice < low).length).toBeGreaterThan(1)
  })
})

describe('an invitation to an e-mail that is taken', () => {
  test('is answered without a hash, five times in 15 minutes', async () => {
    const other = await person('viewer', 'ptn_2')
    const { token } = await invite(
      team,
      { partner_id: 'ptn_1', email: 'owner@attempts.example' },
      { email: other.email, name: 'Rui', role: 'viewer' },
    )
    hashes.done = 0
    const use = () => useLink(at(newAddress()), { token, password: 'tide marble oven crane' })
    for (const _ of times(5, () => 0)) await expect(use()).rejects.toThrow('This link was used')
    expect(await use()).toMatchObject({ outcome: 'too_many_failures', wait_seconds: expect.any(Number) })
    expect(hashes.done).toBe(0)
  })
})

describe('failures elsewhere', () => {
  test('block neither a fresh proof in a live session, nor a user at a known place, nor a shell', async () => {
    const one = await person()
    const home = newAddress()
    const session = await sessionAt(home, one)
    for (const _ of times(20, () => 0)) expect(await signInAt(newAddress(), wrong(one.email))).toBe('wrong')
    expect(await signInAt(newAddress(), one)).toBe('too_many_failures')
    expect((await proveAgain(team, session, { password: one.password })).outcome).toBe('known')
    expect(await signInAt(home, one)).toBe('known')
    expect((await identify(team, one)).outcome).toBe('known')
  })

  test('at one known place do not block a user at another', async () => {
    const one = await person()
    const [home, shared_with_others] = [newAddress(), newAddress()]
    await sessionAt(home, one)
    await sessionAt(shared_with_others, one)
    for (const _ of times(121, () => 0)) await signInAt(shared_with_others, wrong(one.email))
    expect(await signInAt(shared_with_others, one)).toMatch(/busy|too_many_failures/)
    expect(await signInAt(home, one)).toBe('known')
  })

  test('do not block a fresh proof by code in a live session', async () => {
    const one = await person()
    const { secret } = await beginFactor(team, one.user)
    const seed = seedOf(secret)
    const codes = await confirmFactor(team, one.user, codeAt(seed, stepAt(Date.now() / 1000)))
    const session = await sessionAt(newAddress(), one, codes[0])
    for (const _ of times(20, () => 0)) expect(await signInAt(newAddress(), wrong(one.email))).toBe('wrong')
    hashes.done = 0
    expect((await proveAgain(team, session, { code: codes[1] })).outcome).toBe('known')
    expect(hashes.done).toBe(0)
  })

  test('block strangers who guess from new places', async () => {
    const one = await person()
    for (const _ of times(20, () => 0)) await signInAt(newAddress(), wrong(one.email))
    hashes.done = 0
    expect(await signInAt(newAddress(), one)).toBe('too_many_failures')
    expect(hashes.done).toBe(0)
  })
})

test('all addresses use one list of known places, which is read once', async () => {
  const poolFor = openSharedShares({ operators: db, people: db, visitors: db })
  const asked = vi.spyOn(db, 'query')
  try {
    for (const address of times(12, newAddress)) {
      const visitors = { ...at(address), ...openShared(poolFor({ address })) }
      expect((await signIn(visitors, wrong())).outcome).toBe('wrong')
    }
    const reads = asked.mock.calls.filter(([sql]) => String(sql).includes('FROM sign_in_places'))
    expect(reads.length).toBeLessThanOrEqual(1)
  } finally {
    asked.mockRestore()
  }
})

test('places of operators stay known, however many newer places people of partners have', async () => {
  const [operator, other] = [await person(), await person('viewer', 'ptn_1')]
  const home = newAddress()
  await sessionAt(home, operator)
  await asAdmin(database.url, [
    `INSERT INTO shared.sign_in_places (subject, user_id, seen_at)
     SELECT sha256(n::text::bytea), '${other.user.id}', clock_timestamp() + interval '1 second' FROM generate_series(1, 10000) n`,
  ])
  const restarted = openPool({ ...seatAt(database.url, 'shared'), max: 1 })
  onTestFinished(() => restarted.end())
  expect(await findPlace(restarted, { email: operator.email, address: home })).toEqual({
    user_id: operator.user.id,
    partner_id: null,
  })
})

describe('a stolen session', () => {
  test('has five guesses at the password in 15 minutes, and blocks nothing else of its user', async () => {
    const one = await person('viewer', 'ptn_1')
    const [stolen, own] = [await sessionAt(newAddress(), one), await sessionAt(newAddress(), one)]
    const guess = async () => (await proveAgain(team, stolen, { password: 'wrong' })).outcome
    const guesses = [await guess(), ...(await Promise.all(times(7, guess)))]
    expect(guesses.filter((outcome) => outcome === 'wrong')).toHaveLength(5)
    expect(guesses.filter((outcome) => outcome === 'too_many_failures')).toHaveLength(3)
    const { email, password } = one
    const chosen = { email, password, new_password: 'tide marble oven crane' }
    expect((await choosePassword(team, chosen, stolen)).outcome).toBe('too_many_failures')
    expect((await proveAgain(team, own, { password })).outcome).toBe('known')
    expect(await signInAt(newAddress(), one)).toBe('known')
  })

  test('has five guesses at the code in 15 minutes', async () => {
    const one = await person()
    const { secret } = await beginFactor(team, one.user)
    const codes = await confirmFactor(team, one.user, codeAt(seedOf(secret), stepAt(Date.now() / 1000)))
    const stolen = await sessionAt(newAddress(), one, codes[0])
    const guesses = await Promise.all(
      times(12, async (i) => (await proveAgain(team, stolen, { code: `00000${i}x` })).outcome),
    )
    expect(guesses.filter((outcome) => outcome === 'wrong_code')).toHaveLength(5)
    expect((await proveAgain(team, stolen, { code: codes[1] })).outcome).toBe('too_many_failures')
  })
})
