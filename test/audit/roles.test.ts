import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseRoleOf, type SchemaName } from '../../src/db/pool.ts'
import { countsIn, noteFact } from '../support/proof.ts'
import { type Ability, abilitiesOf, attemptsOf, guardsOf, nameOf } from '../support/role-search.ts'
import { openTrials, type Verdict } from '../support/role-trial.ts'
import { size } from '../support/size.ts'
import { openPopulated, type Populated } from './roles.ts'
import { type Allowed, allowedInShared, allowedInWorld } from './roles-allowed.ts'

/**
 * Whoever got hold of the connection of one role may write whatever its rights allow. For every column, verb and function that the
 * catalogue grants the role, hostile values are tried, each in a transaction that is rolled back: the database must refuse it, or the
 * audit must name it, or it stands in roles-allowed.ts with a reason.
 */
let at: Populated
let url: string
let trials: ReturnType<typeof openTrials>
beforeAll(async () => {
  at = await openPopulated()
  url = at.history.database.url
  trials = openTrials(at.owner, url)
}, 300_000)
afterAll(() => at?.stop())

const ALL = size(1, 0) === 1

const shuffled = <T>(list: readonly T[]): T[] =>
  list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)

const abilities = async (role: SchemaName) => abilitiesOf(at.owner, databaseRoleOf(url, role))

/** What is accepted and not named, and what could not be tried at all. At full size every attempt is made. */
async function search(role: SchemaName, allowed: Allowed) {
  const unnamed = new Map<string, string>()
  const untried: string[] = []
  const counts: Record<Verdict, number> = { refused: 0, nothing: 0, named: 0, unnamed: 0 }
  for (const ability of await abilities(role)) {
    if ('table' in ability && TOLD_TO_PEOPLE.includes(ability.table)) continue
    const name = nameOf(ability)
    const attempts = await attemptsOf(at.owner, ability, ALL)
    if (attempts.length === 0) untried.push(name)
    for (const sql of ALL ? attempts : shuffled(attempts)) {
      const verdict = await tried(role, ability, sql)
      counts[verdict]++
      if (verdict === 'unnamed') unnamed.set(name, sql)
      // One is enough: of what is allowed, one that is not named; of everything else, one that did something.
      if (!ALL && (name in allowed ? verdict === 'unnamed' : verdict !== 'nothing')) break
    }
  }
  noteFact(`Changes tried with the rights of the role ${role}: ${countsIn(counts)}`)
  return { unnamed, untried }
}

/** What people are told, and their own views of lists: neither money nor a right nor the history follows from these tables. */
const TOLD_TO_PEOPLE: readonly string[] = [
  'mail_addresses',
  'mail_state',
  'mails',
  'notification_positions',
  'notification_settings',
  'notification_sightings',
  'notifications',
  'saved_views',
]

const tried = (role: SchemaName, ability: Ability, sql: string): Promise<Verdict> =>
  trials.attempt(role, ability.schema, sql, 'table' in ability ? ability.table : undefined)

describe.each([
  ['sandbox', allowedInWorld],
  ['shared', allowedInShared],
] as const)('from the seat of %s', (role, allowed) => {
  test('the audit finds nothing before anybody forged anything', async () => {
    expect(await trials.isClean(role)).toBe(true)
  })

  test('what is accepted and not named is what is listed, with a reason, and nothing else', async () => {
    const { unnamed, untried } = await search(role, allowed)
    expect(untried, 'tables without a row to try it on').toEqual([])
    const surprises = [...unnamed]
      .filter(([name]) => !(name in allowed))
      .map(([name, sql]) => `${name}: ${sql}`)
    expect(surprises, 'accepted, not named and not listed').toEqual([])
    expect([...unnamed.keys()].sort(), 'listed, though it is refused or named by now').toEqual(
      Object.keys(allowed).sort(),
    )
  }, 1_200_000)
})

test('the role of production may do the same in its own schema, behind the same guards', async () => {
  const own = async (role: SchemaName) =>
    (await abilities(role)).map((ability) => [
      ability.schema === role ? 'own' : ability.schema,
      nameOf(ability),
    ])
  expect(await own('live')).toEqual(await own('sandbox'))
  expect(await guardsOf(at.owner, 'live')).toEqual(await guardsOf(at.owner, 'sandbox'))
})

describe('positions of the log of events', () => {
  const take = (how_many: string) =>
    at.history.world.db.query(`SELECT take_positions(${how_many}) AS last`).then(
      ({ rows }) => rows[0].last as bigint,
      (error: Error) => error.message,
    )

  test.each(['9000000000000000000', '10001', '-1', '-9000000000000000000', 'NULL'])(
    'a role that asks for %s of them is refused, and the log goes on',
    async (how_many) => {
      expect(await take(how_many)).toMatch('a batch takes 0 to 10000 positions of the log')
      const last = (await take('1')) as bigint
      expect(last).toBeLessThan(BigInt(Date.now() + 60_000) * 1000n)
    },
  )

  test('a batch gets as many as it may have', async () => {
    const last = (await take('10000')) as bigint
    expect(await take('0')).toBeGreaterThanOrEqual(last + 10_000n)
  })
})
