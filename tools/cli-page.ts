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
  machine: 'For the person who runs the service',
}

const intros: Readonly<Record<Who, string>> = {
  key: `These call the API like any other program, over HTTP. The key comes from \`--key-file\`, \`TRILHO_KEY\` or a profile, never
from the command line, which every user of the machine can read. The address is \`--url\`, \`TRILHO_URL\`, the profile’s, or
that of the server that runs on this data folder, on any port; a live key needs an address that you gave. \`trilho profiles add
NAME\` stores both, and they stay together: a key from elsewhere is not sent to a profile’s address, and a
profile’s key goes to another address only with \`--url\`.

Amounts are decimals: \`--amount 10.50\`. A command that moves money prints its idempotency key before it
sends anything: whatever happens next, you can safely repeat the command with that key. A script (standard input is no terminal)
must give its own \`--idempotency-key\`. With a live key a person is asked to confirm, and a script must give \`--yes\`.`,
  operator: `These work on the database and need an operator who is signed in: \`trilho login --operator EMAIL\`, or \`--as EMAIL\` with
\`OPERATOR_PASSWORD\` on one command.`,
  machine: 'These run the service, audit its ledger and manage its data, on its own machine.',
}

const exits: readonly (readonly [code: number, about: string])[] = [
  [exit.done, 'Done'],
  [exit.refused, 'Refused, or a check found a problem'],
  [exit.typed_wrong, 'Usage error'],
  [exit.not_allowed, 'Not signed in, or not allowed'],
  [
    exit.later,
    'This run did nothing (a limit, or an unreachable server); try again later. An earlier run under the same key may have succeeded',
  ],
  [
    exit.unknown,
    'The outcome is unknown; the same command with the printed `--idempotency-key` is safe. A command without a key says what to do',
  ],
  [exit.interrupted, 'Interrupted'],
]

const head = `# The command line

\`npx trilho help\` lists every command; a noun alone, such as \`trilho keys\`, lists its verbs; \`--help\` after a command shows its
options and examples. \`source <(trilho completion bash)\` makes the shell complete them (also \`zsh\`, \`fish\`).

\`--output table|json|jsonl\` sets the format, and \`--json\` is short for \`--output json\`. With JSON, errors are JSON
too, on standard error, as in the API: \`{"error": {"code": …}}\`. \`--all\` prints a whole list as it arrives. Ids are never cut.
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
