import type { CliCommand } from '../../command.ts'

const load = () => import('../../machine/bench.ts')

export const benchCommands: CliCommand[] = [
  {
    name: 'bench',
    about:
      'Measure this machine: deposits, payouts, quotes and webhooks, each beside the same rows without HTTP',
    examples: ['trilho bench'],
    who: 'machine',
    run: async () => (await load()).bench(),
  },
]
