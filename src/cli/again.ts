import type { CliCommand } from './command.ts'

/** The line as it was typed, with what was made up while it ran, to be pasted into a shell: so it happens once. */
export function lineAgain(
  { name }: CliCommand,
  rest: readonly string[],
  made_up: ReadonlyMap<string, string>,
): string {
  const options = [...made_up].flatMap(([option, value]) => [`--${option}`, value])
  return ['trilho', name, ...[...rest, ...options].map(quoted)].join(' ')
}

/** For any POSIX shell: what is not plain stands in single quotes. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
