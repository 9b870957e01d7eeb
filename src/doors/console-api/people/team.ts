import type { PartnerRole, PersonActor } from '../../../core/actor.ts'
import { refuse } from '../../../core/errors.ts'
import type { Db } from '../../../db/pool.ts'
import { limitNames, limitsOfPartner } from '../../../limits/tiers.ts'
import { endpointLimits } from '../../../limits/window-limits.ts'
import { type MoneyLimitName, moneyLimitNames, moneyLimitsOf } from '../../../money/money-limits/store.ts'
import type { Shared } from '../../../parties/partners/partners.ts'
import { partnerById } from '../../../parties/partners/store.ts'
import { invite, makeReset, type ShownLink, withdrawInvitation } from '../../../parties/team/links.ts'
import {
  describeUser,
  findColleague,
  lockTeamAsOwner,
  personRoleOf,
  removeUser,
  resetFactor,
  setRole,
} from '../../../parties/team/people.ts'
import { type PasswordLink, selectInvitations, selectTeam, type User } from '../../../parties/team/store.ts'
import type { LoggedAction } from '../../../records/acts/actions.ts'
import type { ActEntry } from '../../../records/acts/line.ts'
import type { World } from '../../../world.ts'
import { endpoints } from '../../api/endpoints.ts'
import { actInShared } from '../act.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import {
  changeColleague,
  createInvitation,
  createReset,
  getAccountInConsole,
  getTeam,
  removeColleague,
  resetColleagueFactor,
  withdrawInvitationInConsole,
} from './contract.ts'

/** A partner's team, managed by its owners, and the terms of the partner. */
export const teamRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(getAccountInConsole, async ({ actor }) => renderAccount(parts, actor)),

  answer(getTeam, async ({ actor }) => {
    const { partner_id } = actor
    const { db } = parts.office.shares.shared(actor)
    const [people, invitations] = await Promise.all([
      selectTeam(db, partner_id),
      selectInvitations(db, partner_id),
    ])
    return { people: people.map(renderColleague), invitations: invitations.map(renderInvitation) }
  }),

  ...colleagueRoutes(parts),
  ...linkRoutes(parts),
]

const colleagueRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(changeColleague, async ({ actor, params: { user_id }, body: { role } }) => {
    await onColleague(parts, actor, user_id, 'set_role', async (tx, user) =>
      describeUser(await setRole(tx, user.email, role)),
    )
    return undefined
  }),

  answer(removeColleague, async ({ actor, params: { user_id } }) => {
    await onColleague(parts, actor, user_id, 'remove_user', async (tx, user) => {
      await removeUser(tx, user.email)
      return null
    })
    return undefined
  }),

  answer(resetColleagueFactor, async ({ actor, params: { user_id } }) => {
    if (user_id === actor.user_id)
      refuse('invalid_request', { message: 'Another owner resets your second factor, or two operators.' })
    await onColleague(parts, actor, user_id, 'reset_factor', async (tx, user) =>
      describeUser(await resetFactor(tx, user.email)),
    )
    return undefined
  }),
]

const linkRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(createInvitation, ({ actor, body: { form_id, ...invited } }) =>
    shownOnce(parts, { actor, form_id, page: 'invite' }, async (here) => {
      const made = await invite(here, actor, invited)
      return { made, entry: { action: 'invite', object_id: made.link.id, before: null, after: made.link } }
    }),
  ),

  answer(withdrawInvitationInConsole, async ({ actor, params: { link_id } }) => {
    await actInShared(parts.office, actor, async ({ db }) => {
      await lockTeamAsOwner(db, actor)
      const link = await withdrawInvitation(db, actor.partner_id, link_id)
      const entry: ActEntry = { action: 'withdraw_invitation', object_id: link_id, before: link, after: null }
      return { result: undefined, entry }
    })
    return undefined
  }),

  answer(createReset, ({ actor, body: { form_id, user_id } }) =>
    shownOnce(parts, { actor, form_id, page: 'reset' }, async (here) => {
      const made = await makeReset(here, actor, user_id)
      const after = { link_id: made.link.id, expires_at: made.link.expires_at }
      return { made, entry: { action: 'reset_password', object_id: user_id, before: null, after } }
    }),
  ),
]

/** An owner's act on a member of the team: the state before, the act and the state after in one transaction. */
function onColleague(
  { office }: ConsoleParts,
  actor: PersonActor,
  user_id: string,
  action: LoggedAction,
  work: (tx: Db, user: User) => Promise<unknown>,
): Promise<void> {
  const treat = async ({ db }: Shared): Promise<{ result: undefined; entry: ActEntry }> => {
    await lockTeamAsOwner(db, actor)
    const user = await findColleague(db, actor.partner_id, user_id)
    const after = await work(db, user)
    return { result: undefined, entry: { action, object_id: user_id, before: describeUser(user), after } }
  }
  return actInShared(office, actor, treat, { object_id: user_id })
}

/** Returns the URL of the page that asks for the password. Its token is shown only here. */
function shownOnce(
  { office, public_url }: ConsoleParts,
  { actor, form_id, page }: { actor: PersonActor; form_id: string; page: 'invite' | 'reset' },
  make: (here: Shared) => Promise<{
    made: ShownLink
    entry: ActEntry & { object_id: string }
  }>,
) {
  return actInShared(
    office,
    actor,
    async (here) => {
      await lockTeamAsOwner(here.db, actor)
      const { made, entry } = await make(here)
      const { id, expires_at } = made.link
      const link = `${public_url()}/console/${page}/${made.token}`
      return { result: { id, link, expires_at: expires_at.toISOString() }, entry }
    },
    { form_id },
  )
}

const renderColleague = (person: Awaited<ReturnType<typeof selectTeam>>[number]) => ({
  id: person.id,
  email: person.email,
  name: person.name,
  role: personRoleOf(person) as PartnerRole,
  factor: person.second_factor,
  last_seen_at: person.seen_at?.toISOString() ?? null,
  created_at: person.created_at.toISOString(),
})

const renderInvitation = ({ id, email, name, role, made_by, created_at, expires_at }: PasswordLink) => ({
  id,
  email,
  name,
  role: role!,
  made_by,
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
})

async function renderAccount({ office: { shares, worlds } }: ConsoleParts, actor: PersonActor) {
  const { partner_id } = actor
  const partner = await partnerById(shares.shared(actor).db, partner_id)
  const { id, name, tier, service_fee_bps, partner_fee_share_pct, third_party_payouts } = partner
  const limits = limitsOfPartner(tier, partner)
  return {
    id,
    name,
    tier,
    pix_fee: String(partner.pix_fee),
    service_fee_bps,
    partner_fee_share_pct,
    third_party_payouts,
    limits,
    endpoint_limits: endpointLimits(limits, endpoints),
    own_limits: limitNames.filter((name) => partner[name] !== null),
    money_limits: {
      production: await renderMoneyLimits(shares.world(worlds.production, actor), partner_id),
      sandbox: await renderMoneyLimits(shares.world(worlds.sandbox, actor), partner_id),
    },
    created_at: partner.created_at.toISOString(),
  }
}

async function renderMoneyLimits({ reads }: World, partner_id: string) {
  const limits = await moneyLimitsOf(reads, partner_id)
  return Object.fromEntries(
    moneyLimitNames.map((name) => [name, limits?.[name]?.toString() ?? null]),
  ) as Record<MoneyLimitName, string | null>
}
