import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  type OperatorActor,
  type OperatorRole,
  operatorRoles,
  type PartnerRole,
  partnerRoles,
} from '../../core/actor.ts'
import { leaveOf } from '../../doors/console-api/permits.ts'
import { isOperatorRole, type PersonRole, raises } from '../../parties/team/people.ts'
import { type PeopleChangeName, weighsAsOperator } from './people.ts'
import { assertApprovable } from './proposals.ts'
import { type Asked, approversOf, judge, type Operators, proposersOf, type Rule, rules } from './rules.ts'
import type { Proposal } from './store.ts'

/**
 * Can an attacker, by any sequence of allowed acts, move money or gain the power of another person? A breadth-first
 * search over the acts: what each act gives, and who may perform, propose and approve it, comes from the table and
 * the functions that the service uses. Only the effect of an act on the state is written here.
 */
type Person = {
  readonly id: string
  /** Undefined for an operator. */
  readonly partner?: string
  readonly role: PersonRole
  /** An attacker from the beginning. */
  readonly attacker?: true
  readonly removed?: true
  readonly factor: boolean
  readonly password?: true
}

type Wish = { readonly act: string; readonly target: string; readonly becomes?: PersonRole }
type Open = Wish & { readonly author: string }
type State = { readonly people: readonly Person[]; readonly open: readonly Open[] }

type Table = Readonly<Record<string, Rule>>
/** What the search takes from the service; a test replaces one part by a weaker one. */
type Laws = {
  readonly rules: Table
  readonly weighs: typeof weighsAsOperator
  readonly assertApprovable: (proposal: Proposal, by: string) => void
}
const service: Laws = { rules, weighs: weighsAsOperator, assertApprovable }

/** What an attacker must not reach. */
type Goal = 'money' | 'identity' | 'factor' | 'role' | 'key'
type Found = { readonly goal: Goal; readonly path: readonly string[] }

const isControlled = (one: Person) =>
  !one.removed && (one.attacker === true || (one.password === true && !one.factor))

const operatorsOf = ({ people }: State) =>
  people.filter(({ partner, removed }) => partner === undefined && !removed)

function countOf(state: State): Operators {
  const all = operatorsOf(state).map(({ role }) => role)
  return {
    all: all.length,
    deciding: all.filter((role) => role !== 'reader').length,
    admins: all.filter((role) => role === 'admin').length,
  }
}

const actorOf = ({ id, role }: Person): OperatorActor => ({
  kind: 'operator',
  user_id: id,
  email: id,
  role: role as OperatorRole,
})
const shell = { kind: 'shell' } as const

/** A refusal has a stack, which costs more than the judgement, so each judgement is cached. */
const verdicts = new WeakMap<Rule, Map<string, 'perform' | 'propose' | undefined>>()

function verdictOf(rule: Rule, asked: Asked): 'perform' | 'propose' | undefined {
  const known = verdicts.get(rule) ?? new Map()
  verdicts.set(rule, known)
  const role = asked.actor.kind === 'operator' ? asked.actor.role : ''
  const key = JSON.stringify({ ...asked, actor: role })
  if (!known.has(key)) known.set(key, may(() => judge(rule, asked)) ? judge(rule, asked) : undefined)
  return known.get(key)
}

const may = (question: () => void): boolean => {
  try {
    question()
    return true
  } catch {
    return false
  }
}

const change = (state: State, id: string, facts: Partial<Person>): State => ({
  ...state,
  people: state.people.map((one) => (one.id === id ? { ...one, ...facts } : one)),
})

/** The first role of each list may do everything. The last person with it stays, or nobody could be raised any more. */
function isLast(state: State, { id, partner, role }: Person): boolean {
  const highest = partner === undefined ? 'admin' : 'owner'
  const others = state.people.filter((one) => one.partner === partner && one.id !== id && !one.removed)
  return role === highest && !others.some((one) => one.role === highest)
}

const hasOwner = ({ people }: State, partner: string | undefined) =>
  partner !== undefined &&
  people.some((one) => one.partner === partner && one.role === 'owner' && !one.removed)

const isLowering = (rule: Rule, role: PersonRole, becomes: PersonRole | undefined) =>
  rule.gives === 'removal' || (rule.gives === 'role' && !raises(role, becomes!))

/** One wish for each person and role that an act can be about. */
function wishesOf(state: State, act: string, { gives }: Rule): Wish[] {
  const present = state.people.filter(({ removed }) => !removed)
  switch (gives) {
    case 'money':
    case 'key':
      return [{ act, target: 'partner' }]
    case 'identity': {
      if (present.some(({ id }) => id.startsWith('new'))) return []
      const partners = [...new Set(present.flatMap(({ partner }) => partner ?? []))]
      return [
        ...operatorRoles.map((becomes) => ({ act, target: 'operator', becomes })),
        ...partners.flatMap((target) => partnerRoles.map((becomes) => ({ act, target, becomes }))),
      ]
    }
    case 'password':
    case 'factor':
    case 'removal':
      return present.map(({ id }) => ({ act, target: id }))
    case 'role':
      return present.flatMap(({ id, partner, role }) =>
        (partner === undefined ? operatorRoles : partnerRoles)
          .filter((becomes) => becomes !== role)
          .map((becomes) => ({ act, target: id, becomes })),
      )
    default:
      return []
  }
}

type Effect = { readonly state: State; readonly goal?: Goal } | undefined

/**
 * The effect if the attackers perform the act, or propose and approve it, so that they have both the password and the
 * activation code.
 */
function effectOf(state: State, { gives }: Rule, { target, becomes }: Wish): Effect {
  if (gives === 'money' || gives === 'key') return { state, goal: gives }
  if (gives === 'identity') {
    const partner = target === 'operator' ? {} : { partner: target }
    const made: Person = { id: `new ${becomes}`, ...partner, role: becomes!, factor: false, password: true }
    return { state: { ...state, people: [...state.people, made] } }
  }
  const one = state.people.find(({ id }) => id === target)
  if (!one || one.removed) return undefined
  if (gives === 'password') return { state: change(state, target, { password: true }) }
  if (gives === 'factor') {
    if (!one.factor) return undefined
    const guarded = one.partner === undefined || one.role === 'owner'
    return {
      state: change(state, target, { factor: false }),
      ...(guarded && !one.attacker ? { goal: 'factor' as const } : {}),
    }
  }
  if (isLast(state, one)) return undefined
  if (gives === 'removal') return { state: change(state, target, { removed: true }) }
  const raised = one.attacker && raises(one.role, becomes!)
  return { state: change(state, target, { role: becomes! }), ...(raised ? { goal: 'role' as const } : {}) }
}

type Next = { readonly step: string; readonly effect: Effect }

function nextStates(state: State, laws: Laws): Next[] {
  const operators = countOf(state)
  const controlled = operatorsOf(state).filter(isControlled)
  const next: Next[] = []
  const roleOf = ({ act, target, becomes }: Wish) =>
    laws.rules[act]!.gives === 'identity' ? becomes! : state.people.find(({ id }) => id === target)?.role
  const aboutPerson = (wish: Wish) => {
    const rule = laws.rules[wish.act]!
    const role = roleOf(wish)
    if (rule.place !== 'shared' || role === undefined) return { about_operator: false, lowers: false }
    const partner =
      rule.gives === 'identity' ? wish.target : state.people.find(({ id }) => id === wish.target)?.partner
    const name = wish.act as PeopleChangeName
    const has_owner = hasOwner(state, partner)
    // `takesTwo` of the service covers its own rows; any other row takes two only if it says `always`.
    const known = wish.act in rules
    return {
      about_operator: known && laws.weighs({ name, role, becomes: wish.becomes, has_owner }),
      lowers: isLowering(rule, role, wish.becomes),
    }
  }

  for (const [act, rule] of Object.entries(laws.rules))
    for (const wish of wishesOf(state, act, rule))
      for (const actor of [shell, ...controlled.map(actorOf)]) {
        const asked = { actor, operators, sandbox: false, ...aboutPerson(wish) }
        const verdict = verdictOf(rule, asked)
        const who = actor.kind === 'shell' ? 'shell' : actor.email
        const what = `${who}: ${act} ${wish.target}${wish.becomes ? ` as ${wish.becomes}` : ''}`
        if (verdict === 'perform') next.push({ step: what, effect: effectOf(state, rule, wish) })
        if (verdict === 'propose' && state.open.length === 0)
          next.push({
            step: `${what} (proposed)`,
            effect: { state: { ...state, open: [...state.open, { ...wish, author: who }] } },
          })
      }

  for (const open of state.open)
    for (const actor of controlled) {
      const rule = laws.rules[open.act]!
      const { lowers } = aboutPerson(open)
      const deciding = { ...laws.rules.approve!, roles: approversOf(rule, operators, lowers) }
      const author = operatorsOf(state).find(({ id }) => id === open.author)
      const allowed =
        may(() => laws.assertApprovable({ ended: null, proposed_by: open.author } as Proposal, actor.id)) &&
        may(() =>
          judge(deciding, { actor: actorOf(actor), operators, sandbox: false, about_operator: false }),
        ) &&
        author !== undefined &&
        proposersOf(rule, operators, lowers).includes(author.role as OperatorRole)
      if (!allowed) continue
      const rest = { ...state, open: state.open.filter((one) => one !== open) }
      next.push({ step: `${actor.id}: approve ${open.act}`, effect: effectOf(rest, rule, open) })
    }

  next.push(...ofPartners(state))
  return next
}

/** Acts among the people of a partner need one permit of the console, production keys another. */
function ofPartners(state: State): Next[] {
  const next: Next[] = []
  for (const actor of state.people.filter(({ partner }) => partner !== undefined).filter(isControlled)) {
    const role = actor.role as PartnerRole
    if (leaveOf('keys.write', role)) next.push({ step: `${actor.id}: key`, effect: { state, goal: 'key' } })
    if (!leaveOf('people.write', role)) continue
    for (const { id } of state.people.filter((one) => one.partner === actor.partner && one !== actor)) {
      const acts = { password: rules.reset_password, factor: rules.reset_factor } as const
      for (const [name, rule] of Object.entries(acts))
        next.push({
          step: `${actor.id}: ${name} of ${id}`,
          effect: effectOf(state, rule, { act: name, target: id }),
        })
    }
  }
  return next
}

/** How many acts in a row the search tries. */
const DEPTH = 3

/**
 * The shortest sequence to each goal. With `until` the search stops at that goal; with `any`, at the first goal other
 * than a key.
 */
function search(start: State, laws: Laws = service, until?: Goal | 'any'): Found[] {
  const found = new Map<Goal, readonly string[]>()
  const reach = (goal: Goal, path: readonly string[]) => found.has(goal) || found.set(goal, path)
  const seen = new Set([JSON.stringify(start)])
  let layer: { state: State; path: readonly string[] }[] = [{ state: start, path: [] }]
  for (let depth = 0; depth < DEPTH; depth++) {
    const following: typeof layer = []
    for (const { state, path } of layer)
      for (const { step, effect } of nextStates(state, laws)) {
        if (!effect) continue
        const there = [...path, step]
        if (effect.goal) reach(effect.goal, there)
        if (effect.state.people.some((one) => isControlled(one) && !one.attacker)) reach('identity', there)
        if (depth === DEPTH - 1) continue
        const key = JSON.stringify(effect.state)
        if (seen.has(key)) continue
        seen.add(key)
        following.push({ state: effect.state, path: there })
      }
    layer = following
    if (
      until !== undefined &&
      [...found.keys()].some((goal) => (until === 'any' ? goal !== 'key' : goal === until))
    )
      break
  }
  return [...found].map(([goal, path]) => ({ goal, path }))
}

/** A partner with two owners, one of them without a second factor, and people of other roles. */
const partnerPeople: readonly Person[] = [
  { id: 'owner', partner: 'acme', role: 'owner', factor: true },
  { id: 'other owner', partner: 'acme', role: 'owner', factor: false },
  { id: 'developer', partner: 'acme', role: 'developer', factor: false },
  { id: 'viewer', partner: 'acme', role: 'viewer', factor: false },
]

const team = (attackers: readonly OperatorRole[], honest: readonly OperatorRole[]): State => ({
  people: [
    ...attackers.map(
      (role, i) => ({ id: `attacker ${role} ${i}`, role, attacker: true, factor: true }) as const,
    ),
    ...honest.map((role, i) => ({ id: `honest ${role} ${i}`, role, factor: i % 2 === 0 })),
    ...partnerPeople,
  ],
  open: [],
})

const goalsOf = (found: readonly Found[]) => found.map(({ goal }) => goal).sort()
const said = (found: readonly Found[]) =>
  found.map(({ goal, path }) => `${goal}: ${path.join(', ')}`).join('\n')
/** Contract §17.13: a live key takes one signed-in operator at a shell (decision 0022). */
const besideKeys = (found: readonly Found[]) => found.filter(({ goal }) => goal !== 'key')

const honestTeams: readonly (readonly OperatorRole[])[] = [
  ['admin'],
  ['resolver'],
  ['admin', 'admin'],
  ['admin', 'resolver'],
  ['resolver', 'resolver'],
  ['admin', 'resolver', 'reader'],
]

describe('one operator alone, for every set of other operators', () => {
  const cases = operatorRoles.flatMap((role) =>
    honestTeams
      // There is always an admin, and the attacker may be one of the two who can decide.
      .filter((honest) => role === 'admin' || honest.includes('admin'))
      .map((honest) => [role, honest.join(', '), honest] as const),
  )
  test.each(cases)('%s beside %s', (role, _, honest) => {
    const found = search(team([role], honest))
    expect(said(besideKeys(found))).toBe('')
    if (role !== 'admin') expect(said(found)).toBe('')
  })
})

describe('two operators who act together get what their roles allow, and nothing else', () => {
  const pairs: readonly (readonly [OperatorRole, OperatorRole, readonly OperatorRole[], readonly Goal[]])[] =
    [
      ['reader', 'reader', ['admin', 'admin'], []],
      ['reader', 'resolver', ['admin', 'admin'], []],
      ['reader', 'admin', ['admin'], ['key']],
      ['resolver', 'resolver', ['admin'], ['money']],
      ['resolver', 'resolver', ['admin', 'admin'], ['money']],
      // Acts on people belong to admins: beside another admin, a resolver neither proposes nor approves what gives an
      // identity.
      ['admin', 'resolver', ['admin'], ['key', 'money']],
    ]
  test.each(pairs)('%s and %s', (one, other, honest, goals) => {
    const found = search(team([one, other], honest))
    expect(goalsOf(found), said(found)).toEqual(goals)
  })
  test('two admins may do everything', () => {
    expect(goalsOf(search(team(['admin', 'admin'], ['admin'])))).toEqual([
      'factor',
      'identity',
      'key',
      'money',
    ])
  })
  test('the only admin and a resolver may make operators: the resolver proposes, the admin approves', () => {
    const found = search(team(['admin', 'resolver'], ['resolver']))
    expect(goalsOf(found)).toEqual(['factor', 'identity', 'key', 'money', 'role'])
  })
})

test('people of a partner other than owners gain no identity, and an owner none outside of the partner', () => {
  const withAttacker = (id: string): State => ({
    people: [
      ...team([], ['admin', 'admin']).people.map((one) =>
        one.id === id ? { ...one, attacker: true as const } : one,
      ),
      { id: 'stranger', partner: 'other', role: 'owner', factor: false },
    ],
    open: [],
  })
  expect(goalsOf(search(withAttacker('viewer')))).toEqual([])
  expect(goalsOf(search(withAttacker('developer')))).toEqual(['key'])
  const owner = search(withAttacker('owner'))
  const outside = owner
    .flatMap(({ path }) => path)
    .filter((step) => !/ of (owner|other owner|developer|viewer)$|: key$/.test(step))
  expect(outside).toEqual([])
})

test('no act of the console gives the value of a key: that takes a shell on the host', () => {
  const folder = new URL('../../doors/console-api/operator/', import.meta.url)
  const source = readdirSync(folder).filter((name) => !name.endsWith('.test.ts'))
  const text = source.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('')
  const giving = Object.entries<Rule>(rules).filter(([, { gives }]) => gives === 'key')
  expect(giving.map(([name]) => name)).toEqual(['create_key', 'rotate_key'])
  for (const [name] of giving) expect(text).not.toContain(name)
})

describe('while fewer than two operators can decide, one person can create the second one, as the docs say', () => {
  test('an admin beside a reader', () => {
    const found = search(team(['admin'], ['reader']))
    expect(goalsOf(besideKeys(found))).toEqual(['factor', 'identity', 'money'])
  })
  test('a reader beside an admin', () => expect(said(search(team(['reader'], ['admin'])))).toBe(''))
})

describe('the search finds a weakened rule', () => {
  const weakened = (name: keyof typeof rules, change: Partial<Rule>): Laws => {
    const { two: _, ...rule }: Rule = rules[name]
    return { ...service, rules: { ...rules, [name]: { ...rule, ...change } } }
  }
  const alone = team(['admin'], ['admin', 'resolver'])
  const takingTwo = Object.entries<Rule>(rules).filter(([, { two }]) => two !== undefined)

  test.each(takingTwo.map(([name]) => name as keyof typeof rules))('%s by one person', (name) => {
    expect(besideKeys(search(alone, weakened(name, {}), 'any'))).not.toEqual([])
  })

  test.each([
    ['a resolver approves a new operator', 'create_user', 'identity'],
    ['a resolver approves a new password', 'reset_password', 'identity'],
    ['a resolver approves a role', 'set_role', 'role'],
    ['a resolver approves the reset of a second factor', 'reset_factor', 'factor'],
  ] as const)('%s', (_, name, goal) => {
    const approved_by = ['admin', 'resolver'] as const
    const laws = weakened(name, { two: 'about operators', approved_by })
    expect(goalsOf(search(team(['admin', 'resolver'], ['admin']), laws, goal))).toContain(goal)
  })

  test('a reader proposes and approves money', () => {
    const roles = ['admin', 'resolver', 'reader'] as const
    const laws = weakened('credit', { two: 'always', roles, approved_by: roles })
    expect(goalsOf(search(team(['reader', 'reader'], ['admin', 'admin']), laws))).toEqual(['money'])
  })

  test('a new row that gives a power to one person', () => {
    const added: Rule = { what: 'to add a device', place: 'shared', roles: ['admin'], gives: 'password' }
    const found = search(alone, { ...service, rules: { ...rules, add_device: added } }, 'any')
    expect(besideKeys(found)[0]).toMatchObject({
      goal: 'identity',
      path: [expect.stringMatching(/add_device/)],
    })
  })

  test('the password of an owner that one operator may reset', () => {
    const weighs: Laws['weighs'] = (one) =>
      weighsAsOperator(one) && (isOperatorRole(one.role) || one.name !== 'reset_password')
    const found = besideKeys(search(alone, { ...service, weighs }, 'any'))
    expect(found[0]).toMatchObject({ goal: 'identity', path: [expect.stringMatching(/reset_password/)] })
  })

  test('an author who approves the own proposal', () => {
    const found = besideKeys(search(alone, { ...service, assertApprovable: () => {} }, 'money'))
    expect(goalsOf(found)).toContain('money')
  })
})
