import { refuse } from '../../../core/errors.ts'
import { transaction } from '../../../db/pool.ts'
import {
  beginFactor,
  confirmFactorInBrowser,
  disableFactor,
  findFactor,
  holdSelf,
  renewRecoveryCodes,
} from '../../../parties/team/factor.ts'
import { personRoleOf } from '../../../parties/team/people.ts'
import { endOthers } from '../../../parties/team/sessions.ts'
import { choosePassword } from '../../../parties/team/sign-in.ts'
import {
  changeProfile,
  countRecoveryCodes,
  deleteSessionOf,
  selectProfile,
  selectSessions,
  type User,
} from '../../../parties/team/store.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import {
  beginMyFactor,
  changeMe,
  changeMyPassword,
  confirmMyFactor,
  disableMyFactor,
  endMyOtherSessions,
  endMySession,
  getMe,
  listMySessions,
  renewMyRecoveryCodes,
} from './contract.ts'
import { notedTeam, refuseCredentials } from './own-session.ts'

/** Calls of every signed-in user about themselves. */
export const meRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(getMe, ({ signed }) => renderMe(parts, signed.user)),

  answer(changeMe, async ({ signed, body, ...visit }) => {
    const team = await notedTeam(parts, { ...visit, signed })
    const { id } = signed.user
    const user = await transaction(team.db, async (tx) => {
      await holdSelf(tx, team, signed.user)
      const before = await selectProfile(tx, id)
      const after = { ...before, ...body }
      const changed = await changeProfile(tx, id, after)
      await team.note(tx, 'change_profile', { user: changed }, { before, after })
      return changed
    })
    return renderMe(parts, { ...user, keys_shut_until: signed.user.keys_shut_until })
  }),

  answer(changeMyPassword, async ({ signed, body, ...visit }) => {
    const team = await notedTeam(parts, { ...visit, signed })
    const known = await choosePassword(team, { email: signed.user.email, ...body }, signed)
    // A mistyped password must not sign the user out, so this is not a 401.
    if (known.outcome === 'wrong')
      refuse('invalid_request', { param: 'password', message: 'This is not your password.' })
    return known.outcome === 'known' ? undefined : refuseCredentials(known)
  }),

  ...factorRoutes(parts),
  ...sessionRoutes(parts),
]

const factorRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(beginMyFactor, async ({ signed, ...visit }) =>
    beginFactor(await notedTeam(parts, { ...visit, signed }), signed.user),
  ),

  answer(confirmMyFactor, async ({ signed, body, setSession, ...visit }) => {
    const team = await notedTeam(parts, { ...visit, signed })
    const confirmed = await confirmFactorInBrowser(team, signed.user, body.code, signed.token)
    setSession(confirmed.token)
    return { recovery_codes: confirmed.recovery_codes }
  }),

  answer(disableMyFactor, async ({ signed, ...visit }) => {
    await disableFactor(await notedTeam(parts, { ...visit, signed }), signed.user, signed.token)
    return undefined
  }),

  answer(renewMyRecoveryCodes, async ({ signed, ...visit }) => ({
    recovery_codes: await renewRecoveryCodes(await notedTeam(parts, { ...visit, signed }), signed.user),
  })),
]

const sessionRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(listMySessions, async ({ signed, actor }) => {
    const sessions = await selectSessions(parts.office.shares.shared(actor).db, signed.user.id)
    return {
      data: sessions.map(({ created_at, used_at, ...session }) => ({
        ...session,
        created_at: created_at.toISOString(),
        used_at: used_at.toISOString(),
        current: session.id === signed.session_id,
      })),
    }
  }),

  answer(endMySession, async ({ signed, params: { session_id }, setSession, ...visit }) => {
    const team = await notedTeam(parts, { ...visit, signed })
    const { user } = signed
    await transaction(team.db, async (tx) => {
      await holdSelf(tx, team, user)
      if (!(await deleteSessionOf(tx, user.id, session_id)))
        refuse('object_not_found', { message: 'This session has ended, or is not yours.' })
      await team.note(tx, 'end_session', { user }, { before: { session_id } })
    })
    if (session_id === signed.session_id) setSession(undefined)
    return undefined
  }),

  answer(endMyOtherSessions, async ({ signed, ...visit }) => {
    const team = await notedTeam(parts, { ...visit, signed })
    return transaction(team.db, async (tx) => {
      await holdSelf(tx, team, signed.user)
      const ended = await endOthers(tx, signed.user.id, signed.token)
      await team.note(tx, 'end_other_sessions', { user: signed.user }, { after: { ended } })
      return { ended }
    })
  }),
]

async function renderMe({ office }: ConsoleParts, user: User) {
  const { id, email, name, language, created_at, keys_shut_until } = user
  const shared = office.shares.shared({ user_id: id, partner_id: user.partner_id })
  const factor = await findFactor(shared.db, id)
  return {
    id,
    email,
    name,
    role: personRoleOf(user),
    language,
    created_at: created_at.toISOString(),
    factor: factor
      ? {
          since: factor.confirmed_at!.toISOString(),
          recovery_codes_left: await countRecoveryCodes(shared.db, id),
        }
      : null,
    keys_shut_until: keys_shut_until?.toISOString() ?? null,
  }
}
