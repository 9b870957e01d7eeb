import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { refuse } from '../../core/errors.ts'
import type { Sealer } from '../../core/seal.ts'
import { type Db, transaction } from '../../db/pool.ts'
import { sealInForce } from '../../db/sealing.ts'
import type { Shared } from '../partners/partners.ts'
import { randomGroups } from './password.ts'
import { endOthers, renewSession } from './sessions.ts'
import {
  deleteFactor,
  type Factor,
  factorSealContext,
  insertFactor,
  lockUser,
  markConfirmed,
  replaceRecoveryCodes,
  type SessionOrigin,
  selectFactor,
  type User,
  useActivation,
  useRecoveryCode,
  useStep,
} from './store.ts'

/**
 * The second step of a sign-in: a TOTP code (RFC 6238), one of ten recovery codes, or once, for a user without a
 * second factor, an activation code.
 */
export type Team = Shared & {
  /** Encrypts the TOTP seeds. */
  readonly sealer: Sealer
}

/** Acts of users on their own sign-in and settings. */
type OwnAct =
  | 'sign_in'
  | 'sign_out'
  | 'renew_password'
  | 'change_profile'
  | 'change_notifications'
  | 'confirm_address'
  | 'end_session'
  | 'end_other_sessions'
  | 'use_invitation'
  | 'use_reset'
  | 'confirm_factor'
  | 'disable_factor'
  | 'renew_recovery_codes'
  | 'save_view'
  | 'rename_view'
  | 'delete_view'

/** Writes the line of the act log, last in the transaction of the act. */
type Note = (
  tx: Db,
  action: OwnAct,
  who: { readonly user: Pick<User, 'id' | 'email' | 'partner_id'>; readonly session_id?: string },
  what?: { readonly before?: unknown; readonly after?: unknown },
) => Promise<unknown>

export type NotedTeam = Team & {
  readonly note: Note
  /** Where a session is opened from, if known. */
  readonly origin?: SessionOrigin
  /**
   * Throws if the caller's session has ended. Called with the user's row locked, which every end of a session locks
   * too.
   */
  stillHere?(tx: Db): Promise<void>
}

/** Locks the caller's own row, and checks that the session is still live. */
export async function holdSelf(
  tx: Db,
  { stillHere }: Pick<NotedTeam, 'stillHere'>,
  { id }: Pick<User, 'id'>,
): Promise<void> {
  await lockUser(tx, id)
  await stillHere?.(tx)
}

const SEED_BYTES = 20
const STEP_SECONDS = 30
const DIGITS = 6
/** Clocks of devices differ: the step before and the step after are accepted too. */
const SKEW_STEPS = 1
const RECOVERY_CODES = 10

/** RFC 4226 with SHA-1, of a step of RFC 6238. */
export function codeAt(seed: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', seed).update(counter).digest()
  const number = mac.readUInt32BE(mac[mac.length - 1]! & 0x0f) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

export const stepAt = (seconds: number): number => Math.floor(seconds / STEP_SECONDS)

/** The steps around this moment that have this code. */
function stepsOf(seed: Buffer, now: number, code: string): number[] {
  const given = Buffer.from(code)
  const steps = Array.from({ length: 2 * SKEW_STEPS + 1 }, (_, i) => stepAt(now) - SKEW_STEPS + i)
  return steps.filter((step) => {
    const expected = Buffer.from(codeAt(seed, step))
    return expected.length === given.length && timingSafeEqual(expected, given)
  })
}

/** The typed code without spaces and hyphens. */
const bare = (code: string) => code.replaceAll(/[\s-]/g, '').toLowerCase()

/** A code has 80 bits, so a plain hash is safe. The user id is part of it, so that equal codes have different hashes. */
const hashCode = (user_id: string, code: string) =>
  createHash('sha256')
    .update(`${user_id} ${bare(code)}`)
    .digest()

/**
 * For the first sign-in of a user whose password was set by a proposal: the proposer has this code, the approver the
 * password. Only the hash is stored.
 */
export function newActivation(): { readonly code: string; readonly activation_hash: string } {
  const code = randomGroups(4, 4)
  return { code, activation_hash: hashActivation(code).toString('hex') }
}

const hashActivation = (code: string) => createHash('sha256').update(bare(code)).digest()

const open = ({ sealer }: Team, { id, seed }: Factor) => sealer.open(seed, factorSealContext(id))

export async function findFactor(db: Db, user_id: string) {
  const factor = await selectFactor(db, user_id)
  return factor?.confirmed_at ? factor : undefined
}

/** Checks a code and uses it up: a time step works once, and so does a recovery code. */
export async function useCode(
  tx: Db,
  team: Team,
  factor: Factor & { readonly now: number },
  code: string,
): Promise<boolean> {
  for (const step of stepsOf(open(team, factor), factor.now, bare(code)))
    if (await useStep(tx, factor.id, step)) return true
  return useRecoveryCode(tx, factor.id, hashCode(factor.id, code))
}

/** The second step that a sign-in still needs. */
export type SecondHalf = 'factor' | 'activation'

/** Undefined: no code is needed, or the code was right and is used up. */
export async function judgeCode(
  tx: Db,
  team: Team,
  user: User,
  code: string | undefined,
): Promise<
  | { readonly outcome: 'code_needed'; readonly of: SecondHalf }
  | { readonly outcome: 'wrong_code' }
  | undefined
> {
  const factor = await findFactor(tx, user.id)
  if (!factor && user.activation_hash === null) return undefined
  if (code === undefined) return { outcome: 'code_needed', of: factor ? 'factor' : 'activation' }
  const wrong = { outcome: 'wrong_code' } as const
  if (!factor) return (await useActivation(tx, user.id, hashActivation(code))) ? undefined : wrong
  if (!(await useCode(tx, team, factor, code))) return wrong
  // The second factor makes the activation code unnecessary; do not leave it open.
  if (user.activation_hash) await useActivation(tx, user.id, user.activation_hash)
  return undefined
}

type Enrolment = { readonly secret: string; readonly uri: string }

/** Stores an unconfirmed seed for the user's device. It takes effect with `confirmFactor`. */
export function beginFactor(team: Team & Pick<NotedTeam, 'stillHere'>, user: User): Promise<Enrolment> {
  const seed = randomBytes(SEED_BYTES)
  return transaction(team.db, async (tx) => {
    await holdSelf(tx, team, user)
    const sealed = await sealInForce(tx, team.sealer, seed, factorSealContext(user.id))
    if (!(await insertFactor(tx, user.id, sealed))) refuse('factor_exists')
    const secret = base32(seed)
    return { secret, uri: uriOf(user.email, secret) }
  })
}

/** Confirms the seed by a code of the device. Earlier sessions end, but for the named one. */
export const confirmFactor = (team: NotedTeam, user: User, code: string, token?: string): Promise<string[]> =>
  confirm(team, user, code, async (tx) => void (await endOthers(tx, user.id, token)))

/** The same in a browser: the code is a fresh proof, so the session gets a new token. */
export async function confirmFactorInBrowser(
  team: NotedTeam,
  user: User,
  code: string,
  token: string,
): Promise<{ readonly recovery_codes: string[]; readonly token: string }> {
  let renewed = token
  const recovery_codes = await confirm(team, user, code, async (tx) => {
    await endOthers(tx, user.id, token)
    renewed = await renewSession(tx, token)
  })
  return { recovery_codes, token: renewed }
}

function confirm(
  team: NotedTeam,
  user: User,
  code: string,
  settleSessions: (tx: Db) => Promise<void>,
): Promise<string[]> {
  return transaction(team.db, async (tx) => {
    await holdSelf(tx, team, user)
    const factor = await selectFactor(tx, user.id)
    if (factor?.confirmed_at) refuse('factor_exists')
    if (!factor)
      return refuse('invalid_request', { message: 'There is no second factor to confirm. Begin again.' })
    const step = stepsOf(open(team, factor), factor.now, bare(code)).at(-1)
    if (step === undefined)
      return refuse('invalid_request', {
        param: 'code',
        message:
          'The code does not belong to the new second factor. Check the clock of your device and try again.',
      })
    await markConfirmed(tx, user.id, step)
    await settleSessions(tx)
    const codes = await newRecoveryCodes(tx, user.id)
    await team.note(tx, 'confirm_factor', { user })
    return codes
  })
}

export function disableFactor(team: NotedTeam, user: User, token?: string): Promise<void> {
  return transaction(team.db, async (tx) => {
    await holdSelf(tx, team, user)
    if (!(await deleteFactor(tx, user.id))) refuse('factor_needed', { message: NO_FACTOR })
    await endOthers(tx, user.id, token)
    await team.note(tx, 'disable_factor', { user })
  })
}

const NO_FACTOR = 'You have no second factor. Set one up first.'

/** Replaces the earlier codes. */
export function renewRecoveryCodes(team: NotedTeam, user: User): Promise<string[]> {
  return transaction(team.db, async (tx) => {
    await holdSelf(tx, team, user)
    if (!(await findFactor(tx, user.id))) refuse('factor_needed', { message: NO_FACTOR })
    const codes = await newRecoveryCodes(tx, user.id)
    await team.note(tx, 'renew_recovery_codes', { user })
    return codes
  })
}

async function newRecoveryCodes(tx: Db, user_id: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomGroups(4, 4))
  await replaceRecoveryCodes(
    tx,
    user_id,
    codes.map((code) => hashCode(user_id, code)),
  )
  return codes
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** RFC 4648, for a length that is a multiple of five bytes. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => ALPHABET[Number.parseInt(five, 2)]!)
}

function uriOf(email: string, secret: string): string {
  const query = `secret=${secret}&issuer=Trilho&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`
  return `otpauth://totp/Trilho:${encodeURIComponent(email)}?${query}`
}
