import type { Static } from 'typebox'
import type { OperatorActor, PersonActor } from '../../../core/actor.ts'
import { Refusal, refuse } from '../../../core/errors.ts'
import type { Db } from '../../../db/pool.ts'
import { partnerById } from '../../../parties/partners/store.ts'
import type { NotedTeam } from '../../../parties/team/factor.ts'
import { assertStanding, personRoleOf } from '../../../parties/team/people.ts'
import type { Refused } from '../../../parties/team/sign-in.ts'
import { note } from '../../../records/acts/log.ts'
import type { ConsoleParts } from '../parts.ts'
import { permitsOf } from '../permits.ts'
import { csrfTokenOf, type Signed, signedBy } from '../session.ts'
import type { proveInConsole, SessionObject } from './contract.ts'

/** The caller of a call, signed in or not. */
type Visit = {
  readonly address: string
  readonly agent: string | undefined
  readonly signed: Signed | undefined
  /** The signed-in caller, whose session is checked again in the transaction of the act. */
  readonly actor?: PersonActor | OperatorActor | undefined
}

/** The team, with a `note` that logs acts of users on their own sign-in in the act log of `shared`. */
export async function notedTeam(
  { office, sealer }: ConsoleParts,
  { address, agent, signed, actor: self }: Visit,
): Promise<NotedTeam> {
  const pen = await office.log.pen('shared', { kind: 'shell' })
  return {
    ...office.shares.shared(self ?? { address }),
    sealer,
    origin: { address, agent },
    ...(self ? { stillHere: (tx: Db) => assertStanding(tx, self) } : {}),
    note(tx, action, { user, session_id = signed?.session_id ?? '' }, { before = null, after = null } = {}) {
      const { id: user_id, email, partner_id } = user
      const person = { user_id, email, session_id }
      const actor =
        partner_id === null
          ? ({ kind: 'operator', ...person, address } as const)
          : ({ kind: 'person', ...person, partner_id, address } as const)
      return note(tx, { ...pen, actor }, { action, object_id: user_id, before, after })
    },
  }
}

export async function renderSession(
  parts: ConsoleParts,
  signed: Signed | undefined,
): Promise<Static<typeof SessionObject>> {
  return signed ? renderSigned(parts, signed) : { signed_in: false }
}

/** Renders the session of a token that was just made. */
export async function renderToken(parts: ConsoleParts, token: string, { address }: { address: string }) {
  const { db } = parts.office.shares.shared({ address })
  return renderSigned(parts, (await signedBy(db, token)) ?? refuse('not_signed_in'))
}

async function renderSigned(
  { office }: ConsoleParts,
  signed: Signed,
): Promise<Static<(typeof proveInConsole)['reply']['schema']>> {
  const { id, email, name, partner_id, language } = signed.user
  const role = personRoleOf(signed.user)
  const { db } = office.shares.shared({ user_id: id, partner_id })
  const partner = partner_id === null ? null : await partnerById(db, partner_id)
  return {
    signed_in: true,
    csrf_token: csrfTokenOf(signed),
    person: { id, email, name, role, language },
    partner: partner && { id: partner.id, name: partner.name },
    permits: permitsOf(role),
    factor: signed.factor,
    proved_until: signed.proved_until?.toISOString() ?? null,
  }
}

export function refuseCredentials(refused: Refused): never {
  switch (refused.outcome) {
    case 'code_needed':
      return refuse('code_needed', { details: { of: refused.of } })
    case 'busy':
      throw new Refusal('rate_limit_exceeded', {
        message: `Too many people are signing in right now. Try again in ${inWords(refused.wait_seconds)}.`,
        retry_after_seconds: refused.wait_seconds,
        details: { retry_after_seconds: refused.wait_seconds },
      })
    case 'too_many_failures':
      throw new Refusal('rate_limit_exceeded', {
        message: `Too many failures. Try again in ${inWords(refused.wait_seconds)}.`,
        retry_after_seconds: refused.wait_seconds,
        details: { retry_after_seconds: refused.wait_seconds },
      })
    default:
      return refuse('wrong_credentials')
  }
}

const inWords = (seconds: number) =>
  seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`
