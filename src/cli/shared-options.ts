import type { CliCommand, CliOption, Who } from './command.ts'

/** Options that every command takes, or every command of one kind. */
const always = {
  output: {
    type: 'string',
    value: 'table|json|jsonl',
    about: 'How to print; jsonl is a line for each object',
  },
  json: { type: 'boolean', about: 'Print JSON, errors included' },
} as const satisfies Readonly<Record<string, CliOption>>

const ofLists = {
  ...always,
  output: {
    ...always.output,
    value: `${always.output.value}|csv`,
    about: 'How to print; jsonl is a line for each object, csv for spreadsheets',
  },
} as const

const ofKind: Readonly<Record<Who, Readonly<Record<string, CliOption>>>> = {
  key: {
    url: { type: 'string', value: 'URL', about: 'Where the service is' },
    'key-file': {
      type: 'string',
      value: 'FILE',
      about: 'A file that holds the API key; - is standard input',
    },
    profile: { type: 'string', value: 'NAME', about: 'Use the key and the address of this profile' },
  },
  operator: {
    as: {
      type: 'string',
      value: 'EMAIL',
      about: 'Who acts; the password is read from OPERATOR_PASSWORD, a code from OPERATOR_CODE',
    },
  },
  machine: {},
}

const OF_DATABASE = {
  DATABASE_URL: 'The PostgreSQL to work on; without it the embedded one in DATA_DIR',
  DATA_DIR: 'Where the embedded database is',
}

const variables: Readonly<Record<Who, Readonly<Record<string, string>>>> = {
  key: {
    TRILHO_KEY: 'The API key',
    TRILHO_URL:
      'Where the service is; the key of a profile goes to the profile’s own address instead. Without either, the server that runs here',
    TRILHO_PROFILE: 'Which profile, when --profile does not say it',
  },
  operator: {
    OPERATOR_PASSWORD: 'The password that goes with --as',
    OPERATOR_CODE: 'The code of the second factor, where there is one',
    ...OF_DATABASE,
  },
  machine: OF_DATABASE,
}

/** All options of a command, its own first. A command marked `alone`, such as `completion`, has no options of its kind. */
export const optionsOf = ({
  options = {},
  who,
  alone,
  lists,
}: CliCommand): Readonly<Record<string, CliOption>> => ({
  ...options,
  ...(alone ? {} : ofKind[who]),
  ...(lists ? ofLists : always),
})

export const variablesOf = (command: CliCommand): Readonly<Record<string, string>> => ({
  ...command.variables,
  ...(command.alone ? {} : variables[command.who]),
})

export const whoMay: Readonly<Record<Who, string>> = {
  key: 'Anyone with an API key',
  operator: 'An operator who is signed in (trilho login), on a machine that reaches the database',
  machine: 'The person who runs the service, on its machine',
}
