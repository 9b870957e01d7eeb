import type { CliCommand } from '../../command.ts'

const load = () => import('../../api/profiles.ts')

/** Named pairs of API key and address, stored for this user of the machine. */
export const profileCommands: CliCommand[] = [
  {
    name: 'profiles add',
    takes: 'NAME',
    about: 'Store an API key and an address under a name; asks for the key and tries it',
    who: 'key',
    alone: true,
    options: {
      url: {
        type: 'string',
        value: 'URL',
        about: 'The address of the service; TRILHO_URL, or the server that runs here, when absent',
      },
      'key-file': {
        type: 'string',
        value: 'FILE',
        about: 'Read the key from a file instead; - is standard input',
      },
    },
    variables: { XDG_CONFIG_HOME: 'Where trilho/profiles.json is kept; ~/.config when absent' },
    examples: [
      'trilho profiles add production --url https://pay.example.com',
      'trilho profiles add ci --url https://pay.example.com --key-file /run/secrets/trilho',
    ],
    run: async (input) => (await load()).profilesAdd(input),
  },
  {
    name: 'profiles list',
    about: 'List the profiles, with the last four characters of their keys',
    who: 'key',
    alone: true,
    lists: true,
    examples: ['trilho profiles list'],
    run: async (input) => (await load()).profilesList(input),
  },
  {
    name: 'profiles use',
    takes: 'NAME',
    about: 'Make this profile the default',
    who: 'key',
    alone: true,
    examples: ['trilho profiles use production'],
    run: async (input) => (await load()).profilesUse(input),
  },
  {
    name: 'profiles remove',
    takes: 'NAME',
    about: 'Remove a profile; its key keeps working',
    who: 'key',
    alone: true,
    examples: ['trilho profiles remove ci'],
    run: async (input) => (await load()).profilesRemove(input),
  },
]
