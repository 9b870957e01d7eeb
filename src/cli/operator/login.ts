import { transaction } from '../../db/pool.ts'
import {
  beginFactor,
  confirmFactor,
  disableFactor,
  findFactor,
  type NotedTeam,
  renewRecoveryCodes,
  type SecondHalf,
} from '../../parties/team/factor.ts'
import { personRoleOf } from '../../parties/team/people.ts'
import { endSession } from '../../parties/team/sessions.ts'
import {
  identify,
  type Refused,
  renewPassword,
  type SignInCredentials,
  signIn,
} from '../../parties/team/sign-in.ts'
import { countRecoveryCodes, lockName } from '../../parties/team/store.ts'
import { note } from '../../records/acts/log.ts'
import { ask } from '../ask.ts'
import { type Input, NotAllowed, type Output, type Reach, requiredOption } from '../command.ts'
import { type Io, isTerminal } from '../io.ts'
import { actorOf, namedOperator, refuseProof, sessionOf, teamOf } from './actor.ts'
import { forgetSession, keepSession, readSession, type SessionPlace, sessionPlace } from './session-file.ts'

async function passwordOf(io: Io, email: string): Promise<string> {
  const given = io.env.OPERATOR_PASSWORD
  if (given) return given
  if (!isTerminal(io))
    throw new NotAllowed('Set OPERATOR_PASSWORD to your password, or run this at a terminal.')
  const typed = await ask(io, `Password of ${email}: `, { hidden: true })
  return typed === '' ? nothingTyped() : typed
}

const questions = {
  factor: 'Code of your second factor, or a recovery code: ',
  activation: 'Activation code, from the operator who proposed your password: ',
}

async function codeOf(io: Io, of: SecondHalf, question = questions[of]): Promise<string> {
  const given = io.env.OPERATOR_CODE
  if (given) return given
  if (!isTerminal(io)) refuseProof({ outcome: 'code_needed', of })
  const typed = await ask(io, question)
  return typed === '' ? nothingTyped() : typed
}

function nothingTyped(): never {
  throw new Error('Nothing was typed; nothing was done.')
}

/** Asks for a one-time code only when the password is right and the user has a second factor. */
async function prove<Known extends { readonly outcome: 'known' }>(
  io: Io,
  email: string,
  attempt: (proof: SignInCredentials) => Promise<Known | Refused>,
): Promise<Known> {
  const proof = { email, password: await passwordOf(io, email), operator_only: true }
  const first = await attempt({ ...proof, code: io.env.OPERATOR_CODE || undefined })
  const known =
    first.outcome === 'code_needed' ? await attempt({ ...proof, code: await codeOf(io, first.of) }) : first
  return known.outcome === 'known' ? known : refuseProof(known)
}

/** A change of one's own password or second factor needs a fresh proof of identity: a stolen session must not be enough. */
async function proveOneself<Known extends { readonly outcome: 'known' }>(
  input: Input,
  reach: Reach,
  attempt: (team: NotedTeam, proof: SignInCredentials, token: string | undefined) => Promise<Known | Refused>,
): Promise<Known & { readonly team: NotedTeam; readonly token: string | undefined }> {
  const session = await sessionOf(input, reach.shared)
  const email = namedOperator(input) ?? session?.user.email
  if (email === undefined)
    throw new NotAllowed(
      'This changes your own sign-in: say who you are with --as EMAIL, or sign in first: trilho login --operator EMAIL',
    )
  const team = await notedTeam(input, reach)
  const token = session?.token
  return { ...(await prove(input.io, email, (proof) => attempt(team, proof, token))), team, token }
}

const oneself = (input: Input, reach: Reach) => proveOneself(input, reach, identify)

/** Changes of one's own sign-in are written to the audit log of the shared schema. */
async function notedTeam(input: Input, { shared, office }: Reach): Promise<NotedTeam> {
  const pen = await office.log.pen('shared', { kind: 'shell' })
  return {
    ...(await teamOf(input, shared)),
    note(tx, action, { user: { id, email }, ...session }) {
      const actor = { kind: 'operator', user_id: id, email, ...session } as const
      return note(tx, { ...pen, actor }, { action, object_id: id, before: null, after: null })
    },
  }
}

/**
 * Replaces the stored session and ends the one it held. Concurrent sign-ins take turns, so no session stays open that no file
 * holds.
 */
async function replaceSession(team: NotedTeam, place: SessionPlace, token: string | undefined) {
  const replaced = transaction(team.db, async (tx) => {
    await lockName(tx, `session in ${place.file}`)
    const before = await readSession(place)
    if (token === undefined) await forgetSession(place)
    else await keepSession(place, token)
    if (before !== undefined) await endSession(tx, team, before)
  })
  await replaced.catch(async (error: unknown) => {
    if (token !== undefined) await transaction(team.db, (tx) => endSession(tx, team, token))
    throw error
  })
}

const inGroups = (secret: string) => secret.match(/.{1,4}/g)!.join(' ')

const seedShown = ({ secret, uri }: { secret: string; uri: string }) =>
  `Add this to an app for one-time codes, as a link or by hand:\n\n  ${uri}\n  ${inGroups(secret)}\n\n`

const codesShown = (recovery_codes: readonly string[]): Output => ({
  json: { second_factor: true, recovery_codes },
  text: `Recovery codes, shown once. Each works once, in place of a code; store them apart from your device.\n\n${recovery_codes.map((code) => `  ${code}\n`).join('')}`,
})

export async function factorEnroll(input: Input, reach: Reach): Promise<Output> {
  const { user, team, token } = await oneself(input, reach)
  if (input.options.confirm !== true) {
    const seed = await beginFactor(team, user)
    if (!isTerminal(input.io))
      return {
        json: { second_factor: false, ...seed },
        text: `${seedShown(seed)}The second factor is not active yet. Set OPERATOR_CODE to its first code and run: trilho factor enroll --confirm\n`,
      }
    input.io.stderr.write(seedShown(seed))
  }
  const code = await codeOf(input.io, 'factor', 'The first code that it shows: ')
  return codesShown(await confirmFactor(team, user, code, token))
}

const newPasswordShown = (password: string) =>
  `Your new password, shown once: ${password}\nThe old one no longer works.`

export async function login(input: Input, reach: Reach): Promise<Output> {
  const place = sessionPlace(input.config, input.io.env)
  // A session file that cannot be trusted is reported before the operator types a password.
  await readSession(place)
  requiredOption(input, 'operator')
  const email = namedOperator(input)!
  const team = await notedTeam(input, reach)
  const { user, token, new_password } = await prove(input.io, email, (proof) => signIn(team, proof))
  await replaceSession(team, place, token)
  const role = personRoleOf(user)
  return {
    json: { email: user.email, role, ...(new_password ? { new_password } : {}) },
    text: `${new_password ? `${newPasswordShown(new_password)} It was replaced because somebody else has seen it.\n\n` : ''}Signed in as ${user.email} (${role}). The session ends after 30 minutes without a command, at the latest in 12 hours, or with: trilho logout\n`,
  }
}

export async function logout(input: Input, reach: Reach): Promise<Output> {
  const place = sessionPlace(input.config, input.io.env)
  if ((await readSession(place)) === undefined)
    return { json: { ended: false }, text: 'Nobody is signed in here.\n' }
  await replaceSession(await notedTeam(input, reach), place, undefined)
  return { json: { ended: true }, text: 'Signed out.\n' }
}

export async function whoami(input: Input, { shared }: Reach): Promise<Output> {
  const actor = await actorOf(input, shared)
  if (actor.kind === 'shell')
    return {
      json: { actor },
      text: 'Nobody is signed in here: commands act as the shell. To sign in: trilho login --operator EMAIL\n',
    }
  const second_factor = (await findFactor(shared.db, actor.user_id)) !== undefined
  const left = await countRecoveryCodes(shared.db, actor.user_id)
  const factor = second_factor
    ? `With a second factor; ${left} recovery codes are left.`
    : 'Without a second factor. To add one: trilho factor enroll'
  return {
    json: { actor, second_factor, recovery_codes_left: left },
    text: `${actor.email} (${actor.role})\n${factor}\n`,
  }
}

export async function password(input: Input, reach: Reach): Promise<Output> {
  const { user, new_password } = await proveOneself(input, reach, renewPassword)
  return {
    json: { email: user.email, new_password },
    text: `${newPasswordShown(new_password)} All other sessions of ${user.email} have ended.\n`,
  }
}

export async function factorDisable(input: Input, reach: Reach): Promise<Output> {
  const { user, team, token } = await oneself(input, reach)
  await disableFactor(team, user, token)
  return { json: { second_factor: false }, text: 'The second factor and its recovery codes are removed.\n' }
}

export async function factorRecoveryCodes(input: Input, reach: Reach): Promise<Output> {
  const { user, team } = await oneself(input, reach)
  return codesShown(await renewRecoveryCodes(team, user))
}
