import type { CliCommand, Who } from '../src/cli/command.ts'
import { exit } from '../src/cli/exit.ts'
import { headOf, optionHead } from '../src/cli/help.ts'
import { optionsOf, variablesOf } from '../src/cli/shared-options.ts'

/** Writes docs/cli.md from the same table as the parser, the help and shell completion. */
export function renderCliPage(commands: readonly CliCommand[]): string {
  const groups = (Object.keys(titles) as Who[]).map((who) => {
    const own = commands.filter((command) => command.who === who)
    return `## ${titles[who]}\n\n${intros[who]}\n\n${shared(own)}\n\n${own.map(section).join('\n')}`
  })
  return `${head}\n${groups.join('\n')}`
}

const titles: Readonly<Record<Who, string>> = {
  key: 'With an API key',
  operator: 'For operators',
  machine: 'For whoever runs the service',
}

const intros: Readonly<Record<Who, string>> = {
  key: `These call the API like any other program, over HTTP. The key comes from \`--key-file\`, \`TRILHO_KEY\` or a profile, never
from the command line, which every user of the machine can read. The address is \`--url\`, \`TRILHO_URL\`, the profile’s, or
that of your own server that runs in this folder, whatever its port; a live key goes only where you said. \`trilho profiles add
NAME\` keeps both, and they stay together: a key that was not taken from a profile is not sent to a profile’s address, and a
profile’s key goes to another address only where \`--url\` says so.

Amounts are typed as people say them: \`--amount 10.50\`. A command that moves money prints its idempotency key before it
sends anything: whatever happens then, the same command with that key is safe. A script, whose standard input is no terminal,
gives its own \`--idempotency-key\`. With a live key a person is asked, and a script says \`--yes\`.`,
  operator: `These work on the database, and take somebody who is signed in: \`trilho login --operator EMAIL\`, or \`--as EMAIL\` with
\`OPERATOR_PASSWORD\` on one command.`,
  machine: 'These run the service, prove its books and look after its data, on its own machine.',
}

const exits: readonly (readonly [code: number, about: string])[] = [
  [exit.done, 'Done'],
  [exit.refused, 'Refused, or a check found something'],
  [exit.typed_wrong, 'Typed wrong'],
  [exit.not_allowed, 'Not signed in, or not allowed'],
  [
    exit.later,
    'Later: this run did nothing (a limit, or nobody could be reached); an earlier run under the same key may have',
  ],
  [
    exit.unknown,
    'The outcome is unknown; the same command with the printed `--idempotency-key` is safe. What takes no key says what to do',
  ],
  [exit.interrupted, 'Interrupted'],
]

const head = `# The command line

\`npx trilho help\` lists every command; a noun alone, such as \`trilho keys\`, lists its verbs; \`--help\` behind a command shows its
options and examples. \`source <(trilho completion bash)\` makes the shell complete them (also \`zsh\`, \`fish\`).

\`--output table|json|jsonl\` says how to print, and \`--json\` is short for \`--output json\`. With either, what went wrong is JSON
too, on standard error, as the API says it: \`{"error": {"code": …}}\`. \`--all\` prints a whole list as it comes. Ids are never cut.
\`NO_COLOR\` is respected, and progress is shown on a terminal only.

| Exit code | Means |
|---|---|
${exits.map(([code, about]) => `| ${code} | ${about} |`).join('\n')}
`

/** The options and variables that all commands of a kind share. */
function shared(commands: readonly CliCommand[]): string {
  const one = commands.find(({ alone }) => !alone)
  if (!one) return ''
  const rows = Object.entries(variablesOf({ ...one, variables: {} })).map(([name, about]) => row(name, about))
  const options = Object.entries(optionsOf({ ...one, options: {} }))
    .filter(([name]) => name !== 'output' && name !== 'json')
    .map(([name, option]) => row(optionHead(name, option), option.about))
  return `| Option, variable | |\n|---|---|\n${[...options, ...rows].join('\n')}`
}

function section(command: CliCommand): string {
  const options = Object.entries(command.options ?? {}).map(([name, option]) =>
    row(optionHead(name, option), option.required ? `${option.about} (required)` : option.about),
  )
  const variables = Object.entries(command.variables ?? {}).map(([name, about]) => row(name, about))
  const rows = [...options, ...variables]
  return [
    `### ${headOf({ ...command, takes_program: undefined } as never)}`,
    `${command.about}.`,
    ...(rows.length > 0 ? [`| Option | |\n|---|---|\n${rows.join('\n')}`] : []),
    `\`\`\`sh\n${command.examples.join('\n')}\n\`\`\`\n`,
  ].join('\n\n')
}

const row = (name: string, about: string) =>
  `| \`${name.replaceAll('|', '\\|')}\` | ${about.replaceAll('|', '\\|')} |`
