import type { CliCommand } from '../../command.ts'

const load = () => import('../../machine/bench.ts')

export const benchCommands: CliCommand[] = [
  {
    name: 'bench',
    about:
      'Measure this machine: payouts, lists, deposits, executions and webhooks, beside the same rows without the service',
    examples: ['trilho bench'],
    who: 'machine',
    run: async () => (await load()).bench(),
  },
]
