import type { CliCommand, CliOption, Who } from '../src/cli/command.ts'
import { paging } from '../src/cli/commands/api/reading.ts'
import { exit } from '../src/cli/exit.ts'
import { headOf, optionHead } from '../src/cli/help.ts'
import { optionsOf, variablesOf } from '../src/cli/shared-options.ts'

const cell = (text: string) => text.replaceAll('|', '\\|')
const code = (text: string) => `\`${cell(text)}\``

/**
 * Writes docs/cli.md, for partners, and docs/operate/cli.md from the same table as the parser, the help and shell completion. A
 * noun is one section: its commands, their options and their examples.
 */
export function renderPartnerCliPage(commands: readonly CliCommand[], version: string): string {
  const own = commands.filter(({ who }) => who === 'key')
  return `${partnerHead(version)}\n${intros.key}\n\n${shared(own)}\n\n${LISTS}\n\n${pagingTable}\n\n${sections(own, '##')}`
}

export function renderOperatorCliPage(commands: readonly CliCommand[]): string {
  const groups = (['operator', 'machine'] as const).map((who) => {
    const own = commands.filter((command) => command.who === who)
    return `## ${titles[who]}\n\n${intros[who]}\n\n${shared(own)}\n\n${sections(own, '###')}`
  })
  return `${OPERATOR_HEAD}\n${groups.join('\n')}`
}

const titles = {
  operator: 'For operators',
  machine: 'For the person who runs the service',
} as const

const intros: Readonly<Record<Who, string>> = {
  key: `## The key and the address

The key comes from \`--key-file\`, \`TRILHO_KEY\` or a profile, never from the command line, which every user of the machine can read.
The address is \`--url\`, \`TRILHO_URL\`, the profile’s, or that of a server on this machine; a live key needs an address that you
gave. \`trilho profiles add NAME\` stores both, and they stay together: a key from elsewhere is not sent to a profile’s address, and a
profile’s key goes to another address only with \`--url\`.

Amounts are decimals: \`--amount 10.50\`. A command that moves money prints its idempotency key before it
sends anything: whatever happens next, you can safely repeat the command with that key. A script (standard input is no terminal)
must give its own \`--idempotency-key\`. With a live key a person is asked to confirm, and a script must give \`--yes\`.`,
  operator: `These work on the database. Lists, \`rails pause\`, \`keys revoke\`, \`golive\` and everything in the sandbox need no sign-in. Other
changes in production need an operator: \`trilho login --operator EMAIL\`, or \`--as EMAIL\` with \`OPERATOR_PASSWORD\` on one command.`,
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

const partnerHead = (version: string) => `# The command line

\`trilho\` calls the API from a terminal or a script: payouts, transfers, conversions, events, webhooks and the sandbox. The commands of
operators are on [a page of their own](operate/cli.md).

## Install

Every server serves the package \`@trilho/cli\` of its own version, and of the versions before. The package has no dependencies.

\`\`\`sh
npm install --global http://127.0.0.1:8080/docs/trilho-cli-${version}.tgz
trilho usage
\`\`\`

In a project, install it without \`--global\`, and run \`npx --no-install trilho usage\`. Do not run \`npx\` with the bare name where the
package is not installed: \`npx\` would download whatever somebody else has published under that name, and run it with your API key in
its environment. In a clone of the repository \`npx trilho\` is the program of the clone, with all commands.

\`trilho help\` lists every command; a noun alone, such as \`trilho payouts\`, lists its verbs; \`--help\` after a command shows its
options and examples. \`source <(trilho completion bash)\` makes the shell complete them (also \`zsh\`, \`fish\`).

## Output and exit codes

\`--output table|json|jsonl\` sets the format, and \`--json\` is short for \`--output json\`. Lists also have \`--output csv\`, with an amount
and its asset in two columns. With JSON, errors are JSON too, on standard error, as in the API: \`{"error": {"code": …}}\`. Ids are
never cut. \`NO_COLOR\` is respected, and progress is shown on a terminal only.

| Exit code | Means |
|---|---|
${exits.map(([code, about]) => `| ${code} | ${about} |`).join('\n')}
`

const OPERATOR_HEAD = `# Commands of operators

Everything that an operator does, in a terminal. Run the commands as \`npx trilho …\` in the folder of the service, or as
\`node bin/trilho.js …\`. Output formats, exit codes and the commands with an API key are on the page about
[the command line](../cli.md).
`

const LISTS = `## Lists

Every \`list\` prints one page, newest first, and takes these options beside its filters:`

const pagingTable = optionTable(
  Object.entries(paging).map(([name, option]) => ({ head: optionHead(name, option), about: option.about })),
)

/** The options and variables that all commands of a kind share. */
function shared(commands: readonly CliCommand[]): string {
  const one = commands.find(({ alone }) => !alone)
  if (!one) return ''
  const variables = Object.entries(variablesOf({ ...one, variables: {} })).map(([head, about]) => ({
    head,
    about,
  }))
  const options = Object.entries(optionsOf({ ...one, options: {} }))
    .filter(([name]) => name !== 'output' && name !== 'json')
    .map(([name, option]) => ({ head: optionHead(name, option), about: option.about }))
  return optionTable([...options, ...variables], 'Option, variable')
}

function sections(commands: readonly CliCommand[], level: string): string {
  const nouns = [...new Set(commands.map(({ name }) => name.split(' ')[0]!))]
  return nouns
    .map((noun) =>
      section(
        noun,
        commands.filter(({ name }) => name.split(' ')[0] === noun),
        level,
      ),
    )
    .join('\n')
}

function section(noun: string, commands: readonly CliCommand[], level: string): string {
  const rows = commands.map((command) => `| ${code(headOf(command))} | ${cell(command.about)} |`)
  const options = optionsIn(noun, commands)
  return [
    `${level} ${noun}`,
    `| Command | |\n|---|---|\n${rows.join('\n')}`,
    ...(options.length > 0 ? [optionTable(options)] : []),
    `\`\`\`sh\n${commands.flatMap(({ examples }) => examples).join('\n')}\n\`\`\`\n`,
  ].join('\n\n')
}

type Described = { readonly head: string; readonly about: string; readonly of?: string }

/** The options of all commands of a noun. A row names its commands where not all of them take the option. */
function optionsIn(noun: string, commands: readonly CliCommand[]): Described[] {
  const found = new Map<string, { head: string; about: string; verbs: string[] }>()
  for (const command of commands)
    for (const { head, about } of ownOptions(command)) {
      const known = found.get(head + about) ?? { head, about, verbs: [] }
      known.verbs.push(command.name.slice(noun.length + 1))
      found.set(head + about, known)
    }
  return [...found.values()].map(({ head, about, verbs }) => ({
    head,
    about,
    ...(verbs.length < commands.length ? { of: verbs.join(', ') } : {}),
  }))
}

function ownOptions({ options = {}, variables = {} }: CliCommand): Described[] {
  const isPaging = (name: string, option: CliOption) => paging[name] === option
  return [
    ...Object.entries(options)
      .filter(([name, option]) => !isPaging(name, option))
      .map(([name, option]) => ({
        head: optionHead(name, option),
        about: option.required ? `${option.about} (required)` : option.about,
      })),
    ...Object.entries(variables).map(([head, about]) => ({ head, about })),
  ]
}

function optionTable(rows: readonly Described[], title = 'Option'): string {
  const named = rows.map(
    ({ head, about, of }) => `| ${code(head)} | ${of ? `*${of}*: ` : ''}${cell(about)} |`,
  )
  return `| ${title} | |\n|---|---|\n${named.join('\n')}`
}
