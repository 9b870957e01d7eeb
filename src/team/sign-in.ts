import { type Db, transaction } from '../db/pool.ts'
import {
  type Attempt,
  beginAttempt,
  isKnownPlace,
  limitsOf,
  limitsOfSession,
  type Origin,
  pairOf,
  rememberPlace,
} from './attempts.ts'
import { findFactor, judgeCode, type NotedTeam, type SecondHalf, type Team, useCode } from './factor.ts'
import { Busy, type HashCaller, type Hasher, hashQueue } from './hashing.ts'
import { assertGoodPassword, type FreshPassword, freshPassword, NOBODYS_HASH } from './password.ts'
import { endOthers, openSession, renewSession } from './sessions.ts'
import {
  type AttemptLimit,
  deleteFailuresAt,
  holdUser,
  selectUser,
  setPassword,
  type User,
  waitForLocks,
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
  /** Too many others are signing in. Nothing was looked at. */
  | { readonly outcome: 'busy'; readonly wait_seconds: number }

export type Known = { readonly outcome: 'known'; readonly user: User }

/** For one act, without a session. */
export const identify = (team: Team, proof: Proof): Promise<Known | Refused> =>
  admit(
    team,
    proof,
    async (tx, { user }) => (await judgeAgain(tx, team, user, proof.code)) ?? { outcome: 'known', user },
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
  admit<SignedIn>(
    team,
    proof,
    async (tx, { user, fresh, origin }) => {
      const refused = await judgeCode(tx, team, user, proof.code)
      if (refused) return refused
      const own = fresh ? await replacePassword(tx, user, fresh) : { user }
      const { session_id, token } = await openSession(tx, team, own.user, team.origin)
      await rememberPlace(tx, team.db, origin, user.id)
      await team.note(tx, 'sign_in', { user, session_id })
      return { outcome: 'known', ...own, token }
    },
    // Without a code nobody gets as far as a new password.
    (user, hasher) =>
      user.activation_hash === null || proof.code === undefined ? undefined : freshPassword(hasher),
  )

/** What somebody who is signed in shows once more: a code, or the password where there is no second factor. */
export type Again = { readonly code?: string | undefined; readonly password?: string | undefined }

/**
 * A fresh proof in a live session, which goes on under another token. Failures are counted by session: failed sign-ins of
 * strangers do not block the proof, and whoever stole the session has five guesses in 15 minutes.
 */
export async function proveAgain(
  team: NotedTeam,
  { user: { id, email, partner_id }, token }: { readonly user: User; readonly token: string },
  { code, password }: Again,
): Promise<(Known & { readonly token: string }) | Refused> {
  // A code takes no hash, and so does not wait for those who sign in.
  if (await findFactor(team.db, id)) {
    if (code === undefined) return { outcome: 'code_needed', of: 'factor' }
    const attempt = await begin(team, limitsOfSession(token))
    if ('outcome' in attempt) return attempt
    return settle<Known & { readonly token: string }>(team, attempt, async (tx) => {
      const user = await selectUser(tx, email)
      const factor = await findFactor(tx, id)
      if (!user || !factor || !(await useCode(tx, team, factor, code))) return { outcome: 'wrong_code' }
      return { outcome: 'known', user, token: await renewSession(tx, token) }
    })
  }
  const proof = { email, password: password ?? '' }
  const session = { limits: limitsOfSession(token), caller: inQueue(id, partner_id) }
  return admit<Known & { readonly token: string }>({ ...team, session }, proof, async (tx, { user }) =>
    (await findFactor(tx, id))
      ? { outcome: 'code_needed', of: 'factor' }
      : { outcome: 'known', user, token: await renewSession(tx, token) },
  )
}

/** A person's own wish, shown with the password that goes. All sessions of the person end, but the one that is named. */
export const renewPassword = (
  team: NotedTeam,
  proof: Proof,
  token?: string,
): Promise<(Known & { readonly new_password: string }) | Refused> =>
  admit<Known & { readonly new_password: string }>(
    team,
    proof,
    async (tx, { user, fresh }) => {
      const refused = await judgeAgain(tx, team, user, proof.code)
      if (refused) return refused
      const own = await replacePassword(tx, user, fresh!, token)
      await team.note(tx, 'renew_password', { user })
      return { outcome: 'known', ...own }
    },
    (_, hasher) => freshPassword(hasher),
  )

/** The same with a password of the person's own choice, of somebody who just showed the second factor. */
export async function choosePassword(
  team: NotedTeam,
  proof: Omit<Proof, 'code'> & { readonly new_password: string },
  { user: { id, name, partner_id }, token }: { readonly user: User; readonly token: string },
): Promise<Known | Refused> {
  const { email, new_password } = proof
  assertGoodPassword(new_password, { email, name }, 'new_password')
  const session = { limits: limitsOfSession(token), caller: inQueue(id, partner_id) }
  return admit(
    { ...team, session },
    proof,
    async (tx, { user, fresh }) => {
      await team.stillHere?.(tx)
      const own = await replacePassword(tx, user, fresh!, token)
      await team.note(tx, 'renew_password', { user })
      return { outcome: 'known', user: own.user }
    },
    (_, hasher) => freshPassword(hasher, new_password),
  )
}

async function replacePassword(
  tx: Db,
  { id, email }: User,
  { password, password_hash }: FreshPassword,
  token?: string,
): Promise<{ user: User; new_password: string }> {
  const user = await setPassword(tx, email, { password_hash, activation_hash: null })
  await endOthers(tx, id, token)
  return { user: user!, new_password: password }
}

/** People of one partner share a part of the queue; an operator has a part of their own. */
const inQueue = (user_id: string, partner_id: string | null): HashCaller => ({
  kind: 'known',
  name: partner_id ?? user_id,
})

/** A person whose password fits, and a new password where one was asked for. */
type Admissible = { readonly user: User; readonly fresh: FreshPassword | undefined; readonly origin: Origin }

/** Judges what is shown beside the password, and does what was asked for. */
type Then<Admitted> = (tx: Db, admissible: Admissible) => Promise<Admitted | Refused>

/** A new password for a person whose password fits, hashed before the transaction begins. */
type Renewal = (user: User, hasher: Hasher) => Promise<FreshPassword> | undefined

type Asked = Team &
  Pick<Partial<NotedTeam>, 'origin'> & {
    /** Of a proof in a live session, which is counted by itself. */
    readonly session?: { readonly limits: readonly AttemptLimit[]; readonly caller: HashCaller }
  }

/**
 * One attempt. The caller takes a turn in the hashing queue, then the attempt is counted as a failure, then the password is
 * hashed, with no connection or lock held; last a transaction judges the code, and uncounts the attempt unless it failed.
 * An unknown e-mail and a wrong password take the same steps.
 */
async function admit<Admitted extends Known>(
  team: Asked,
  proof: Proof,
  then: Then<Admitted>,
  renew: Renewal = () => undefined,
): Promise<Admitted | Refused> {
  const origin = { email: proof.email, address: team.origin?.address }
  const { caller, limits } = team.session ?? (await standingOf(team, origin))
  try {
    const judged = await hashQueue.inTurn(caller, async (hasher) => {
      const attempt = await begin(team, limits)
      return 'outcome' in attempt
        ? attempt
        : { attempt, found: await uncountedOnError(team, attempt, () => find(team, proof, hasher, renew)) }
    })
    if ('outcome' in judged) return judged
    const { attempt, found } = judged
    if (!found) return { outcome: 'wrong' }
    return await settle(team, attempt, async (tx) => {
      // The person is held, so that a reset comes either before all of this or after it.
      if (!(await holdUser(tx, found.user))) return { outcome: 'wrong' }
      const answer = await then(tx, { ...found, origin })
      if (answer.outcome === 'known') await deleteFailuresAt(tx, pairOf(origin))
      return answer
    })
  } catch (error) {
    if (error instanceof Busy) return { outcome: 'busy', wait_seconds: error.wait_seconds }
    throw error
  }
}

async function standingOf(team: Team, origin: Origin) {
  const known = await isKnownPlace(team.db, origin)
  return { limits: limitsOf(origin, known), caller: callerOf(origin, known) }
}

function callerOf({ email, address }: Origin, known: boolean): HashCaller {
  if (address === undefined) return { kind: 'local' }
  return known ? { kind: 'known', name: email.toLowerCase() } : { kind: 'stranger', address }
}

async function begin(team: Team, limits: readonly AttemptLimit[]): Promise<Attempt | Refused> {
  const attempt = await beginAttempt(team.db, limits)
  return typeof attempt === 'number' ? { outcome: 'too_many_failures', wait_seconds: attempt } : attempt
}

async function find(
  { db }: Team,
  { email, password, operator_only }: Proof,
  hasher: Hasher,
  renew: Renewal,
): Promise<Omit<Admissible, 'origin'> | undefined> {
  const user = await selectUser(db, email.toLowerCase())
  const fits = await hasher.verify(user?.password_hash ?? NOBODYS_HASH, password)
  if (!user || !fits || (operator_only && user.role !== 'operator')) return undefined
  return { user, fresh: await renew(user, hasher) }
}

/** Unless the attempt failed, it is uncounted in the transaction that follows from it. */
const settle = <Admitted extends Known>(
  team: Team,
  attempt: Attempt,
  judge: (tx: Db) => Promise<Admitted | Refused>,
): Promise<Admitted | Refused> =>
  uncountedOnError(team, attempt, () =>
    transaction(team.db, async (tx) => {
      await waitForLocks(tx)
      const answer = await judge(tx)
      if (answer.outcome !== 'wrong' && answer.outcome !== 'wrong_code') await attempt.uncount(tx)
      return answer
    }),
  )

/** What the service itself could not do is nobody's failure. */
async function uncountedOnError<Result>(
  { db }: Team,
  attempt: Attempt,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    await attempt.uncount(db).catch(() => {})
    throw error
  }
}
