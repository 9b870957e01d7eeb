import type { CliCommand } from '../../command.ts'

const load = () => import('../../operator/secrets.ts')

export const secretCommands: CliCommand[] = [
  {
    name: 'secrets check',
    about: 'Count the sealed secrets by key; exits 1 if one cannot be opened',
    examples: ['trilho secrets check'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).secretsCheck(input, reach),
  },
  {
    name: 'secrets rotate',
    about:
      'Seal everything again under SECRET_KEY, or under a new key in DATA_DIR; may be run again at any time',
    examples: ['trilho secrets rotate'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).secretsRotate(input, reach),
  },
]
