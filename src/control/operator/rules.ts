import type { OperatorActor, OperatorRole, ShellActor } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'

/**
 * Who may do what (contract §17.13, §17.15), as data: one row for each act. The table is for production and for the
 * shared schema; in the sandbox a shell may do everything.
 */
export type Rule = {
  /** Infinitive for error messages: "to change a key". */
  readonly what: string
  /** Whether the act changes one world, or the schema that both worlds share. */
  readonly place: 'world' | 'shared'
  /**
   * The operator roles that may perform the act. Without any operator the shell may, unless `signed` or `two` forbids
   * it.
   */
  readonly roles: readonly OperatorRole[]
  /** The act never needs a sign-in. */
  readonly open?: true
  /** The act needs a signed-in operator even while no operator exists. */
  readonly signed?: true
  /**
   * One operator proposes and another approves: always, or if `takesTwo` (people.ts) says so and at least two operators
   * can decide. `assertApprovable` (proposals.ts) refuses the operator who proposed.
   */
  readonly two?: 'always' | 'about operators'
  /** The operator roles that may approve the act, if it takes two. */
  readonly approved_by?: readonly OperatorRole[]
  /** What the performer gains by the act. */
  readonly gives: Power
}

/**
 * `identity`: a new person, whose password the performer sees. `password`: a person's new password, seen by the
 * performer. `factor`: a person signs in without a second factor. `role`: a person may do more, or less. `removal`: a
 * person is removed. `key`: the value of an API key. `invitation`: the link by which the first owner of a new partner
 * chooses a password. `decision`: whatever the approved proposal gives. `money`: money moves. The search in
 * powers.test.ts starts from these powers.
 */
type Power =
  | 'money'
  | 'decision'
  | 'identity'
  | 'password'
  | 'factor'
  | 'role'
  | 'removal'
  | 'key'
  | 'invitation'
  | 'nothing'

const admin: readonly OperatorRole[] = ['admin']
const deciding: readonly OperatorRole[] = ['admin', 'resolver']

const money = (what: string): Rule => ({
  what,
  place: 'world',
  roles: deciding,
  two: 'always',
  approved_by: deciding,
  gives: 'money',
})
const deciding_on = (what: string, gives: Power): Rule => ({
  what,
  place: 'world',
  roles: deciding,
  signed: true,
  gives,
})
const inWorld = (what: string, gives: Power = 'nothing'): Rule => ({
  what,
  place: 'world',
  roles: admin,
  gives,
})
const inShared = (what: string, gives: Power = 'nothing'): Rule => ({
  what,
  place: 'shared',
  roles: admin,
  gives,
})
const person = (what: string, gives: Power): Rule => ({
  ...inShared(what, gives),
  two: 'about operators',
  approved_by: admin,
})

export const rules = {
  credit: money('to credit a customer'),
  debit: money('to debit a customer'),
  reverse_credit: money('to reverse a credit'),
  resolve_payout: money('to resolve a payout'),
  resolve_transfer: money('to resolve a transfer'),
  cancel_transfer: money('to cancel a transfer'),
  pay_fees: money('to pay fees'),
  resume_rail: money('to resume a rail'),
  move_custody: money('to move custody'),

  approve: deciding_on('to approve a proposal', 'decision'),
  reject: deciding_on('to reject a proposal', 'nothing'),
  withdraw: deciding_on('to withdraw a proposal', 'nothing'),

  create_key: inWorld('to create a key', 'key'),
  rotate_key: inWorld('to rotate a key', 'key'),
  // Anyone at a shell who sees a key leak must be able to revoke the key at once.
  revoke_key: { ...inWorld('to revoke a key'), open: true },
  set_key_limits: inWorld('to limit a key'),
  block_customer: inWorld('to block a customer'),
  unblock_customer: inWorld('to unblock a customer'),
  allow_third_party: inWorld('to arrange payouts to others'),
  set_money_limits: inWorld('to limit money'),
  set_treasury_limits: inWorld('to limit the treasury'),
  // Anyone at a shell who sees money leave wrongly must be able to stop it at once. Two operators resume.
  pause_rail: { ...inWorld('to pause a rail'), roles: deciding, open: true },
  set_rail_limits: inWorld('to limit a rail'),
  close_exception: { ...inWorld('to close an exception'), roles: deciding },
  note_statement: { ...inWorld('to note a statement'), roles: deciding },

  // A cron job notes backups, and a cron job cannot sign in.
  note_backup: { ...inShared('to note a backup'), roles: deciding, open: true },
  create_partner: inShared('to make a partner', 'invitation'),
  change_partner: inShared('to change a partner’s terms'),
  rotate_secrets: inShared('to rotate the key of secrets'),
  create_user: person('to make a user', 'identity'),
  reset_password: person('to reset a password', 'password'),
  set_role: person('to change a role', 'role'),
  reset_factor: person('to reset a second factor', 'factor'),
  remove_user: person('to remove a user', 'removal'),
} as const satisfies Record<string, Rule>

export type ActName = keyof typeof rules

/** The number of operators at the moment of the act. */
export type Operators = {
  readonly all: number
  /** Operators who can propose and approve: every role but `reader`. */
  readonly deciding: number
  readonly admins: number
}

export type Asked = {
  readonly actor: OperatorActor | ShellActor
  readonly operators: Operators
  readonly sandbox: boolean
  /** In the sandbox: judge as in production, so that two operators can rehearse. */
  readonly rehearsed?: boolean
  /** The result of `takesTwo`: the act is about an operator, or counts as such. */
  readonly about_operator: boolean
  /** The act removes an operator or gives one a lower role. */
  readonly lowers?: boolean
}

/** Decides whether the act is performed now or proposed to another operator. Throws a refusal if it is not allowed. */
export function judge(rule: Rule, asked: Asked): 'perform' | 'propose' {
  const { actor, operators, sandbox, rehearsed = false, about_operator, lowers = false } = asked
  if ((sandbox && !rehearsed) || rule.open) return 'perform'
  if (rule.two === 'always' && operators.deciding < 2)
    refuse('second_person_needed', rehearsed ? TWO_TO_REHEARSE : TWO_NEEDED)
  if (operators.all === 0 && !rule.signed) return 'perform'
  const { role } = signedIn(actor, rule)
  const two =
    rule.two === 'always' || (rule.two === 'about operators' && about_operator && operators.deciding >= 2)
  const roles = two ? proposersOf(rule, operators, lowers) : rule.roles
  if (!roles.includes(role))
    refuse('not_permitted', {
      message: `Your role is ${role}. ${capital(rule.what)} takes an operator with the role ${roles.join(' or ')}.`,
    })
  return two ? 'propose' : 'perform'
}

/** The only admin cannot approve a proposal of their own, so a resolver may propose and the admin approves. */
export function proposersOf(
  { roles, approved_by }: Rule,
  operators: Operators,
  lowers: boolean,
): readonly OperatorRole[] {
  return approved_by === admin && operators.admins === 1 && !lowers ? deciding : roles
}

/**
 * An admin approves what creates, raises or resets a person. With fewer than two admins a resolver may approve a
 * removal or a lower role.
 */
export function approversOf(
  { approved_by = deciding }: Rule,
  operators: Operators,
  lowers: boolean,
): readonly OperatorRole[] {
  return lowers && operators.admins < 2 ? deciding : approved_by
}

export function signedIn(actor: OperatorActor | ShellActor, { what }: Pick<Rule, 'what'>): OperatorActor {
  if (actor.kind === 'operator') return actor
  return refuse('not_signed_in', {
    message: `${capital(what)} takes an operator who is signed in:`,
    shell: 'trilho login --operator EMAIL, or --as EMAIL with OPERATOR_PASSWORD.',
  })
}

const TWO_TO_REHEARSE = {
  message: 'A rehearsal takes a second operator who may decide, and there is none yet.',
}

const TWO_NEEDED = {
  message: 'In production one operator proposes and another one approves, and there are not two yet.',
  details: { reason: 'two_operators_needed' },
  shell: 'Make them: trilho users create --email EMAIL --operator',
} as const

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
