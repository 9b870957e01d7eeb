import { describe, expect, test } from 'vitest'
import { operator } from '../../../test/support/operators.ts'
import { type ActName, judge, type Rule, rules } from './rules.ts'

/** Contract §17.13 and §17.15, written out: the verdict for each act, by actor and by number of operators. */
const shell = { kind: 'shell' } as const
const actors = {
  shell,
  admin: operator('a@x.example'),
  resolver: operator('r@x.example', 'resolver'),
  reader: operator('l@x.example', 'reader'),
}
type Who = keyof typeof actors
type Row = Readonly<Record<Who, string>>

const SIGN_IN = /signed in: trilho login --operator EMAIL, or --as EMAIL/
const TWO = /not two yet\. Make them: trilho users create --email EMAIL --operator/
const ROLE = /^Your role is (resolver|reader)\./

const everybody: Row = { shell: 'perform', admin: 'perform', resolver: 'perform', reader: 'perform' }
const nobodyYet: Row = { shell: 'TWO', admin: 'TWO', resolver: 'TWO', reader: 'TWO' }
const admins: Row = { shell: 'SIGN_IN', admin: 'perform', resolver: 'ROLE', reader: 'ROLE' }
const deciding: Row = { shell: 'SIGN_IN', admin: 'perform', resolver: 'perform', reader: 'ROLE' }
const proposing: Row = { shell: 'SIGN_IN', admin: 'propose', resolver: 'propose', reader: 'ROLE' }
const proposingAdmins: Row = { ...admins, admin: 'propose' }

type Law = { readonly none: Row; readonly one: Row; readonly two: Row }
const money: Law = { none: nobodyYet, one: nobodyYet, two: proposing }
const decision: Law = { none: deciding, one: deciding, two: deciding }
const act: Law = { none: everybody, one: admins, two: admins }

const law: Readonly<Record<ActName, Law>> = {
  credit: money,
  debit: money,
  reverse_credit: money,
  resolve_payout: money,
  resolve_transfer: money,
  cancel_transfer: money,
  pay_fees: money,
  resume_rail: money,
  move_custody: money,
  approve: decision,
  reject: decision,
  withdraw: decision,
  create_key: act,
  rotate_key: act,
  revoke_key: { none: everybody, one: everybody, two: everybody },
  set_key_limits: act,
  block_customer: act,
  unblock_customer: act,
  allow_third_party: act,
  set_money_limits: act,
  set_treasury_limits: act,
  pause_rail: { none: everybody, one: everybody, two: everybody },
  set_rail_limits: act,
  close_exception: { none: everybody, one: deciding, two: deciding },
  note_statement: { none: everybody, one: deciding, two: deciding },
  note_backup: { none: everybody, one: everybody, two: everybody },
  create_partner: act,
  change_partner: act,
  rotate_secrets: act,
  create_user: act,
  reset_password: act,
  set_role: act,
  reset_factor: act,
  remove_user: act,
}

const counts = { none: 0, one: 1, two: 2 } as const

function verdict(
  rule: Rule,
  who: Who,
  count: number,
  more: { sandbox?: boolean; about_operator?: boolean } = {},
) {
  const { sandbox = false, about_operator = false } = more
  const operators = { all: count, deciding: count, admins: count }
  try {
    return judge(rule, { actor: actors[who], operators, sandbox, about_operator })
  } catch (error) {
    const { message } = error as Error
    return Object.entries({ SIGN_IN, TWO, ROLE }).find(([, said]) => said.test(message))?.[0] ?? message
  }
}

const rowOf = (rule: Rule, count: number, more?: { sandbox?: boolean; about_operator?: boolean }) =>
  Object.fromEntries((Object.keys(actors) as Who[]).map((who) => [who, verdict(rule, who, count, more)]))

describe.each(Object.keys(rules) as ActName[])('contract §17.13: %s', (name) => {
  test.each(Object.keys(counts) as (keyof typeof counts)[])('in production, with %s', (state) => {
    expect(rowOf(rules[name], counts[state])).toEqual(law[name][state])
  })
  test('in the sandbox every actor performs the act', () => {
    for (const count of [0, 1, 2]) expect(rowOf(rules[name], count, { sandbox: true })).toEqual(everybody)
  })
})

test('creating, resetting and raising an operator takes two as soon as there are two, and never before', () => {
  for (const name of ['create_user', 'reset_password', 'set_role', 'reset_factor', 'remove_user'] as const) {
    const about = (count: number) => rowOf(rules[name], count, { about_operator: true })
    expect([about(0), about(1), about(2)]).toEqual([everybody, admins, proposingAdmins])
  }
})

test('a reader does not count as the second operator: nothing could ever be approved', () => {
  const asked = { actor: actors.admin, sandbox: false, about_operator: true }
  const operators = { all: 2, deciding: 1, admins: 1 }
  expect(judge(rules.create_user, { ...asked, operators })).toBe('perform')
  expect(() => judge(rules.credit, { ...asked, operators })).toThrow(TWO)
})
