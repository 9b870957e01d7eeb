import { Type as T } from 'typebox'
import { operatorRoles, partnerRoles } from '../../../core/actor.ts'
import { Fields, Id, Page, pageQuery, Text, Timestamp, timeQuery, Units } from '../../../http/schema.ts'
import { limitNames, tierNames } from '../../../limits/tiers.ts'
import { type MoneyLimitName, moneyLimitNames } from '../../../money/money-limits/store.ts'
import { languages } from '../../../parties/team/store.ts'
import { csvQuery } from '../csv.ts'
import { type ConsoleEndpoint, consoleEndpoint, FormId } from '../endpoint.ts'
import { orderQuery, TotalsObject } from '../list-schema.ts'

const Email = T.String({
  minLength: 3,
  maxLength: 254,
  description: 'E-mail',
  examples: ['ana@acme.example'],
})
const Password = T.String({ minLength: 1, maxLength: 200, description: 'Password', examples: ['a password'] })
const Code = T.String({
  minLength: 1,
  maxLength: 64,
  description: 'Of the second factor, or a recovery code',
  examples: ['123456'],
})
const Name = Text(80, 'Name', { examples: ['Ana Souza'] })
const PartnerRoleName = T.Enum([...partnerRoles])
const Language = T.Union([T.Enum([...languages]), T.Null()], { description: 'Null: as the browser says' })
const OrNull = <S extends Parameters<typeof T.Union>[0][number]>(schema: S) => T.Union([schema, T.Null()])

const Nobody = T.Object({ signed_in: T.Literal(false) })

const somebody = {
  signed_in: T.Literal(true),
  csrf_token: T.String({ description: 'To be sent as X-Csrf-Token with every change' }),
  person: T.Object({
    id: Id('user'),
    email: T.String(),
    name: T.String(),
    role: T.Enum([...partnerRoles, ...operatorRoles]),
    language: Language,
  }),
  /** Null for an operator. */
  partner: OrNull(T.Object({ id: Id('partner'), name: T.String() })),
  permits: T.Array(T.String(), { description: 'What this role may, by the names of console-api/permits.ts' }),
  factor: T.Boolean({ description: 'Whether there is a second factor' }),
  proved_until: OrNull(Timestamp),
}
const Somebody = T.Object(somebody)

export const SessionObject = T.Union([Nobody, Somebody])

export const getSession = consoleEndpoint({
  name: 'console.session.get',
  route: 'GET /console/api/session',
  summary: 'Who is signed in, and what they may',
  permit: 'anybody',
  reply: { status: 200, schema: SessionObject },
})

export const signInToConsole = consoleEndpoint({
  name: 'console.session.sign_in',
  route: 'POST /console/api/session',
  summary: 'Sign in',
  permit: 'anybody',
  body: Fields({ email: Email, password: Password, code: T.Optional(Code) }),
  reply: {
    status: 200,
    schema: T.Object({
      ...somebody,
      new_password: T.Optional(
        T.String({
          description: 'After an activation code: takes the place of the one that others have seen',
        }),
      ),
    }),
  },
  errors: ['wrong_credentials', 'code_needed', 'rate_limit_exceeded'],
})

export const signOutOfConsole = consoleEndpoint({
  name: 'console.session.sign_out',
  route: 'DELETE /console/api/session',
  summary: 'Sign out',
  permit: 'self',
  protects: true,
  reply: { status: 204 },
})

export const proveInConsole = consoleEndpoint({
  name: 'console.session.prove',
  route: 'POST /console/api/session/proof',
  summary: 'Show once more who one is: a code, or the password where there is no second factor',
  permit: 'self',
  body: Fields({ code: T.Optional(Code), password: T.Optional(Password) }),
  reply: { status: 200, schema: Somebody },
  errors: ['wrong_credentials', 'code_needed', 'rate_limit_exceeded'],
})

const Me = T.Object({
  id: Id('user'),
  email: T.String(),
  name: T.String(),
  role: T.Enum([...partnerRoles, ...operatorRoles]),
  language: Language,
  created_at: Timestamp,
  factor: OrNull(T.Object({ since: Timestamp, recovery_codes_left: T.Integer() })),
  keys_shut_until: OrNull(Timestamp),
})

export const getMe = consoleEndpoint({
  name: 'console.me.get',
  route: 'GET /console/api/me',
  summary: 'Oneself',
  permit: 'self',
  reply: { status: 200, schema: Me },
})

export const changeMe = consoleEndpoint({
  name: 'console.me.change',
  route: 'PATCH /console/api/me',
  summary: 'Change one’s own name or language',
  permit: 'self',
  body: Fields({ name: T.Optional(Name), language: T.Optional(Language) }),
  reply: { status: 200, schema: Me },
})

export const changeMyPassword = consoleEndpoint({
  name: 'console.me.change_password',
  route: 'POST /console/api/me/password',
  summary: 'Choose another password; all other sessions of one’s own end',
  permit: 'self',
  proof: 'always',
  body: Fields({ password: Password, new_password: Password }),
  reply: { status: 204 },
  errors: ['rate_limit_exceeded'],
})

const RecoveryCodes = T.Object({
  recovery_codes: T.Array(T.String(), { description: 'Shown this once; each works once' }),
})

export const beginMyFactor = consoleEndpoint({
  name: 'console.me.begin_factor',
  route: 'POST /console/api/me/factor',
  summary: 'Begin a second factor; it counts once a code of it was shown',
  permit: 'self',
  proof: 'always',
  reply: { status: 200, schema: T.Object({ secret: T.String(), uri: T.String() }) },
  errors: ['factor_exists'],
})

export const confirmMyFactor = consoleEndpoint({
  name: 'console.me.confirm_factor',
  route: 'POST /console/api/me/factor/confirm',
  summary: 'Show a first code of the new second factor; all other sessions of one’s own end',
  permit: 'self',
  proof: 'always',
  body: Fields({ code: Code }),
  reply: { status: 200, schema: RecoveryCodes },
  errors: ['factor_exists'],
})

export const disableMyFactor = consoleEndpoint({
  name: 'console.me.disable_factor',
  route: 'DELETE /console/api/me/factor',
  summary: 'Take one’s own second factor away; all other sessions of one’s own end',
  permit: 'self',
  proof: 'always',
  reply: { status: 204 },
  errors: ['factor_needed'],
})

export const renewMyRecoveryCodes = consoleEndpoint({
  name: 'console.me.renew_recovery_codes',
  route: 'POST /console/api/me/factor/recovery-codes',
  summary: 'Ten new recovery codes; those from before work no longer',
  permit: 'self',
  proof: 'always',
  reply: { status: 200, schema: RecoveryCodes },
  errors: ['factor_needed'],
})

const SessionLine = T.Object({
  id: Id('session'),
  address: OrNull(T.String({ description: 'Null: a terminal' })),
  agent: OrNull(T.String()),
  created_at: Timestamp,
  used_at: Timestamp,
  current: T.Boolean(),
})

export const listMySessions = consoleEndpoint({
  name: 'console.me.sessions.list',
  route: 'GET /console/api/me/sessions',
  summary: 'Where one is signed in',
  permit: 'self',
  reply: { status: 200, schema: T.Object({ data: T.Array(SessionLine) }) },
})

export const endMySession = consoleEndpoint({
  name: 'console.me.sessions.end',
  route: 'DELETE /console/api/me/sessions/{session_id}',
  summary: 'End a session of one’s own',
  permit: 'self',
  protects: true,
  params: T.Object({ session_id: Id('session') }),
  reply: { status: 204 },
  errors: ['object_not_found'],
})

export const endMyOtherSessions = consoleEndpoint({
  name: 'console.me.sessions.end_others',
  route: 'DELETE /console/api/me/sessions',
  summary: 'End all sessions of one’s own but this one',
  permit: 'self',
  protects: true,
  reply: { status: 200, schema: T.Object({ ended: T.Integer() }) },
})

/** The lists of the console that have filters. */
const viewPages = [
  'payouts',
  'transfers',
  'customers',
  'charges',
  'quotes',
  'trades',
  'events',
  'requests',
  'webhook',
  'audit',
] as const

const ViewName = Text(60, 'Name', { examples: ['Failed this week'] })
const viewFields = {
  environment: OrNull(T.Enum(['production', 'sandbox'])),
  page: T.Enum([...viewPages]),
  name: ViewName,
  filters: T.Record(T.String({ pattern: '^[a-z_]{1,40}$' }), T.String({ maxLength: 255 }), {
    maxProperties: 20,
    description: 'The query of the page’s address',
    examples: [{ status: 'failed' }],
  }),
}
const View = T.Object({ id: Id('view'), ...viewFields }, { $id: 'SavedView' })
const viewParams = T.Object({ view_id: Id('view') })

export const listMyViews = consoleEndpoint({
  name: 'console.me.views.list',
  route: 'GET /console/api/me/views',
  summary: 'The views of lists that one saved, by name',
  permit: 'self',
  reply: { status: 200, schema: T.Object({ data: T.Array(View) }) },
})

export const saveMyView = consoleEndpoint({
  name: 'console.me.views.save',
  route: 'POST /console/api/me/views',
  summary: 'Save the filters of a list under a name; a view of that name is replaced',
  permit: 'self',
  body: Fields(viewFields),
  reply: { status: 201, schema: View },
  errors: ['not_possible'],
})

export const changeMyView = consoleEndpoint({
  name: 'console.me.views.rename',
  route: 'PATCH /console/api/me/views/{view_id}',
  summary: 'Give a saved view another name',
  permit: 'self',
  params: viewParams,
  body: Fields({ name: ViewName }),
  reply: { status: 200, schema: View },
  errors: ['object_not_found', 'not_possible'],
})

export const deleteMyView = consoleEndpoint({
  name: 'console.me.views.delete',
  route: 'DELETE /console/api/me/views/{view_id}',
  summary: 'Delete a saved view',
  permit: 'self',
  params: viewParams,
  reply: { status: 204 },
  errors: ['object_not_found'],
})

const IntegerOrNull = OrNull(T.Integer())
const UnitsOrNull = OrNull(Units)
const limits = Object.fromEntries(limitNames.map((name) => [name, IntegerOrNull])) as Record<
  (typeof limitNames)[number],
  typeof IntegerOrNull
>
const MoneyLimits = T.Object(
  Object.fromEntries(moneyLimitNames.map((name) => [name, UnitsOrNull])) as Record<
    MoneyLimitName,
    typeof UnitsOrNull
  >,
)

export const getAccountInConsole = consoleEndpoint({
  name: 'console.account.get',
  route: 'GET /console/api/account',
  summary: 'What was agreed with the partner: tier, fees, limits',
  permit: 'read',
  reply: {
    status: 200,
    schema: T.Object({
      id: Id('partner'),
      name: T.String(),
      tier: T.Enum([...tierNames]),
      pix_fee: Units,
      service_fee_bps: T.Integer(),
      partner_fee_share_pct: T.Integer(),
      third_party_payouts: T.Boolean(),
      limits: T.Object(limits, { description: 'What is in force for a key without figures of its own' }),
      endpoint_limits: T.Array(T.Object({ endpoint: T.String(), per_minute: T.Integer() })),
      own_limits: T.Array(T.Enum([...limitNames]), {
        description: 'Those that were agreed with the partner; the others are the usual ones',
      }),
      money_limits: T.Object({ production: MoneyLimits, sandbox: MoneyLimits }),
      created_at: Timestamp,
    }),
  },
})

const Colleague = T.Object({
  id: Id('user'),
  email: T.String(),
  name: T.String(),
  role: PartnerRoleName,
  factor: T.Boolean(),
  last_seen_at: OrNull(Timestamp),
  created_at: Timestamp,
})

const Invitation = T.Object({
  id: Id('link'),
  email: T.String(),
  name: T.String(),
  role: PartnerRoleName,
  made_by: T.String(),
  created_at: Timestamp,
  expires_at: Timestamp,
})

export const getTeam = consoleEndpoint({
  name: 'console.team.get',
  route: 'GET /console/api/team',
  summary: 'The people of the partner, and the invitations that are open',
  permit: 'read',
  reply: {
    status: 200,
    schema: T.Object({ people: T.Array(Colleague), invitations: T.Array(Invitation) }),
  },
})

const OfColleague = T.Object({ user_id: Id('user') })

export const changeColleague = consoleEndpoint({
  name: 'console.team.change_role',
  route: 'PATCH /console/api/team/{user_id}',
  summary: 'Change what a person may; all sessions of the person end',
  permit: 'people.write',
  params: OfColleague,
  body: Fields({ role: PartnerRoleName }),
  reply: { status: 204 },
  errors: ['object_not_found', 'last_owner'],
})

export const removeColleague = consoleEndpoint({
  name: 'console.team.remove',
  route: 'DELETE /console/api/team/{user_id}',
  summary: 'Remove a person; all sessions of the person end',
  permit: 'people.write',
  protects: true,
  params: OfColleague,
  reply: { status: 204 },
  errors: ['object_not_found', 'last_owner'],
})

export const resetColleagueFactor = consoleEndpoint({
  name: 'console.team.reset_factor',
  route: 'DELETE /console/api/team/{user_id}/factor',
  summary: 'Take a person’s second factor away; keys of production are shut to the person for 24 hours',
  permit: 'people.write',
  params: OfColleague,
  reply: { status: 204 },
  errors: ['object_not_found', 'not_possible'],
})

const MadeLink = T.Object({
  id: Id('link'),
  link: T.String({ description: 'Shown this once' }),
  expires_at: Timestamp,
})

export const createInvitation = consoleEndpoint({
  name: 'console.invitations.create',
  route: 'POST /console/api/invitations',
  summary: 'Invite somebody; the answer alone has the link',
  permit: 'people.write',
  body: Fields({ form_id: FormId, email: Email, name: Name, role: PartnerRoleName }),
  reply: { status: 201, schema: MadeLink },
  errors: ['user_exists', 'already_done'],
})

export const withdrawInvitationInConsole = consoleEndpoint({
  name: 'console.invitations.withdraw',
  route: 'DELETE /console/api/invitations/{link_id}',
  summary: 'Withdraw an invitation',
  permit: 'people.write',
  params: T.Object({ link_id: Id('link') }),
  reply: { status: 204 },
  errors: ['link_not_valid'],
})

export const createReset = consoleEndpoint({
  name: 'console.resets.create',
  route: 'POST /console/api/resets',
  summary:
    'Let a person choose a new password; the answer alone has the link, and the password of before is void',
  permit: 'people.write',
  body: Fields({ form_id: FormId, user_id: Id('user') }),
  reply: { status: 201, schema: MadeLink },
  errors: ['object_not_found', 'already_done'],
})

const Token = T.String({
  minLength: 1,
  maxLength: 64,
  description: 'Of the link',
  examples: ['no such link'],
})

export const readLinkInConsole = consoleEndpoint({
  name: 'console.links.look',
  route: 'POST /console/api/links/look',
  summary: 'Whom a link is for',
  permit: 'anybody',
  body: Fields({ token: Token }),
  reply: {
    status: 200,
    schema: T.Object({
      kind: T.Enum(['invitation', 'reset']),
      email: T.String(),
      name: T.String(),
      partner: T.String(),
      role: OrNull(PartnerRoleName),
      expires_at: Timestamp,
    }),
  },
  errors: ['link_not_valid'],
})

export const useLinkInConsole = consoleEndpoint({
  name: 'console.links.use',
  route: 'POST /console/api/links/use',
  summary: 'Choose a password with a link, which works once',
  permit: 'anybody',
  body: Fields({ token: Token, password: Password }),
  reply: { status: 200, schema: T.Object({ email: T.String() }) },
  errors: ['link_not_valid'],
})

const Json = OrNull(T.Record(T.String(), T.Unknown()))

export const listActs = consoleEndpoint({
  name: 'console.acts.list',
  route: 'GET /console/api/audit',
  summary: 'What people of the partner did, by time: in both environments, and about people',
  permit: 'acts.read',
  query: Fields({ ...pageQuery, ...orderQuery, ...timeQuery }),
  reply: {
    status: 200,
    schema: Page(
      T.Object({
        place: T.Enum(['production', 'sandbox', 'shared']),
        seq: T.String({ description: 'In the log of its place' }),
        at: Timestamp,
        actor: T.Object({ id: OrNull(T.String()), email: OrNull(T.String()) }),
        session_id: OrNull(T.String()),
        address: OrNull(T.String()),
        action: T.String(),
        object_id: OrNull(T.String()),
        before: Json,
        after: Json,
        hash: T.String(),
      }),
    ),
  },
})

export const exportActs = consoleEndpoint({
  name: 'console.acts.csv',
  route: 'GET /console/api/audit.csv',
  summary: 'The same as a table for spreadsheets',
  permit: 'acts.read',
  query: Fields({ ...orderQuery, ...timeQuery, ...csvQuery }),
  reply: { status: 200, type: 'text/csv' },
})

export const totalActs = consoleEndpoint({
  name: 'console.acts.totals',
  route: 'GET /console/api/audit/totals',
  summary: 'How many lines a period has',
  permit: 'acts.read',
  heavy: true,
  query: Fields(timeQuery),
  reply: { status: 200, schema: TotalsObject },
})

export const peopleEndpoints: readonly ConsoleEndpoint[] = [
  getSession,
  signInToConsole,
  signOutOfConsole,
  proveInConsole,
  getMe,
  changeMe,
  changeMyPassword,
  beginMyFactor,
  confirmMyFactor,
  disableMyFactor,
  renewMyRecoveryCodes,
  listMySessions,
  endMySession,
  endMyOtherSessions,
  listMyViews,
  saveMyView,
  changeMyView,
  deleteMyView,
  getAccountInConsole,
  getTeam,
  changeColleague,
  removeColleague,
  resetColleagueFactor,
  createInvitation,
  withdrawInvitationInConsole,
  createReset,
  readLinkInConsole,
  useLinkInConsole,
  listActs,
  exportActs,
  totalActs,
]
