import type { OperatorRole, PartnerRole } from '../core/actor.ts'

/**
 * Who may what in the console, as data. `yes`; `proof`: after showing again who one is, within five minutes. A role that is
 * not named may not. Revoking is always quick.
 */
type Leave = 'yes' | 'proof'

export const partnerPermits = {
  /** Everything but secrets. */
  read: { owner: 'yes', developer: 'yes', finance: 'yes', viewer: 'yes' },
  export: { owner: 'yes', developer: 'yes', finance: 'yes' },
  'customers.write': { owner: 'yes', developer: 'yes', finance: 'yes' },
  /** Deposits, ends of payouts and transfers, prices, the playground, keys: in the sandbox. */
  'sandbox.act': { owner: 'yes', developer: 'yes' },
  'webhooks.write': { owner: 'yes', developer: 'yes' },
  'webhooks.secret': { owner: 'proof', developer: 'proof' },
  /** Of production; those of the sandbox take no proof. */
  'keys.write': { owner: 'proof', developer: 'proof' },
  'keys.revoke': { owner: 'yes', developer: 'yes', finance: 'yes' },
  'people.write': { owner: 'proof' },
  'acts.read': { owner: 'yes', finance: 'yes' },
} as const satisfies Record<string, Partial<Record<PartnerRole, Leave>>>

export const operatorPermits = {
  'operator.read': { admin: 'yes', resolver: 'yes', reader: 'yes' },
  /** To propose, approve and reject what moves money, never one's own. */
  'operator.decide': { admin: 'proof', resolver: 'proof' },
  /** Terms, limits, customers, partners, people. */
  'operator.rule': { admin: 'proof' },
} as const satisfies Record<string, Partial<Record<OperatorRole, Leave>>>

export type PartnerPermit = keyof typeof partnerPermits
export type OperatorPermit = keyof typeof operatorPermits

/** `anybody`: also who is not signed in. `self`: whoever is signed in, about themselves. */
export type Permit = PartnerPermit | OperatorPermit | 'anybody' | 'self'

const table: Readonly<Record<string, Readonly<Partial<Record<string, Leave>>>>> = {
  ...partnerPermits,
  ...operatorPermits,
}

export const isOfOperator = (permit: Permit): permit is OperatorPermit => permit in operatorPermits

export function leaveOf(permit: Permit, role: PartnerRole | OperatorRole): Leave | undefined {
  return permit === 'anybody' || permit === 'self' ? 'yes' : table[permit]?.[role]
}

/** Everything that a role may, for the page to know what to offer. */
export const permitsOf = (role: PartnerRole | OperatorRole): string[] =>
  Object.keys(table).filter((permit) => table[permit]?.[role] !== undefined)
