import type { CliCommand } from './command.ts'

/** The command at the start of the line; otherwise the noun or the word that was not recognised. */
export type FoundCommand =
  | { readonly command: CliCommand; readonly rest: readonly string[] }
  | { readonly noun: string; readonly verb: string | undefined }
  | { readonly unknown: string }

export function findCommand(commands: readonly CliCommand[], argv: readonly string[]): FoundCommand {
  const command = commands.find(({ name }) => name.split(' ').every((word, i) => argv[i] === word))
  if (command) return { command, rest: argv.slice(command.name.split(' ').length) }
  const [noun = '', second] = argv
  const verb = second?.startsWith('-') ? undefined : second
  if (verbsOf(commands, noun).length > 0) return { noun, verb }
  return { unknown: noun }
}

export const nounsOf = (commands: readonly CliCommand[]): string[] => [
  ...new Set(commands.map(({ name }) => name.split(' ')[0]!)),
]

export const verbsOf = (commands: readonly CliCommand[], noun: string): string[] =>
  commands.flatMap(({ name }) => (name.startsWith(`${noun} `) ? [name.slice(noun.length + 1)] : []))

/** The most similar word, if at most one letter in three differs. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const [best] = words
    .map((other) => ({ other, distance: distance(word, other) }))
    .filter((one) => one.distance <= Math.max(1, Math.floor(one.other.length / 3)))
    .sort((a, b) => a.distance - b.distance)
  return best?.other
}

/** Edit distance: letters added, dropped, changed or swapped with their neighbour. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2]! + 1)
      row.push(least)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
