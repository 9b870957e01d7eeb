import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type CliCommand, type CliOption, type Format, type Input, UsageError, usage } from './command.ts'
import { optionsOf } from './shared-options.ts'

type Typed = Pick<Input, 'options' | 'positionals' | 'program' | 'format'>

const formats: readonly Format[] = ['table', 'json', 'jsonl', 'csv']

/** Parses the arguments of a command against its declaration. */
export function parse(command: CliCommand, args: readonly string[]): Typed {
  const dashes = args.indexOf('--')
  const program = dashes < 0 ? [] : args.slice(dashes + 1)
  const declared = optionsOf(command)
  const { values, positionals } = read(declared, dashes < 0 ? args : args.slice(0, dashes))
  const most = command.takes?.split(' ').length ?? 0
  if (positionals.length > most) usage(`Unexpected: ${positionals.slice(most).join(' ')}`)
  if (program.length > 0 && !command.takes_program) usage(`Unexpected: -- ${program.join(' ')}`)
  for (const [name, { required }] of Object.entries(declared))
    if (required && values[name] === undefined) usage(`--${name} is missing.`)
  return { options: values, positionals, program, format: formatOf(command, values) }
}

function read(declared: Readonly<Record<string, CliOption>>, args: readonly string[]) {
  const options: NonNullable<ParseArgsConfig['options']> = {}
  for (const [name, { type, multiple = false }] of Object.entries(declared))
    options[name] = { type, multiple }
  try {
    const { values, positionals, tokens } = parseArgs({
      args: withNumbersJoined(declared, args),
      options,
      allowPositionals: true,
      tokens: true,
    })
    const valued = tokens.flatMap((token) =>
      token.kind === 'option' && token.value !== undefined && !declared[token.name]!.multiple
        ? [token.name]
        : [],
    )
    const twice = valued.find((name, i) => valued.indexOf(name) !== i)
    if (twice !== undefined) usage(`--${twice} is given twice. Which of them is meant?`)
    return { values: values as Input['options'], positionals }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(mistakeIn(error as Error & { code?: string }))
  }
}

/** `--amount -5` is `--amount=-5`: a number below zero is a value, and the command says whether it may be. */
function withNumbersJoined(declared: Readonly<Record<string, CliOption>>, args: readonly string[]): string[] {
  const takesNext = (word: string | undefined) =>
    word?.startsWith('--') === true && declared[word.slice(2)]?.type === 'string'
  return args.flatMap((word, i) => {
    if (i > 0 && takesNext(args[i - 1]) && /^-\d/.test(word)) return []
    const next = args[i + 1]
    return takesNext(word) && next !== undefined && /^-\d/.test(next) ? [`${word}=${next}`] : [word]
  })
}

function mistakeIn({ message, code }: Error & { code?: string }): string {
  const [, name] = /'(?:-\w, )?(--[\w-]+)/.exec(message) ?? []
  if (
    code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' &&
    name &&
    /argument (?:missing|is ambiguous)/.test(message)
  )
    return `${name} needs a value. If the value begins with a dash: ${name}=VALUE`
  return message.split('. To specify')[0]!
}

/** The output format, read even from a line that does not parse: with --json the error is JSON too. */
export function formatAsked(argv: readonly string[]): Format {
  const dashes = argv.indexOf('--')
  const args = dashes < 0 ? argv : argv.slice(0, dashes)
  const at = args.findIndex((word) => word === '--output' || word.startsWith('--output='))
  const named = at < 0 ? undefined : (args[at]!.split('=')[1] ?? args[at + 1])
  if (named === undefined) return args.includes('--json') ? 'json' : 'table'
  return formats.find((format) => format === named) ?? 'table'
}

function formatOf({ lists }: CliCommand, { output, json }: Input['options']): Format {
  const taken = formats.filter((format) => format !== 'csv' || lists)
  if (output === 'csv' && !lists) usage(`--output csv is for lists; this takes ${taken.join(', ')}.`)
  const named = taken.find((format) => format === (output ?? 'table'))
  if (!named) return usage(`--output must be one of ${taken.join(', ')}.`)
  if (json !== true) return named
  if (output !== undefined && named !== 'json') usage(`--json and --output ${named} contradict each other.`)
  return 'json'
}
