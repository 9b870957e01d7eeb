import { refuse } from '../../../core/errors.ts'

/** Runs work that reads a whole log once at a time on a node. Concurrent calls are refused. */
export function oneAtATime<Asked, Result>(
  work: (asked: Asked) => Promise<Result>,
  busy: string,
): (asked: Asked) => Promise<Result> {
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
