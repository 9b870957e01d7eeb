import { createHash } from 'node:crypto'
import { Refusal } from '../../../core/errors.ts'
import { openAddressLimit } from '../../../limits/addresses.ts'
import type { World } from '../../../world.ts'

/**
 * Limits how often one user may sign in, because each sign-in is a line of the act log, which is kept for ever. Only
 * successful sign-ins are counted, so nobody without the password can lock a user out.
 */
type SignIns = {
  /** Throws if the user has signed in too often in this minute. */
  assertFewer(email: string): void
  count(email: string): void
}

export const SIGN_INS_PER_MINUTE = 20

export function openSignIns({ clock }: Pick<World, 'clock'>): SignIns {
  const counts = openAddressLimit({ clock, limit: SIGN_INS_PER_MINUTE })
  const nameOf = (email: string) => createHash('sha256').update(email.toLowerCase()).digest('hex')
  return {
    assertFewer(email) {
      const { remaining, resets_at } = counts.windowOf(nameOf(email))
      if (remaining > 0) return
      const retry_after_seconds = Math.max(1, Math.ceil(resets_at - clock.now() / 1000))
      throw new Refusal('rate_limit_exceeded', {
        message: `You may sign in ${SIGN_INS_PER_MINUTE} times per minute. Wait ${retry_after_seconds} s, then try again.`,
        retry_after_seconds,
        details: { window: 'minute', limit: SIGN_INS_PER_MINUTE, retry_after_seconds },
      })
    },
    count: (email) => void counts.take(nameOf(email)),
  }
}
