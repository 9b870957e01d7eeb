import type { OperatorRole, PartnerRole } from '../../core/actor.ts'

/**
 * What each role may do in the console, as data. `proof`: allowed within five minutes of a sign-in or fresh proof. A
 * role that is not listed may not. Revoking a key never needs a proof.
 */
type Leave = 'yes' | 'proof'

export const partnerPermits = {
  /** Everything except secrets. */
  read: { owner: 'yes', developer: 'yes', finance: 'yes', viewer: 'yes' },
  export: { owner: 'yes', developer: 'yes', finance: 'yes' },
  'customers.write': { owner: 'yes', developer: 'yes', finance: 'yes' },
  /** In the sandbox: deposits, ends of payouts and transfers, prices, the playground, keys. */
  'sandbox.act': { owner: 'yes', developer: 'yes' },
  'webhooks.write': { owner: 'yes', developer: 'yes' },
  'webhooks.secret': { owner: 'proof', developer: 'proof' },
  /** Production keys; sandbox keys need no proof. */
  'keys.write': { owner: 'proof', developer: 'proof' },
  'keys.revoke': { owner: 'yes', developer: 'yes', finance: 'yes' },
  'people.write': { owner: 'proof' },
  'acts.read': { owner: 'yes', finance: 'yes' },
} as const satisfies Record<string, Partial<Record<PartnerRole, Leave>>>

export const operatorPermits = {
  'operator.read': { admin: 'yes', resolver: 'yes', reader: 'yes' },
  /** Propose, approve and reject acts that move money; never approve or reject one's own. */
  'operator.decide': { admin: 'proof', resolver: 'proof' },
  /** Pausing a rail, which like revoking a key never needs a proof. */
  'operator.pause': { admin: 'yes', resolver: 'yes' },
  /** Partners' terms, limits, customers, partners, people. */
  'operator.rule': { admin: 'proof' },
} as const satisfies Record<string, Partial<Record<OperatorRole, Leave>>>

type PartnerPermit = keyof typeof partnerPermits
type OperatorPermit = keyof typeof operatorPermits

/** `anybody`: callers without a session too. `self`: every signed-in user, about themselves. */
export type Permit = PartnerPermit | OperatorPermit | 'anybody' | 'self'

const table: Readonly<Record<string, Readonly<Partial<Record<string, Leave>>>>> = {
  ...partnerPermits,
  ...operatorPermits,
}

export const isOfOperator = (permit: Permit): permit is OperatorPermit => permit in operatorPermits

export function leaveOf(permit: Permit, role: PartnerRole | OperatorRole): Leave | undefined {
  return permit === 'anybody' || permit === 'self' ? 'yes' : table[permit]?.[role]
}

/** All permits of a role, so that a page knows what to offer. */
export const permitsOf = (role: PartnerRole | OperatorRole): string[] =>
  Object.keys(table).filter((permit) => table[permit]?.[role] !== undefined)
