import type { OperatorActor } from '../../core/actor.ts'
import { transaction } from '../../db/pool.ts'
import { note } from '../../records/acts/log.ts'
import { lastLineOf, lockActsOn } from '../../records/acts/store.ts'
import type { World } from '../../world.ts'
import type { Office } from './office.ts'

/** What an operator opened: the page of one object, or the list of a partner's objects. */
type Look = {
  /** The object, or the partner whose list it is. */
  readonly object_id: string
  readonly partner_id: string
  /** The kind of page: payout, customer, customers, … */
  readonly what: string
}

/**
 * Writes a line of the act log when an operator opens personal data of a partner's customers: who, which object, when,
 * from which address. A page that refreshes itself is one look: the same session gets one line per object and hour
 * (decision 0050). A look that cannot be logged is refused.
 */
export type Looks = {
  note(world: World, actor: OperatorActor, look: Look): Promise<void>
}

const LOOK_ACTION = 'view'
const AN_HOUR_MS = 3_600_000
const KEPT_MAX = 10_000

export function openLooks({ log }: Pick<Office, 'log'>): Looks {
  /** Until when a session needs no further line about an object. Other nodes are asked through the log itself. */
  const noted_until = new Map<string, number>()

  function keep(name: string, at: Date): void {
    if (noted_until.size >= KEPT_MAX) noted_until.clear()
    noted_until.set(name, at.getTime() + AN_HOUR_MS)
  }

  return {
    async note(world, actor, { object_id, partner_id, what }) {
      const name = `${world.environment} ${actor.session_id} ${object_id} ${what}`
      if ((noted_until.get(name) ?? 0) > Date.now()) return
      const pen = await log.pen(world.environment, actor)
      // Kept after COMMIT: a look whose line was rolled back must be noted again.
      const noted_at = await transaction(world.db, async (tx) => {
        await lockActsOn(tx, object_id)
        const before = await lastLineOf(tx, {
          object_id,
          action: LOOK_ACTION,
          session_id: actor.session_id ?? '',
          what,
          within_ms: AN_HOUR_MS,
        })
        if (!before)
          await note(tx, pen, { action: LOOK_ACTION, object_id, before: null, after: { what, partner_id } })
        return before ?? new Date()
      })
      keep(name, noted_at)
    },
  }
}
