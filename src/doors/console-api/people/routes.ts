import { transaction } from '../../../db/pool.ts'
import { partnerById } from '../../../parties/partners/store.ts'
import { readLink, useLink } from '../../../parties/team/links.ts'
import { endSession } from '../../../parties/team/sessions.ts'
import { proveAgain, signIn } from '../../../parties/team/sign-in.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { countActsOfPartner, exportActsOfPartner, listActsOfPartner } from './acts.ts'
import {
  exportActs,
  getSession,
  listActs,
  proveInConsole,
  readLinkInConsole,
  signInToConsole,
  signOutOfConsole,
  totalActs,
  useLinkInConsole,
} from './contract.ts'
import { meRoutes } from './me.ts'
import { notedTeam, refuseCredentials, renderSession, renderToken } from './own-session.ts'
import { openSignIns } from './sign-ins.ts'
import { teamRoutes } from './team.ts'
import { viewRoutes } from './views.ts'

export const peopleRoutes = (
  parts: ConsoleParts,
  signIns = openSignIns(parts.office.worlds.production),
): ConsoleHandler[] => [
  answer(getSession, async ({ signed }) => renderSession(parts, signed)),

  answer(signInToConsole, async ({ body, signed, setSession, ...visit }) => {
    signIns.assertFewer(body.email)
    const team = await notedTeam(parts, { ...visit, signed: undefined })
    const known = await signIn(team, body)
    if (known.outcome !== 'known') return refuseCredentials(known)
    signIns.count(body.email)
    // The browser replaces the old cookie, so nobody has its token any more.
    if (signed) await transaction(team.db, (tx) => endSession(tx, team, signed.token))
    setSession(known.token)
    const { new_password } = known
    return { ...(await renderToken(parts, known.token, visit)), ...(new_password ? { new_password } : {}) }
  }),

  answer(signOutOfConsole, async ({ signed, setSession, ...visit }) => {
    const team = await notedTeam(parts, { ...visit, signed })
    await transaction(team.db, (tx) => endSession(tx, team, signed.token))
    setSession(undefined)
    return undefined
  }),

  answer(proveInConsole, async ({ signed, body, setSession, ...visit }) => {
    const known = await proveAgain(await notedTeam(parts, { ...visit, signed }), signed, body)
    if (known.outcome !== 'known') return refuseCredentials(known)
    setSession(known.token)
    return renderToken(parts, known.token, visit)
  }),

  answer(readLinkInConsole, async ({ body, address }) => {
    const { db } = parts.office.shares.shared({ address })
    const { kind, email, name, partner_id, role, expires_at } = await readLink(db, body.token)
    const partner = await partnerById(db, partner_id)
    return { kind, email, name, partner: partner.name, role, expires_at: expires_at.toISOString() }
  }),

  answer(useLinkInConsole, async ({ body, ...visit }) => {
    const used = await useLink(await notedTeam(parts, { ...visit, signed: undefined }), body)
    return used.outcome === 'known' ? { email: used.user.email } : refuseCredentials(used)
  }),

  ...meRoutes(parts),
  ...viewRoutes(parts),
  ...teamRoutes(parts),
  answer(listActs, ({ actor, query }) => listActsOfPartner(parts, actor, query)),
  answer(exportActs, (call) => exportActsOfPartner(parts, call)),
  answer(totalActs, ({ actor, query }) => countActsOfPartner(parts, actor, query)),
]
