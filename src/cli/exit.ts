/** Exit codes, for scripts. */
export const exit = {
  done: 0,
  /** The request was refused, or a check found a problem. */
  refused: 1,
  typed_wrong: 2,
  not_allowed: 3,
  /** This run did nothing and a retry may work. An earlier run under the same idempotency key may have succeeded. */
  later: 4,
  /** The outcome is unknown. The same command with the same idempotency key is safe: the operation happens once. */
  unknown: 5,
  interrupted: 130,
  /** 128 + 15, as shells report SIGTERM. */
  terminated: 143,
} as const

/** The user pressed Ctrl-C at a question. */
export class Interrupted extends Error {}

/** The command ran, but its result could not be printed. */
export class NotShown extends Error {
  constructor(code = 'unknown error') {
    super(`The command ran, but its result could not be printed (${code}).`)
  }
}

/** The exit code of a command that was stopped, by a signal or by a closed standard output. */
export const exitOfStop = (reason: unknown): number => {
  if (reason instanceof Error) return exit.done
  return reason === 'SIGTERM' ? exit.terminated : exit.interrupted
}
