import { refuse } from '../../core/errors.ts'
import type { World } from '../../world.ts'
import { closeException, type Exception, exceptionById, newestExceptions, openExceptions } from './store.ts'

/**
 * The most exceptions that a list shows. Operators read the list, investigate outside, and close each exception with
 * a reason.
 */
const MOST = 200

export function listExceptions(world: World, options: { closed_too: boolean }): Promise<Exception[]> {
  return options.closed_too ? newestExceptions(world.db, MOST) : openExceptions(world.db, MOST)
}

/** Closes the row only. Wrong money is corrected by a booking or a resolution of its own. */
export async function closeByHand(
  world: World,
  closing: { id: string; closed_by: string; closed_reason: string },
): Promise<Exception> {
  const closed = await closeException(world.db, closing)
  if (closed) return closed
  const before = await exceptionById(world.db, closing.id)
  if (!before) refuse('object_not_found', { message: `No exception ${closing.id} in ${world.environment}.` })
  refuse('already_final', {
    message: `${closing.id} was closed by ${before.closed_by} before (${before.closed_reason}).`,
  })
}
