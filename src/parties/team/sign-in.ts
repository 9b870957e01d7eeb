import { type Db, transaction } from '../../db/pool.ts'
import {
  accountAtPlace,
  attemptLimitsOf,
  beginAttempt,
  findPlace,
  limitsOfSession,
  type Origin,
  rememberPlace,
  type SignInAttempt,
} from './attempts.ts'
import { findFactor, judgeCode, type NotedTeam, type SecondHalf, type Team, useCode } from './factor.ts'
import { Busy, type HashCaller, type Hasher, hashQueue, outsideShares } from './hashing.ts'
import { assertGoodPassword, type FreshPassword, freshPassword, NOBODYS_HASH } from './password.ts'
import { endOthers, openSession, renewSession } from './sessions.ts'
import {
  type AttemptLimit,
  deleteFailuresAt,
  holdUser,
  type KnownPlace,
  selectUser,
  setPassword,
  type User,
  waitForLocks,
} from './store.ts'

/** The credentials of one attempt. */
export type SignInCredentials = {
  readonly email: string
  readonly password: string
  /** A TOTP code or a recovery code; or the activation code, at the first sign-in of a user without a second factor. */
  readonly code?: string | undefined
  /** Users of partners are refused. */
  readonly operator_only?: boolean
}

/** Why a sign-in is refused. An unknown e-mail and a wrong password give the same answer after the same work. */
export type Refused =
  | { readonly outcome: 'wrong' }
  | { readonly outcome: 'code_needed'; readonly of: SecondHalf }
  | { readonly outcome: 'wrong_code' }
  /** The password was set by a proposal, and the user has not signed in with the activation code yet. */
  | { readonly outcome: 'activation_needed' }
  | { readonly outcome: 'too_many_failures'; readonly wait_seconds: number }
  /** The hashing queue is full. Nothing was checked. */
  | { readonly outcome: 'busy'; readonly wait_seconds: number }

type IdentifiedUser = { readonly outcome: 'known'; readonly user: User }

/** Checks credentials for a single act, without a session. */
export const identify = (team: Team, proof: SignInCredentials): Promise<IdentifiedUser | Refused> =>
  admit(
    team,
    proof,
    async (tx, { user }) => (await judgeAgain(tx, team, user, proof.code)) ?? { outcome: 'known', user },
  )

/** A user with an open activation must sign in first. */
const judgeAgain = async (tx: Db, team: Team, user: User, code: string | undefined) =>
  user.activation_hash === null
    ? judgeCode(tx, team, user, code)
    : ({ outcome: 'activation_needed' } as const)

type SignedIn = IdentifiedUser & {
  readonly token: string
  /** Shown once. Replaces the password that the approver of the proposal has seen. */
  readonly new_password?: string
}

export const signIn = (team: NotedTeam, proof: SignInCredentials): Promise<SignedIn | Refused> =>
  admit<SignedIn>(
    team,
    proof,
    async (tx, { user, fresh, origin }) => {
      const refused = await judgeCode(tx, team, user, proof.code)
      if (refused) return refused
      const own = fresh ? await replacePassword(tx, user, fresh) : { user }
      const { session_id, token } = await openSession(tx, team, own.user, team.origin)
      await rememberPlace(tx, team.db, origin, user)
      await team.note(tx, 'sign_in', { user, session_id })
      return { outcome: 'known', ...own, token }
    },
    // Without the activation code the sign-in is refused, so no new password is needed.
    (user, hasher) =>
      user.activation_hash === null || proof.code === undefined ? undefined : freshPassword(hasher),
  )

/** A fresh proof within a session: a code, or the password if the user has no second factor. */
type Again = { readonly code?: string | undefined; readonly password?: string | undefined }

/**
 * Proves the identity again in a live session, which gets a new token. Failures are counted by session: failed
 * sign-ins of strangers do not block the proof, and a thief of the session has five guesses in 15 minutes.
 */
export async function proveAgain(
  team: NotedTeam,
  { user: { id, email, partner_id }, token }: { readonly user: User; readonly token: string },
  { code, password }: Again,
): Promise<(IdentifiedUser & { readonly token: string }) | Refused> {
  // A code needs no hashing, so it does not wait in the hashing queue.
  if (await findFactor(team.db, id)) {
    if (code === undefined) return { outcome: 'code_needed', of: 'factor' }
    const attempt = await begin(team, limitsOfSession(token))
    if ('outcome' in attempt) return attempt
    return settle<IdentifiedUser & { readonly token: string }>(team, attempt, async (tx) => {
      const user = await selectUser(tx, email)
      const factor = await findFactor(tx, id)
      if (!user || !factor || !(await useCode(tx, team, factor, code))) return { outcome: 'wrong_code' }
      return { outcome: 'known', user, token: await renewSession(tx, token) }
    })
  }
  const proof = { email, password: password ?? '' }
  const session = { limits: limitsOfSession(token), caller: inQueue(id, partner_id) }
  return admit<IdentifiedUser & { readonly token: string }>(
    { ...team, session },
    proof,
    async (tx, { user }) =>
      (await findFactor(tx, id))
        ? { outcome: 'code_needed', of: 'factor' }
        : { outcome: 'known', user, token: await renewSession(tx, token) },
  )
}

/**
 * Replaces the user's own password by a random one, given the old one. Ends all sessions of the user but the named
 * one.
 */
export const renewPassword = (
  team: NotedTeam,
  proof: SignInCredentials,
  token?: string,
): Promise<(IdentifiedUser & { readonly new_password: string }) | Refused> =>
  admit<IdentifiedUser & { readonly new_password: string }>(
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

/** Like `renewPassword`, with a password that the user chooses in a session with a fresh proof. */
export async function choosePassword(
  team: NotedTeam,
  proof: Omit<SignInCredentials, 'code'> & { readonly new_password: string },
  { user: { id, name, partner_id }, token }: { readonly user: User; readonly token: string },
): Promise<IdentifiedUser | Refused> {
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

/** Users of one partner share a part of the queue; each operator has a part. */
const inQueue = (user_id: string, partner_id: string | null, place = user_id): HashCaller => ({
  kind: 'known',
  name: partner_id ?? user_id,
  person: user_id,
  place,
})

/** A user whose password is right, and a new password if one was asked for. */
type Admissible = { readonly user: User; readonly fresh: FreshPassword | undefined; readonly origin: Origin }

/** Judges the code and performs what was asked for. */
type Then<Admitted> = (tx: Db, admissible: Admissible) => Promise<Admitted | Refused>

/** Makes a new password for a user whose password is right, hashed before the transaction begins. */
type Renewal = (user: User, hasher: Hasher) => Promise<FreshPassword> | undefined

type Asked = Team &
  Pick<Partial<NotedTeam>, 'origin'> & {
    /** For a proof within a session, whose failures are counted separately. */
    readonly session?: { readonly limits: readonly AttemptLimit[]; readonly caller: HashCaller }
  }

/**
 * One attempt. The caller takes a turn in the hashing queue, then the attempt is counted as a failure, then the password is
 * hashed, with no connection or lock held; last a transaction judges the code, and uncounts the attempt unless it failed.
 * An unknown e-mail and a wrong password take the same steps.
 */
async function admit<Admitted extends IdentifiedUser>(
  team: Asked,
  proof: SignInCredentials,
  then: Then<Admitted>,
  renew: Renewal = () => undefined,
): Promise<Admitted | Refused> {
  const origin = { email: proof.email, address: team.origin?.address }
  const { caller, limits } = team.session ?? (await standingOf(team, origin))
  const inTurn = { ...team, db: outsideShares(team.db) }
  try {
    const judged = await hashQueue.inTurn(caller, async (hasher) => {
      const attempt = await begin(inTurn, limits)
      return 'outcome' in attempt
        ? attempt
        : { attempt, found: await uncountedOnError(team, attempt, () => find(inTurn, proof, hasher, renew)) }
    })
    if ('outcome' in judged) return judged
    const { attempt, found } = judged
    if (!found) return { outcome: 'wrong' }
    return await settle(team, attempt, async (tx) => {
      // The row is locked, so that a password reset happens entirely before or after this.
      if (!(await holdUser(tx, found.user))) return { outcome: 'wrong' }
      const answer = await then(tx, { ...found, origin })
      if (answer.outcome === 'known') await deleteFailuresAt(tx, accountAtPlace(origin))
      return answer
    })
  } catch (error) {
    if (error instanceof Busy) return { outcome: 'busy', wait_seconds: error.wait_seconds }
    throw error
  }
}

async function standingOf(team: Team, origin: Origin) {
  const known = await findPlace(team.db, origin)
  return { limits: attemptLimitsOf(origin, known !== undefined), caller: callerOf(origin, known) }
}

/** Attempts per minute are counted per known place: a stranger at one place must not use up the attempts of the others. */
function callerOf(origin: Origin, known: KnownPlace | undefined): HashCaller {
  const { address } = origin
  if (address === undefined) return { kind: 'local' }
  if (!known) return { kind: 'stranger', address }
  return inQueue(known.user_id, known.partner_id, accountAtPlace(origin).toString('base64'))
}

async function begin(team: Team, limits: readonly AttemptLimit[]): Promise<SignInAttempt | Refused> {
  const attempt = await beginAttempt(team.db, limits)
  return typeof attempt === 'number' ? { outcome: 'too_many_failures', wait_seconds: attempt } : attempt
}

async function find(
  { db }: Team,
  { email, password, operator_only }: SignInCredentials,
  hasher: Hasher,
  renew: Renewal,
): Promise<Omit<Admissible, 'origin'> | undefined> {
  const user = await selectUser(db, email.toLowerCase())
  const fits = await hasher.verify(user?.password_hash ?? NOBODYS_HASH, password)
  if (!user || !fits || (operator_only && user.role !== 'operator')) return undefined
  return { user, fresh: await renew(user, hasher) }
}

/** Uncounts the attempt, unless it failed, in the transaction of its result. */
const settle = <Admitted extends IdentifiedUser>(
  team: Team,
  attempt: SignInAttempt,
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

/** An error of the service does not count as a failed attempt. */
async function uncountedOnError<Result>(
  { db }: Team,
  attempt: SignInAttempt,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    await attempt.uncount(db).catch(() => {})
    throw error
  }
}
