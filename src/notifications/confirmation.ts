import type { Sealer } from '../core/seal.ts'

/**
 * The token of the link that confirms an address. The token is sealed, so only this service can make one, and it names user and
 * address: a token for another user or for an earlier address confirms nothing. Tokens are not stored.
 */
type Confirmation = { readonly user_id: string; readonly email: string }

const CONTEXT = 'the confirmation of an e-mail address'
const LASTS_MS = 7 * 24 * 3_600_000

export function confirmationToken(sealer: Sealer, { user_id, email }: Confirmation, now: number): string {
  const secret = Buffer.from(JSON.stringify([user_id, email, now + LASTS_MS]))
  return sealer.seal(secret, CONTEXT).value.toString('base64url')
}

export function isConfirmation(
  sealer: Sealer,
  token: string,
  { user_id, email }: Confirmation,
  now: number,
): boolean {
  try {
    const [whose, which, until] = JSON.parse(
      sealer.open(Buffer.from(token, 'base64url'), CONTEXT).toString(),
    ) as [string, string, number]
    return whose === user_id && which === email && now < until
  } catch {
    return false
  }
}
