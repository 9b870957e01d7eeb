import type { Environment } from '../../core/environment.ts'
import type { Command, Decision, Held, RowRef, Write } from '../../ledger/command.ts'
import type { World } from '../../world.ts'
import type { ActEntry, Noted, Pen } from './line.ts'
import { headRef, noteHeld } from './log.ts'

/**
 * How an act that may move money gets its line: its row in the act log (log.ts), which says who did what and is chained to
 * the row before it.
 */
export type ActLine = {
  /** The log, its HMAC key and the actor. */
  readonly pen: Pen
  /** Rows to lock in addition to those of the command. */
  readonly rows?: readonly RowRef[]
  /** Refuses the act before the command decides. */
  check?(held: Held): void
  /** Undefined: this command does not carry out the act, so it gets no line. */
  lineOf(
    decision: Omit<Decision<unknown>, 'result'>,
    held: Held,
  ): { readonly entry: ActEntry; readonly writes?: readonly Write[] } | undefined
}

/**
 * The result of a command, and its line. `decide` must return the line rather than store it in a variable: a batch that
 * another transaction overtook is decided again, and only the line of the last decision is written.
 */
export type WithLine<Result> = { readonly result: Result; readonly line: Noted | undefined }

/**
 * Adds the line of an act to a command: both are written in one transaction. `headRef` locks the newest line, so that
 * concurrent acts are chained one after the other.
 */
function withLine<Result>(command: Command<Result>, act: ActLine): Command<WithLine<Result>> {
  const { pen, rows = [], check, lineOf } = act
  const { locks } = command
  return {
    ...command,
    locks: { ...locks, rows: [...(locks.rows ?? []), ...rows, headRef] },
    decide(held) {
      check?.(held)
      const { result, ...decision } = command.decide(held)
      const made = lineOf(decision, held)
      if (!made) return { ...decision, result: { result, line: undefined } }
      const { noted, writes } = noteHeld(held, pen, made.entry)
      return {
        ...decision,
        writes: [...(decision.writes ?? []), ...(made.writes ?? []), ...writes],
        result: { result, line: noted },
      }
    },
  }
}

/**
 * A world for one act, which may take several commands with calls to a rail between them. The first command for which
 * `lineOf` returns a line writes it; later commands are committed unchanged, so an act has one line.
 */
export function openActWorld<E extends Environment>(world: World<E>, act: ActLine): ActWorld<E> {
  const opened: ActWorld<E> = {
    line: undefined,
    here: {
      ...world,
      async commit(command) {
        if (opened.line) return world.commit(command)
        const { result, line } = await world.commit(withLine(command, act))
        opened.line ??= line
        return result
      },
    },
  }
  return opened
}

export type ActWorld<E extends Environment> = {
  readonly here: World<E>
  /** Set when the line is committed. */
  line: Noted | undefined
}
