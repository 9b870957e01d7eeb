import { createHash } from 'node:crypto'
import { type Db, transaction } from '../db/pool.ts'
import { judgeCode, type NotedTeam, type SecondHalf, type Team } from './factor.ts'
import { hashPassword, NOBODYS_HASH, newPassword, passwordFits } from './password.ts'
import { endOthers, openSession } from './sessions.ts'
import {
  addFailure,
  blockedFor,
  deleteFailures,
  holdUser,
  selectUser,
  setPassword,
  takeTurn,
  type User,
} from './store.ts'

/** How a person shows who they are. */
export type Proof = {
  readonly email: string
  readonly password: string
  /** Of the second factor: six digits, or a recovery code. For the first sign-in of who has none it may be an activation code. */
  readonly code?: string | undefined
  /** Nobody but a person of the operator will do. */
  readonly operator_only?: boolean
}

/** Why somebody is not let in. An unknown e-mail and a wrong password are the same, in words and in work. */
export type Refused =
  | { readonly outcome: 'wrong' }
  | { readonly outcome: 'code_needed'; readonly of: SecondHalf }
  | { readonly outcome: 'wrong_code' }
  /** The password was made by two people, and the person has not signed in with it yet. */
  | { readonly outcome: 'activation_needed' }
  | { readonly outcome: 'too_many_failures'; readonly wait_seconds: number }

export type Known = { readonly outcome: 'known'; readonly user: User }

/** Failures are counted by what was typed, also where there is nobody of that name. */
export const subjectOf = (email: string): Buffer => createHash('sha256').update(email.toLowerCase()).digest()

/** For one act, without a session. */
export const identify = (team: Team, proof: Proof): Promise<Known | Refused> =>
  admit(
    team,
    proof,
    async (tx, user) => (await judgeAgain(tx, team, user, proof.code)) ?? { outcome: 'known', user },
  )

/** Only of who has signed in before with this password. */
const judgeAgain = async (tx: Db, team: Team, user: User, code: string | undefined) =>
  user.activation_hash === null
    ? judgeCode(tx, team, user, code)
    : ({ outcome: 'activation_needed' } as const)

export type SignedIn = Known & {
  readonly token: string
  /** Told this once: it takes the place of the one that whoever approved it has seen. */
  readonly new_password?: string
}

export const signIn = (team: NotedTeam, proof: Proof): Promise<SignedIn | Refused> =>
  admit(team, proof, async (tx, user) => {
    const refused = await judgeCode(tx, team, user, proof.code)
    if (refused) return refused
    const own = user.activation_hash === null ? { user } : await replacePassword(tx, user)
    const { session_id, token } = await openSession(tx, team, own.user)
    await team.note(tx, 'sign_in', { user, session_id })
    return { outcome: 'known', ...own, token }
  })

/** A person's own wish, shown with the password that goes. All sessions of the person end, but the one that is named. */
export const renewPassword = (
  team: NotedTeam,
  proof: Proof,
  token?: string,
): Promise<(Known & { readonly new_password: string }) | Refused> =>
  admit(team, proof, async (tx, user) => {
    const refused = await judgeAgain(tx, team, user, proof.code)
    if (refused) return refused
    const own = await replacePassword(tx, user, token)
    await team.note(tx, 'renew_password', { user })
    return { outcome: 'known', ...own }
  })

async function replacePassword(
  tx: Db,
  { id, email }: User,
  token?: string,
): Promise<{ user: User; new_password: string }> {
  const new_password = newPassword()
  const password_hash = await hashPassword(new_password)
  const user = await setPassword(tx, email, { password_hash, activation_hash: null })
  await endOthers(tx, id, token)
  return { user: user!, new_password }
}

/** What is judged beside the password, and what comes of it. */
type Then<Admitted> = (tx: Db, user: User) => Promise<Admitted | Refused>

/**
 * Of many who try at once, each is judged and counted before the next: five learn something, and who comes after the fifth
 * failure is told only to wait, whether what they showed was right or wrong.
 */
async function admit<Admitted extends Known>(
  team: Team,
  proof: Proof,
  then: Then<Admitted>,
): Promise<Admitted | Refused> {
  const subject = subjectOf(proof.email)
  const blocked = await waitOf(team.db, subject)
  if (blocked) return blocked
  const user = await selectUser(team.db, proof.email.toLowerCase())
  const fits = await passwordFits(user?.password_hash ?? NOBODYS_HASH, proof.password)
  const known = user && fits && (user.role === 'operator' || !proof.operator_only) ? user : undefined
  return transaction(team.db, async (tx) => {
    await takeTurn(tx, `sign-in ${subject.toString('hex')}`)
    const late = await waitOf(tx, subject)
    if (late) return late
    const answer = known ? await judge(tx, known, then) : ({ outcome: 'wrong' } as const)
    if (answer.outcome === 'known') await deleteFailures(tx, subject)
    if (answer.outcome === 'wrong' || answer.outcome === 'wrong_code') await addFailure(tx, subject)
    return answer
  })
}

/** The password fits. The person is held, so that a reset comes either before all of this or after it. */
const judge = async <Admitted extends Known>(
  tx: Db,
  user: User,
  then: Then<Admitted>,
): Promise<Admitted | Refused> => ((await holdUser(tx, user)) ? then(tx, user) : { outcome: 'wrong' })

async function waitOf(db: Db, subject: Buffer): Promise<Refused | undefined> {
  const wait_seconds = await blockedFor(db, subject)
  return wait_seconds === undefined ? undefined : { outcome: 'too_many_failures', wait_seconds }
}
