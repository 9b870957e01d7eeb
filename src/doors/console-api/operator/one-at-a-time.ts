import { refuse } from '../../../core/errors.ts'

/**
 * Lets one call of `work` run at a time on this node, and refuses a second call with the message `busy`. For work that reads
 * a whole log, such as verifying the act log.
 */
export function oneAtATime<Input, Result>(
  work: (input: Input) => Promise<Result>,
  busy: string,
): (input: Input) => Promise<Result> {
  let running = false
  return async (input) => {
    if (running) return refuse('not_possible', { message: busy, details: { reason: 'running_already' } })
    running = true
    try {
      return await work(input)
    } finally {
      running = false
    }
  }
}
