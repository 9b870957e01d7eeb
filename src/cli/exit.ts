/** How a command ends, for scripts. */
export const exit = {
  done: 0,
  /** Refused, or a check found something. */
  refused: 1,
  typed_wrong: 2,
  not_allowed: 3,
  /** This run did nothing, and it may work later. An earlier run under the same key may have done it. */
  later: 4,
  /** The outcome is unknown. The same command under the same idempotency key is safe: it happens once. */
  unknown: 5,
  interrupted: 130,
  /** As a shell counts the end by SIGTERM. */
  terminated: 143,
} as const

/** Ctrl-C at a question. */
export class Interrupted extends Error {}

/** The command ran, but what came of it could not be printed. */
export class NotShown extends Error {
  constructor(code = 'unknown error') {
    super(`The command ran, but its result could not be printed (${code}).`)
  }
}

/** What the end of a command says of what stopped it: a signal, or an output that takes no more. */
export const exitOfStop = (reason: unknown): number => {
  if (reason instanceof Error) return exit.done
  return reason === 'SIGTERM' ? exit.terminated : exit.interrupted
}
