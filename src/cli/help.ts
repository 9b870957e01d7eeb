import { version } from '../node/version.ts'
import type { CliCommand } from './command.ts'

/** Every command in a line. */
export function help(commands: readonly CliCommand[]): string {
  return `trilho ${version}\n\n${listOf(commands)}\nEach takes --json, and --help for its options.\n`
}

/** The commands that begin with a word, such as `keys`; undefined when there are none. */
export function helpOfGroup(word: string, commands: readonly CliCommand[]): string | undefined {
  const group = commands.filter(({ name }) => name.startsWith(`${word} `))
  if (group.length === 0) return undefined
  return `trilho ${word} …\n\n${listOf(group)}\nEach takes --json, and --help for its options.\n`
}

export function usageOf(command: CliCommand): string {
  const options = Object.entries(command.options ?? {}).map(([name, { value, about, required }]) => ({
    head: `--${name}${value ? ` ${value}` : ''}`,
    about: required ? `${about} (required)` : about,
  }))
  const all = [
    ...options,
    {
      head: '--as EMAIL',
      about: 'Who acts; the password is read from OPERATOR_PASSWORD, a code from OPERATOR_CODE',
    },
    { head: '--json', about: 'Print JSON' },
  ]
  const width = Math.max(...all.map(({ head }) => head.length))
  return `trilho ${headOf(command)}\n${command.about}\n\n${all.map(({ head, about }) => `  ${head.padEnd(width)}  ${about}\n`).join('')}`
}

function listOf(commands: readonly CliCommand[]): string {
  const width = Math.max(...commands.map((command) => headOf(command).length))
  return commands.map((command) => `  ${headOf(command).padEnd(width)}  ${command.about}\n`).join('')
}

const headOf = ({ name, takes }: CliCommand) => (takes ? `${name} ${takes}` : name)
