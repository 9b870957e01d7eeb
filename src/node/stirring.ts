import { randomUUID } from 'node:crypto'
import { type Environment, environments } from '../core/environment.ts'
import { openQuiet, type Quiet } from '../core/quiet.ts'
import { type Hints, sendHint } from '../db/hints.ts'
import type { Pool } from '../db/pool.ts'

/**
 * What makes workers look quickly again after a quiet time: something happened on this node, or another node says so. A
 * hint that is lost costs no more than one rest.
 */
export type Stirring = {
  readonly quiet: Readonly<Record<Environment, Quiet>>
  stir(environment: Environment): void
}

/** While there is life the other nodes are told once in so long: less than they take to become slower. */
const TELL_MS = 1000

export function openStirring(hints: Hints, db: Pool): Stirring {
  const self = randomUUID()
  const quiet = { production: openQuiet(), sandbox: openQuiet() }
  const told: Partial<Record<Environment, number>> = {}

  hints.on('stirred', (said) => {
    const [name, node] = said.split(' ')
    if (node !== self) quiet[name as Environment]?.stir()
  })
  hints.onLost(() => {
    for (const name of environments) quiet[name].stir()
  })

  return {
    quiet,
    stir(environment) {
      quiet[environment].stir()
      const now = performance.now()
      if (now - (told[environment] ?? Number.NEGATIVE_INFINITY) < TELL_MS) return
      told[environment] = now
      sendHint(db, 'stirred', `${environment} ${self}`).catch(() => {})
    },
  }
}
