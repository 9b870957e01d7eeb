import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { refuse } from '../core/errors.ts'
import type { Sealer } from '../core/seal.ts'
import { type Db, transaction } from '../db/pool.ts'
import { sealInForce } from '../db/sealing.ts'
import type { Shared } from '../partners/partners.ts'
import { randomGroups } from './password.ts'
import { endOthers, renewSession } from './sessions.ts'
import {
  deleteFactor,
  type Factor,
  insertFactor,
  lockUser,
  markConfirmed,
  replaceRecoveryCodes,
  type SessionOrigin,
  sealedFor,
  selectFactor,
  type User,
  useActivation,
  useRecoveryCode,
  useStep,
} from './store.ts'

/**
 * What a person shows beside the password: six digits that follow from a seed and the time (RFC 6238), or one of ten
 * recovery codes; or once, who has neither, an activation code.
 */
export type Team = Shared & {
  /** Seeds are sealed. */
  readonly sealer: Sealer
}

/** What people do to their own sign-in. */
export type OwnAct =
  | 'sign_in'
  | 'sign_out'
  | 'renew_password'
  | 'change_profile'
  | 'end_session'
  | 'end_other_sessions'
  | 'use_invitation'
  | 'use_reset'
  | 'confirm_factor'
  | 'disable_factor'
  | 'renew_recovery_codes'

/** Writes down who did it, last in the transaction that does it. */
export type Note = (
  tx: Db,
  action: OwnAct,
  who: { readonly user: Pick<User, 'id' | 'email' | 'partner_id'>; readonly session_id?: string },
  what?: { readonly before?: unknown; readonly after?: unknown },
) => Promise<unknown>

export type NotedTeam = Team & {
  readonly note: Note
  /** Where a session is opened from, if that is known. */
  readonly origin?: SessionOrigin
  /** Throws when whoever asked is signed in no more. Asked where the person is held: what ends a session holds it too. */
  stillHere?(tx: Db): Promise<void>
}

/** Somebody about themselves. */
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
/** Clocks of devices differ: the step before and the one after count too. */
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

/** What a person typed, without the gaps that make it readable. */
const bare = (code: string) => code.replaceAll(/[\s-]/g, '').toLowerCase()

/** 80 bits, so a plain hash does; of the person too, so that equal codes do not show. */
const hashCode = (user_id: string, code: string) =>
  createHash('sha256')
    .update(`${user_id} ${bare(code)}`)
    .digest()

/**
 * For the first sign-in of somebody whom two people made, or gave a new password: who proposed it has the code, who approved
 * it the password. Only the hash is kept.
 */
export function newActivation(): { readonly code: string; readonly activation_hash: string } {
  const code = randomGroups(4, 4)
  return { code, activation_hash: hashActivation(code).toString('hex') }
}

const hashActivation = (code: string) => createHash('sha256').update(bare(code)).digest()

const open = ({ sealer }: Team, { id, seed }: Factor) => sealer.open(seed, sealedFor(id))

export async function findFactor(db: Db, user_id: string) {
  const factor = await selectFactor(db, user_id)
  return factor?.confirmed_at ? factor : undefined
}

/** Whether the code is right, which uses it up: a step counts once, and so does a recovery code. */
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

/** What a person must show beside the password, if anything. */
export type SecondHalf = 'factor' | 'activation'

/** Undefined: nothing more is needed, or it was shown, and is used up by that. */
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
  // A second factor does what the activation code is for: none is left over.
  if (user.activation_hash) await useActivation(tx, user.id, user.activation_hash)
  return undefined
}

export type Enrolment = { readonly secret: string; readonly uri: string }

/** A seed for the person's device. It does not count before `confirmFactor`. */
export function beginFactor(team: Team & Pick<NotedTeam, 'stillHere'>, user: User): Promise<Enrolment> {
  const seed = randomBytes(SEED_BYTES)
  return transaction(team.db, async (tx) => {
    await holdSelf(tx, team, user)
    const sealed = await sealInForce(tx, team.sealer, seed, sealedFor(user.id))
    if (!(await insertFactor(tx, user.id, sealed))) refuse('factor_exists')
    const secret = base32(seed)
    return { secret, uri: uriOf(user.email, secret) }
  })
}

/** The device has the seed: from now on it counts, and sessions from before end, but the one that is named. */
export const confirmFactor = (team: NotedTeam, user: User, code: string, token?: string): Promise<string[]> =>
  confirm(team, user, code, async (tx) => void (await endOthers(tx, user.id, token)))

/** The same in a browser: a code was shown, so its session goes on under another token. */
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
          'This is not the code of the new second factor, which does not count yet. See that the clock of your device is right, and try again.',
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

/** Those from before work no longer. */
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

/** RFC 4648, for a whole number of groups of five bytes. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => ALPHABET[Number.parseInt(five, 2)]!)
}

function uriOf(email: string, secret: string): string {
  const query = `secret=${secret}&issuer=Trilho&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`
  return `otpauth://totp/Trilho:${encodeURIComponent(email)}?${query}`
}
