import type { OperatorActor, OperatorRole, ShellActor } from '../core/actor.ts'
import { refuse } from '../core/errors.ts'

/**
 * Who may do what (contract §17.13, §17.15), as data: one row for each act. In the sandbox everybody at a shell may do
 * everything; this is about production, and about what both worlds share.
 */
export type Rule = {
  /** What it is, as a person would say it: "to change a key". */
  readonly what: string
  /** Where it happens: in one of the worlds, or in what they share. */
  readonly place: 'world' | 'shared'
  /** The operators who may, once there is an operator. */
  readonly roles: readonly OperatorRole[]
  /** Needs no sign-in, ever. */
  readonly open?: true
  /** Needs an operator who is signed in, even where there is nobody else. */
  readonly signed?: true
  /** One proposes and another one approves: always, or once there are two who can and it is about one of them. */
  readonly two?: 'always' | 'about operators'
}

const admin: readonly OperatorRole[] = ['admin']
const deciding: readonly OperatorRole[] = ['admin', 'resolver']

const money = (what: string): Rule => ({ what, place: 'world', roles: deciding, two: 'always' })
const deciding_on = (what: string): Rule => ({ what, place: 'world', roles: deciding, signed: true })
const inWorld = (what: string): Rule => ({ what, place: 'world', roles: admin })
const inShared = (what: string): Rule => ({ what, place: 'shared', roles: admin })
const person = (what: string): Rule => ({ ...inShared(what), two: 'about operators' })

export const rules = {
  credit: money('to credit a customer'),
  debit: money('to debit a customer'),
  reverse_credit: money('to reverse a credit'),
  resolve_payout: money('to resolve a payout'),
  resolve_transfer: money('to resolve a transfer'),
  pay_fees: money('to pay fees'),

  approve: deciding_on('to approve a proposal'),
  reject: deciding_on('to reject a proposal'),
  withdraw: deciding_on('to withdraw a proposal'),
  adopt: { ...deciding_on('to adopt a proposal'), roles: admin },

  create_key: inWorld('to create a key'),
  rotate_key: inWorld('to rotate a key'),
  // Whoever sees a key leak must be able to end it at once.
  revoke_key: { ...inWorld('to revoke a key'), open: true },
  set_key_limits: inWorld('to limit a key'),
  block_customer: inWorld('to block a customer'),
  unblock_customer: inWorld('to unblock a customer'),
  allow_third_party: inWorld('to arrange payouts to others'),
  set_money_limits: inWorld('to limit money'),
  set_treasury_limits: inWorld('to limit the treasury'),
  close_exception: { ...inWorld('to close an exception'), roles: deciding },

  create_partner: inShared('to make a partner'),
  change_partner: inShared('to change a partner’s terms'),
  rotate_secrets: inShared('to rotate the key of secrets'),
  create_user: person('to make a user'),
  reset_password: person('to reset a password'),
  set_role: person('to change a role'),
  reset_factor: person('to reset a second factor'),
  remove_user: person('to remove a user'),
} as const satisfies Record<string, Rule>

export type ActName = keyof typeof rules

/** The operators as they are at the moment of the act. */
export type Operators = {
  readonly all: number
  /** Those who can propose and approve: a reader cannot. */
  readonly deciding: number
}

export type Asked = {
  readonly actor: OperatorActor | ShellActor
  readonly operators: Operators
  readonly sandbox: boolean
  /** Whether it is done to an operator, or makes one, or weighs as much. */
  readonly about_operator: boolean
}

/** Whether it is done or proposed. Throws with a sentence when it is neither. */
export function judge(rule: Rule, asked: Asked): 'perform' | 'propose' {
  const { actor, operators, sandbox, about_operator } = asked
  if (sandbox || rule.open) return 'perform'
  if (rule.two === 'always' && operators.deciding < 2) refuse('second_person_needed', TWO_NEEDED)
  if (operators.all === 0 && !rule.signed) return 'perform'
  const { role } = signedIn(actor, rule)
  if (!rule.roles.includes(role))
    refuse('not_permitted', {
      message: `Your role is ${role}. ${capital(rule.what)} takes an operator with the role ${rule.roles.join(' or ')}.`,
    })
  const two =
    rule.two === 'always' || (rule.two === 'about operators' && about_operator && operators.deciding >= 2)
  return two ? 'propose' : 'perform'
}

export function signedIn(actor: OperatorActor | ShellActor, { what }: Pick<Rule, 'what'>): OperatorActor {
  if (actor.kind === 'operator') return actor
  return refuse('not_signed_in', {
    message: `${capital(what)} takes an operator who is signed in:`,
    shell: 'trilho login --operator EMAIL, or --as EMAIL with OPERATOR_PASSWORD.',
  })
}

const TWO_NEEDED = {
  message: 'In production one operator proposes and another one approves, and there are not two yet.',
  shell: 'Make them: trilho users create --email EMAIL --operator',
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
