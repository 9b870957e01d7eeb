import { randomUUID } from 'node:crypto'
import { type Activity, openActivity } from '../core/activity.ts'
import { type Environment, environments } from '../core/environment.ts'
import { type Hints, sendHint } from '../db/hints.ts'
import type { Pool } from '../db/pool.ts'

/**
 * The activity of both worlds on all nodes. A node tells the others of its own activity with a hint; a lost hint delays a
 * worker by one poll interval at most.
 */
export type ActivityHints = {
  readonly of: Readonly<Record<Environment, Activity>>
  mark(environment: Environment): void
}

/** At most one hint per world in this time. Less than the idle time after which workers on other nodes back off. */
const HINT_EVERY_MS = 1000
/** The channel keeps the name that nodes of earlier versions listen on. */
const CHANNEL = 'stirred'

export function openActivityHints(hints: Hints, db: Pool): ActivityHints {
  const self = randomUUID()
  const of = { production: openActivity(), sandbox: openActivity() }
  const hinted_at: Partial<Record<Environment, number>> = {}

  hints.on(CHANNEL, (payload) => {
    const [name, node] = payload.split(' ')
    if (node !== self) of[name as Environment]?.mark()
  })
  hints.onLost(() => {
    for (const name of environments) of[name].mark()
  })

  return {
    of,
    mark(environment) {
      of[environment].mark()
      const now = performance.now()
      if (now - (hinted_at[environment] ?? Number.NEGATIVE_INFINITY) < HINT_EVERY_MS) return
      hinted_at[environment] = now
      sendHint(db, CHANNEL, `${environment} ${self}`).catch(() => {})
    },
  }
}
