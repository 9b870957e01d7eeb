import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Intent } from './signer.ts'

/**
 * A transfer is sealed when it is accepted: an HMAC over what the customer asked for. A program that can write to the database
 * but does not have the key cannot make the signer pay another address or amount. The wallet is not part of the seal: it is
 * chosen after acceptance.
 */
export type Sealable = Omit<Intent, 'seal'>

const KEY_LEAST_BYTES = 32
/** Names the purpose and the form; a change of the fields changes the name. */
const FORM = 'trilho transfer seal 1'

/** The seal key, from the key of the act log: stored encrypted, and kept when SECRET_KEY is rotated. */
export const sealKeyOf = (log_key: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', log_key, '', 'trilho: transfer seals', KEY_LEAST_BYTES))

/** Null where nothing is signed for real. */
export type SealTransfer = (ordered: Sealable) => string | null

export function sealOf(key: Buffer, intent: Sealable): string {
  if (key.length < KEY_LEAST_BYTES) throw new Error(`the seal key must have ${KEY_LEAST_BYTES} bytes or more`)
  const { transfer_id, network, destination_address, amount } = intent
  // JSON keeps the fields apart: no two intents give the same text.
  const text = JSON.stringify([FORM, transfer_id, network, destination_address, amount.toString()])
  return createHmac('sha256', key).update(text).digest('hex')
}

export function isSealed(key: Buffer, intent: Intent): boolean {
  const given = Buffer.from(intent.seal)
  const right = Buffer.from(sealOf(key, intent))
  return given.length === right.length && timingSafeEqual(given, right)
}
