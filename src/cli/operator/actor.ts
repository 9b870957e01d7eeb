import type { OperatorActor, ShellActor } from '../../core/actor.ts'
import { openSealer, secretKeysOf } from '../../db/open.ts'
import type { Shared } from '../../parties/partners/partners.ts'
import type { Team } from '../../parties/team/factor.ts'
import { operatorActor } from '../../parties/team/people.ts'
import { findSession, type Session } from '../../parties/team/sessions.ts'
import { identify, type Refused } from '../../parties/team/sign-in.ts'
import type { User } from '../../parties/team/store.ts'
import { type Input, NotAllowed, usage } from '../command.ts'
import { readSession, sessionPlace } from './session-file.ts'

/**
 * Who acts from this shell (contract §17.13): the operator who proves their identity on this command, the operator signed in
 * with `trilho login`, or an unnamed user of the shell.
 */
export async function actorOf(input: Input, shared: Shared): Promise<OperatorActor | ShellActor> {
  const email = namedOperator(input)
  const password = input.io.env.OPERATOR_PASSWORD
  if (email !== undefined && password)
    return operatorActor(await proveOperator(input, shared, email, password))
  const session = await sessionOf(input, shared)
  if (email !== undefined) assertSessionOf(email, session)
  return session ? { ...operatorActor(session.user), session_id: session.id } : { kind: 'shell' }
}

/**
 * The actor of a command that never needs a sign-in, such as revoking a key: an expired or unreadable session does not block
 * it.
 */
export async function actorIfAny(input: Input, shared: Shared): Promise<OperatorActor | ShellActor> {
  const actor = actorOf(input, shared)
  return namedOperator(input) === undefined ? actor.catch(() => ({ kind: 'shell' })) : actor
}

/** In `users create`, --operator is a boolean that says which kind of user is created, and names nobody. */
export function namedOperator(input: Input): string | undefined {
  const [email, other] = [input.options.as, input.options.operator].flatMap((given) =>
    typeof given === 'string' ? [given.toLowerCase()] : [],
  )
  if (other !== undefined && other !== email)
    usage(`--as says ${email} and --operator says ${other}. Give only one of them.`)
  return email
}

export async function teamOf({ config }: Input, shared: Shared): Promise<Team> {
  return { ...shared, sealer: openSealer(config, await secretKeysOf(config)) }
}

/**
 * The session that `trilho login` stored, if any. An expired session is an error: falling back to another actor would log the
 * act under the wrong name.
 */
export async function sessionOf(
  { config, io }: Input,
  shared: Shared,
): Promise<(Session & { readonly token: string }) | undefined> {
  const token = await readSession(sessionPlace(config, io.env))
  if (token === undefined) return undefined
  const session = await findSession(shared.db, token)
  if (session) return { ...session, token }
  throw new NotAllowed(
    'Your session has ended. Sign in again: trilho login --operator EMAIL. To act without a sign-in: trilho logout',
  )
}

async function proveOperator(input: Input, shared: Shared, email: string, password: string): Promise<User> {
  const code = input.io.env.OPERATOR_CODE || undefined
  const known = await identify(await teamOf(input, shared), { email, password, code, operator_only: true })
  return known.outcome === 'known' ? known.user : refuseProof(known)
}

function assertSessionOf(email: string, session: Session | undefined): void {
  if (session?.user.email === email) return
  const other = session ? `You are signed in as ${session.user.email}, not as ${email}. ` : ''
  throw new NotAllowed(
    `${other}Set OPERATOR_PASSWORD to the password of ${email}, or sign in: trilho login --operator ${email}`,
  )
}

export function refuseProof(refused: Refused): never {
  switch (refused.outcome) {
    case 'wrong':
      throw new NotAllowed(
        'No operator with this e-mail and password. After five failures at a shell, this e-mail is refused at every shell for 15 minutes.',
      )
    case 'code_needed':
      throw new NotAllowed(
        refused.of === 'factor'
          ? 'This operator has a second factor: set OPERATOR_CODE to its code, or to a recovery code.'
          : 'This password needs an activation code at the first sign-in: set OPERATOR_CODE to the code, which the operator who proposed it has.',
      )
    case 'activation_needed':
      throw new NotAllowed(
        'This password needs an activation code at the first sign-in. The operator who proposed it has the code: trilho login --operator EMAIL',
      )
    case 'wrong_code':
      throw new NotAllowed(
        'This code is wrong, too old, or was used before: each works once. Wait for the next one, or use a recovery code.',
      )
    case 'too_many_failures':
      throw new NotAllowed(
        `Too many failures under this e-mail at a shell. Try again in ${inWords(refused.wait_seconds)}, or ask another admin for a new password: trilho users reset-password EMAIL`,
      )
    case 'busy':
      throw new NotAllowed(
        `Too many people are signing in right now. Try again in ${inWords(refused.wait_seconds)}.`,
      )
  }
}

function inWords(seconds: number): string {
  if (seconds < 90) return `${seconds} seconds`
  return `${Math.ceil(seconds / 60)} minutes`
}
