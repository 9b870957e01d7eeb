import type { Environment } from '../../core/environment.ts'
import type { Command, Decision, Held, RowRef, Write } from '../../ledger/command.ts'
import type { World } from '../../world.ts'
import type { ActEntry, Noted, Pen } from './line.ts'
import { headRef, noteHeld } from './log.ts'

/** How an act that may move money is written to the act log. */
export type ActLine = {
  readonly pen: Pen
  /** Rows that are locked beside those of the command. */
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
 * The result of a command with its log line. The line is part of the result because a batch that lost a race is decided
 * again.
 */
export type WithLine<Result> = { readonly result: Result; readonly line: Noted | undefined }

/** Adds the line of an act to a command: both are written in one transaction. */
export function withLine<Result>(command: Command<Result>, act: ActLine): Command<WithLine<Result>> {
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
 * A world for one act, which may take several commands with calls to a rail between them. The first command that gets the
 * line writes it; later ones are committed as they are, so an act has one line.
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
