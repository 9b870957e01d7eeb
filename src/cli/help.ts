import { version } from '../node/version.ts'
import type { CliCommand, Who } from './command.ts'
import { optionsOf, variablesOf, whoMay } from './shared-options.ts'

const groups: Readonly<Record<Who, string>> = {
  key: 'With an API key',
  operator: 'For operators, signed in',
  machine: 'For the person who runs the service',
}

const FOOTER =
  'Each takes --output table|json|jsonl (a list also csv), --json, and --help, which shows its options and examples.\n'

/** The list of all commands, one line each. */
export function help(commands: readonly CliCommand[]): string {
  const width = widthOf(commands)
  const parts = Object.entries(groups).flatMap(([who, title]) => {
    const own = commands.filter((command) => command.who === who)
    return own.length > 0 ? [`${title}:\n${listOf(own, width)}`] : []
  })
  return `trilho ${version}\n\n${parts.join('\n')}\n${FOOTER}`
}

/** The list of the commands whose name begins with a noun, such as `keys`. */
export function helpOfNoun(noun: string, commands: readonly CliCommand[]): string {
  const own = commands.filter(({ name }) => name.startsWith(`${noun} `))
  return `trilho ${noun} …\n\n${listOf(own, widthOf(own))}\n${FOOTER}`
}

/** The `--help` of one command: options, examples, environment variables, and who may run it. */
export function usageText(command: CliCommand): string {
  const options = Object.entries(optionsOf(command)).map(([name, option]) => ({
    head: optionHead(name, option),
    about: option.required ? `${option.about} (required)` : option.about,
  }))
  const variables = Object.entries(variablesOf(command)).map(([head, about]) => ({ head, about }))
  const width = Math.max(...[...options, ...variables].map(({ head }) => head.length))
  const lines = (rows: { head: string; about: string }[]) =>
    rows.map(({ head, about }) => `  ${head.padEnd(width)}  ${about}\n`).join('')
  const examples = command.examples.map((line) => `  ${line}\n`).join('')
  return [
    `trilho ${headOf(command)}\n${command.about}\n`,
    lines(options),
    `Examples:\n${examples}`,
    ...(variables.length > 0 ? [`Variables:\n${lines(variables)}`] : []),
    `Who: ${whoMay[command.who]}\n`,
  ].join('\n')
}

export const optionHead = (name: string, { value }: { readonly value?: string }): string =>
  `--${name}${value ? ` ${value}` : ''}`

/** A command with its arguments, without options: `customers block CUSTOMER`. */
export const headOf = ({ name, takes, takes_program }: CliCommand): string =>
  [name, takes, takes_program ? '[-- COMMAND …]' : undefined].filter(Boolean).join(' ')

const widthOf = (commands: readonly CliCommand[]) =>
  Math.max(...commands.map((command) => headOf(command).length))

const listOf = (commands: readonly CliCommand[], width: number): string =>
  commands.map((command) => `  ${headOf(command).padEnd(width)}  ${command.about}\n`).join('')
