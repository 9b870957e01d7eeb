import { refuse } from '../../core/errors.ts'

/** What reads a whole log runs once at a time on a node. Whoever comes meanwhile is told. */
export function oneAtATime<Asked, Told>(
  work: (asked: Asked) => Promise<Told>,
  busy: string,
): (asked: Asked) => Promise<Told> {
  let running = false
  return async (asked) => {
    if (running) return refuse('not_possible', { message: busy })
    running = true
    try {
      return await work(asked)
    } finally {
      running = false
    }
  }
}
