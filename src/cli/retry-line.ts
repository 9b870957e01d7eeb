import type { CliCommand } from './command.ts'

/**
 * The typed command line plus the option values the command generated, such as its idempotency key. Pasting it repeats the same
 * operation, not a second one.
 */
export function retryLine(
  { name }: CliCommand,
  rest: readonly string[],
  made_up: ReadonlyMap<string, string>,
): string {
  const options = [...made_up].flatMap(([option, value]) => [`--${option}`, value])
  return ['trilho', name, ...[...rest, ...options].map(quoted)].join(' ')
}

/** Quotes a word for a POSIX shell, in single quotes where needed. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
