import { createHash } from 'node:crypto'
import { type Db, transaction } from '../db/pool.ts'
import { networkOf } from '../http/ip.ts'
import { findFactor, judgeCode, type NotedTeam, type SecondHalf, type Team, useCode } from './factor.ts'
import { assertGoodPassword, hashPassword, NOBODYS_HASH, newPassword, passwordFits } from './password.ts'
import { endOthers, openSession, renewSession } from './sessions.ts'
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

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Failures are counted by what was typed, also where there is nobody of that name. */
export const subjectOf = (email: string): Buffer => hashed(email.toLowerCase())

/** And by where it came from. No e-mail begins with the zero byte, so nobody can count against the address of another. */
const placeOf = (address: string): Buffer => hashed(`\0${networkOf(address, 64)}`)

/** For one act, without a session. */
export const identify = (team: Team, proof: Proof): Promise<Known | Refused> =>
  admit(
    team,
    knockOf(team, proof),
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
  admit(team, knockOf(team, proof), async (tx, user) => {
    const refused = await judgeCode(tx, team, user, proof.code)
    if (refused) return refused
    const own = user.activation_hash === null ? { user } : await replacePassword(tx, user)
    const { session_id, token } = await openSession(tx, team, own.user, team.origin)
    await team.note(tx, 'sign_in', { user, session_id })
    return { outcome: 'known', ...own, token }
  })

/** What somebody who is signed in shows once more: a code, or the password where there is no second factor. */
export type Again = { readonly code?: string | undefined; readonly password?: string | undefined }

/** The session goes on under another token. A stolen one cannot be used to guess for longer than a sign-in can. */
export function proveAgain(
  team: NotedTeam,
  { user: { email }, token }: { readonly user: User; readonly token: string },
  { code, password }: Again,
): Promise<(Known & { readonly token: string }) | Refused> {
  let fits = false
  async function find(): Promise<User | undefined> {
    const user = await selectUser(team.db, email)
    fits = password !== undefined && (await passwordFits(user?.password_hash ?? NOBODYS_HASH, password))
    return user
  }
  return admit<Known & { readonly token: string }>(
    team,
    { email, find, success_forgets: false },
    async (tx, user) => {
      const factor = await findFactor(tx, user.id)
      if (factor && code === undefined) return { outcome: 'code_needed', of: 'factor' }
      if (factor && !(await useCode(tx, team, factor, code!))) return { outcome: 'wrong_code' }
      if (!factor && !fits) return { outcome: 'wrong' }
      return { outcome: 'known', user, token: await renewSession(tx, token) }
    },
  )
}

/** A person's own wish, shown with the password that goes. All sessions of the person end, but the one that is named. */
export const renewPassword = (
  team: NotedTeam,
  proof: Proof,
  token?: string,
): Promise<(Known & { readonly new_password: string }) | Refused> =>
  admit(team, knockOf(team, proof), async (tx, user) => {
    const refused = await judgeAgain(tx, team, user, proof.code)
    if (refused) return refused
    const own = await replacePassword(tx, user, { token })
    await team.note(tx, 'renew_password', { user })
    return { outcome: 'known', ...own }
  })

/** The same with a password of the person's own choice, of somebody who just showed the second factor. */
export async function choosePassword(
  team: NotedTeam,
  proof: Omit<Proof, 'code'> & { readonly new_password: string },
  token: string,
): Promise<Known | Refused> {
  const { email, new_password } = proof
  assertGoodPassword(new_password, email, 'new_password')
  return admit(team, knockOf(team, proof), async (tx, user) => {
    await team.stillHere?.(tx)
    const own = await replacePassword(tx, user, { token, new_password })
    await team.note(tx, 'renew_password', { user })
    return { outcome: 'known', user: own.user }
  })
}

async function replacePassword(
  tx: Db,
  { id, email }: User,
  {
    token,
    new_password = newPassword(),
  }: { readonly token?: string | undefined; readonly new_password?: string } = {},
): Promise<{ user: User; new_password: string }> {
  const password_hash = await hashPassword(new_password)
  const user = await setPassword(tx, email, { password_hash, activation_hash: null })
  await endOthers(tx, id, token)
  return { user: user!, new_password }
}

/** Who knocks: what was typed, and whether there is somebody whom it fits. */
type Knock = {
  readonly email: string
  find(): Promise<User | undefined>
  /** A session alone does not make good what failed before. */
  readonly success_forgets?: boolean
}

const knockOf = ({ db }: Team, { email, password, operator_only }: Proof): Knock => ({
  email,
  async find() {
    const user = await selectUser(db, email.toLowerCase())
    const fits = await passwordFits(user?.password_hash ?? NOBODYS_HASH, password)
    return user && fits && (user.role === 'operator' || !operator_only) ? user : undefined
  },
})

/** What is judged beside the password, and what comes of it. */
type Then<Admitted> = (tx: Db, user: User) => Promise<Admitted | Refused>

/**
 * Of many who try at once, each is judged and counted before the next: five learn something, and who comes after the fifth
 * failure is told only to wait, whether what they showed was right or wrong. It is counted by e-mail, and by address where
 * there is one. Success forgets what failed under the e-mail, not what came from the address: else whoever has an account
 * could guess on for those of others.
 */
async function admit<Admitted extends Known>(
  team: Team & Pick<Partial<NotedTeam>, 'origin'>,
  { email, find, success_forgets = true }: Knock,
  then: Then<Admitted>,
): Promise<Admitted | Refused> {
  const subject = subjectOf(email)
  const address = team.origin?.address
  const subjects = address === undefined ? [subject] : [subject, placeOf(address)]
  const blocked = await waitOf(team.db, subjects)
  if (blocked) return blocked
  const known = await find()
  return transaction(team.db, async (tx) => {
    // The e-mail before the address, everybody: so nobody waits in a circle.
    for (const one of subjects) await takeTurn(tx, `sign-in ${one.toString('hex')}`)
    const late = await waitOf(tx, subjects)
    if (late) return late
    const answer = known ? await judge(tx, known, then) : ({ outcome: 'wrong' } as const)
    if (answer.outcome === 'known' && success_forgets) await deleteFailures(tx, subject)
    if (answer.outcome === 'wrong' || answer.outcome === 'wrong_code')
      for (const one of subjects) await addFailure(tx, one)
    return answer
  })
}

/** The password fits. The person is held, so that a reset comes either before all of this or after it. */
const judge = async <Admitted extends Known>(
  tx: Db,
  user: User,
  then: Then<Admitted>,
): Promise<Admitted | Refused> => ((await holdUser(tx, user)) ? then(tx, user) : { outcome: 'wrong' })

async function waitOf(db: Db, subjects: readonly Buffer[]): Promise<Refused | undefined> {
  const wait_seconds = await blockedFor(db, subjects)
  return wait_seconds === undefined ? undefined : { outcome: 'too_many_failures', wait_seconds }
}
